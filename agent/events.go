package agent

import (
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Event is something that happened to a live session. Events of one session are delivered in order;
// see the package comment for the rules for subscribers.
type Event interface{ isEvent() }

// Reason is why the live session was replaced or closed.
type Reason string

// The reasons of a [SessionChanged] event.
const (
	ReasonStart    Reason = "start"    // the first session of a folder
	ReasonNew      Reason = "new"      // a fresh session
	ReasonResume   Reason = "resume"   // an existing file
	ReasonFork     Reason = "fork"     // a copy of one
	ReasonBranch   Reason = "branch"   // a new file made of one path of the tree
	ReasonTree     Reason = "tree"     // the leaf moved within the file
	ReasonReload   Reason = "reload"   // the file is not what was shown of it
	ReasonShutdown Reason = "shutdown" // the folder was closed
)

// SessionChanged reports that the folder has another live session, or that its leaf
// moved.
type SessionChanged struct {
	Cwd                 string
	SessionID           string
	Seq                 uint64 // without gaps per session
	Reason              Reason
	PreviousSessionFile string // empty when there was none
}

// SessionsChanged reports that the list of sessions on disk is stale.
type SessionsChanged struct {
	Cwd string
}

// SessionState reports that a session that was shown early is read whole; see [Session.SwitchEarly].
type SessionState struct {
	Cwd       string
	SessionID string
	State     State
	Summary   any // as Late.Summarize returned it
	Repairs   []session.Problem
}

// ModelsChanged reports that other models may be ready to use: a key, a model or a place of models changed.
type ModelsChanged struct{}

func (ModelsChanged) isEvent()   {}
func (SessionState) isEvent()    {}
func (SessionChanged) isEvent()  {}
func (SessionsChanged) isEvent() {}

// RunEvent carries the progress of a run, or a change of the session's settings.
type RunEvent struct {
	Cwd       string
	SessionID string
	Seq       uint64 // without gaps per session
	Event     event.Event
}

func (RunEvent) isEvent() {}

// modelChanged returns the event for a change of model.
func modelChanged(ref provider.Ref, role string) event.Event {
	return event.ModelChanged{Model: ref, Role: role}
}

func thinkingChanged(level provider.Level) event.Event {
	return event.ThinkingLevelChanged{ThinkingLevel: level}
}

// notice returns a message for the user.
func notice(text string) event.Event { return event.Notice{Text: text} }

// ErrorEvent reports the failure of an operation whose caller does not wait for a response.
func ErrorEvent(operation string, err error) event.Event {
	return event.Error{Text: operation, ErrorMessage: err.Error(), Kind: string(fault.KindOf(err))}
}

// Report publishes an event of the live session.
func (s *Session) Report(e event.Event) { s.emit(s.current(), e) }

// emit publishes an event of the session that log is.
func (s *Session) emit(log *session.Log, e event.Event) { s.emitter(log.Header().ID).emit(e) }

// emitter returns the emitter of a session. Only the live session's is kept. A previous session has
// no run any more, so that its late events, the output of a command of the user, do not depend on
// earlier ones and must not replace the live one's.
func (s *Session) emitter(sessionID string) *emitter {
	s.mu.Lock()
	kept, log := s.events, s.log
	s.mu.Unlock()
	if kept != nil && kept.sessionID == sessionID {
		return kept
	}
	e := s.newEmitter(sessionID)
	if log.Header().ID != sessionID { // may wait for the disk, so not under mu
		return e
	}
	e.title = titleIn(log)
	if kept != nil {
		kept.now() // publishes its held text before the events of another emitter
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch now := s.events; {
	case s.log != log: // it was left meanwhile
	case now != nil && now.sessionID == sessionID:
		e = now // another goroutine was faster
	default:
		s.events = e
	}
	return e
}

func (s *Session) newEmitter(sessionID string) *emitter {
	return &emitter{
		sessionID: sessionID,
		last:      func() uint64 { return s.m.lastSeq(sessionID) },
		publish: func(e event.Event) {
			s.m.publishNumbered(sessionID, func(seq uint64) Event {
				return RunEvent{Cwd: s.cwd, SessionID: sessionID, Seq: seq, Event: e}
			})
		},
	}
}
