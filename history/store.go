package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Config configures a [Store].
type Config struct {
	Path       string                // of history.db; "" only keeps the prompts without an answer
	Unanswered string                // directory of the prompts without an answer; "" keeps none
	Fs         afero.Fs              // all but the database itself; nil: the real file system
	Alive      func(pid int) bool    // whether a process exists; nil: no prompts are offered again
	Started    func(pid int) string  // distinguishes processes with the same pid; "" when unknown. nil: none is known
	Warn       func(sentence string) // warns the user, once; it does not block. nil only logs
	Log        *zap.Logger
	Now        func() time.Time // nil: the real clock
}

// Prompt is a prompt of the user.
type Prompt struct {
	Text      string
	Cwd       string // "" when there is none
	SessionID string // kept where the database has a place for it
}

// Entry is a prompt of the history.
type Entry struct {
	ID      int64 // for [Store.Forget]; 0 while it is in no database
	Prompt  string
	Created time.Time // in whole seconds
	Cwd     string    // "" when it is not known
}

// MaxLimit is how many entries are returned at most.
const MaxLimit = 1000

const (
	// maxPending bounds the pending prompts. Further ones are not recorded.
	maxPending = 1000
	// lockTimeout is the timeout of [Store.Flush] for a database that other processes have locked.
	lockTimeout = 5 * time.Second
	// retryBusy and retryFailed are how long a write that failed waits for its next try.
	retryBusy   = 20 * time.Millisecond
	retryFailed = 10 * time.Second
)

// Store is the prompt history of one agent directory. It is safe for concurrent use. A nil Store
// records nothing.
type Store struct {
	cfg     Config
	log     *zap.Logger
	journal *journal

	mu      sync.Mutex
	working bool               // a goroutine uses the database; guarded by mu, like all below
	tasks   []func(*worker)    // operations on the database that run before anything is written
	pending []pendingPrompt    // prompts that are not in the database yet, oldest first
	written chan struct{}      // closed when nothing is pending any more; nil if nothing is
	yield   context.CancelFunc // ends the wait for another program's lock; nil if nothing waits
	retryAt time.Time          // no write before, by the real clock
	timer   *time.Timer        // wakes the worker at retryAt
	off     error              // why the database is not used any more
	warned  bool
	worker  worker // used by the goroutine while working
}

// pendingPrompt is a prompt that is not written yet.
type pendingPrompt struct {
	Prompt
	at    time.Time
	maybe bool // it may have been written before, by a process that no longer exists
}

// Open returns the store of a database. It returns at once: nothing is opened or made before
// it is needed, see [Store.Prepare].
func Open(cfg Config) *Store {
	if cfg.Fs == nil {
		cfg.Fs = afero.NewOsFs()
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if path, err := filepath.Abs(cfg.Path); err == nil && cfg.Path != "" {
		cfg.Path = path
	}
	s := &Store{cfg: cfg, log: cfg.Log}
	s.worker.s = s
	s.journal = newJournal(cfg)
	return s
}

// records reports whether the store has a database.
func (s *Store) records() bool { return s != nil && s.cfg.Path != "" }

// Prepare opens the database in the background and makes it if there is none, so that programs that
// start later find it: several programs that make it at once disturb each other.
func (s *Store) Prepare() {
	if !s.records() {
		return
	}
	s.do(func(w *worker) { _, _ = w.open(context.Background()) }) // a failure was reported
}

// Add records a prompt, in the background. Blank ones, and those that begin with a space,
// are not recorded.
func (s *Store) Add(p Prompt) {
	if !s.records() {
		return
	}
	text, ok := record(p.Text)
	if !ok {
		return
	}
	p.Text = text
	s.queue(pendingPrompt{Prompt: p, at: s.cfg.Now()})
}

// queue queues a prompt to be written.
func (s *Store) queue(p pendingPrompt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == maxPending {
		s.log.Warn("a prompt is not recorded: too many wait for the prompt history")
		return
	}
	if s.written == nil {
		s.written = make(chan struct{})
	}
	s.pending = append(s.pending, p)
	s.wakeLocked()
}

// Say records a prompt and keeps it until it is answered; see [Store.Add] and [Store.Keep].
func (s *Store) Say(p Prompt) *Mark {
	m := s.Keep(p)
	s.Add(p)
	return m
}

// Flush returns when all prompts are in the database, when ctx ends, or after 5 seconds. Its
// error is why some are not.
func (s *Store) Flush(ctx context.Context) error {
	if !s.records() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	s.mu.Lock()
	written, off := s.written, s.off
	s.retryAt = time.Time{}
	s.wakeLocked()
	s.mu.Unlock()
	if written == nil {
		return nil
	}
	if off != nil {
		return off
	}
	select {
	case <-written:
		return s.offAndPending()
	case <-ctx.Done():
		return fault.New(fault.Busy, "Some prompts were not written to %s because another program keeps it locked.", s.cfg.Path).With("path", s.cfg.Path)
	}
}

// offAndPending returns the reason why the pending prompts will never be written.
func (s *Store) offAndPending() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		return nil
	}
	return s.off
}

// Close flushes and releases the database. Prompts that were offered again or abandoned count as
// seen, unless the database could not be written. A store that is used again opens the database
// again.
func (s *Store) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	err := s.Flush(ctx)
	if err == nil { // otherwise the journal may be the only place that has them
		s.journal.forgetSeen()
	}
	if err != nil && fault.Is(err, fault.Busy) {
		s.log.Warn("prompts were not recorded", zap.Error(err))
	}
	done := make(chan struct{})
	s.do(func(w *worker) {
		defer close(done)
		w.close()
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
	return err
}

// turnOff stops using the database, for good. Pending prompts are kept, so that searches find them.
// It is reported once.
func (s *Store) turnOff(err error) {
	s.warn(err.Error() + " Prompts are not recorded until the server is restarted.") // before the waiting goroutines continue
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off = err
	s.settleLocked()
}

// settleLocked releases the goroutines that wait for the pending prompts.
func (s *Store) settleLocked() {
	if s.written != nil {
		close(s.written)
		s.written = nil
		if len(s.pending) > 0 {
			s.written = make(chan struct{})
		}
	}
}

func (s *Store) warn(sentence string) {
	s.mu.Lock()
	warned := s.warned
	s.warned = true
	s.mu.Unlock()
	if warned {
		return
	}
	s.log.Warn("the prompt history does not work", zap.String("reason", sentence))
	if s.cfg.Warn != nil {
		s.cfg.Warn(sentence)
	}
}

// exists reports whether there is a database that could be read.
func (s *Store) exists() bool {
	_, err := s.cfg.Fs.Stat(s.cfg.Path)
	return !errors.Is(err, os.ErrNotExist)
}

// record returns a prompt in its recorded form; ok is false for one that is not recorded.
func record(text string) (clean string, ok bool) {
	if strings.HasPrefix(text, " ") {
		return "", false
	}
	clean = cleanPrompt(text)
	return clean, clean != ""
}
