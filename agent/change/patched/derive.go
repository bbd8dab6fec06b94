package patched

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// The most that is done for one plan, in bytes: a session file may be made to cost more than any file is worth.
const (
	maxRead = 8 << 30   // of searched texts
	maxKept = 256 << 20 // of contents
)

// key names the change of a call in one file.
type key struct{ entry, path string }

// Derive gives the steps of calls in the selection of an input their states, and makes the input return their contents. book has the
// records of the calls and those of the session. The input then looks at each path once, so that the plan is of the same moment. The
// error is one of Present.
//
// The states before and after a call are worked out from the present text without all later changes of the session, also those that stay:
// the text of an earlier call is not searched in the text of a later one.
func Derive(in *plan.Input, book *change.Book, calls []Call) error {
	d := deriver{in: in, calls: make(map[key]Call, len(calls)), contents: map[string][]byte{}}
	for _, c := range calls {
		d.calls[key{c.Entry, c.Path}] = c
	}
	in.Present = once(in.Present)
	kept := in.Content
	in.Content = func(sha256 string) ([]byte, error) {
		if content, ok := d.contents[sha256]; ok {
			return content, nil
		}
		return kept(sha256)
	}
	in.Derived = map[string]plan.Derived{}
	for _, c := range in.Chains {
		if err := d.chain(c, book.Chain(c.Path, nil)); err != nil {
			return err
		}
	}
	return nil
}

// once remembers what is at a path.
func once(present func(string) (plan.Now, error)) func(string) (plan.Now, error) {
	seen := map[string]plan.Now{}
	return func(abs string) (plan.Now, error) {
		if now, ok := seen[abs]; ok {
			return now, nil
		}
		now, err := present(abs)
		if err == nil {
			seen[abs] = now
		}
		return now, err
	}
}

type deriver struct {
	in       *plan.Input
	calls    map[key]Call
	contents map[string][]byte // by their hashes
	read     int64             // bytes; see maxRead
	kept     int               // bytes of contents
}

// of returns the call of a step.
func (d *deriver) of(s change.Step, path string) (Call, bool) {
	if s.Record == nil {
		return Call{}, false
	}
	c, ok := d.calls[key{s.Record.ID, path}]
	return c, ok
}

// chain computes the states of the steps of a path that are undone. all are the active steps.
func (d *deriver) chain(c plan.Chain, all []change.Step) error {
	wanted := map[string]*change.Change{}
	for i := range c.Steps {
		if _, ok := d.of(c.Steps[i], c.Path); ok {
			wanted[c.Steps[i].Record.ID] = &c.Steps[i].Change
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	now, err := d.in.Present(c.Path)
	if err != nil {
		return err
	}
	d.in.Derived[c.Path] = d.walk(c.Path, now, all, wanted)
	return nil
}

// walk takes the steps of a path back from the present text, newest first, until all that are wanted have their states.
func (d *deriver) walk(path string, now plan.Now, steps []change.Step, wanted map[string]*change.Change) plan.Derived {
	cur := plan.Target{State: now.State, Content: now.Content}
	for i := len(steps); i > 0 && len(wanted) > 0; {
		if j := d.was(steps[:i], path, cur); j >= 0 {
			for _, s := range steps[j:i] {
				d.settle(wanted, s, cur, cur) // nothing of this is there
			}
			i = j
			continue
		}
		i--
		call, isCall := d.of(steps[i], path)
		if !isCall {
			at := now
			at.State, at.Content = cur.State, cur.Content
			if cur = plan.Before(d.in, plan.Chain{Path: path, Steps: steps[i : i+1]}, at); cur.Reason != "" {
				return plan.Derived{Reason: cur.Reason, Text: cur.Text}
			}
			continue
		}
		if !isText(cur) {
			return plan.Derived{Reason: wire.Kind, Text: "A call changed a text file, and the path has none now."}
		}
		if d.read += int64(len(cur.Content)) * int64(1+2*len(call.replaced())); d.read > maxRead || d.kept > maxKept {
			return plan.Derived{Reason: wire.Large, Text: "The session changed its files too often to work out their earlier content."}
		}
		before, reason, why := call.Before(cur.Content)
		if reason != "" {
			return plan.Derived{Reason: reason, Text: why}
		}
		was := plan.Target{State: change.State{Kind: change.Regular, SHA256: change.Sum(before), Mode: cur.State.Mode, Size: int64(len(before))}, Content: before}
		d.settle(wanted, steps[i], was, cur)
		cur = was
	}
	return plan.Derived{}
}

// was returns the newest recorded step before a call whose earlier state is the current one, -1 if there is none. It ignores the newest
// step, which is undone like any other.
func (d *deriver) was(steps []change.Step, path string, cur plan.Target) int {
	if _, ok := d.of(steps[len(steps)-1], path); !ok {
		return -1
	}
	for j, s := range slices.Backward(steps) {
		if _, ok := d.of(s, path); !ok && plan.Same(cur.State, s.Change.Before) {
			return j
		}
	}
	return -1
}

// settle gives a step its states if it is wanted. The mode is not known: that of the file stays.
func (d *deriver) settle(wanted map[string]*change.Change, s change.Step, before, after plan.Target) {
	if s.Record == nil || wanted[s.Record.ID] == nil {
		return
	}
	ch := wanted[s.Record.ID]
	delete(wanted, s.Record.ID)
	to := d.state(after)
	ch.Before, ch.After = d.state(before), &to
}

// state returns the state of a text, and keeps its content.
func (d *deriver) state(t plan.Target) change.State {
	if t.State.Kind != change.Regular {
		return t.State
	}
	if _, ok := d.contents[t.State.SHA256]; !ok {
		d.contents[t.State.SHA256] = t.Content
		d.kept += len(t.Content)
	}
	return change.State{Kind: change.Regular, SHA256: t.State.SHA256, Size: t.State.Size}
}
