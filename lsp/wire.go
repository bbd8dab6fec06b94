package lsp

import (
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// WireVersion is the version of the custom methods and of experimental.xcsh. It increases with
// incompatible changes, not with additions.
const WireVersion = 1

// The notifications of the server that are not part of LSP.
const (
	MethodEvent           = "xcsh/event"
	MethodSessionChanged  = "xcsh/sessionChanged"
	MethodSessionState    = "xcsh/sessionState"
	MethodSessionsChanged = "xcsh/sessionsChanged"
	MethodModelsChanged   = "xcsh/modelsChanged"
)

// MethodKeysChanged is the notification of a client that keeps keys.
const MethodKeysChanged = "xcsh/keysChanged"

// The requests of the server that are not part of LSP. Only a client that opted in
// with ui.hooks gets them.
const (
	MethodBeforeSwitch  = "xcsh/beforeSwitch"
	MethodBeforeFork    = "xcsh/beforeFork"
	MethodBeforeTree    = "xcsh/beforeTree"
	MethodBeforeCompact = "xcsh/beforeCompact"
	MethodBeforeRewind  = "xcsh/beforeRewind"
	MethodApprove       = "xcsh/approve"
	MethodAsk           = "xcsh/ask"
)

// MethodKey is the request to a client that keeps keys, which opted in with keyProviders.
const MethodKey = "xcsh/key"

// MethodSave is the request of the server to save a document. Only a client that opted in with ui.save gets it.
const MethodSave = "xcsh/save"

// MethodContext is the request of the server for a thing in the editor that a prompt names. Only a client that announces
// contextKinds gets it.
const MethodContext = "xcsh/context"

// SaveParams are the parameters of xcsh/save.
type SaveParams struct {
	URI     string `json:"uri"`
	Version int64  `json:"version"` // a document with another version is not saved
}

// SaveResult is the answer to xcsh/save.
type SaveResult struct {
	Saved         bool   `json:"saved"`
	FailureReason string `json:"failureReason,omitempty"`
}

// EventParams are the parameters of xcsh/event: an event of a turn, or a change of the session's model
// or settings.
type EventParams struct {
	Cwd       string      `json:"cwd"`
	SessionID string      `json:"sessionId"`
	Seq       uint64      `json:"seq"` // without gaps per session, together with xcsh/sessionChanged
	Event     event.Event `json:"event"`
}

// BeforeSwitchParams are the parameters of xcsh/beforeSwitch: the live session of the folder is about to
// change.
type BeforeSwitchParams struct {
	Cwd               string `json:"cwd"`
	Reason            string `json:"reason"` // new, resume or fork
	TargetSessionFile string `json:"targetSessionFile,omitempty"`
}

// BeforeForkParams are the parameters of xcsh/beforeFork: the live session, or its part up to an entry,
// is about to be copied.
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
	UserWantsSummary bool    `json:"userWantsSummary,omitempty"` // of the entries that the leaf leaves
}

// BeforeCompactParams are the parameters of xcsh/beforeCompact: the older part of the live
// session is about to be summarised.
type BeforeCompactParams struct {
	Cwd                string `json:"cwd"`
	Reason             string `json:"reason"` // manual, threshold or overflow
	CustomInstructions string `json:"customInstructions,omitempty"`
	FirstKeptEntryID   string `json:"firstKeptEntryId,omitempty"` // the first entry that stays in the context
	TokensBefore       int    `json:"tokensBefore,omitempty"`     // an estimate of the context's size
}

// BeforeRewindParams are the parameters of xcsh/beforeRewind: changes of files are about to be undone or redone.
type BeforeRewindParams struct {
	Cwd  string          `json:"cwd"`
	Plan hook.RewindPlan `json:"plan"`
}

// BeforeResult is the answer to each xcsh/before request. null cancels nothing.
type BeforeResult struct {
	Cancel     bool            `json:"cancel,omitempty"`
	Entries    []HookEntry     `json:"entries,omitempty"`    // to add to the live session
	Compaction *HookCompaction `json:"compaction,omitempty"` // of xcsh/beforeCompact: in place of the model's summary
}

// HookEntry is an entry that a client adds to the live session, as hooks do.
type HookEntry struct {
	Type       string          `json:"type"` // custom or custom_message
	CustomType string          `json:"customType"`
	Data       json.RawMessage `json:"data,omitempty"`    // of custom
	Content    json.RawMessage `json:"content,omitempty"` // of custom_message: a string, or a list of texts and images
	Display    bool            `json:"display,omitempty"` // of custom_message: is shown to the user
	Details    json.RawMessage `json:"details,omitempty"` // of custom_message
}

// HookCompaction is the summary of a compaction. Without the other members the server chooses them.
type HookCompaction struct {
	Summary          string          `json:"summary"`
	FirstKeptEntryID string          `json:"firstKeptEntryId,omitempty"`
	TokensBefore     int             `json:"tokensBefore,omitempty"`
	Details          json.RawMessage `json:"details,omitempty"`
}

// SessionChangedParams are the parameters of xcsh/sessionChanged: the live session of the folder has
// changed, or its leaf has moved.
type SessionChangedParams struct {
	Cwd                 string `json:"cwd"`
	SessionID           string `json:"sessionId"`
	Seq                 uint64 `json:"seq"` // without gaps per session
	Reason              string `json:"reason"`
	PreviousSessionFile string `json:"previousSessionFile,omitempty"`
}

// SessionStateParams are the parameters of xcsh/sessionState: a session whose resumption was answered before its file was
// read has been read whole. They are only sent to clients with the initialization option lateValues.
type SessionStateParams struct {
	Cwd       string            `json:"cwd"`
	SessionID string            `json:"sessionId"`
	State     agent.State       `json:"state"`
	Summary   commands.Summary  `json:"summary"`
	Repairs   []session.Problem `json:"repairs"`
	Pending   []string          `json:"pending"` // empty
}

// SessionsChangedParams are the parameters of xcsh/sessionsChanged: the list of sessions on disk is
// outdated.
type SessionsChangedParams struct {
	Cwd string `json:"cwd"`
}

// Experimental is capabilities.experimental.xcsh of the initialize result.
type Experimental struct {
	WireVersion int `json:"wireVersion"`
	Commands    any `json:"commands"` // the manifest of the commands
}
