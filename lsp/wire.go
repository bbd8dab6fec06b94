package lsp

import "github.com/xcsh-ls/xcsh-ls/agent/loop"

// WireVersion is the version of the custom methods and of experimental.xcsh. It
// grows when something a client relies on changes its meaning, not when something
// is added.
const WireVersion = 1

// The notifications of the server that are not part of LSP.
const (
	MethodEvent           = "xcsh/event"
	MethodSessionChanged  = "xcsh/sessionChanged"
	MethodSessionsChanged = "xcsh/sessionsChanged"
)

// The requests of the server that are not part of LSP. Only a client that opted in
// with ui.hooks gets them.
const (
	MethodBeforeSwitch  = "xcsh/beforeSwitch"
	MethodBeforeFork    = "xcsh/beforeFork"
	MethodBeforeTree    = "xcsh/beforeTree"
	MethodBeforeCompact = "xcsh/beforeCompact"
	MethodApprove       = "xcsh/approve"
)

// EventParams are the parameters of xcsh/event: something happened while a model was at
// work in the session, or a change of what it is asked with.
type EventParams struct {
	Cwd       string     `json:"cwd"`
	SessionID string     `json:"sessionId"`
	Seq       uint64     `json:"seq"` // without gaps per session, together with xcsh/sessionChanged
	Event     loop.Event `json:"event"`
}

// BeforeSwitchParams are the parameters of xcsh/beforeSwitch: the folder is about
// to get another live session.
type BeforeSwitchParams struct {
	Cwd               string `json:"cwd"`
	Reason            string `json:"reason"` // new, resume or fork
	TargetSessionFile string `json:"targetSessionFile,omitempty"`
}

// BeforeForkParams are the parameters of xcsh/beforeFork: the live session, or a
// part of it up to an entry, is about to be copied.
type BeforeForkParams struct {
	Cwd     string `json:"cwd"`
	EntryID string `json:"entryId,omitempty"`
}

// BeforeTreeParams are the parameters of xcsh/beforeTree: the leaf of the live session is
// about to move.
type BeforeTreeParams struct {
	Cwd              string  `json:"cwd"`
	EntryID          *string `json:"entryId"` // null: before the first entry
	OldLeafID        *string `json:"oldLeafId"`
	UserWantsSummary bool    `json:"userWantsSummary,omitempty"` // of what is left behind
}

// BeforeCompactParams are the parameters of xcsh/beforeCompact: the older part of the live
// session is about to be summarised.
type BeforeCompactParams struct {
	Cwd                string `json:"cwd"`
	Reason             string `json:"reason"` // manual, threshold or overflow
	CustomInstructions string `json:"customInstructions,omitempty"`
}

// BeforeResult is the answer to each of them; null means that nothing is cancelled.
type BeforeResult struct {
	Cancel bool `json:"cancel,omitempty"`
}

// SessionChangedParams are the parameters of xcsh/sessionChanged: the folder's
// live session is another one now, or its leaf moved.
type SessionChangedParams struct {
	Cwd                 string `json:"cwd"`
	SessionID           string `json:"sessionId"`
	Seq                 uint64 `json:"seq"` // without gaps per session
	Reason              string `json:"reason"`
	PreviousSessionFile string `json:"previousSessionFile,omitempty"`
}

// SessionsChangedParams are the parameters of xcsh/sessionsChanged: the sessions
// on disk are no longer what was last listed.
type SessionsChangedParams struct {
	Cwd string `json:"cwd"`
}

// Experimental is capabilities.experimental.xcsh of the initialize result.
type Experimental struct {
	WireVersion int `json:"wireVersion"`
	Commands    any `json:"commands"` // the manifest of the commands
}
