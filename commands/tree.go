package commands

import (
	"context"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/attached"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

var tree = New(Spec{
	Name: "xcsh.tree", Title: "Session Tree", Flags: ReadOnly, Arg: "source",
	Doc: "Return the entries of a session with their positions in the tree, parents first.",
}, runTree)

var branch = New(Spec{
	Name: "xcsh.branch", Title: "Go to Message…", Flags: Palette | NeedsIdle | NeedsTrust, Input: InputEntry, Arg: "entryId",
	Doc:     "Go back to an entry of the live session and continue from there on a new branch. The text of a prompt is returned for editing.",
	refusal: refusal{doing: "moving to another branch"},
}, runBranch)

var label = New(Spec{
	Name: "xcsh.label", Title: "Label Message…", Flags: Palette | NeedsTrust, Input: InputEntry, Arg: "label",
	Doc: "Set or remove the label of an entry of the live session.",
}, runLabel)

// TreeArgs are the arguments of xcsh.tree.
type TreeArgs struct {
	Subject
	Cursor   string `json:"cursor,omitempty" jsonschema:"The cursor of an earlier result, for the next page; pass the other arguments as for the first one."`
	Limit    *int   `json:"limit,omitempty" jsonschema:"The largest number of nodes, 1 to 5000. Without limit, maxBytes and cursor the result is complete."`
	MaxBytes *int   `json:"maxBytes,omitempty" jsonschema:"The largest size of the nodes in bytes, 1 to 4194304. A larger node comes alone."`
	Under    string `json:"under,omitempty" jsonschema:"Only the entries below this one."`
	Fold     bool   `json:"fold,omitempty" jsonschema:"Return one node for a run of entries without branches."`
}

func (a TreeArgs) check() error { return checkPage(a.Limit, a.MaxBytes, paging.MaxItems) }

// paged reports whether a page is requested.
func (a TreeArgs) paged() bool { return a.Cursor != "" || a.Limit != nil || a.MaxBytes != nil }

// TreeResult is the tree as a flat list, or a page of it.
type TreeResult struct {
	LeafID *string    `json:"leafId"`
	Nodes  []TreeNode `json:"nodes" jsonschema:"Parents before children, children by time."`
	Next   string     `json:"next,omitempty" jsonschema:"The cursor of the next page; absent if this is the last one. The pages speak of the entries that there were at the first one."`
	Total  int        `json:"total" jsonschema:"The number of nodes of all pages."`
}

// TreeNode is one entry in the tree or, with fold, a run of entries, which it describes by the first one.
type TreeNode struct {
	ID        string  `json:"id"`
	ParentID  *string `json:"parentId" jsonschema:"null for a root, and if the recorded parent is not in the file. Entries for the server's own use are left out: their children have the nearest entry above them as the parent. With fold: the id of the node above."`
	Type      string  `json:"type"`
	Role      string  `json:"role,omitempty"`
	Label     string  `json:"label,omitempty"`
	Preview   string  `json:"preview" jsonschema:"The beginning of the entry's text, on one line."`
	Timestamp string  `json:"timestamp"`
	Count     int     `json:"count,omitempty" jsonschema:"With fold: the number of entries in the run."`
	LastID    string  `json:"lastId,omitempty" jsonschema:"With fold: the last entry of the run."`
}

// previewLength is the length of a preview, and shownLength that of the text from which it is
// made, in UTF-16 units.
const (
	previewLength = 120
	shownLength   = 4 * previewLength
)

// preview returns the text of an entry in a tree.
func preview(e session.Entry) string {
	var text string
	switch e.Type {
	case session.TypeMessage:
		return messagePreview(e.Message())
	case session.TypeCompaction, session.TypeBranchSummary:
		text, _ = rawjson.GetString(e.Raw, "summary")
	case session.TypeCustomMessage:
		text = session.MessageBeginning(e.Raw, shownLength)
	case session.TypeLabel:
		text = e.AsLabel().Text
	case session.TypeModelChange:
		text = e.AsModelChange().Model
	case session.TypeThinkingLevel:
		text = e.AsThinkingLevel()
	case session.TypeModeChange:
		text = e.AsModeChange().Mode
	case session.TypeCustom:
		text = e.AsCustom().CustomType
	}
	return shorten(text)
}

// messagePreview returns the beginning of a message's text, or the names of its tool calls.
func messagePreview(m []byte) string {
	text := session.MessageBeginning(m, shownLength)
	for _, key := range []string{"command", "code", "summary", "toolName"} {
		if text == "" {
			text, _ = rawjson.GetString(m, key)
		}
	}
	if text == "" {
		text = toolCallNames(m)
	}
	return shorten(text)
}

// shorten returns text on one short line. It reads only the beginning, because a message can
// be megabytes long.
func shorten(text string) string {
	return rawjson.UTF16Prefix(session.CleanTitle(rawjson.UTF16Prefix(text, shownLength)), previewLength)
}

func toolCallNames(m []byte) string {
	names := ""
	rawjson.Elements(rawjson.Get(m, "content"), func(block []byte) bool {
		if name, ok := rawjson.GetString(block, "name"); ok {
			names += name + " "
		}
		return true
	})
	return names
}

// BranchArgs are the arguments of xcsh.branch.
type BranchArgs struct {
	Folder
	EntryID EntryRef `json:"entryId,omitzero" jsonschema:"The entry to go to; null to go before the first entry."`
	Summary string   `json:"summary,omitempty" jsonschema:"A summary of the abandoned branch. It is stored on the new branch, and the model sees it."`

	Summarize    bool   `json:"summarize,omitempty" jsonschema:"Ask the model to write the summary."`
	Instructions string `json:"instructions,omitempty" jsonschema:"What the model's summary should focus on."`
}

// BranchResult describes the session after the command.
type BranchResult struct {
	Session    agent.State `json:"session"`
	EditorText *string     `json:"editorText,omitempty" jsonschema:"The text of the prompt, if the entry is one."`

	ChangesLeft int `json:"changesLeft" jsonschema:"The number of files that the session changed since the entry. They stay as they are; xcsh.rewind undoes these changes."`
}

func runBranch(ctx context.Context, env *Env, a BranchArgs) (BranchResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return BranchResult{}, err
	}
	if err := branching.of(live.Engine()); err != nil {
		return BranchResult{}, err
	}
	if !a.EntryID.Set || !a.EntryID.Null && a.EntryID.ID == "" {
		e, err := env.ask().entry(ctx, live, "Select a prompt to go back to")
		if err != nil {
			return BranchResult{}, err
		}
		a.EntryID = EntryRef{Set: true, ID: e.id}
	}
	text, err := live.Branch(ctx, a.EntryID.ID, agent.BranchOptions{Summary: a.Summary, Summarize: a.Summarize, Instructions: a.Instructions})
	if err != nil {
		return BranchResult{}, err
	}
	left, err := live.ChangesSince(a.EntryID.ID)
	if err != nil {
		env.Log.Warn("could not count the changes of files after a branch change", zap.Error(err)) // the leaf has moved
	}
	state, err := stateOf(ctx, live)
	return BranchResult{Session: state, EditorText: optional(attached.WithoutInstruction(text)), ChangesLeft: left}, err
}

var labelNeeded = need{question: "Label", nothing: "No label entered", input: InputText, field: "label"}

// LabelArgs are the arguments of xcsh.label.
type LabelArgs struct {
	Folder
	EntryID string  `json:"entryId" jsonschema:"The entry to label."`
	Label   *string `json:"label,omitempty" jsonschema:"The label; null or absent removes it."`
}

// LabelResult names the entry that records the label.
type LabelResult struct {
	EntryID string `json:"entryId"`
}

func runLabel(ctx context.Context, env *Env, a LabelArgs) (LabelResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return LabelResult{}, err
	}
	if a.EntryID == "" {
		e, err := env.ask().entry(ctx, live, "Select a prompt to label")
		if err != nil {
			return LabelResult{}, err
		}
		a.EntryID = e.id
		if a.Label == nil { // a user who picked an entry wants to set a label, not to remove one
			text, err := env.ask().text(ctx, labelNeeded, "", e.label)
			if err != nil {
				return LabelResult{}, err
			}
			a.Label = &text
		}
	}
	text := ""
	if a.Label != nil {
		text = session.CleanTitle(*a.Label)
	}
	id, err := live.Label(ctx, a.EntryID, text)
	return LabelResult{EntryID: id}, err
}
