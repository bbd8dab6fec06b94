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

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Config says where a [Store] keeps its things. Path is required.
type Config struct {
	Path       string                // of history.db
	Unanswered string                // directory of the prompts without an answer; "" keeps none
	Fs         afero.Fs              // all but the database itself; nil: the real file system
	Alive      func(pid int) bool    // whether a process exists; nil: nobody's prompts are offered again
	Warn       func(sentence string) // tells the person, once; it does not wait. nil only logs
	Log        *zap.Logger
	Now        func() time.Time // nil: the real clock
}

// Prompt is something that a person says.
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
	// maxPending bounds what waits to be written. What comes then is not recorded.
	maxPending = 1000
	// patience is how long [Store.Flush] waits for a database that others hold.
	patience = 5 * time.Second
	// retryBusy and retryFailed are how long a write that failed waits for its next try.
	retryBusy   = 20 * time.Millisecond
	retryFailed = 10 * time.Second
)

// Store is the prompt history of one agent directory. It is safe for concurrent use. A nil
// Store remembers nothing.
type Store struct {
	cfg     Config
	log     *zap.Logger
	journal *journal

	mu      sync.Mutex
	working bool               // a goroutine uses the database; guarded by mu, like all below
	tasks   []func(*worker)    // what is to be done with the database, before anything is written
	pending []said             // what is not in the database yet, oldest first
	written chan struct{}      // closed when nothing is pending any more; nil when nothing is
	yield   context.CancelFunc // ends the wait for another program's lock; nil when nothing waits
	retryAt time.Time          // no write before, by the real clock
	timer   *time.Timer        // wakes the worker at retryAt
	off     error              // why the database is not used any more
	warned  bool
	worker  worker // of the goroutine while working, of nobody otherwise
}

// said is a prompt that is to be written.
type said struct {
	Prompt
	at    time.Time
	maybe bool // it may have been written before, by a process that is gone
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
	if path, err := filepath.Abs(cfg.Path); err == nil {
		cfg.Path = path
	}
	s := &Store{cfg: cfg, log: cfg.Log}
	s.worker.s = s
	s.journal = newJournal(cfg)
	return s
}

// Prepare opens the database in the background and makes it if there is none, so that the
// programs that come later find it: making it is where they get into each other's way.
func (s *Store) Prepare() {
	if s == nil {
		return
	}
	s.do(func(w *worker) { _, _ = w.open(context.Background()) }) // a failure was told
}

// Add records a prompt, in the background. Blank ones, and those that begin with a space,
// are not recorded.
func (s *Store) Add(p Prompt) {
	if s == nil {
		return
	}
	text, ok := record(p.Text)
	if !ok {
		return
	}
	p.Text = text
	s.queue(said{Prompt: p, at: s.cfg.Now()})
}

// queue queues a prompt to be written.
func (s *Store) queue(p said) {
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
	s.wake()
}

// Say is Add for a prompt that a turn begins with. What it returns must be told when the
// prompt was answered. The prompt has outlived this process when Say returns.
func (s *Store) Say(p Prompt) *Mark {
	if s == nil {
		return nil
	}
	text, ok := record(p.Text)
	if !ok {
		return nil
	}
	s.Add(p)
	p.Text = text
	return s.journal.begin(p)
}

// Flush returns when everything that was said is in the database, when ctx ends, or after 5
// seconds. The error says why something is not.
func (s *Store) Flush(ctx context.Context) error {
	if s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.mu.Lock()
	written, off := s.written, s.off
	s.retryAt = time.Time{}
	s.wake()
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
		return fault.New(fault.Busy, "Some prompts are not in %s, which another program keeps locked.", s.cfg.Path).With("path", s.cfg.Path)
	}
}

// offAndPending is why what is pending will never be written.
func (s *Store) offAndPending() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		return nil
	}
	return s.off
}

// Close flushes and lets go of the database. Prompts that were offered again count as seen.
// A store that is used again opens the database again.
func (s *Store) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	err := s.Flush(ctx)
	s.journal.forgetOffered()
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

// turnOff stops using the database, for good. What is pending is kept, to be found again. It
// is told once.
func (s *Store) turnOff(err error) {
	s.warn(err.Error() + " Prompts are not recorded until the next start.") // before anybody goes on who waits
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off = err
	s.settle()
}

// settle lets those go on who wait for the pending ones. It needs mu.
func (s *Store) settle() {
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
	told := s.warned
	s.warned = true
	s.mu.Unlock()
	if told {
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

// record returns a prompt as it is recorded; ok is false for one that is not.
func record(text string) (clean string, ok bool) {
	if strings.HasPrefix(text, " ") {
		return "", false
	}
	clean = cleanPrompt(text)
	return clean, clean != ""
}
