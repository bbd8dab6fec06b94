package agent

import (
	"context"
	"errors"
	"slices"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Outcome is the result of a change of session.
type Outcome struct {
	Changed     bool
	CancelledBy string // the hook that refused and its reason, such as "hook guard.sh: not today"; nothing changed then

	Reading *Reading // the new session, if it is not yet read whole; see [Session.SwitchEarly]
}

// replacement is one way for a folder to get another live session.
type replacement struct {
	reason Reason
	before hook.Event
	after  hook.Name
	open   func() (*session.Log, error) // makes or opens the session to change to
	key    string                       // the canonical form of before.TargetSessionFile, if known
	adds   bool                         // it adds a file to the lists of sessions

	needsIdle  bool // it fails with a Busy error while a turn is running; other changes stop the turn
	copiesLive bool // the target is made of the live session
}

// Switch makes the session at path the live one; the file that is live already is
// read again. A session that is live in another
// folder of this server is a Busy error. The previous session stays active when anything
// fails.
func (s *Session) Switch(ctx context.Context, path string) (Outcome, error) {
	return s.switchTo(ctx, path, nil)
}

// SwitchToNewAt makes a fresh session at exactly path, which must be missing or
// empty, and makes it the live one.
func (s *Session) SwitchToNewAt(ctx context.Context, path string) (Outcome, error) {
	return s.change(ctx, replacement{
		reason: ReasonResume, after: hook.Switch, adds: true,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "resume", TargetSessionFile: path},
		open:   func() (*session.Log, error) { return s.m.cfg.Store.CreateAt(path, s.cwd) },
	})
}

// New makes a fresh session the live one.
func (s *Session) New(ctx context.Context, o session.NewOptions) (Outcome, error) {
	return s.change(ctx, replacement{
		reason: ReasonNew, after: hook.Switch,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "new"},
		open: func() (*session.Log, error) {
			o.For = s.program()
			return s.m.create(s.cwd, o)
		},
	})
}

// Fork copies the live session and makes the copy the live one. Returns a Busy error while a
// turn is running: the copy would end in the middle of it.
func (s *Session) Fork(ctx context.Context) (Outcome, error) {
	return s.change(ctx, replacement{
		needsIdle: true, copiesLive: true,
		reason: ReasonFork, after: hook.Switch, adds: true,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "fork"},
		open:   func() (*session.Log, error) { return s.m.cfg.Store.Fork(s.current()) },
	})
}

// ForkFrom copies the session at path into this folder and makes the copy the live one.
// Returns a Busy error while a turn is running.
func (s *Session) ForkFrom(ctx context.Context, path string) (Outcome, error) {
	return s.change(ctx, replacement{
		needsIdle: true,
		reason:    ReasonFork, after: hook.Switch, adds: true,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "fork", TargetSessionFile: path},
		open: func() (*session.Log, error) {
			if s.m.cfg.InMemory {
				return nil, fault.New(fault.NotPersistent, "--fork requires session persistence")
			}
			return s.m.cfg.Store.ForkFrom(path, s.cwd)
		},
	})
}

// ForkAt copies the path to one entry into a new session and makes that the live one.
// With [session.Before] the text of the user message is returned.
func (s *Session) ForkAt(ctx context.Context, entryID string, at session.Position) (text string, out Outcome, err error) {
	out, err = s.change(ctx, replacement{
		needsIdle: true, copiesLive: true,
		reason: ReasonBranch, after: hook.Branch, adds: true,
		before: hook.Event{Name: hook.BeforeFork, EntryID: entryID, Position: string(at)},
		open: func() (log *session.Log, err error) {
			log, text, err = s.m.cfg.Store.ForkAt(s.current(), entryID, at)
			return log, err
		},
	})
	return text, out, err
}

// change runs the steps of one change of session.
func (s *Session) change(ctx context.Context, c replacement) (out Outcome, err error) {
	if err := s.abandon(ctx); err != nil {
		return out, err
	}
	err = s.exclusive(ctx, func() error {
		t := &transition{s: s, replacement: c, old: s.current()}
		if target := c.before.TargetSessionFile; c.key == "" && target != "" {
			t.key = s.m.canonical(target)
		}
		t.sameFile = c.copiesLive || t.key != "" && s.m.isFile(t.old, t.key)
		return t.run(ctx, &out)
	})
	return out, err
}

// run does all steps of t.
func (t *transition) run(ctx context.Context, out *Outcome) error {
	if t.needsIdle && t.s.isRunning() {
		return errBusy("forking")
	}
	err := t.refused(runSteps(ctx, t.steps()), out)
	if out.Changed {
		t.announce()
	}
	return err
}

// refused sets the outcome of steps that ended with err, which it returns unless a hook refused.
func (t *transition) refused(err error, out *Outcome) error {
	if v, vetoed := errors.AsType[veto](err); vetoed {
		out.CancelledBy = v.String()
		return nil
	}
	out.Changed = err == nil
	return err
}

// transition is one change of session in progress.
type transition struct {
	replacement
	s        *Session
	old, new *session.Log
	sameFile bool // the target is, or is made of, the file of the session that is left
}

