package peerfile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/filestat"
)

// Lock is the lock with which a terminal program protects its changes of a file.
type Lock int

// The locks.
const (
	NoLock   Lock = iota // none that other programs can take portably
	Dir                  // a directory next to the file, as pi makes it
	OwnedDir             // the same with a file that names the owner, as xcsh makes it
)

// A lock is held for milliseconds; one that is older than stale was left by a program that was killed.
const (
	stale = 10 * time.Second
	pause = 20 * time.Millisecond
	tries = 100
)

// errLocked is the error for a file that another program is changing.
var errLocked = errors.New("another program is changing it")

// lock takes the lock of the file. A program without one that others can take replaces its file as a whole,
// so that the comparison before the rename is enough.
func (f File) lock(ctx context.Context) (release func(), err error) {
	if f.Lock == NoLock {
		return func() {}, nil
	}
	if err := durable.MakeDirs(f.Fs, filepath.Dir(f.Path), 0o700); err != nil {
		return nil, err
	}
	dir := f.Path + ".lock"
	for range tries {
		err := f.Fs.Mkdir(dir, 0o700)
		if err == nil {
			return f.locked(dir)
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if f.abandoned(dir) {
			if err := f.unlock(dir); err != nil {
				return nil, err
			}
			continue
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, errLocked
}

// locked completes a lock that was just taken: xcsh regards one without this file as abandoned.
func (f File) locked(dir string) (release func(), err error) {
	release = func() { _ = f.unlock(dir) } // one that stays is removed when it is old
	if f.Lock != OwnedDir {
		return release, nil
	}
	owner, _ := json.Marshal(map[string]int64{"pid": int64(os.Getpid()), "timestamp": time.Now().UnixMilli()})
	if err := afero.WriteFile(f.Fs, filepath.Join(dir, "info"), owner, 0o600); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// abandoned reports whether a lock was left by a program that was killed.
func (f File) abandoned(dir string) bool {
	info, err := filestat.Lstat(f.Fs, dir)
	return err == nil && info.IsDir() && time.Since(info.ModTime()) > cmp.Or(f.Stale, stale)
}

// unlock removes a lock and the file that it may contain, and nothing else.
func (f File) unlock(dir string) error {
	if err := f.Fs.Remove(filepath.Join(dir, "info")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.Fs.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
