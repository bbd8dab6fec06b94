package session

import "io"

// ScanOptions configure [Scan].
type ScanOptions struct {
	Store  []byte        // read buffer, which is reused
	Halt   func() bool   // called before each line; the scan ends when it returns true
	Emit   func(Value)   // called with each value, which is only valid during the call
	Report func(Problem) // called with each problem
}

// Scan reads the values of a session file as [Store.Load] does, without keeping them. It returns
// the number of bytes read.
func Scan(src io.Reader, o ScanOptions) (size int64, err error) {
	s := lineScanner{src: src, emit: o.Emit, report: o.Report, halt: o.Halt, store: o.Store, budget: spanBudget, limits: fileLimits}
	end, err := s.run()
	return end.size, err
}
