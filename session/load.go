package session

import (
	"bytes"
	"io"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

const (
	readBlock = 1 << 20 // bytes per read while scanning a file

	// maxSpan is how far, in bytes, a value may extend past its first line, and spanBudget
	// how many bytes a file may cost in failed attempts. Without the limits a file of
	// unclosed brackets would take quadratic time.
	maxSpan    = 1 << 20
	spanBudget = 16 << 20
)

// Value is one JSON value of a session file. Raw and Env are only valid during the callback
// that receives them. Of a value that is too long to be held, they are a [rawjson.Digest].
type Value struct {
	off  int64 // of the value in the file
	line int   // 1-based physical line on which it begins
	Raw  []byte
	Env  rawjson.Envelope

	digested int  // the length of the value if Raw is a digest, else 0
	nameless bool // an id, a type or a role in it was too long to be kept
	extra    bool // not the first value of its line

	prepared bool // what follows is known
	usual    bool // pack accepts it
	slot     slot
	tally    lineTally
}

// prepare determines what a line says without the others. The workers of a parallel scan call it.
func (v *Value) prepare() {
	if v.prepared || !v.Env.Object {
		return
	}
	v.prepared = true
	v.slot, v.usual = pack(*v)
	role := ""
	if v.usual {
		role = roleCodes[v.slot.role]
	} else if typ, _ := rawjson.String(v.Env.Type); Type(typ) == TypeMessage {
		role, _ = rawjson.String(v.Env.Role)
	}
	v.tally = tallyLine(&v.Env, role)
}

// length returns the number of bytes of the value in the file.
func (v *Value) length() int { return max(v.digested, len(v.Raw)) }

// tail describes how a file ends, which determines the first bytes of the next append.
type tail struct {
	size    int64 // bytes in the file
	newline bool  // the last byte ends a line, or the file is empty

	lines  int  // physical lines
	budget int  // what is left of spanBudget
	open   bool // lines that follow may continue a value that the last ones began
}

// scanValues reads JSON values from src leniently: garbage loses its own line and nothing
// else. Each value goes to emit, in file order, each problem to report. Only a failing read
// is an error.
//
// The rules are those of the terminal programs' streaming reader (values may span lines, a
// syntax error drops the line on which the value began), with two improvements.
//
// Differs: every value of a line is delivered, where the originals drop all but the first:
// a second one appears when two writers' lines ran together.
//
// Differs: an incomplete line affects no other line. The originals lose the valid line
// after a line that ends with a colon or an opening bracket.
func scanValues(src io.Reader, emit func(Value), report func(Problem)) (tail, error) {
	s := lineScanner{src: src, emit: emit, report: report, budget: spanBudget, limits: fileLimits}
	return s.run()
}

// scanBytes is [scanValues] over content that is in memory already. The raw values
// alias it, however long they are.
func scanBytes(content []byte, emit func(Value), report func(Problem)) tail {
	s := lineScanner{buf: content, eof: true, emit: emit, report: report, budget: spanBudget, limits: heldLimits}
	end, _ := s.run() // nothing is read, so nothing can fail
	return end
}

type lineScanner struct {
	src    io.Reader
	limits lineLimits
	emit   func(Value)
	report func(Problem)
	halt   func() bool // called before each line; true stops the scan; nil: never
	store  []byte      // the memory that buf is a part of
	buf    []byte      // bytes read and not yet consumed; buf[0] is at off
	off    int64
	line   int // physical lines begun
	budget int
	open   bool // a value began on a line and had not ended where the file does
	eof    bool
	last   byte // the last byte consumed
	begun  bool // a value other than omp's title slot was delivered
}

func (s *lineScanner) run() (tail, error) {
	for s.halt == nil || !s.halt() {
		more, err := s.fill(1)
		if err != nil {
			return tail{}, err
		}
		if !more {
			break
		}
		if err := s.next(); err != nil {
			return tail{}, err
		}
	}
	return s.end(), nil
}

// end describes the end of the file, at the scanner's position.
func (s *lineScanner) end() tail {
	return tail{size: s.off, newline: s.off == 0 || s.last == '\n', lines: s.line, budget: s.budget, open: s.open}
}

// fill reads until n bytes are buffered or the source ends; it reports whether
// anything is buffered.
func (s *lineScanner) fill(n int) (bool, error) {
	for len(s.buf) < n && !s.eof {
		s.makeRoom()
		at := len(s.buf)
		got, err := io.ReadFull(s.src, s.buf[at:at+readBlock])
		s.buf = s.buf[:at+got]
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			s.eof = true
		default:
			return false, err
		}
	}
	return len(s.buf) > 0, nil
}

// makeRoom moves the buffered bytes to the front of the store, or to a larger one, so that
// a block fits after them. Moving once per block, not once per line, keeps reading linear.
func (s *lineScanner) makeRoom() {
	if need := len(s.buf) + readBlock; cap(s.store) < need {
		s.store = make([]byte, max(2*readBlock, 2*len(s.buf)+readBlock))
	}
	n := copy(s.store, s.buf)
	s.buf = s.store[:n]
}

