package agent

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/hosting"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/serving"
	"github.com/xcsh-ls/xcsh-ls/agent/task"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Session ("AgentSession") is the live conversation of one working directory. Which
// session file that is changes with Switch, New and Fork. It is safe for concurrent use.
type Session struct {
	cwd string
	m   *Manager
	ops chan struct{} // one slot: the turn to change something

	recording sync.Mutex // no run begins while it is held; taken before mu

	queue    loop.Queue      // the prompts sent during a turn
	accepted acceptedPrompts // prompts without an answer
	gate     *approval.Gate  // before tools that change something
	asked    asking.Desk     // questions to the user

	around orientation // of its conversations

	planShown  atomic.Pointer[session.Log] // the session whose plan mode was reported to the user
	setupShown atomic.Pointer[session.Log] // the session whose own setup was reported to the user

	reporting sync.Mutex // held while another program's branch is read and published; taken before mu

	publishing sync.Mutex // held while the pending approvals or the background commands are read and published
	approvals  string     // guarded by publishing: the last published approvals, as JSON

	background *tool.Background
	servers    *serving.Keeper // of the Model Context Protocol; they belong to the conversation that is live

	leftOutShown atomic.Pointer[session.Log] // the session whose servers that are left out were reported to the user

	invocable invocable // the names of skills and templates, as clients know them

	slots *task.Slots // of its subagents

	mu         sync.Mutex
	log        *session.Log // guarded by mu, like all below
	ended      bool
	run        *run // the current run, or nil
	compacting bool
	commands   map[*command]struct{} // the running commands of the user
	held       []heldRecord          // recorded when the run has ended
	events     *emitter              // of the session that log is
	rejected   rejected              // left out of requests
	requests   remembered            // what its conversation becomes in requests
	offers     []history.Entry       // see Offers
	foreign    branchReports         // other programs' branches, as published
	reading    *Reading              // the session that the folder is about to have, or nil
	engine     chosen                // what answers
	planned    *rewindPlan           // that was returned last
	seat       *hosting.Seat         // of the program that answers, nil before it is needed; see hosted
	breaches   hosting.Breaches
	news       changesNews        // of changes of files; has a lock of its own
	ledger     *ledger            // of the session that log is, nil before it is needed
	servedFor  *[]json.RawMessage // the servers that a client asked for since the session was opened; nil: those of the configuration
}

// Cwd returns the working directory, cleaned.
func (s *Session) Cwd() string { return s.cwd }

func (s *Session) current() *session.Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log
}

// State describes the session as it stands.
func (s *Session) State() (State, error) { return s.stateIn(s.current()) }

// stateIn describes the session with log as its conversation.
func (s *Session) stateIn(log *session.Log) (State, error) {
	state, err := stateOf(s.cwd, log)
	if err != nil {
		return State{}, err
	}
	state.TerminalID = s.m.cfg.TerminalID
	state.ApprovalMode, state.Engine = s.gate.Mode(), s.Engine()
	steering, followUp := s.queue.Texts()
	state.Queued = Queued{Steering: len(steering), FollowUp: len(followUp)}
	if state, err = s.withTiers(log, state); err != nil {
		return State{}, err
	}
	state, err = s.withRoles(log, state)
	if err != nil {
		return State{}, err
	}
	s.withChoice(log, &state)
	s.mu.Lock()
	defer s.mu.Unlock()
	state.IsCompacting = s.compacting
	state.IsStreaming = s.queue.Running()
	return state, nil
}

// File returns the session's file, "" for a session in memory.
func (s *Session) File() string { return s.current().Path() }

// HeaderLine returns the header of the session's file.
func (s *Session) HeaderLine() (line []byte, err error) {
	err = s.View(func(d *session.Document, _ session.Leaf) error {
		line = d.HeaderLine()
		return nil
	})
	return line, err
}

// Persistent reports whether the session has a file to live in.
func (s *Session) Persistent() bool { return s.current().Persistent() }

// OnDisk reports whether the session's file exists.
func (s *Session) OnDisk() bool { return s.current().OnDisk() }

