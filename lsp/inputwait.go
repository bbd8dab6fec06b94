package lsp

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/zap"
)

// inputSettle is the delay between a change on disk and reading the file, because editors truncate or
// replace it first. A closed document may also be reopened within that time, for example in another
// language.
const inputSettle = 250 * time.Millisecond

// wait returns when the file was saved or, with saved false, when it was closed without being saved. A
// client that starts the server only for other languages reports neither, so wait also watches the
// file on disk.
func (in *input) wait(ctx context.Context, disk inputWatch, clock Clock, log *zap.Logger) (saved bool, err error) {
	var settled chan struct{} // nil unless a change is settling
	stop := func() bool { return true }
	defer func() { stop() }()
	touched := false // the file on disk was
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-settled:
			return touched, nil
		case err := <-disk.errors: // a later event or notification replaces a lost one
			log.Warn("watching an input", zap.Error(err))
			continue
		case e := <-disk.events:
			if filepath.Base(e.Name) != filepath.Base(in.path) || e.Op == fsnotify.Chmod {
				continue
			}
			touched = true
		case <-in.changed:
			saved, closed := in.status()
			switch {
			case saved:
				return true, nil
			case touched, closed && settled != nil, !closed && settled == nil:
				continue // nothing new
			case !closed: // reopened
				stop()
				settled = nil
				continue
			}
		}
		stop()
		over := make(chan struct{})
		settled = over
		stop = clock.AfterFunc(inputSettle, func() { close(over) })
	}
}

func (in *input) status() (saved, closed bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.saved, in.closed
}

// inputWatch watches the directory of a file. Its channels are nil if that is not possible.
type inputWatch struct {
	events <-chan fsnotify.Event
	errors <-chan error
	close  func()
}

func (in *input) watch(log *zap.Logger) inputWatch {
	w, err := fsnotify.NewWatcher()
	if err == nil {
		if err = w.Add(filepath.Dir(in.path)); err != nil {
			_ = w.Close() // it watches nothing
		}
	}
	if err != nil {
		log.Warn("cannot watch an input on disk; waiting for the client only", zap.Error(err))
		return inputWatch{close: func() {}}
	}
	return inputWatch{events: w.Events, errors: w.Errors, close: func() { _ = w.Close() }} // closing a watcher loses no data
}
