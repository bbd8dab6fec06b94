package agent

import (
	"context"
	"errors"
	"slices"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Outcome is what became of a change of session.
type Outcome struct {
	Changed     bool
	CancelledBy string // who said no, and why, such as "hook guard.sh: not today"; then nothing changed
}

// change is one way for a folder to get another live session.
type change struct {
	reason Reason
	before hook.Event
	after  hook.Name
	open   func() (*session.Log, error) // makes or opens the session to change to
	adds   bool                         // it puts a file where lists look
	idle   string                       // what is refused while a turn runs; "" for a change that stops it
}

// Switch makes the session at path the live one; the file that is live already is
// read again. A session that is live in another
// folder of this server is kind busy. The previous session stays active when anything
// fails.
func (s *Session) Switch(ctx context.Context, path string) (Outcome, error) {
	release, err := s.m.reserve(path, s)
	if err != nil {
		return Outcome{}, err
	}
	defer release()
	return s.change(ctx, change{
		reason: ReasonResume, after: hook.Switch,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "resume", TargetSessionFile: path},
		open: func() (*session.Log, error) {
			// Reading the same file again must not lose what is not in it yet.
			if now := s.current(); now.Err() != nil && s.m.isFile(now, path) {
				return nil, now.Err()
			}
			return s.m.open(path)
		},
	})
}

// SwitchToNewAt makes a fresh session at exactly path, which must be missing or
// empty, and makes it the live one.
func (s *Session) SwitchToNewAt(ctx context.Context, path string) (Outcome, error) {
	return s.change(ctx, change{
		reason: ReasonResume, after: hook.Switch, adds: true,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "resume", TargetSessionFile: path},
		open:   func() (*session.Log, error) { return s.m.cfg.Store.CreateAt(path, s.cwd) },
	})
}

// New makes a fresh session the live one.
func (s *Session) New(ctx context.Context, o session.NewOptions) (Outcome, error) {
	return s.change(ctx, change{
		reason: ReasonNew, after: hook.Switch,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "new"},
		open:   func() (*session.Log, error) { return s.m.create(s.cwd, o) },
	})
}

// Fork copies the live session and makes the copy the live one. While a turn runs it is
// kind busy: the copy would end in the middle of it.
func (s *Session) Fork(ctx context.Context) (Outcome, error) {
	return s.change(ctx, change{
		idle:   "forking",
		reason: ReasonFork, after: hook.Switch, adds: true,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "fork"},
		open:   func() (*session.Log, error) { return s.m.cfg.Store.Fork(s.current()) },
	})
}

// ForkFrom copies the session at path into this folder and makes the copy the live one.
// While a turn runs it is kind busy.
func (s *Session) ForkFrom(ctx context.Context, path string) (Outcome, error) {
	return s.change(ctx, change{
		idle:   "forking",
		reason: ReasonFork, after: hook.Switch, adds: true,
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
	out, err = s.change(ctx, change{
		idle:   "forking",
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
func (s *Session) change(ctx context.Context, c change) (out Outcome, err error) {
	err = s.exclusive(ctx, func() error {
		if c.idle != "" && s.isRunning() {
			return errBusy(c.idle)
		}
		t := &transition{s: s, change: c, old: s.current()}
		t.sameFile = c.before.TargetSessionFile == "" && c.idle != "" || s.m.isFile(t.old, c.before.TargetSessionFile)
		err := runSteps(ctx, t.steps())
		if v, vetoed := errors.AsType[veto](err); vetoed {
			out.CancelledBy = v.String()
			return nil
		}
		if err != nil {
			return err
		}
		out.Changed = true
		t.announce()
		return nil
	})
	return out, err
}

// transition is one change of session under way.
type transition struct {
	change
	s        *Session
	old, new *session.Log
	sameFile bool // the target is, or is made of, the file of the session that is left
}

// steps is the order in which a folder changes its session. It is data, so that a
// test can print it.
//
// Differs: the programs abort the turn before they look at the target. A file that is gone or
// damaged then costs the person an answer and leaves them where they were; here such a change
// fails before anything is stopped. Only what is in the file of the session that is left can be
// read no earlier than when all of it is there.
func (t *transition) steps() []step {
	stop := []step{
		{name: "stop what runs", do: t.s.stop}, // what it was answered stays in the previous session
		{name: "flush the previous session", do: t.flushOld},
	}
	open := []step{
		{name: "open the target", do: t.openTarget, undo: t.giveBackTarget},
		{name: "build its context", do: t.buildContext},
	}
	before, behind := open, stop
	if t.sameFile {
		before, behind = stop, open
	}
	return slices.Concat([]step{{name: "ask hooks", do: t.askHooks}}, before, behind, []step{
		{name: "make it the live session", do: t.activate, undo: t.reactivate},
		{name: "tell hooks", do: t.tellHooks},
	})
}

func (t *transition) askHooks(ctx context.Context) error { return t.s.askHooks(ctx, t.before) }

// flushOld makes the session that is left durable. One that cannot be saved must not
// hold the person captive: it stays open in memory until the change succeeded, and
// the failure was reported when it happened.
func (t *transition) flushOld(context.Context) error {
	if err := t.old.Flush(); err != nil {
		t.s.m.log.Warn("leaving a session that is not saved completely", zap.String("path", t.old.Path()), zap.Error(err))
	}
	return nil
}

func (t *transition) openTarget(context.Context) (err error) {
	t.new, err = t.open()
	return err
}

func (t *transition) closeTarget() error { return t.new.Close() }

// giveBackTarget is closeTarget for a session that may be one that was left unsaved.
func (t *transition) giveBackTarget() error {
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
	t.s.log = t.new
	return nil
}

// reactivate makes the previous session live again. Its leaf is where it was, because
// nobody touched it.
func (t *transition) reactivate() error {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.log = t.old
	return nil
}

func (t *transition) tellHooks(ctx context.Context) error {
	t.s.tellHooks(ctx, hook.Event{
		Name: t.after, Reason: t.before.Reason, EntryID: t.before.EntryID, PreviousSessionFile: t.old.Path(),
	})
	return nil
}

// announce is what follows a change that is complete and can no longer fail.
func (t *transition) announce() {
	t.s.gate.Forget() // what was allowed was for the session that was left
	t.s.leaveBreadcrumb(t.new.Path())
	t.s.changed(t.reason, t.old.Path())
	if t.adds && t.new.OnDisk() {
		t.s.m.publish(SessionsChanged{Cwd: t.s.cwd})
	}
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
		if err := session.WriteBreadcrumb(s.m.cfg.Finder.Fs, r.Terminals, s.m.cfg.TerminalID, s.cwd, path); err != nil {
			s.m.log.Warn("breadcrumb was not written", zap.Error(err))
		}
		return
	}
}

// Continue makes the session that this terminal last used the live one, else the
// newest of the folder, else a new one.
func (s *Session) Continue(ctx context.Context) (Outcome, error) {
	f := s.m.cfg.Finder
	if path, ok := f.Breadcrumb(s.cwd, s.m.cfg.TerminalID); ok && !s.m.cfg.InMemory {
		out, err := s.Switch(ctx, path)
		// A breadcrumb is a hint; what it leads to may be damaged or gone by now.
		if !fault.Is(err, fault.Damaged) && !fault.Is(err, fault.NotFound) {
			return out, err
		}
	}
	path, ok, err := f.MostRecent(ctx, s.cwd)
	if err != nil {
		return Outcome{}, err
	}
	if ok && !s.m.cfg.InMemory {
		return s.Switch(ctx, path)
	}
	return s.New(ctx, session.NewOptions{})
}
