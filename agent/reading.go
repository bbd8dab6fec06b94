package agent

import (
	"cmp"
	"context"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/early"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// earlyFrom is the size in bytes above which a session is shown before its file is read whole.
const earlyFrom = 64 << 20

// Late describes how a session that was shown early is reported when it has been read.
type Late struct {
	// Summarize returns the summary of [SessionState] for a session that has just been read.
	Summarize func(d *session.Document, leaf session.Leaf) (any, error)
}

// Reading is the session that a folder is about to have, while its file is read. It is safe for concurrent use.
type Reading struct {
	s    *Session
	view *early.View
	done chan struct{} // closed when the folder has it, or keeps its previous session

	halted atomic.Pointer[error] // why the reading ends early
	known  atomic.Bool           // nothing is pending any more, or nothing will be known
	err    error                 // why the folder does not have it; set before done is closed
}

// SwitchEarly is [Session.Switch] that does not wait until a large file is read, if the end of the file says enough. Then
// Outcome.Reading is set. The reading continues, and ends with a [SessionState] event. If it fails, the folder keeps its
// previous session, which a [SessionChanged] and an error event report. Every other change of session, and the end of the
// session, end the reading as if it had failed.
func (s *Session) SwitchEarly(ctx context.Context, path string, late Late) (out Outcome, err error) {
	return s.switchTo(ctx, path, &late)
}

// Reading returns the session that the folder is about to have, as long as parts of it are not known; nil if there is none.
func (s *Session) Reading() *Reading {
	if r := s.beingRead(); r != nil && !r.known.Load() {
		return r
	}
	return nil
}

func (s *Session) beingRead() *Reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reading
}

// Read waits until the session that the folder is about to have, if any, is read and reported. It returns the error if it
// cannot be read.
func (s *Session) Read(ctx context.Context) error {
	if r := s.beingRead(); r != nil {
		return r.Wait(ctx)
	}
	return nil
}

// Wait waits until the session is read. It returns the error if that fails.
func (r *Reading) Wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// halt ends the reading with an error, unless the file was read already.
func (r *Reading) halt(err error) { r.halted.CompareAndSwap(nil, &err) }

func (r *Reading) haltedBy() error {
	if err := r.halted.Load(); err != nil {
		return *err
	}
	return nil
}

// abandon ends the reading of another session and waits for that.
func (s *Session) abandon(ctx context.Context) error {
	r := s.beingRead()
	if r == nil {
		return nil
	}
	r.halt(errReplaced(r.view.File))
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func errReplaced(path string) error {
	return fault.New(fault.Stale, "%s was not read to its end, because the folder's session was changed again or closed; repeat the command.", path).With("path", path)
}

// early returns what can be shown of the target of t before it is read; nil if that must be read first.
func (t *transition) early(path string) *early.View {
	s := t.s
	s.m.mu.Lock()
	unsaved := s.m.unsaved[t.key] != nil
	s.m.mu.Unlock()
	if unsaved || t.sameFile || s.isRunning() {
		return nil
	}
	return early.Open(s.m.cfg.Store, path, cmp.Or(s.m.cfg.EarlyFrom, earlyFrom))
}

// readLater does the steps of t that read its target on another goroutine, which then calls release.
func (t *transition) readLater(ctx context.Context, v *early.View, steps []step, late Late, release func()) *Reading {
	s, r := t.s, &Reading{s: t.s, view: v, done: make(chan struct{})}
	store := *s.m.cfg.Store
	store.Halt = r.haltedBy
	t.open = func() (*session.Log, error) { return store.Open(v.File) }
	s.mu.Lock()
	s.reading = r
	s.mu.Unlock()
	t.publish(v.Header.ID, t.reason, t.old.Path())
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer func() {
			s.mu.Lock()
			s.reading = nil
			s.mu.Unlock()
			release()
			close(r.done)
		}()
		r.err = safely(func() error { return runSteps(ctx, r.haltable(steps)) })
		shown, shownErr := r.State()
		r.known.Store(true)
		if r.err != nil {
			t.reportUnread(r)
			return
		}
		t.enter()
		t.leave()
		err := safely(func() error { return t.reportRead(r, shown, shownErr == nil, late) })
		if err != nil {
			s.changed(ReasonReload, "")
			s.emit(t.new, ErrorEvent("xcsh.resume", err))
		}
		s.reportLarge()
		s.reportForeign()
	}()
	return r
}

