package replicate

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/connect"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/gitremote"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

const (
	turnWait   = 300 * time.Millisecond // for the lease of a turn
	beatTime   = 10 * time.Second       // between two extensions of a lease
	idleTime   = 10 * time.Minute       // from the last use of a session until its lease ends
	lookTime   = 10 * time.Second       // between two looks for changed files, and for the lock
	stateTime  = time.Second            // the shortest time between two events about the state
	helloTime  = time.Minute            // after which the store is asked again which one it is
	writerTime = 2 * time.Second        // between two questions for the writer
	flushFor   = 5 * time.Second
	graceTime  = 100 * time.Millisecond // from the end of a flush until its last call is not waited for
)

// Config configures a [Replicator]. Open, Fs, Dir, Sessions, Library and Git are required.
type Config struct {
	// Open returns the configured store, without connecting to it, and its address. It is called at the first need, and again after an
	// error.
	Open func() (team.Store, connect.Address, error)

	Fs       afero.Fs
	Dir      string // <agentDir>/xcsh-ls/team
	Sessions *session.Store
	Library  library.Finder
	Locks    *lock.Locker // of the files in Dir; nil: one for Fs

	Git    gitremote.Machine
	Hosts  []string          // further hosts that ignore case in paths: team.hosts
	Alias  map[string]string // from the key of a project to the key of the same project: team.alias
	Device identity.Surroundings

	Secrets []string                         // of the user, which are replaced wherever they occur
	Image   func(h team.Sum) ([]byte, error) // see [publish.Config]

	FlushFor time.Duration // the longest time of a flush: team.flush; 0: 5 seconds
	Clock    publish.Clock // nil: the system's
	Event    func(Event)   // is called without locks; nil: events are dropped
	Log      *zap.Logger   // nil: nothing is logged
}

// withDefaults fills the optional fields.
func (c Config) withDefaults() Config {
	if c.Locks == nil {
		c.Locks = lock.New(c.Fs, lock.Options{})
	}
	if c.FlushFor == 0 {
		c.FlushFor = flushFor
	}
	if c.Clock == nil {
		c.Clock = publish.SystemClock{}
	}
	if c.Event == nil {
		c.Event = func(Event) {}
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.Device.Getenv == nil {
		c.Device.Getenv = func(string) string { return "" }
	}
	return c
}

// Replicator keeps the session files of this machine and the team's store alike. It is safe for concurrent use; a process has one.
type Replicator struct {
	c       Config
	pub     *publish.Publisher
	consent consent.File
	states  shipping.States

	life    context.Context //nolint:containedctx // of the goroutines, until Close
	end     context.CancelFunc
	running sync.WaitGroup
	kick    chan struct{} // has a value when files are to be looked at
	looking chan struct{} // has a value while files are looked at

	// No lock is held during a call of the store or of Config.Event.
	mu         sync.Mutex
	closed     bool
	awake      bool // the background goroutines run; the fields below are guarded by mu, too
	shares     bool // the user shares something, as far as it was read
	decided    consent.Decisions
	sender     *lock.Session // push.lock; nil if another process has it
	alone      bool          // files are looked at: this process has the lock, or it cannot be taken
	own        map[string]bool
	seen       map[string]stamp
	conn       connection
	holds      map[string]*hold
	beating    bool
	bell       chan struct{}   // is closed and replaced when the state may have changed
	problem    error           // of the consent of a container
	background context.Context //nolint:containedctx // of Start; nil before it
	flushed    bool            // Flush was called, and nothing changed since
}

// New returns a Replicator. It starts nothing and opens nothing.
func New(c Config) *Replicator {
	r := &Replicator{
		c: c.withDefaults(), kick: make(chan struct{}, 1), looking: make(chan struct{}, 1), bell: make(chan struct{}),
		own: map[string]bool{}, seen: map[string]stamp{}, holds: map[string]*hold{},
	}
	r.consent = consent.File{Fs: c.Fs, Dir: c.Dir, Locks: r.c.Locks}
	r.states = shipping.States{Fs: c.Fs, Dir: filepath.Join(c.Dir, "state")}
	r.life, r.end = context.WithCancel(context.Background())
	r.pub = publish.New(publish.Config{
		Store: r.sending, Fs: c.Fs, States: r.states, Consent: r.consent.Read, Project: r.project,
		Image: c.Image, Home: c.Library.Home, Secrets: c.Secrets, Clock: r.c.Clock, Event: r.published,
		Complete: r.complete,
	})
	return r
}

// goes runs f in a goroutine that Close waits for. It reports false after Close.
func (r *Replicator) goes(f func(ctx context.Context)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.running.Go(func() { f(r.life) })
	return true
}

// goesUntil is goes for a goroutine that also ends with ctx.
func (r *Replicator) goesUntil(ctx context.Context, f func(ctx context.Context)) {
	r.goes(func(life context.Context) {
		life, cancel := context.WithCancel(life)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		f(life)
	})
}

// limited returns a context that also ends after d by the clock.
func (r *Replicator) limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	over := r.c.Clock.After(d)
	go func() {
		select {
		case <-over:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// pause waits for d, for more if it is not nil, or for the end of ctx, after which it returns false.
func (r *Replicator) pause(ctx context.Context, d time.Duration, more <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-more:
	case <-r.c.Clock.After(d):
	}
	return ctx.Err() == nil
}
