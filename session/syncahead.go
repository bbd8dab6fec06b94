package session

import (
	"io"
	"math"

	"github.com/spf13/afero"
)

// syncStep is how many bytes of a new file are written before the disk is set to work on
// them.
const syncStep = 8 << 20

// syncAhead is a file under construction. While more of it is written, what was written
// is brought to the disk already, so that the sync at the end finds little left to do.
// It is not safe for concurrent use.
type syncAhead struct {
	f       afero.File
	step    int64      // how many bytes make a sync worth it
	written int64      // since the last sync was begun
	syncing chan error // of the one under way; nil: none
}

// Write writes to the file.
func (a *syncAhead) Write(b []byte) (int, error) {
	n, err := a.f.Write(b)
	if err == nil {
		err = a.wrote(int64(n))
	}
	return n, err
}

// ReadFrom copies from r in steps, each of them in the form in which a system that can
// copy files by itself does so.
func (a *syncAhead) ReadFrom(r io.Reader) (n int64, err error) {
	all, ok := r.(*io.LimitedReader)
	if !ok {
		all = &io.LimitedReader{R: r, N: math.MaxInt64}
	}
	for all.N > 0 {
		step := &io.LimitedReader{R: all.R, N: min(all.N, a.step)}
		want := step.N
		got, err := io.Copy(a.f, step)
		n, all.N = n+got, all.N-got
		if err == nil {
			err = a.wrote(got)
		}
		if err != nil || got < want {
			return n, err
		}
	}
	return n, nil
}

// wrote counts bytes, and begins a sync of them when they are many and none is under way.
func (a *syncAhead) wrote(n int64) error {
	if a.written += n; a.written < a.step {
		return nil
	}
	if a.syncing != nil {
		select {
		case err := <-a.syncing:
			a.syncing = nil
			if err != nil {
				return err
			}
		default:
			return nil
		}
	}
	done := make(chan error, 1)
	a.written, a.syncing = 0, done
	go func() { done <- a.f.Sync() }()
	return nil
}

// finish syncs the file unless err says that it came to nothing, and returns the first
// error. Afterwards the file may be closed.
func (a *syncAhead) finish(err error) error {
	if a.syncing != nil {
		if syncErr := <-a.syncing; err == nil {
			err = syncErr
		}
	}
	if err == nil {
		err = a.f.Sync()
	}
	return err
}
