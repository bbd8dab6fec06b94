// Package wire defines the arguments and results of the commands xcsh.changes, xcsh.change, xcsh.rewind and xcsh.keep. The names are
// fixed. Paths are absolute; lines count from 1.
package wire

// ChangesQuery selects changes.
type ChangesQuery struct {
	Since   string `json:"since,omitempty" jsonschema:"turn for the newest turn, session, or the entry of a prompt: the changes since then. Default: turn."`
	Pending bool   `json:"pending,omitempty" jsonschema:"Only files with changes that were not reviewed yet."`
	Path    string `json:"path,omitempty" jsonschema:"Only this file: an absolute path, or one relative to the folder."`
	Hunks   *bool  `json:"hunks,omitempty" jsonschema:"Include the hunks. Default: true with path, else false."`
}

// Changes is the file changes of a turn or a session.
type Changes struct {
	SessionID   string   `json:"sessionId"`
	Since       string   `json:"since" jsonschema:"session, or the entry of the prompt from which the changes start."`
	PromptID    string   `json:"promptId,omitempty" jsonschema:"The prompt of the turn."`
	Complete    bool     `json:"complete" jsonschema:"Whether no change is known to be missing; see limits."`
	Limits      []Limit  `json:"limits" jsonschema:"Changes that could not be recorded."`
	Totals      Totals   `json:"totals"`
	Files       []File   `json:"files" jsonschema:"The changed files, by path."`
	Rewinds     []Rewind `json:"rewinds" jsonschema:"Earlier rewinds, the newest first."`
	Interrupted bool     `json:"interrupted" jsonschema:"Whether a rewind was interrupted and is not completed yet. The next command that changes the session completes it."`
	Seq         int64    `json:"seq" jsonschema:"The number of the newest event that this result includes; 0 if the session is not live."`
	Source      string   `json:"source,omitempty" jsonschema:"patch: there are no records; the changes are from the results of tool calls, and commands are missing."`
}

// Limit is a kind of changes that could not be recorded.
type Limit struct {
	Kind    string   `json:"kind"`
	Records []string `json:"records"`
	Text    string   `json:"text"`
}

// Totals are sums over files.
type Totals struct {
	Files   int `json:"files"`
	Added   int `json:"added"`   // lines
	Removed int `json:"removed"` // lines
	Pending int `json:"pending"` // hunks
}

// The statuses of files.
const (
	Added    = "added"
	Modified = "modified"
	Deleted  = "deleted"
	Renamed  = "renamed"
	Mode     = "mode"
	Link     = "link"
)

// File is the change of one file.
type File struct {
	Path       string   `json:"path"`
	From       string   `json:"from,omitempty"` // of a rename
	Status     string   `json:"status"`
	Added      int      `json:"added"`
	Removed    int      `json:"removed"`
	Pending    int      `json:"pending"`
	Kept       int      `json:"kept"`
	Binary     bool     `json:"binary"`
	Records    []string `json:"records"`
	Rewindable bool     `json:"rewindable"`
	Reason     string   `json:"reason,omitempty"` // why it can't be undone
	Text       string   `json:"text,omitempty"`   // the reason as a sentence
	Buffer     bool     `json:"buffer,omitempty"` // the file is open with unsaved changes
	Base       string   `json:"base,omitempty"`   // the URI of the text without the pending changes
	Hunks      []Hunk   `json:"hunks,omitempty"`
}

