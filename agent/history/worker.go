package history

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// worker is the one user of the database. Its fields belong to the goroutine of work, of
// which there is at most one.
type worker struct {
	s    *Store
	db   *database // nil while it is not open
	last string    // the prompt that this process wrote last
}

// do lets the worker do something before it writes.
func (s *Store) do(task func(*worker)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = append(s.tasks, task)
	if s.yield != nil {
		s.yield()
	}
	s.wake()
}

// wake lets the worker work. It needs mu.
func (s *Store) wake() {
	if !s.working {
		s.working = true
		go s.work()
	}
}

// work does what is to be done and ends when that is nothing, so that a store that is not
// used is nobody's goroutine.
func (s *Store) work() {
	for {
		task := s.next()
		if task == nil {
			return
		}
		s.guard(func() { task(&s.worker) })
	}
}

// guard lets a panic, of the database engine over a file that somebody damaged on purpose, end
// the history and not the process.
func (s *Store) guard(f func()) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("the prompt history failed unexpectedly", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			s.turnOff(fault.New(fault.Internal, "The prompt history %s failed unexpectedly: %v.", s.cfg.Path, p))
		}
	}()
	f()
}

// next is what is to be done now, nil for nothing.
func (s *Store) next() func(*worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tasks) > 0 {
		task := s.tasks[0]
		s.tasks = s.tasks[1:]
		return task
	}
	if len(s.pending) > 0 && s.off == nil {
		wait := time.Until(s.retryAt)
		if wait <= 0 {
			return (*worker).write
		}
		s.wakeIn(wait)
	}
	s.working = false
	return nil
}

// wakeIn wakes the worker later. It needs mu.
func (s *Store) wakeIn(d time.Duration) {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wake()
	})
}

// moved reports whether the open database is no longer the file at the path: a person deleted
// it, or another program put a new one in its place. What is written would be lost with it.
func (w *worker) moved() bool {
	now, err := w.s.cfg.Fs.Stat(w.s.cfg.Path)
	return errors.Is(err, os.ErrNotExist) || err == nil && w.db.file != nil && !os.SameFile(now, w.db.file)
}

// open returns the database. The error is kind busy when it may be had later; any other one
// is the end of the history in this process.
func (w *worker) open(ctx context.Context) (*database, error) {
	w.s.mu.Lock()
	off := w.s.off
	w.s.mu.Unlock()
	if off != nil {
		return nil, off
	}
	if w.db != nil {
		if !w.moved() {
			return w.db, nil
		}
		w.close() // SQLite leaves what is at the path alone then
	}
	db, err := openDatabase(ctx, w.s.cfg.Fs, w.s.cfg.Path)
	if err != nil {
		if !fault.Is(err, fault.Busy) {
			w.s.turnOff(err)
		}
		return nil, err
	}
	w.db = db
	return db, nil
}

// close lets go of the database.
func (w *worker) close() {
	if w.db == nil {
		return
	}
	if err := w.db.close(); err != nil {
		w.s.log.Warn("the prompt history was not closed cleanly", zap.Error(err))
	}
	w.db = nil
}
