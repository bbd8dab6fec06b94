package patched

import (
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change/patch"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// Files describes the files of calls, sorted by path. calls are in session order; plans has the conflicts.
func Files(calls []Call, plans *plan.Plan, hunks bool) (files []wire.File) {
	byPath := map[string]*wire.File{}
	for _, c := range calls {
		f := byPath[c.Path]
		if f == nil {
			f = &wire.File{Path: c.Path, Status: wire.Modified, Records: []string{}, Rewindable: true}
			byPath[c.Path] = f
		}
		f.Records = append(f.Records, c.Entry)
		added, removed := c.count()
		f.Added, f.Removed = f.Added+added, f.Removed+removed
		if hunks {
			f.Hunks = append(f.Hunks, c.hunks()...)
		}
	}
	for _, p := range plans.Paths {
		f := byPath[p.Path]
		if f == nil {
			continue
		}
		f.Buffer = p.Now.Document && p.Now.Dirty
		if p.Action == wire.Conflict {
			f.Rewindable, f.Reason, f.Text = false, p.Reason, p.Text
		}
	}
	for _, f := range byPath {
		files = append(files, *f)
	}
	slices.SortFunc(files, func(a, b wire.File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// hunks returns the replacements of a call for clients. They can't be kept, and are undone with the call.
func (c Call) hunks() (hunks []wire.Hunk) {
	for _, r := range c.replaced() {
		hunks = append(hunks, wire.Hunk{
			OldStart: r.diff.OldStart, OldLines: r.diff.OldLines, NewStart: r.diff.NewStart, NewLines: r.diff.NewLines,
			Text: patch.Hunk(r.diff), Record: c.Entry, ToolCallID: c.ID, State: "kept",
		})
	}
	return hunks
}
