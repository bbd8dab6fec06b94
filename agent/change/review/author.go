package review

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
)

// maxAuthors is the maximum number of records of a path that are compared for each hunk.
const maxAuthors = 30

// author returns the newest record that changed lines of a hunk, or the newest record of the path, or nil if there is none.
func (in *Input) author(v *view, h hunk) *change.Record {
	var newest *change.Record
	pi := in.planInput(plan.Selection{})
	looked := 0
	for _, s := range slices.Backward(v.steps) {
		if s.Record == nil || s.Change.After == nil {
			continue
		}
		if newest == nil {
			newest = s.Record
		}
		if len(v.steps) == 1 || looked == maxAuthors {
			break
		}
		looked++
		before, r1, _ := plan.Load(&pi, s.Change.Before)
		after, r2, _ := plan.Load(&pi, *s.Change.After)
		if r1 != "" || r2 != "" {
			continue
		}
		there := plan.Moved(newRange(h), merge.Diff(v.now.Content, after))
		for _, d := range merge.Diff(before, after) {
			if touches(there, merge.Range{Start: d.NewStart, Lines: d.NewLines}) {
				return s.Record
			}
		}
	}
	return newest
}
