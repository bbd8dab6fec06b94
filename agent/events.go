package agent

import (
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Event is something that happened to a live session. Events of one session are
// delivered in order; see the package comment for what a subscriber may do.
type Event interface{ isEvent() }

// Reason says why a live session is now another one, or ended.
type Reason string

// The reasons of a [SessionChanged] event.
const (
	ReasonStart    Reason = "start"    // the first session of a folder
	ReasonNew      Reason = "new"      // a fresh session
	ReasonResume   Reason = "resume"   // an existing file
	ReasonFork     Reason = "fork"     // a copy of one
	ReasonBranch   Reason = "branch"   // a new file made of one path of the tree
	ReasonTree     Reason = "tree"     // the leaf moved within the file
	ReasonShutdown Reason = "shutdown" // the folder was closed
)

// SessionChanged says that the folder's live session is another one now, or that
// its leaf moved.
type SessionChanged struct {
	Cwd                 string
	SessionID           string
	Seq                 uint64 // without gaps per session
	Reason              Reason
	PreviousSessionFile string // empty when there was none
}

// SessionsChanged says that the sessions on disk are no longer what was last listed.
type SessionsChanged struct {
	Cwd string
}

func (SessionChanged) isEvent()  {}
func (SessionsChanged) isEvent() {}

// RunEvent is something that happened while a model was at work, or a change of what it
// is asked with.
type RunEvent struct {
	Cwd       string
	SessionID string
	Seq       uint64 // without gaps per session
	Event     loop.Event
}

func (RunEvent) isEvent() {}

// modelChanged tells that another model is asked from now on.
func modelChanged(ref provider.Ref, role string) loop.Event {
	return loop.Event{Type: "model_changed", Model: &ref, Role: role}
}

func thinkingChanged(level provider.Level) loop.Event {
	return loop.Event{Type: "thinking_level_changed", ThinkingLevel: level}
}

// notice tells the person something that stops nothing.
func notice(text string) loop.Event { return loop.Event{Type: "notice", Text: text} }

// ErrorEvent tells what became of something that nobody waits for an answer to.
func ErrorEvent(what string, err error) loop.Event {
	return loop.Event{Type: "error", Text: what, ErrorMessage: err.Error(), Kind: string(fault.KindOf(err))}
}

// Report shows an event in the live session.
func (s *Session) Report(e loop.Event) { s.emit(s.current(), e) }

// emit shows an event of a run in the session that log is.
func (s *Session) emit(log *session.Log, e loop.Event) { s.emitter(log.Header().ID).emit(e) }

// emitter returns what numbers and merges the events of a session. Only the live session's
// is kept. One that was left has no run any more, so that its late events, the output of a
// command of the person, need nothing of those before them and must not replace the live one's.
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
	if kept != nil {
		kept.now() // shows what it holds, before anything that comes by another one
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
		publish: func(e loop.Event) {
			s.m.publishNumbered(sessionID, func(seq uint64) Event {
				return RunEvent{Cwd: s.cwd, SessionID: sessionID, Seq: seq, Event: e}
			})
		},
	}
}
