package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// Token identifies the plan at a leaf; it is "" if the plan has conflicts. It only changes with the states, the records and the leaf,
// but not if a file is opened or closed in the editor.
func (p *Plan) Token(leaf string) string {
	if p.Conflicts > 0 {
		return ""
	}
	type path struct {
		Path, Action string
		Now, Want    change.State
		By           []string
	}
	paths := make([]path, len(p.Paths))
	for i, x := range p.Paths {
		now, want := x.Now.State, x.Want
		now.Size, want.Size = 0, 0
		paths[i] = path{x.Path, x.Action, now, want, x.By}
	}
	raw, err := json.Marshal(struct {
		Leaf, Redoes    string
		Records, Except []string
		Hunks           []change.HunkRef
		HeadMoved       bool
		Paths           []path
	}{leaf, p.Redoes, p.Records, p.Except, p.Hunks, p.HeadMoved, paths})
	if err != nil {
		panic("plan: " + err.Error()) // can't happen: only strings and numbers
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// Wire converts the plan for clients. The caller adds the prompts and the conversation.
func (p *Plan) Wire(leaf string) wire.RewindResult {
	token := p.Token(leaf)
	r := wire.RewindResult{
		Records: p.Records, Head: &wire.Head{Moved: p.HeadMoved}, Limits: p.Limits, Conflicts: p.Conflicts, PlanToken: &token, Commits: p.Commits,
		Plan: make([]wire.PlanPath, len(p.Paths)),
	}
	for i, x := range p.Paths {
		r.Plan[i] = wire.PlanPath{
			Path: x.Path, Action: x.Action, Added: x.Added, Removed: x.Removed, Buffer: x.Now.Document, By: x.By, Yours: x.Yours,
			Reason: x.Reason, Text: x.Text, Places: x.Places, Hint: x.Hint,
		}
	}
	return r
}

// Changes returns the paths that the plan changes.
func (p *Plan) Changes() (paths []Path) {
	for _, x := range p.Paths {
		if x.Action != wire.None && x.Action != wire.Conflict {
			paths = append(paths, x)
		}
	}
	return paths
}
