package tool

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// writers are the files that are being written right now. They belong to the process and
// not to a set of tools, because sessions of several folders may write the same file.
var writers = struct {
	mu    sync.Mutex
	files map[string]*writer
}{files: map[string]*writer{}}

// writer is the turn at one file.
type writer struct {
	turn  chan struct{} // holds one value while a caller writes
	users int           // callers that hold it or wait for it; guarded by writers.mu
}

// lockFile waits for its turn to read and write the file at path. Names of one file that
// differ by symbolic links share a turn.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	writers.mu.Lock()
	w := writers.files[path]
	if w == nil {
		w = &writer{turn: make(chan struct{}, 1)}
		writers.files[path] = w
	}
	w.users++
	writers.mu.Unlock()

	leave := func() {
		writers.mu.Lock()
		defer writers.mu.Unlock()
		if w.users--; w.users == 0 {
			delete(writers.files, path)
		}
	}
	select {
	case w.turn <- struct{}{}:
		return func() { <-w.turn; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, fault.New(fault.Cancelled, "Cancelled while waiting to write %s: %w", path, ctx.Err())
	}
}

// LockFiles locks several files, in the same order for all callers. Different names of one file count once.
func LockFiles(ctx context.Context, paths []string) (unlock func(), err error) {
	real := make([]string, 0, len(paths))
	for _, path := range paths {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		real = append(real, path)
	}
	slices.Sort(real)
	var held []func()
	unlock = func() {
		for _, f := range held {
			f()
		}
	}
	for _, path := range slices.Compact(real) {
		one, err := lockFile(ctx, path)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, one)
	}
	return unlock, nil
}