// steps is the order in which a folder changes its session. It is data, so that a
// test can print it.
//
// Differs: the programs abort the turn before they open the target. A missing or damaged file
// then costs the user an answer; here such a change fails before anything is stopped. A target
// in the file of the live session is opened last, when that file is complete.
func (t *transition) steps() []step {
	stop := []step{
		{name: "stop the current run", do: t.s.stop}, // the partial answer stays in the previous session
		{name: "flush the previous session", do: t.flushOld},
	}
	open := []step{
		{name: "open the target", do: t.openTarget, undo: t.releaseTarget},
		{name: "build its context", do: t.buildContext},
	}
	before, behind := open, stop
	if t.sameFile {
		before, behind = stop, open
	}
	return slices.Concat([]step{{name: "ask hooks", do: t.askHooks}}, before, behind, []step{
		{name: "make it the live session", do: t.activate, undo: t.reactivate},
		{name: "notify hooks", do: t.notifyHooks},
	})
}

func (t *transition) askHooks(ctx context.Context) error { return t.s.askHooks(ctx, t.before) }

// flushOld makes the previous session durable. A session that cannot be saved must not block the
// user: it stays open in memory until the change succeeded, and the failure was reported when it
// happened.
func (t *transition) flushOld(context.Context) error {
	if err := t.old.Flush(); err != nil {
		t.s.m.log.Warn("the previous session is not completely saved", zap.String("path", t.old.Path()), zap.Error(err))
	}
	return nil
}

func (t *transition) openTarget(context.Context) (err error) {
	t.new, err = t.open()
	return err
}

func (t *transition) closeTarget() error { return t.new.Close() }

// releaseTarget is closeTarget for a session that may have unsaved entries.
func (t *transition) releaseTarget() error {
	t.s.m.leave(t.new)
	return nil
}

// buildContext reads all that the session needs before anything is given up for it.
func (t *transition) buildContext(context.Context) error {
	_, err := stateOf(t.s.cwd, t.new)
	return err
}

func (t *transition) activate(context.Context) error {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.log, t.s.requests = t.new, remembered{}
	return nil
}

// reactivate makes the previous session live again. Its leaf is unchanged, because nothing wrote to
// it.
func (t *transition) reactivate() error {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.log = t.old
	return nil
}

func (t *transition) notifyHooks(ctx context.Context) error {
	t.s.notifyHooks(ctx, hook.Event{
		Name: t.after, Reason: t.before.Reason, EntryID: t.before.EntryID, PreviousSessionFile: t.old.Path(),
	})
	return nil
}

// announce publishes a completed change. It cannot fail.
func (t *transition) announce() {
	t.enter()
	t.s.changed(t.reason, t.old.Path())
	t.leave()
}

func (t *transition) enter() {
	t.s.gate.Forget() // permissions end with the session
	t.s.leaveBreadcrumb(t.new.Path())
}

// leave ends the previous session.
func (t *transition) leave() {
	if t.adds && t.new.OnDisk() {
		t.s.m.publish(SessionsChanged{Cwd: t.s.cwd})
	}
	t.s.accepted.sessionClosed(t.old)
	t.s.m.leave(t.old)
}

// leaveBreadcrumb records which session this terminal is in, for --continue there.
func (s *Session) leaveBreadcrumb(path string) {
	if path == "" || s.m.cfg.TerminalID == "" {
		return
	}
	for _, r := range s.m.cfg.Finder.Roots {
		if !r.Own || r.Terminals == "" {
			continue
		}
		if err := library.WriteBreadcrumb(s.m.cfg.Finder.Fs, r.Terminals, s.m.cfg.TerminalID, s.cwd, path); err != nil {
			s.m.log.Warn("breadcrumb was not written", zap.Error(err))
		}
		return
	}
}

// Continue makes the session that this terminal last used the live one, else the
// newest of the folder, else a new one. If another program answers in the folder and keeps its own sessions, it is the newest of
// those.
func (s *Session) Continue(ctx context.Context) (Outcome, error) { return s.continueWith(ctx, nil) }

// ContinueEarly is [Session.Continue] as [Session.SwitchEarly] is [Session.Switch].
func (s *Session) ContinueEarly(ctx context.Context, late Late) (Outcome, error) {
	return s.continueWith(ctx, &late)
}

// HasPrevious reports whether [Session.Continue] would open an existing session, or can open none because sessions have no files here.
func (s *Session) HasPrevious(ctx context.Context) (bool, error) {
	f := s.m.cfg.Finder
	if s.m.cfg.InMemory {
		return true, nil
	}
	if _, ok := f.Breadcrumb(s.cwd, s.m.cfg.TerminalID); ok && s.Engine().Name == engine.Own {
		return true, nil
	}
	_, ok, err := f.MostRecent(ctx, s.cwd, s.program())
	return ok, err
}

func (s *Session) continueWith(ctx context.Context, late *Late) (Outcome, error) {
	f := s.m.cfg.Finder
	if path, ok := f.Breadcrumb(s.cwd, s.m.cfg.TerminalID); ok && !s.m.cfg.InMemory && s.Engine().Name == engine.Own {
		out, err := s.switchTo(ctx, path, late)
		// A breadcrumb is a hint; its target may be damaged or missing.
		if !fault.Is(err, fault.Damaged) && !fault.Is(err, fault.NotFound) {
			return out, err
		}
	}
	path, ok, err := f.MostRecent(ctx, s.cwd, s.program())
	if err != nil {
		return Outcome{}, err
	}
	if ok && !s.m.cfg.InMemory {
		return s.switchTo(ctx, path, late)
	}
	return s.New(ctx, session.NewOptions{})
}
