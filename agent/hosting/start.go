package hosting

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// ready returns the running engine, which it starts if there is none. The caller has the turn.
func (s *Seat) ready(ctx context.Context) (*tenure, error) {
	if t := s.serving(); t != nil {
		select {
		case <-t.engine.Done():
			s.finish(t) // it has just ended
		default:
			return t, nil
		}
	}
	if err := s.mayStart(); err != nil {
		return nil, err
	}
	t, err := s.start(ctx)
	if err != nil {
		s.failed(ctx, err)
		return nil, err
	}
	return t, nil
}

// mayStart fails if the engine must not be started by itself.
func (s *Seat) mayStart() error {
	if mode := s.cfg.Gate.Mode(); s.cfg.Breaches.has(s.cfg.Program.Name, mode) {
		return s.fault("%s ran something without permission, so it is not started again in the mode %s. Change the mode, or use another engine.", s.cfg.Program.Name, mode).
			With("reason", engine.ReasonBreach)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return fault.New(fault.Stale, "The session was closed.")
	}
	if n := len(s.failures); n >= maxFailures && s.cfg.Now().Sub(s.failures[n-maxFailures]) < failurePeriod {
		return s.fault("%s has failed %d times within a minute. Start it again with xcsh.setEngine, or use another engine.", s.cfg.Program.Name, maxFailures)
	}
	return nil
}

// fault returns the error of an engine.
func (s *Seat) fault(format string, args ...any) *fault.Error {
	return fault.New(fault.Provider, format, args...).With("class", "engine").With("engine", s.cfg.Program.Name)
}

// start starts the engine on the session. The file is lent before the process exists: a second server must not start another
// one meanwhile.
func (s *Seat) start(ctx context.Context) (*tenure, error) {
	e, err := s.cfg.Engine()
	if err != nil {
		return nil, err
	}
	lent, err := s.lend()
	if err != nil {
		return nil, err
	}
	t := &tenure{engine: e, file: lent, over: make(chan struct{})}
	t.host = newHost(s, t)
	if lent, ok := lent.(*native); ok {
		lent.lost = func(err error) { go s.rescue(t, err) }
	}
	s.become(engine.Starting, "Starting "+s.cfg.Program.Name+" …")
	place, err := s.place(lent)
	if err == nil {
		err = s.open(ctx, t, place)
	}
	if err != nil {
		s.end(ctx, t)
		s.takeBack(t, false)
		return nil, err
	}
	s.mu.Lock()
	s.tenure, s.can = t, e.Can()
	s.mu.Unlock()
	go s.watch(t)
	s.become(engine.Ready, "")
	return t, nil
}

// place is where the engine is to answer.
func (s *Seat) place(lent file) (engine.Place, error) {
	place := s.cfg.Place()
	place.Plain = s.cfg.Plain
	place.Cwd, place.ID = s.cfg.Cwd, s.cfg.Session.Header().ID
	if n := len(place.MCPServers); n > 0 && s.cfg.Program.Protocol != engine.ACP {
		s.cfg.Log.Warn("the MCP servers of the client are not used by this engine", zap.String("engine", s.cfg.Program.Name), zap.Int("servers", n))
	}
	if r, foreign := lent.(*recorded); foreign {
		place.Session = r.known()
	}
	home, err := s.cfg.Home()
	if err != nil {
		return place, err
	}
	place.Dir = home.Dir
	if n, isNative := lent.(*native); isNative && !n.exists() && !makesFile(s.cfg.Program) {
		if err := n.lent.Make(place.Dir); err != nil {
			return place, err
		}
	}
	if lent.exists() {
		place.File = s.cfg.Session.Path()
	}
	return place, nil
}