// haltable returns steps that fail once r is halted.
func (r *Reading) haltable(steps []step) []step {
	list := make([]step, len(steps))
	for i, one := range steps {
		list[i] = one
		list[i].do = func(ctx context.Context) error {
			if err := r.haltedBy(); err != nil {
				return err
			}
			return one.do(ctx)
		}
	}
	return list
}

// reportUnread reports that the session could not be read, so that the folder still has its previous one.
func (t *transition) reportUnread(r *Reading) {
	t.s.m.log.Warn("a session that was shown could not be read", zap.String("path", r.view.File), zap.Error(r.err))
	t.s.changed(ReasonResume, r.view.File)
	if r.haltedBy() == nil {
		t.s.emit(t.old, event.Error{Text: "xcsh.resume", ErrorMessage: r.err.Error(), Kind: string(fault.KindOf(r.err))})
	}
}

// safely turns a panic of f into an error: a session must not end the server.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "The session could not be read: panic: %v.", p)
		}
	}()
	return f()
}

// reportRead reports what was not known before, and if what was shown before is no longer so. shown is the state before, if it
// was known.
func (t *transition) reportRead(r *Reading, shown State, known bool, late Late) error {
	state, err := t.s.stateIn(t.new)
	if err != nil {
		return err
	}
	e := SessionState{Cwd: t.s.cwd, SessionID: state.SessionID, State: t.s.withReadiness(context.Background(), t.new, state), Repairs: []session.Problem{}}
	same := false
	err = t.new.View(func(d *session.Document, leaf session.Leaf) (err error) {
		if same, err = r.view.Shows(d, leaf, t.s.m.cfg.Store.BlobsFor(t.new.Path())); err != nil {
			return err
		}
		e.Repairs = append(e.Repairs, d.Problems()...)
		e.Summary, err = late.Summarize(d, leaf)
		return err
	})
	if err != nil {
		return err
	}
	problems, err := t.new.ContextProblems()
	if err != nil {
		return err
	}
	e.Repairs = append(e.Repairs, problems...)
	if !same || !known || shown.contradicts(state) {
		t.s.changed(ReasonReload, "")
	}
	t.s.m.publish(e)
	return nil
}

// publish publishes that the session called id is the folder's.
func (t *transition) publish(id string, reason Reason, previous string) {
	t.s.m.publishNumbered(id, func(seq uint64) Event {
		return SessionChanged{Cwd: t.s.cwd, SessionID: id, Seq: seq, Reason: reason, PreviousSessionFile: previous}
	})
}

// switchTo makes the session at path the live one, and shows it early unless late is nil.
func (s *Session) switchTo(ctx context.Context, path string, late *Late) (out Outcome, err error) {
	if err := s.abandon(ctx); err != nil {
		return out, err
	}
	key := s.m.canonical(path)
	release, err := s.m.reserveAt(path, key, s)
	if err != nil {
		return out, err
	}
	if err := s.acquire(ctx); err != nil {
		release()
		return out, err
	}
	end := func() {
		<-s.ops
		release()
	}
	t := &transition{s: s, old: s.current(), replacement: replacement{
		reason: ReasonResume, after: hook.Switch,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "resume", TargetSessionFile: path},
		key:    key,
		open: func() (*session.Log, error) {
			// Reading the same file again must not lose entries that are not in it yet.
			if now := s.current(); now.Err() != nil && s.m.isFile(now, key) {
				return nil, now.Err()
			}
			return s.m.open(path, key)
		},
	}}
	t.sameFile = s.m.isFile(t.old, key)
	if !s.isEnded() && late != nil {
		if v := t.early(path); v != nil {
			return t.showEarly(ctx, v, *late, end)
		}
	}
	defer end()
	err = s.whileHeld(func() error { return t.run(ctx, &out) })
	return out, err
}

// showEarly does the steps of t up to those that read its target. end is called when all are done.
func (t *transition) showEarly(ctx context.Context, v *early.View, late Late, end func()) (out Outcome, err error) {
	steps := t.steps()
	if err := t.refused(runSteps(ctx, steps[:1]), &out); err != nil || !out.Changed {
		end()
		return out, err
	}
	out.Reading = t.readLater(ctx, v, steps[1:], late, end)
	return out, nil
}
