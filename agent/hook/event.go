package hook

import "strings"

// Name names an event.
type Name string

// The events, by the names that the extensions of the terminal programs know. A hook can
// refuse the events called before.
//
// Differs: the programs do not agree on the names for a fork at an entry. pi says
// session_before_fork and session_fork, oh-my-pi and xcsh session_before_branch and
// session_branch; here the question has pi's name and the notification the others', like xcsh/beforeFork
// and the reason "branch" of xcsh/sessionChanged. The events of a rewind are this program's own.
//
// Differs: newer versions of pi end a session and start another at each change. As in oh-my-pi
// and xcsh, a change is one event, and a folder has one start and one end: a hook that opens
// something for a folder does it once, not for each session.
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
	BeforeRewind  Name = "session_before_rewind"
	Rewind        Name = "session_rewind"
	Shutdown      Name = "session_shutdown"
)

// Names are all events, in the order in which a session may live through them.
func Names() []Name {
	return []Name{Start, BeforeSwitch, Switch, BeforeFork, Branch, BeforeTree, Tree, BeforeCompact, Compact, BeforeRewind, Rewind, Shutdown}
}

// Asks reports whether an event comes before a change and can cancel it.
func (n Name) Asks() bool { return strings.HasPrefix(string(n), "session_before_") }

// Event is an event for a hook, in Go and as JSON. Fields that do not apply are empty.
//
// Differs: extensions of the programs run inside them and are handed entries and whole
// conversations. Here an event names its subject; the rest is in the file that it names.
type Event struct {
	Name        Name   `json:"type"`
	Cwd         string `json:"cwd"`                   // the folder
	SessionID   string `json:"sessionId"`             // of the session that is live as the hook is called, or was until a shutdown
	SessionFile string `json:"sessionFile,omitempty"` // of that session; it need not exist yet. "" for a session in memory

	// Of a start "startup", of a switch "new", "resume" or "fork", of a compaction "manual",
	// "threshold" or "overflow", of a shutdown "quit".
	Reason string `json:"reason,omitempty"`

	TargetSessionFile   string `json:"targetSessionFile,omitempty"`   // BeforeSwitch: the file that is opened or copied
	PreviousSessionFile string `json:"previousSessionFile,omitempty"` // Switch, Branch: the previous session's file
	EntryID             string `json:"entryId,omitempty"`             // the entry forked at, moved to ("" is before the first), or added by a compaction
	Position            string `json:"position,omitempty"`            // BeforeFork: the copy ends "before" the entry or "at" it
	OldLeafID           string `json:"oldLeafId,omitempty"`           // BeforeTree, Tree; "" is before the first entry
	NewLeafID           string `json:"newLeafId,omitempty"`           // Tree; "" is before the first entry
	UserWantsSummary    bool   `json:"userWantsSummary,omitempty"`    // BeforeTree: of the abandoned branch
	CustomInstructions  string `json:"customInstructions,omitempty"`  // BeforeTree, BeforeCompact: the user's, for the summary
	WillRetry           bool   `json:"willRetry,omitempty"`           // BeforeCompact, Compact: the request that was too long is made again
	FirstKeptEntryID    string `json:"firstKeptEntryId,omitempty"`    // BeforeCompact: the first entry that stays in the context
	TokensBefore        int    `json:"tokensBefore,omitempty"`        // BeforeCompact: an estimate of the context's size
	FromExtension       bool   `json:"fromExtension,omitempty"`       // Compact: a hook gave the summary

	Plan *RewindPlan `json:"plan,omitempty"` // BeforeRewind, Rewind
}

// RewindPlan is the plan or the result of a rewind.
type RewindPlan struct {
	Files        int  `json:"files"`        // that it changes
	Conflicts    int  `json:"conflicts"`    // files that it leaves out because they can't be undone
	Conversation bool `json:"conversation"` // it moves the leaf, too
}

// Decision is the answer to a question. The zero value does not cancel.
type Decision struct {
	Cancel bool
	By     string // the hook that refused; "" is a hook without a name
	Reason string // why, in a sentence; may be ""

	Compaction *Compaction // BeforeCompact: in place of the agent's own; nil if no hook gave one
}

// String returns the hook and its reason: "hook guard.sh: not on Fridays". It is "" if none refused.
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

// Refusal returns a sentence about the cancelled operation. what names it, such as "the move".
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
