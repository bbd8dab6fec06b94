package review

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Undo returns a plan that undoes pending hunks, or all pending changes of paths. Its record has the hunks instead of records. The
// errors are those of [Keep].
//
// If a path is selected, lines that the user also changed are a conflict. If a hunk is selected, they are undone with it, because the
// user has seen them.
func Undo(in *Input, hunks []wire.HunkRef, paths []string) (*plan.Plan, error) {
	chosen, err := in.choose(hunks, paths, false)
	if err != nil {
		return nil, err
	}
	s := plan.Selection{Wants: map[string]plan.Want{}}
	for _, c := range chosen {
		in.undo(c, &s)
	}
	if len(s.Hunks) == 0 {
		return nil, fault.New(fault.NotFound, "There are no pending changes to undo in these files.")
	}
	pi := in.planInput(s)
	pi.Named = append(slices.Clone(pi.Named), paths...)
	for _, h := range hunks {
		pi.Named = append(pi.Named, h.Path)
	}
	return plan.Make(pi)
}

// undo adds a choice to a selection.
func (in *Input) undo(c choice, s *plan.Selection) {
	v := c.view
	pending := v.pending()
	if len(pending) == 0 {
		s.Hunks = append(s.Hunks, change.HunkRef{Path: v.path})
	}
	all := true
	for _, h := range pending {
		if c.has(h) {
			s.Hunks = append(s.Hunks, change.HunkRef{Path: v.path, Hunk: h.id})
		} else {
			all = false
		}
	}
	s.Chains = append(s.Chains, plan.Chain{Path: v.path, Steps: in.Book.Pending(v.path)})
	for _, step := range v.steps {
		if r := step.Record; r != nil && !slices.Contains(s.Records, r) {
			s.Records = append(s.Records, r)
		}
	}
	whole := all && len(pending) == len(v.hunks)
	switch {
	case v.target.Reason != "":
	case c.hunks == nil && whole && v.from != "":
		s.Chains = append(s.Chains, plan.Chain{Path: v.from, Steps: in.Book.Pending(v.from)})
	case c.hunks == nil && whole:
	case whole && v.from == "" && (v.target.State.Kind != change.Regular || len(pending) == 0):
		s.Wants[v.path] = plan.Want{State: v.target.State, Content: v.target.Content}
	default:
		like := v.now.State
		if whole && v.from == "" {
			like = v.target.State
		}
		state, content := v.state(v.with(func(h hunk) bool { return h.committed || !c.has(h) }), like)
		s.Wants[v.path] = plan.Want{State: state, Content: content}
	}
}
