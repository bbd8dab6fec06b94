package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

var tree = New(Spec{
	Name: "xcsh.tree", Title: "Session Tree", Flags: ReadOnly, Arg: "source",
	Doc: "Every entry of a session with its place in the tree, parents first.",
}, runTree)

var branch = New(Spec{
	Name: "xcsh.branch", Title: "Go to Entry…", Flags: Palette | NeedIdle, Input: InputEntry, Arg: "entryId",
	Doc: "Go back to an entry of the live session and go on from there. A prompt comes back to be edited.",
}, runBranch)

var label = New(Spec{
	Name: "xcsh.label", Title: "Label Entry…", Flags: Palette | NeedIdle, Input: InputEntry, Arg: "label",
	Doc: "Give an entry of the live session a label, or take it away.",
}, runLabel)

// TreeResult is the tree as a flat list.
type TreeResult struct {
	LeafID *string    `json:"leafId"`
	Nodes  []TreeNode `json:"nodes" jsonschema:"Parents before children, children by time."`
}

// TreeNode is one entry in the tree.
type TreeNode struct {
	ID        string  `json:"id"`
	ParentID  *string `json:"parentId" jsonschema:"null for a root, also when the recorded parent is not in the file."`
	Type      string  `json:"type"`
	Role      string  `json:"role,omitempty"`
	Label     string  `json:"label,omitempty"`
	Preview   string  `json:"preview" jsonschema:"The beginning of the entry's text, on one line."`
	Timestamp string  `json:"timestamp"`
}

func runTree(ctx context.Context, env *Env, a Subject) (r TreeResult, err error) {
	err = env.withSource(ctx, a, func(_ string, sub subject) error {
		r = TreeResult{LeafID: optional(sub.doc.LeafID(sub.leaf)), Nodes: []TreeNode{}}
		order, err := sub.doc.Ordered()
		if err != nil {
			return err
		}
		labels, err := sub.doc.Labels()
		if err != nil {
			return err
		}
		nodes, err := treeNodes(sub.doc, labels)
		if err != nil {
			return err
		}
		for _, i := range order {
			r.Nodes = append(r.Nodes, nodes[i])
		}
		return nil
	})
	return r, err
}

// treeNodes describes every entry, in file order: a large file is read several times as fast so.
func treeNodes(doc *session.Document, labels map[string]string) ([]TreeNode, error) {
	nodes := make([]TreeNode, 0, doc.Len())
	for line, err := range doc.Lines(nil) {
		if err != nil {
			return nil, err
		}
		i := len(nodes)
		e := doc.EntryOf(i, line)
		node := TreeNode{ID: e.ID, Type: string(e.Type), Role: e.Role(), Label: labels[e.ID], Preview: preview(e), Timestamp: e.Timestamp}
		if p := doc.Parent(i); p >= 0 {
			node.ParentID = &e.ParentID
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// previewLength is how much of an entry a tree shows, and shownLength how much of its text
// that is made of, in UTF-16 units.
const (
	previewLength = 120
	shownLength   = 4 * previewLength
)

// preview is what tells an entry from its neighbours in a tree.
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

// messagePreview is the beginning of what a message says, or of what it did.
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

// shorten brings text onto one short line. Only its beginning is looked at: a message
// can be megabytes long.
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
	EntryID EntryRef `json:"entryId,omitzero" jsonschema:"The entry to go to; null for before the first."`
	Summary string   `json:"summary,omitempty" jsonschema:"What is left behind, in words; it is stored at the new place and shown to the model."`

	Summarize    bool   `json:"summarize,omitempty" jsonschema:"Let the model write the summary."`
	Instructions string `json:"instructions,omitempty" jsonschema:"What the model's summary should look at in particular."`
}

// BranchResult is where the session is now.
type BranchResult struct {
	Session    agent.State `json:"session"`
	EditorText *string     `json:"editorText,omitempty" jsonschema:"The prompt that was gone back before."`
}

func runBranch(ctx context.Context, env *Env, a BranchArgs) (BranchResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return BranchResult{}, err
	}
	if !a.EntryID.Set || !a.EntryID.Null && a.EntryID.ID == "" {
		e, err := env.pickPrompt(ctx, live, "Go back to which prompt?")
		if err != nil {
			return BranchResult{}, err
		}
		a.EntryID = EntryRef{Set: true, ID: e.id}
	}
	text, err := live.Branch(ctx, a.EntryID.ID, agent.BranchOptions{Summary: a.Summary, Summarize: a.Summarize, Instructions: a.Instructions})
	if err != nil {
		return BranchResult{}, err
	}
	state, err := live.State()
	return BranchResult{Session: state, EditorText: optional(text)}, err
}

var labelNeeded = need{question: "Which label?", nothing: "No label given", input: InputText, field: "label"}

// LabelArgs are the arguments of xcsh.label.
type LabelArgs struct {
	Folder
	EntryID string  `json:"entryId" jsonschema:"The entry to label."`
	Label   *string `json:"label,omitempty" jsonschema:"The label; null or absent takes it away."`
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
		e, err := env.pickPrompt(ctx, live, "Label which prompt?")
		if err != nil {
			return LabelResult{}, err
		}
		a.EntryID = e.id
		if a.Label == nil { // a person who chose an entry to label did not mean to take a label away
			text, err := env.askText(ctx, labelNeeded, "", e.label)
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
