// Package hosting keeps the engine of one session: another program that answers in place of our own loop. It
// starts the program when it is needed and ends it when it is not, lends it the session file, finds the entries of its
// messages there, and asks the user its questions.
//
// The program is one per live session. It never gets a prompt twice by itself: when it ends in a run, the run ends.
package hosting

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// idleFor is how long an engine stays without a prompt if the configuration does not say it: as long as services keep a
// conversation in their cache.
const idleFor = 15 * time.Minute

// The bounds of restarts: after that many failures within the period, only the user starts the engine again.
const (
	maxFailures   = 3
	failurePeriod = time.Minute
)

// Config configures a [Seat]. All fields but Idle, Now and Log are required.
type Config struct {
	Program engine.Program
	Engine  func() (engine.Engine, error) // makes an engine that is not started
	Session *session.Log
	Cwd     string
	Home    func() (Home, error)              // of the program, for the folder
	Plain   bool                              // see [engine.Place]
	Place   func() engine.Place               // the settings of a new session, and the functions offered
	Gate    *approval.Gate                    // asked before tools change something
	Files   tool.Workspace                    // the files of the editor
	Emit    func(event.Event)                 // publishes an event of the session
	Queued  func(steering, followUp []string) // the messages that wait for the run
	OnDisk  func()                            // the file of the session exists now
	Said    func(text string)                 // a prompt is in the session file
	Prompt  func(entryID string)              // a prompt has this entry; nil drops it
	Back    func()                            // this program may write the session file again; nil does nothing
	Left    func(path string)                 // the engine went to another session; called on a goroutine of its own
	Missing func()                            // the program was not there any more; must not block
	Idle    time.Duration                     // see idleFor
	Now     func() time.Time
	Log     *zap.Logger

	Breaches *Breaches // of the folder; nil has none
}

// Seat is the place of an engine in one session. It is safe for concurrent use.
type Seat struct {
	cfg   Config
	turn  chan struct{} // one slot: the right to start or end the engine
	asked questions

	mu       sync.Mutex
	tenure   *tenure // of the engine that runs, nil if none does; guarded by mu, like all below
	state    engine.State
	can      engine.Can
	version  string
	choice   engine.Choice
	message  string
	failures []time.Time
	uses     int         // operations that need the engine
	idle     *time.Timer // nil while it is used or does not run
	shut     bool        // see Shut
}

// tenure is the time of one process.
type tenure struct {
	engine   engine.Engine
	file     file
	host     *host
	outdated atomic.Bool   // another program appended to the file, and the engine has not read it
	warned   atomic.Bool   // the user knows of that program
	over     chan struct{} // closed when the session file is ours again
	end      sync.Once
}

// New returns the seat of a program that is not started yet.
func New(cfg Config) *Seat {
	if cfg.Idle == 0 {
		cfg.Idle = idleFor
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	if cfg.Breaches == nil {
		cfg.Breaches = new(Breaches)
	}
	if cfg.Prompt == nil {
		cfg.Prompt = func(string) {}
	}
	if cfg.Back == nil {
		cfg.Back = func() {}
	}
	if cfg.Missing == nil {
		cfg.Missing = func() {}
	}
	s := &Seat{cfg: cfg, turn: make(chan struct{}, 1), state: engine.Known, can: before(cfg.Program), version: cfg.Program.Version}
	s.asked.seat = s
	return s
}

// before are the probable abilities of a program that was not started.
func before(p engine.Program) engine.Can {
	if p.Protocol == engine.ACP {
		return engine.Can{Permission: true, Login: p.Login != nil}
	}
	reads := p.Protocol == engine.PiRPC // through the editor
	return engine.Can{Steer: true, Branch: true, Compact: true, Images: true, Files: reads, Permission: true, Models: true, Login: p.Login != nil}
}

// Session returns the session.
func (s *Seat) Session() *session.Log { return s.cfg.Session }

// Program returns the program.
func (s *Seat) Program() engine.Program { return s.cfg.Program }

// Status describes the engine.
func (s *Seat) Status() engine.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return engine.Status{Name: s.cfg.Program.Name, Version: s.version, State: s.state, Can: s.can, Message: s.message}
}

// become changes the state and publishes it.
func (s *Seat) become(state engine.State, message string) { s.becomeWith(state, message, "", nil) }

func (s *Seat) becomeWith(state engine.State, message, details string, actions []event.Action) {
	s.mu.Lock()
	same := s.state == state && s.message == message
	s.state, s.message = state, message
	version := s.version
	s.mu.Unlock()
	if same {
		return
	}
	s.cfg.Emit(event.EngineChanged{
		Engine: s.cfg.Program.Name, Version: version, State: string(state), Message: message, Details: details, Actions: actions,
	})
}

// Alive reports whether the engine runs, so that the session file is lent to it.
func (s *Seat) Alive() bool { return s.serving() != nil }

func (s *Seat) serving() *tenure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tenure
}

// With calls f with the running engine, which is started first if necessary.
func (s *Seat) With(ctx context.Context, f func(e engine.Engine) error) error {
	t, release, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer release()
	err = f(t.engine)
	t.host.catch()
	return err
}

// use starts the engine if necessary, and keeps it until release is called.
func (s *Seat) use(ctx context.Context) (t *tenure, release func(), err error) {
	if err := s.acquire(ctx); err != nil {
		return nil, nil, err
	}
	defer func() { <-s.turn }()
	if t, err = s.ready(ctx); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uses++
	s.stopIdleLocked()
	return t, s.release, nil
}

func (s *Seat) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uses--
	if s.uses > 0 || s.tenure == nil || s.shut {
		return
	}
	s.stopIdleLocked()
	t := s.tenure
	s.idle = time.AfterFunc(s.cfg.Idle, func() { s.rest(t) })
}

func (s *Seat) stopIdleLocked() {
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
}

// rest ends an engine that was idle for long. The next prompt starts it again.
func (s *Seat) rest(t *tenure) {
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	if s.acquire(ctx) != nil {
		return
	}
	defer func() { <-s.turn }()
	s.mu.Lock()
	used := s.uses > 0 || s.tenure != t
	s.mu.Unlock()
	if !used {
		_ = s.dismiss(ctx, t)
	}
}

func (s *Seat) acquire(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fault.New(fault.Cancelled, "%s was not started: %w", s.cfg.Program.Name, ctx.Err())
	}
}
