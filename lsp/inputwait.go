package lsp

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/zap"
)

// inputSettle is how long a file is left alone after a change that only the disk tells of, before
// it is read: an editor empties it first, or puts another one in its place. A document that was
// closed may be opened again in the same time, in another language say.
const inputSettle = 250 * time.Millisecond

// wait returns when the file was saved or, saved being false, when it was closed and nothing told
// that it was saved. A client that knows us for other languages only tells of neither: then it is
// the disk that tells.
func (in *input) wait(ctx context.Context, disk inputWatch, clock Clock, log *zap.Logger) (saved bool, err error) {
	var settled chan struct{} // nil while nothing has to settle
	stop := func() bool { return true }
	defer func() { stop() }()
	touched := false // the file on disk was
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-settled:
			return touched, nil
		case err := <-disk.errors: // the next event, or the client, makes up for one that is lost
			log.Warn("watching an input", zap.Error(err))
			continue
		case e := <-disk.events:
			if filepath.Base(e.Name) != filepath.Base(in.path) || e.Op == fsnotify.Chmod {
				continue
			}
			touched = true
		case <-in.changed:
			saved, closed := in.told()
			switch {
			case saved:
				return true, nil
			case touched, closed && settled != nil, !closed && settled == nil:
				continue // nothing new
			case !closed: // opened again
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

func (in *input) told() (saved, closed bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.saved, in.closed
}

// inputWatch tells of changes in the directory of a file. Its channels are nil when that cannot
// be watched.
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
		log.Warn("only the client can tell that an input was saved", zap.Error(err))
		return inputWatch{close: func() {}}
	}
	return inputWatch{events: w.Events, errors: w.Errors, close: func() { _ = w.Close() }} // nothing is lost with it
}