// lineEnd returns the length of the current line without its newline, reading as
// much as it takes. whole is false for a line that is longer than the limit.
func (s *lineScanner) lineEnd() (n int, whole bool, err error) {
	limit := s.longest()
	for seen := 0; ; {
		if i := bytes.IndexByte(s.buf[seen:], '\n'); i >= 0 {
			return seen + i, seen+i <= limit, nil
		}
		if s.eof || len(s.buf) > limit {
			return len(s.buf), len(s.buf) <= limit, nil
		}
		seen = len(s.buf)
		if _, err := s.fill(seen + 1); err != nil {
			return 0, false, err
		}
	}
}

// next handles one physical line, or the lines that one value spans.
func (s *lineScanner) next() error {
	s.line++
	if s.off == 0 && bytes.HasPrefix(s.buf, []byte("\xEF\xBB\xBF")) {
		s.report(problemAt(byteOrderMark, 1, false, "The file starts with a byte order mark."))
		s.consume(3)
	}
	end, whole, err := s.lineEnd()
	if err != nil {
		return err
	}
	if !whole {
		return s.longLine()
	}
	if end == len(s.buf) { // the source ended without a newline
		return s.lastLine(end)
	}
	used, st := s.values(end)
	if st == rawjson.Incomplete {
		spanned, err := s.span()
		if spanned || err != nil {
			return err
		}
	}
	if st != rawjson.Complete {
		s.report(problemAt(malformedLine, s.line, true, "Line %d is not JSON (at byte %d of the line).", s.line, used+1))
	}
	s.consume(end + 1)
	return nil
}

// lastLine handles a final line that has no newline.
func (s *lineScanner) lastLine(end int) error {
	used, st := s.values(end)
	switch {
	case st == rawjson.Incomplete:
		s.report(problemAt(tornTail, s.line, true, "The last line (%d) stops in the middle.", s.line))
	case st == rawjson.Invalid:
		s.report(problemAt(malformedLine, s.line, true, "Line %d is not JSON (at byte %d of the line).", s.line, used+1))
	case used > 0:
		s.report(problemAt(missingNewline, s.line, false, "The last line (%d) has no newline.", s.line))
	}
	s.consume(end)
	return nil
}

// values delivers the values of the first end bytes. It returns how many bytes it used, and
// Complete if the line holds at least one value or is blank.
func (s *lineScanner) values(end int) (used int, st rawjson.Status) {
	text := s.buf[:end]
	for found := 0; ; found++ {
		start := used + blank(text[used:])
		if start == len(text) {
			return used, rawjson.Complete
		}
		env, n, st := rawjson.ScanEnvelope(text[start:])
		if st != rawjson.Complete {
			if found > 0 {
				s.report(problemAt(malformedLine, s.line, true, "Line %d has something after its value that is not JSON.", s.line))
				return used, rawjson.Complete
			}
			return start + n, st
		}
		if found > 0 {
			s.report(problemAt(extraValue, s.line, false, "Line %d holds more than one value.", s.line))
		}
		used = start + n
		s.deliver(Value{off: s.off + int64(start), line: s.line, Raw: text[start:used], Env: env, extra: found > 0})
	}
}

// span tries to read a value that continues on further lines.
func (s *lineScanner) span() (bool, error) {
	if s.budget <= 0 {
		return false, nil
	}
	if _, err := s.fill(s.limits.span); err != nil {
		return false, err
	}
	window := s.buf[:min(len(s.buf), s.limits.span)]
	start := blank(window)
	env, n, st := rawjson.ScanEnvelope(window[start:])
	if st != rawjson.Complete {
		s.budget -= n
		s.open = s.open || st == rawjson.Incomplete && len(window) < maxSpan
		return false, nil
	}
	end := start + n
	s.deliver(Value{off: s.off + int64(start), line: s.line, Raw: window[start:end], Env: env})
	s.line += bytes.Count(window[:end], []byte{'\n'})
	// The rest of the line that the value ends on is ignored, as in the originals.
	for {
		if i := bytes.IndexByte(s.buf[end:], '\n'); i >= 0 {
			s.consume(end + i + 1)
			return true, nil
		}
		end = len(s.buf)
		if s.eof {
			s.consume(end)
			return true, nil
		}
		if _, err := s.fill(end + 1); err != nil {
			return false, err
		}
	}
}

func (s *lineScanner) consume(n int) {
	if n == 0 {
		return
	}
	s.last = s.buf[n-1]
	s.off += int64(n)
	s.buf = s.buf[n:]
}

// blank returns the number of leading bytes that are JSON white space.
func blank(b []byte) int {
	for i, c := range b {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return i
		}
	}
	return len(b)
}

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
