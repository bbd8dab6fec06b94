package history

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// worker is the one user of the database. Its fields belong to the goroutine of work, of
// which there is at most one.
type worker struct {
	s    *Store
	db   *database // nil while it is not open
	last string    // the prompt that this process wrote last
}

// do makes the worker run task before it writes.
func (s *Store) do(task func(*worker)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = append(s.tasks, task)
	if s.yield != nil {
		s.yield()
	}
	s.wakeLocked()
}

// wakeLocked starts the worker.
func (s *Store) wakeLocked() {
	if !s.working {
		s.working = true
		go s.work()
	}
}

// work runs the tasks and returns when there are none, so that a store that is not used has no
// goroutine.
func (s *Store) work() {
	for {
		task := s.next()
		if task == nil {
			return
		}
		s.guard(func() { task(&s.worker) })
	}
}

// guard lets a panic, of the database engine over a file that was damaged on purpose, end
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

// next returns the next task, nil if there is none.
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
		s.wakeInLocked(wait)
	}
	s.working = false
	return nil
}

// wakeInLocked wakes the worker later.
func (s *Store) wakeInLocked(d time.Duration) {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wakeLocked()
	})
}

// moved reports whether the open database is no longer the file at the path: a user deleted it, or
// another program put a new one in its place. Writes would be lost with it.
func (w *worker) moved() bool {
	now, err := w.s.cfg.Fs.Stat(w.s.cfg.Path)
	return errors.Is(err, os.ErrNotExist) || err == nil && w.db.file != nil && !os.SameFile(now, w.db.file)
}

// open returns the database. It is a Busy error if it may succeed later; any other one
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
		w.close() // SQLite then leaves the file at the path alone
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

// close releases the database.
func (w *worker) close() {
	if w.db == nil {
		return
	}
	if err := w.db.close(); err != nil {
		w.s.log.Warn("the prompt history was not closed cleanly", zap.Error(err))
	}
	w.db = nil
}
