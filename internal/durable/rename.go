package durable

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

// Rename renames a file or a directory, and replaces a file at to. All atomic writes use it.
//
// Windows renames nothing that another program has open, such as a virus scanner, an indexer or a reader. They
// close a file within moments, so that Rename tries again for up to two seconds there. A missing permission looks the
// same and is reported after that time.
func Rename(fsys afero.Fs, from, to string) error {
	return renaming.do(func() error { return fsys.Rename(from, to) })
}

var renaming = retry{
	first: 5 * time.Millisecond, longest: 100 * time.Millisecond, total: 2 * time.Second,
	again: InUse, jitter: rand.Float64, wait: pause,
	now: time.Now,
}

// retry repeats an action that fails for reasons which pass.
type retry struct {
	first, longest time.Duration // the first pause, which is doubled for each further one, up to the longest
	total          time.Duration // no attempt begins later
	again          func(error) bool
	jitter         func() float64 // in [0, 1); shortens a pause by up to half, so that two programs don't keep in step
	now            func() time.Time
	wait           func(time.Duration)
}

// do returns the result of the last attempt.
func (r retry) do(action func() error) error {
	begun := r.now()
	for next := r.first; ; next = min(2*next, r.longest) {
		err := action()
		if err == nil || !r.again(err) {
			return err
		}
		left := r.total - r.now().Sub(begun)
		if left <= 0 {
			return err
		}
		r.wait(min(left, next-time.Duration(r.jitter()*float64(next)/2)))
	}
}

func pause(d time.Duration) { <-time.After(d) }

// InUse reports whether an error can mean that another program has the file open or is removing it, which passes. Only
// Windows has such errors.
func InUse(err error) bool { return inUse(runtime.GOOS, err) }

func inUse(system string, err error) bool {
	const (
		accessDenied     = syscall.Errno(5) // also: removed, but still open in some program
		sharingViolation = syscall.Errno(32)
		lockViolation    = syscall.Errno(33)
	)
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && system == "windows" && (errno == accessDenied || errno == sharingViolation || errno == lockViolation)
}