// Hunk is one difference between the present text of a file and the text without the pending changes.
type Hunk struct {
	Hunk       string `json:"hunk"`
	OldStart   int    `json:"oldStart"`
	OldLines   int    `json:"oldLines"`
	NewStart   int    `json:"newStart"`
	NewLines   int    `json:"newLines"`
	Text       string `json:"text"`  // as in a unified diff, with its header
	Mixed      bool   `json:"mixed"` // the user also changed these lines
	Record     string `json:"record,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
	State      string `json:"state"` // "pending" or "kept"
}

// Rewind is an earlier rewind.
type Rewind struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	Files     int    `json:"files"`
	Redoable  bool   `json:"redoable"`
}

// SideQuery selects one side of a change.
type SideQuery struct {
	Path   string `json:"path" jsonschema:"The file: an absolute path, or one relative to the folder."`
	Side   string `json:"side,omitempty" jsonschema:"base: the present text without the changes that were not reviewed; before or after: the states that a record names. Default: base."`
	Record string `json:"record,omitempty" jsonschema:"The record, for before and after. Default: the oldest for before and the newest for after."`
}

// Side is one side of a comparison. Text is nil for binary and for missing files.
type Side struct {
	Text   *string `json:"text,omitempty" jsonschema:"The text; absent if there is no file, or if it is binary."`
	SHA256 string  `json:"sha256,omitempty" jsonschema:"The hash of the content, absent if there is no file."`
	Size   int64   `json:"size" jsonschema:"The size of the content in bytes."`
	Binary bool    `json:"binary" jsonschema:"The content is not text."`
	Mode   uint32  `json:"mode,omitempty" jsonschema:"The permission bits."`
}

// RewindArgs select the changes to undo. Exactly one of the first seven fields is set.
type RewindArgs struct {
	Before     *string   `json:"before,omitempty" jsonschema:"A prompt: undo all changes since before it."`
	To         *string   `json:"to,omitempty" jsonschema:"An entry: undo all changes after it."`
	Records    []string  `json:"records,omitempty" jsonschema:"Undo the changes of these records."`
	ToolCallID string    `json:"toolCallId,omitempty" jsonschema:"Undo the changes of this tool call."`
	Hunks      []HunkRef `json:"hunks,omitempty" jsonschema:"Undo these hunks of xcsh.changes."`
	Paths      []string  `json:"paths,omitempty" jsonschema:"Undo the changes of these files that were not reviewed yet."`
	Redo       *string   `json:"redo,omitempty" jsonschema:"Undo the rewind with this ID; an empty string is the newest one."`

	Conversation bool     `json:"conversation,omitempty" jsonschema:"With before or to: also move the conversation there. Default: false."`
	Except       []string `json:"except,omitempty" jsonschema:"Leave these files as they are."`
	AcrossHead   bool     `json:"acrossHead,omitempty" jsonschema:"Also undo changes of commands that moved HEAD. The commits stay."`
	DryRun       *bool    `json:"dryRun,omitempty" jsonschema:"true: only return the plan. false without planToken: make a plan and carry it out unless it has conflicts. Default: true without planToken."`
	PlanToken    string   `json:"planToken,omitempty" jsonschema:"The planToken of the plan to carry out."`
	Summary      string   `json:"summary,omitempty" jsonschema:"With conversation: a summary of the abandoned branch, as in xcsh.branch."`
	Summarize    bool     `json:"summarize,omitempty" jsonschema:"With conversation: let the model write the summary."`
	Instructions string   `json:"instructions,omitempty" jsonschema:"The focus of the model's summary."`
}

// HunkRef names a pending hunk.
type HunkRef struct {
	Path string `json:"path"`
	Hunk string `json:"hunk"`
}

// The actions of a plan.
const (
	None     = "none"
	Restore  = "restore"
	Merge    = "merge"
	Create   = "create"
	Remove   = "remove"
	Conflict = "conflict"
)

// The reasons of conflicts.
const (
	Overlaps   = "overlaps"
	Binary     = "binary"
	Missing    = "missing"
	Large      = "large"
	Damaged    = "damaged"
	Kind       = "kind"
	Encoding   = "encoding"
	AlsoEditor = "alsoEditor"
	HeadMoved  = "headMoved"
	Denied     = "denied"
	Locked     = "locked"
	ReadOnly   = "readOnly"
)

// Range is a range of lines; End is its last.
type Range struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// PlanPath is the planned change of one path.
type PlanPath struct {
	Path    string   `json:"path"`
	Action  string   `json:"action"`
	Added   int      `json:"added,omitempty"`
	Removed int      `json:"removed,omitempty"`
	Buffer  bool     `json:"buffer,omitempty"` // in an open document
	By      []string `json:"by,omitempty"`     // the records
	Yours   []Range  `json:"yours,omitempty"`  // lines of the user that stay, in the present text
	Reason  string   `json:"reason,omitempty"` // of a conflict
	Text    string   `json:"text,omitempty"`   // the reason as a sentence
	Places  []Range  `json:"places,omitempty"` // of a conflict, in the present text
	Hint    string   `json:"hint,omitempty"`   // the new path, if the file was renamed
}

// Head is the movement of HEAD since the records.
type Head struct {
	Moved bool `json:"moved"`
}

// RewindResult is a plan, or the result of carrying it out.
type RewindResult struct {
	Plan         []PlanPath `json:"plan,omitempty" jsonschema:"What happens to each file."`
	Records      []string   `json:"records,omitempty" jsonschema:"The records that are undone, the newest first."`
	Prompts      int        `json:"prompts,omitempty" jsonschema:"How many prompts the conversation goes back."`
	Conversation bool       `json:"conversation,omitempty" jsonschema:"Whether the conversation moves, too."`
	Head         *Head      `json:"head,omitempty" jsonschema:"Whether HEAD has moved since the changes."`
	Limits       []Limit    `json:"limits,omitempty" jsonschema:"Changes that could not be recorded and therefore stay."`
	Conflicts    int        `json:"conflicts,omitempty" jsonschema:"The number of files that cannot be undone."`
	PlanToken    *string    `json:"planToken,omitempty" jsonschema:"Pass it to xcsh.rewind to carry out this plan; empty if there are conflicts."`

	Rewound     *bool    `json:"rewound,omitempty" jsonschema:"Whether the plan was carried out; absent in a plan."`
	CancelledBy string   `json:"cancelledBy,omitempty" jsonschema:"The hook that cancelled the rewind."`
	ID          string   `json:"id,omitempty" jsonschema:"The entry of the rewind, for redo."`
	Files       int      `json:"files,omitempty" jsonschema:"The number of files that were changed."`
	Unsaved     []string `json:"unsaved,omitempty" jsonschema:"The files that changed in the editor but were not saved."`
	EditorText  string   `json:"editorText,omitempty" jsonschema:"The text of the prompt, if the conversation moved before one."`
	LeafID      string   `json:"leafId,omitempty" jsonschema:"The new leaf."`
	Commits     []string `json:"commits,omitempty" jsonschema:"Commits that the commands made; they stay."`
}

// KeepArgs select the changes to keep.
type KeepArgs struct {
	Hunks []HunkRef `json:"hunks,omitempty" jsonschema:"The hunks of xcsh.changes to keep."`
	Paths []string  `json:"paths,omitempty" jsonschema:"The files to keep as they are."`
	All   bool      `json:"all,omitempty" jsonschema:"Keep all changes of the session."`
}

// Kept is the result of xcsh.keep.
type Kept struct {
	Kept    int `json:"kept" jsonschema:"The number of kept hunks."`
	Pending int `json:"pending" jsonschema:"The number of hunks that are left to review."`
}
