package review

import (
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The sides of changes.
const (
	sideBase   = "base"
	sideBefore = "before"
	sideAfter  = "after"
)

// Side returns one side of the changes of a file: the present text without the pending changes, or the state before or after a record.
// The default record is the oldest for before and the newest for after. The error has the kind notFound or invalidArgument.
func Side(in *Input, q wire.SideQuery) (wire.Side, error) {
	if q.Side == sideBase || q.Side == "" {
		if len(in.Book.Chain(q.Path, nil)) == 0 && len(in.Book.Pending(q.Path)) == 0 {
			return wire.Side{}, fault.New(fault.NotFound, "This session has no changes in %s.", fault.OneLine(q.Path)).With("path", q.Path)
		}
		v, err := in.pendingView(q.Path)
		if err != nil {
			return wire.Side{}, err
		}
		if v.target.Reason != "" {
			return wire.Side{}, fault.New(fault.NotFound, "%s", v.target.Text).With("path", q.Path)
		}
		state, content := v.base()
		return sideOf(state, content), nil
	}
	if q.Side != sideBefore && q.Side != sideAfter {
		return wire.Side{}, fault.New(fault.InvalidArgument, `The side %s is unknown. Use "base", "before" or "after".`, fault.OneLine(q.Side)).With("field", "side")
	}
	state, err := in.stateOf(q)
	if err != nil {
		return wire.Side{}, err
	}
	pi := in.planInput(plan.Selection{})
	content, reason, text := plan.Load(&pi, state)
	switch {
	case reason == wire.Large || reason == wire.Kind:
		return wire.Side{SHA256: state.SHA256, Size: state.Size, Mode: state.Mode, Binary: true}, nil
	case reason != "":
		return wire.Side{}, fault.New(fault.NotFound, "%s", text).With("path", q.Path)
	}
	return sideOf(state, content), nil
}

// stateOf returns the recorded state that a query selects.
func (in *Input) stateOf(q wire.SideQuery) (s change.State, err error) {
	found := false
	for _, r := range in.Book.Records {
		c, ok := r.Change(q.Path)
		if !ok || q.Record != "" && r.ID != q.Record || r.Unreadable || in.Book.Record(r.ID) == nil {
			continue
		}
		switch {
		case q.Side == sideBefore && !found:
			s = c.Before
		case q.Side == sideAfter && c.After != nil:
			s = *c.After
		}
		found = true
	}
	if !found || s.Kind == "" {
		return s, fault.New(fault.NotFound, "This session has no such record of %s.", fault.OneLine(q.Path)).With("path", q.Path)
	}
	return s, nil
}

func sideOf(state change.State, content []byte) wire.Side {
	side := wire.Side{SHA256: state.SHA256, Size: state.Size, Mode: state.Mode}
	switch {
	case state.Kind == change.Absent:
	case plan.IsText(content) && state.Kind != change.Special && state.Kind != change.Large:
		text := string(content)
		side.Text = &text
	default:
		side.Binary = true
	}
	return side
}
