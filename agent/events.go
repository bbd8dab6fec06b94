package agent

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
