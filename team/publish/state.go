package publish

import (
	"fmt"
	"time"

	"github.com/xcsh-ls/xcsh-ls/team"
)

// Phase is the progress of a file.
type Phase int

// The phases.
const (
	Pending Phase = iota // there may be lines to send
	Sent                 // the store has all whole lines
	Off                  // the user does not share the session; nothing is sent
	Waiting              // the store or the file cannot be reached; the Publisher tries again
	Kept                 // another device writes the session; the lines are sent when it is free
	Behind               // the store has lines that the file lacks
	Gone                 // the session was deleted from the store, or may not be written; it stays here
	Stuck                // sending failed for a reason that does not pass by itself
)

// State is the state of a file, for lists and badges.
type State struct {
	Phase  Phase
	SID    team.SID      // zero if it is not known yet
	Unsent int64         // bytes of the body that are not in the store, as far as they are known
	Agreed int64         // bytes of the body in the store that the file is known to have
	Newer  int64         // bytes of the body in the store that the file lacks, in the phase Behind
	Since  time.Time     // of the first change that is not sent; zero with nothing to send
	Writer team.DeviceID // the device that writes, in the phase Kept
	Err    error         // the reason of Waiting, Stuck and Behind; a *fault.Error
}

// unfinished reports whether there may be lines to send.
func (p Phase) unfinished() bool { return p == Pending || p == Waiting || p == Kept || p == Stuck }

// EventKind is the kind of an [Event].
type EventKind int

// The kinds of events.
const (
	Forked EventKind = iota // the file is now the fork SID of Origin
	Failed                  // the phase became Gone or Stuck; Err says why. It is not repeated for the same error
	Titled                  // the store has a title that a user chose, and the file has another one
)

// Event is a change that users are notified of.
type Event struct {
	Kind   EventKind
	Path   string
	SID    team.SID
	Origin team.SID
	Title  string
	Err    error
}

// Left counts the sessions that [Publisher.Flush] could not send.
type Left struct {
	Sessions int
	Bytes    int64 // a file that was not opened since it changed counts with its whole size
	Err      error // the first reason
}

// String returns a sentence, or "" if nothing is left.
func (l Left) String() string {
	switch l.Sessions {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 session (%d bytes) waits to be sent to the team.", l.Bytes)
	}
	return fmt.Sprintf("%d sessions (%d bytes) wait to be sent to the team.", l.Sessions, l.Bytes)
}
