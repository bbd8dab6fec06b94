package preference

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
)

// The lock of pi and xcsh is a directory next to the file. It is held for milliseconds; one that is older
// than stale was left by a program that was killed.
const (
	stale = 10 * time.Second
	pause = 20 * time.Millisecond
	tries = 100
)

// errLocked is the error for a file that another program is changing.
var errLocked = errors.New("another program is changing it")

// lock takes the lock with which the program of the file protects its own changes. omp has a lock that
// other programs cannot take portably, but replaces its file as a whole, so that the comparison before the
// rename is enough.
func (s *Store) lock(ctx context.Context, f file) (release func(), err error) {
	if f.unlocked {
		return func() {}, nil
	}
	if err := durable.MakeDirs(s.Fs, filepath.Dir(f.path), 0o700); err != nil {
		return nil, err
	}
	dir := f.path + ".lock"
	for range tries {
		err := s.Fs.Mkdir(dir, 0o700)
		if err == nil {
			return s.locked(dir, f)
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if s.abandoned(dir) {
			if err := s.unlock(dir); err != nil {
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
func (s *Store) locked(dir string, f file) (release func(), err error) {
	release = func() { _ = s.unlock(dir) } // one that stays is removed when it is old
	if f.json {
		return release, nil
	}
	owner, _ := json.Marshal(map[string]int64{"pid": int64(os.Getpid()), "timestamp": time.Now().UnixMilli()})
	if err := afero.WriteFile(s.Fs, filepath.Join(dir, "info"), owner, 0o600); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// abandoned reports whether a lock was left by a program that was killed.
func (s *Store) abandoned(dir string) bool {
	info, err := lstat(s.Fs, dir)
	return err == nil && info.IsDir() && time.Since(info.ModTime()) > stale
}

// unlock removes a lock and the file that it may contain, and nothing else.
func (s *Store) unlock(dir string) error {
	if err := s.Fs.Remove(filepath.Join(dir, "info")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.Fs.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
