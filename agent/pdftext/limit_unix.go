//go:build unix

package pdftext

import (
	"syscall"
	"time"
)

const (
	// maxMemory is the data of the process, in bytes.
	maxMemory = 1 << 30

	maxCPU = uint64(maxTime / time.Second)
)

// limitResources limits the resources of this process for ever.
func limitResources() error {
	for what, most := range map[int]uint64{syscall.RLIMIT_DATA: maxMemory, syscall.RLIMIT_CPU: maxCPU} {
		var was syscall.Rlimit
		if err := syscall.Getrlimit(what, &was); err != nil {
			return err
		}
		most = min(most, was.Max)
		if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}
