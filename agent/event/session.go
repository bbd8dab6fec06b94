package event

import (
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/background"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// The levels of a [Notice].
const (
	Warning = "warning"
	Failure = "error"
)

// The events of a session beside its runs.
type (
	// ModelChanged reports the model that answers from now on.
	ModelChanged struct {
		Model provider.Ref `json:"model"`
		Role  string       `json:"role,omitempty"`
	}

	// ThinkingLevelChanged reports the thinking level of the following requests.
	ThinkingLevelChanged struct {
		ThinkingLevel provider.Level `json:"thinkingLevel,omitempty"`
	}

	// ApprovalsChanged lists all pending approvals, also when none are left.
	ApprovalsChanged struct {
		Approvals json.RawMessage `json:"approvals,omitempty"`
	}

	// ApprovalModeChanged reports which tool calls need approval from now on.
	ApprovalModeChanged struct {
		Mode string `json:"mode,omitempty"`
	}

	// ModeChanged reports that plan mode was turned on or off.
	ModeChanged struct {
		Mode string `json:"mode,omitempty"`
	}

	// CommandsChanged reports that a prompt can begin with other names of skills and templates.
	CommandsChanged struct{}

	// SessionInfoChanged reports the session's new title, "" if it has none any more.
	SessionInfoChanged struct {
		Name string `json:"name,omitempty"`
	}

	// CompactionStart begins a compaction.
	CompactionStart struct {
		Reason string `json:"compactionReason,omitempty"` // manual, threshold or overflow
	}

	// CompactionEnd ends a compaction.
	CompactionEnd struct {
		Result       json.RawMessage `json:"result,omitempty"`
		ErrorMessage string          `json:"errorMessage,omitempty"`
		Reason       string          `json:"compactionReason,omitempty"` // manual, threshold or overflow
		Aborted      bool            `json:"aborted,omitempty"`
		WillRetry    bool            `json:"willRetry,omitempty"` // the request that was too long is repeated
	}

	// BackgroundChanged lists all commands that run in the background, also when none are left.
	BackgroundChanged struct {
		Running []background.Info `json:"running,omitempty"`
	}

	// BashUpdate is the output of the user's shell command so far.
	BashUpdate struct {
		Text string `json:"text,omitempty"`
	}

	// BashEnd ends a shell command of the user.
	BashEnd struct {
		Message json.RawMessage `json:"message,omitempty"`
		EntryID string          `json:"entryId,omitempty"` // of the message's entry in the session
	}

	// ForeignBranch reports that another program continued the session on a branch that does not
	// descend from the leaf, or that this branch grew. Without BranchID there is no such branch any
	// more that needs a decision.
	ForeignBranch struct {
		BranchID string `json:"branchId,omitempty"` // its first entry, the same while it grows
		EntryID  string `json:"entryId,omitempty"`  // its newest entry
		Entries  int    `json:"entries,omitempty"`
		Program  string `json:"program,omitempty"` // pi or omp; "" if unknown
		Prompt   string `json:"prompt,omitempty"`  // the beginning of the newest prompt on it
		Text     string `json:"text,omitempty"`    // a sentence for the user
	}

	// LargeSession reports, once per session, that its file is so large that operations on it take
	// longer.
	LargeSession struct {
		Bytes int64  `json:"bytes,omitempty"` // the size of the file
		Text  string `json:"text,omitempty"`  // advice for the user
	}

	// Notice is a message for the user. It ends nothing.
	Notice struct {
		Text  string `json:"text,omitempty"`
		Level string `json:"level,omitempty"` // Warning or Failure if the user has to see it wherever they look
	}

	// Error reports the failure of an operation whose caller does not wait for a response.
	Error struct {
		ErrorMessage string `json:"errorMessage,omitempty"`
		Text         string `json:"text,omitempty"` // the operation, such as the command's name
		Kind         string `json:"kind,omitempty"`
	}
)

func (ModelChanged) sealed()         {}
func (ThinkingLevelChanged) sealed() {}
func (ApprovalsChanged) sealed()     {}
func (ApprovalModeChanged) sealed()  {}
func (ModeChanged) sealed()          {}
func (CommandsChanged) sealed()      {}
func (SessionInfoChanged) sealed()   {}
func (CompactionStart) sealed()      {}
func (CompactionEnd) sealed()        {}
func (BackgroundChanged) sealed()    {}
func (BashUpdate) sealed()           {}
func (BashEnd) sealed()              {}
func (ForeignBranch) sealed()        {}
func (LargeSession) sealed()         {}
func (Notice) sealed()               {}
func (Error) sealed()                {}

// Type returns "model_changed".
func (ModelChanged) Type() string { return "model_changed" }

// Type returns "thinking_level_changed".
func (ThinkingLevelChanged) Type() string { return "thinking_level_changed" }

// Type returns "approvals_changed".
func (ApprovalsChanged) Type() string { return "approvals_changed" }

// Type returns "approval_mode_changed".
func (ApprovalModeChanged) Type() string { return "approval_mode_changed" }

// Type returns "mode_changed".
func (ModeChanged) Type() string { return "mode_changed" }

// Type returns "commands_changed".
func (CommandsChanged) Type() string { return "commands_changed" }

// Type returns "session_info_changed".
func (SessionInfoChanged) Type() string { return "session_info_changed" }

// Type returns "auto_compaction_start".
func (CompactionStart) Type() string { return "auto_compaction_start" }

// Type returns "auto_compaction_end".
func (CompactionEnd) Type() string { return "auto_compaction_end" }

// Type returns "background_changed".
func (BackgroundChanged) Type() string { return "background_changed" }

// Type returns "bash_execution_update".
func (BashUpdate) Type() string { return "bash_execution_update" }

// Type returns "bash_execution_end".
func (BashEnd) Type() string { return "bash_execution_end" }

// Type returns "foreign_branch".
func (ForeignBranch) Type() string { return "foreign_branch" }

// Type returns "large_session".
func (LargeSession) Type() string { return "large_session" }

// Type returns "notice".
func (Notice) Type() string { return "notice" }

// Type returns "error".
func (Error) Type() string { return "error" }

// MarshalJSON implements [json.Marshaler].
func (e ModelChanged) MarshalJSON() ([]byte, error) {
	type members ModelChanged
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e ThinkingLevelChanged) MarshalJSON() ([]byte, error) {
	type members ThinkingLevelChanged
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e ApprovalsChanged) MarshalJSON() ([]byte, error) {
	type members ApprovalsChanged
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e ApprovalModeChanged) MarshalJSON() ([]byte, error) {
	type members ApprovalModeChanged
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e ModeChanged) MarshalJSON() ([]byte, error) {
	type members ModeChanged
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e CommandsChanged) MarshalJSON() ([]byte, error) { return encode(e.Type(), struct{}{}) }

// MarshalJSON implements [json.Marshaler].
func (e SessionInfoChanged) MarshalJSON() ([]byte, error) {
	type members SessionInfoChanged
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e CompactionStart) MarshalJSON() ([]byte, error) {
	type members CompactionStart
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e CompactionEnd) MarshalJSON() ([]byte, error) {
	type members CompactionEnd
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e BackgroundChanged) MarshalJSON() ([]byte, error) {
	type members BackgroundChanged
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e BashUpdate) MarshalJSON() ([]byte, error) {
	type members BashUpdate
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e BashEnd) MarshalJSON() ([]byte, error) {
	type members BashEnd
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e ForeignBranch) MarshalJSON() ([]byte, error) {
	type members ForeignBranch
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e LargeSession) MarshalJSON() ([]byte, error) {
	type members LargeSession
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e Notice) MarshalJSON() ([]byte, error) {
	type members Notice
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e Error) MarshalJSON() ([]byte, error) {
	type members Error
	return encode(e.Type(), members(e))
}