// View calls f with the current state of the session. f must not keep d or call back.
func (s *Session) View(f func(d *session.Document, leaf session.Leaf) error) error {
	return s.current().View(f)
}

// ContextProblems returns the entries missing from the context of the current leaf.
func (s *Session) ContextProblems() ([]session.Problem, error) {
	return s.current().ContextProblems()
}

// exclusive runs f while no other operation changes the session.
func (s *Session) exclusive(ctx context.Context, f func() error) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-s.ops }()
	return s.whileHeld(f)
}

// whileHeld is exclusive for a caller that holds the operations.
func (s *Session) whileHeld(f func() error) error {
	if s.isEnded() {
		return fault.New(fault.Stale, "The session of %s was closed.", s.cwd)
	}
	defer func() { s.m.wrote(s.File()) }() // f may have written, and may have opened another session
	defer s.reportLarge()                  // f may have opened another session
	defer s.reportForeign()                // f may have read other programs' lines, or moved the leaf
	return f()
}

// acquire waits until no other operation changes the session. It succeeds without waiting even if
// ctx has ended: the steps at the end of a server must not depend on chance.
func (s *Session) acquire(ctx context.Context) error {
	select {
	case s.ops <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.ops <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// idle runs f while no other operation changes the session and no turn is running. It returns a
// Busy error if a turn is running; what completes its message.
func (s *Session) idle(ctx context.Context, what string, f func() error) error {
	return s.exclusive(ctx, func() error {
		if s.isRunning() {
			return errBusy(what)
		}
		return f()
	})
}

// CheckIdle returns a Busy error if a turn is running. what completes its message: "forking".
// A turn can begin at any time after the call.
func (s *Session) CheckIdle(what string) error {
	s.awaitFailed()
	if s.isRunning() {
		return errBusy(what)
	}
	return nil
}

func errBusy(what string) error {
	return fault.New(fault.Busy, "Wait for the current response to finish or abort it before %s.", what)
}

func (s *Session) isEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

func (s *Session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// changed publishes that the live session is another one, or that its leaf moved.
func (s *Session) changed(reason Reason, previous string) {
	id := s.current().Header().ID
	s.m.publishNumbered(id, func(seq uint64) Event {
		return SessionChanged{Cwd: s.cwd, SessionID: id, Seq: seq, Reason: reason, PreviousSessionFile: previous}
	})
}

// Label labels an entry; an empty text clears the label. It returns the id of the
// entry that records it.
func (s *Session) Label(ctx context.Context, entryID, text string) (id string, err error) {
	err = s.writing(ctx, func() error {
		var done bool
		if id, done, err = s.annotate(ctx, engine.Annotation{EntryID: entryID, Label: text}, "labeling an entry"); done || err != nil {
			return err
		}
		id, err = s.current().SetLabel(entryID, text)
		return err
	})
	return id, err
}

// shutdown ends the session. It waits for a running operation and aborts a turn. When ctx ends
// before those end, the session stays open and its entries are flushed.
func (s *Session) shutdown(ctx context.Context) error {
	if err := s.abandon(ctx); err != nil {
		return errors.Join(err, s.current().Flush())
	}
	if err := s.acquire(ctx); err != nil {
		return errors.Join(err, s.current().Flush())
	}
	defer func() { <-s.ops }()
	if s.isEnded() {
		return nil
	}
	log := s.current()
	if err := s.stop(ctx); err != nil {
		return errors.Join(err, log.Flush())
	}
	s.closeNews()
	if err := s.servers.Close(ctx); err != nil {
		s.m.log.Warn("MCP servers did not end in time", zap.Error(err))
	}
	err := log.Close()
	s.m.wrote(log.Path())
	s.accepted.sessionClosed(log)
	// After the file is complete, and before the folder can be opened again.
	s.notifyHooks(ctx, hook.Event{Name: hook.Shutdown, Reason: "quit"})
	s.end()
	s.changed(ReasonShutdown, log.Path())
	if err != nil {
		s.m.log.Error("the session is not completely saved", zap.String("path", log.Path()), zap.Error(err))
	}
	return err
}