// open starts the process, and makes session and engine agree on the file and the leaf.
func (s *Seat) open(ctx context.Context, t *tenure, place engine.Place) error {
	opened, err := t.engine.Open(ctx, place, t.host)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if opened.Version != "" {
		s.version = opened.Version
	}
	s.choice = engine.Choice{Model: opened.Model, Thinking: opened.Thinking}
	s.mu.Unlock()
	for _, text := range append(opened.Notices, s.forgotten(t.file, place)...) {
		s.cfg.Emit(event.Notice{Text: text})
	}
	if err := t.file.opened(opened); err != nil {
		return err
	}
	if place.File == "" {
		return nil
	}
	return s.align(ctx, t, opened)
}

// forgotten tells the user what a foreign engine does not know: a fork, and a session in which others answered so far, are new to
// it.
func (s *Seat) forgotten(f file, place engine.Place) []string {
	if r, foreign := f.(*recorded); !foreign || place.Session != "" || !r.talked() {
		return nil
	}
	return []string{s.cfg.Program.Name + " starts a new conversation; it does not remember the messages above."}
}

// align moves the engine to the leaf that the session is shown at.
func (s *Seat) align(ctx context.Context, t *tenure, opened engine.Opened) error {
	ours := s.cfg.Session.LeafID()
	if opened.File == "" || ours == opened.LeafID || opened.LeafID == "" {
		return nil
	}
	if ours != "" && t.engine.Can().Branch {
		moved, err := t.engine.Move(ctx, ours, engine.Summary{})
		if err == nil {
			return t.file.leaf(moved.LeafID)
		}
		s.cfg.Log.Warn("an engine could not be moved to the leaf", zap.Error(err))
	}
	s.cfg.Emit(event.Notice{Text: s.cfg.Program.Name + " continues at the end of the session."})
	return t.file.leaf(opened.LeafID)
}

// failed publishes a failure, unless the caller gave up.
func (s *Seat) failed(ctx context.Context, err error) {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || fault.Is(err, fault.Cancelled)) {
		s.become(engine.Known, "")
		return
	}
	if fault.Is(err, fault.Busy) || fault.Is(err, fault.ArgumentNeeded) { // nothing was started
		s.become(engine.Known, err.Error())
		return
	}
	s.mu.Lock()
	s.failures = append(s.failures, s.cfg.Now())
	if over := len(s.failures) - maxFailures; over > 0 {
		s.failures = s.failures[over:]
	}
	s.mu.Unlock()
	reason := reasonOf(err)
	switch reason {
	case engine.ReasonBreach:
		s.cfg.Breaches.add(s.cfg.Program.Name, s.cfg.Gate.Mode())
	case engine.ReasonMissing:
		s.cfg.Missing()
	}
	s.becomeWith(engine.Failed, err.Error(), details(err), s.actions(reason))
}

// actions are the ways to continue after a failure.
func (s *Seat) actions(reason string) (list []event.Action) {
	name := s.cfg.Program.Name
	if reason != engine.ReasonBreach {
		list = append(list, setEngine("Start Again", map[string]any{"engine": name}))
	}
	if reason == engine.ReasonExtension && !s.cfg.Plain {
		list = append(list, setEngine("Start without Extensions", map[string]any{"engine": name, "withoutExtensions": true}))
	}
	return append(list, setEngine("Use xcsh-ls", map[string]any{"engine": engine.Own}))
}

func setEngine(title string, args map[string]any) event.Action {
	return event.Action{Title: title, Command: "xcsh.setEngine", Arguments: args}
}

// details returns the output of a program that an error carries.
func details(err error) string { return textOf(err, "details") }

// reasonOf returns the reason of a failure; see [engine.ReasonMissing].
func reasonOf(err error) string { return textOf(err, "reason") }

func textOf(err error, member string) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	text, _ := f.Data[member].(string)
	return text
}

// Forgive forgets earlier failures, because the user starts the engine again.
func (s *Seat) Forgive() {
	s.mu.Lock()
	failed := s.state == engine.Failed
	s.failures = nil
	s.mu.Unlock()
	if failed {
		s.become(engine.Known, "")
	}
}
