package hook

import "strings"

// Name names an event.
type Name string

// The events, by the names that the extensions of the terminal programs know. Who is told of
// one called before is asked, and can say no.
//
// Differs: the programs do not agree on the names for a fork at an entry. pi says
// session_before_fork and session_fork, oh-my-pi and xcsh session_before_branch and
// session_branch; here a hook is asked by pi's name and told by the others', as xcsh/beforeFork
// asks a client and the reason "branch" of xcsh/sessionChanged tells it.
//
// Differs: newer versions of pi end a session and start another at each change. As in oh-my-pi
// and xcsh, a change is told as one, and a folder has one start and one end: a hook that opens
// something for a folder need not do it anew for each session.
const (
	Start         Name = "session_start"
	BeforeSwitch  Name = "session_before_switch"
	Switch        Name = "session_switch"
	BeforeFork    Name = "session_before_fork"
	Branch        Name = "session_branch"
	BeforeTree    Name = "session_before_tree"
	Tree          Name = "session_tree"
	BeforeCompact Name = "session_before_compact"
	Compact       Name = "session_compact"
	Shutdown      Name = "session_shutdown"
)

// Names are all events, in the order in which a session may live through them.
func Names() []Name {
	return []Name{Start, BeforeSwitch, Switch, BeforeFork, Branch, BeforeTree, Tree, BeforeCompact, Compact, Shutdown}
}

// Asks reports whether an event comes before a change and can cancel it.
func (n Name) Asks() bool { return strings.HasPrefix(string(n), "session_before_") }

// Event is what a hook is told; as JSON it is what is sent to others. Fields that do not apply
// are empty.
//
// Differs: extensions of the programs run inside them and are handed entries and whole
// conversations. Here an event names what it is about; the rest is in the file that it names.
type Event struct {
	Name        Name   `json:"type"`
	Cwd         string `json:"cwd"`                   // the folder
	SessionID   string `json:"sessionId"`             // of the session that is live as the hook is called, or was until a shutdown
	SessionFile string `json:"sessionFile,omitempty"` // of that session; it need not exist yet. "" for a session in memory

	// Of a start "startup", of a switch "new", "resume" or "fork", of a compaction "manual",
	// "threshold" or "overflow", of a shutdown "quit".
	Reason string `json:"reason,omitempty"`

	TargetSessionFile   string `json:"targetSessionFile,omitempty"`   // BeforeSwitch: what is opened or copied
	PreviousSessionFile string `json:"previousSessionFile,omitempty"` // Switch, Branch: what was left
	EntryID             string `json:"entryId,omitempty"`             // the entry forked at, moved to ("" is before the first), or added by a compaction
	Position            string `json:"position,omitempty"`            // BeforeFork: the copy ends "before" the entry or "at" it
	OldLeafID           string `json:"oldLeafId,omitempty"`           // BeforeTree, Tree; "" is before the first entry
	NewLeafID           string `json:"newLeafId,omitempty"`           // Tree; "" is before the first entry
	UserWantsSummary    bool   `json:"userWantsSummary,omitempty"`    // BeforeTree: of what is left behind
	CustomInstructions  string `json:"customInstructions,omitempty"`  // BeforeTree, BeforeCompact: the person's, for the summary
	WillRetry           bool   `json:"willRetry,omitempty"`           // BeforeCompact, Compact: the request that was too long is made again
}

// Decision is the answer to a question. The zero value is that nothing is in the way.
type Decision struct {
	Cancel bool
	By     string // who said no; "" is a hook without a name
	Reason string // why, in a sentence; may be ""
}

// String says who said no, and why: "hook guard.sh: not on Fridays". It is "" where nobody did.
func (d Decision) String() string {
	if !d.Cancel {
		return ""
	}
	s := "hook"
	if d.By != "" {
		s += " " + d.By
	}
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	return s
}

// Refusal is a sentence about what was cancelled, such as "the move".
func (d Decision) Refusal(what string) string {
	who, why := "A hook", "."
	if d.By != "" {
		who = "The hook " + d.By
	}
	if d.Reason != "" {
		why = ": " + d.Reason
	}
	return who + " cancelled " + what + why
}
