package review

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
)

// view is the changes of some steps of a path in its present text.
type view struct {
	path   string
	from   string // the old path of a rename, whose text is compared
	steps  []change.Step
	now    plan.Now
	target plan.Target
	hunks  []hunk
	whole  bool // the file changed, but has no hunks
	binary bool

	committed bool // as a whole
}

// hunk is a difference of a view.
type hunk struct {
	merge.Hunk

	id        string
	mixed     bool
	committed bool
}

// viewOf compares the state of a path without some steps with its present state. from is the view of the path from which it was renamed,
// or nil.
func (in *Input) viewOf(path string, steps []change.Step, from *view) (*view, error) {
	now, err := in.now(path)
	if err != nil {
		return nil, err
	}
	v := &view{path: path, steps: steps, now: now}
	if len(steps) == 0 {
		v.target = plan.Target{State: now.State, Content: now.Content}
		return v, nil
	}
	pi := in.planInput(plan.Selection{})
	v.target = plan.TargetOf(&pi, plan.Chain{Path: path, Steps: steps}, now)
	if from != nil && v.target.Reason == "" && v.target.State.Kind == change.Absent {
		v.from, v.target = from.path, from.target
	}
	v.compare()
	return v, nil
}

// compare finds the hunks.
func (v *view) compare() {
	old, now := v.target, v.now
	switch {
	case old.Reason != "":
		v.whole = true
		return
	case v.from == "" && plan.Same(old.State, now.State):
		return
	case !comparable(old.State) || !comparable(now.State) || !plan.IsText(old.Content) || !plan.IsText(now.Content):
		v.whole = true
		v.binary = old.State.Kind != change.Link && now.State.Kind != change.Link
		return
	}
	equal := map[string]int{}
	for _, h := range merge.Diff(old.Content, now.Content) {
		key := hunkKey(v.path, h)
		v.hunks = append(v.hunks, hunk{Hunk: h, id: hunkID(key, equal[key]), mixed: v.mixed(h)})
		equal[key]++
	}
	v.whole = len(v.hunks) == 0
}

func comparable(s change.State) bool { return s.Kind == change.Regular || s.Kind == change.Absent }

// mixed reports whether the user also changed lines of a hunk.
func (v *view) mixed(h merge.Hunk) bool {
	for _, m := range v.target.Mixed {
		if touches(merge.Range{Start: h.NewStart, Lines: h.NewLines}, m) {
			return true
		}
	}
	return false
}

// touches reports whether two ranges of lines of one text overlap or are adjacent.
func touches(a, b merge.Range) bool { return a.Start <= b.Start+b.Lines && b.Start <= a.Start+a.Lines }

func hunkKey(path string, h merge.Hunk) string {
	sum := sha256.New()
	for _, part := range [][]byte{[]byte(path), bytes.Join(h.Old, nil), bytes.Join(h.New, nil)} {
		_, _ = fmt.Fprintf(sum, "%d:", len(part)) // a hash never fails
		_, _ = sum.Write(part)
	}
	return string(sum.Sum(nil))
}

// hunkID returns the id of a hunk that n equal hunks precede.
func hunkID(key string, n int) string {
	sum := sha256.Sum256(fmt.Append([]byte(key), n))
	return hex.EncodeToString(sum[:6])
}

// pending returns the hunks that the user has not kept.
func (v *view) pending() (hunks []hunk) {
	if v.committed {
		return nil
	}
	for _, h := range v.hunks {
		if !h.committed {
			hunks = append(hunks, h)
		}
	}
	return hunks
}

// open returns the number of hunks that the user has not kept.
func (v *view) open() int {
	if n := len(v.pending()); n > 0 || !v.whole || v.committed {
		return n
	}
	return 1
}

// with returns the target with the hunks applied for which take is true.
func (v *view) with(take func(hunk) bool) []byte {
	lines := merge.Lines(v.target.Content)
	var out [][]byte
	at := 0
	for _, h := range v.hunks {
		out = append(out, lines[at:h.OldStart-1]...)
		if at = h.OldStart - 1; take(h) {
			out = append(out, h.New...)
			at += h.OldLines
		}
	}
	return bytes.Join(append(out, lines[at:]...), nil)
}

// base returns the state without the pending changes, and its content.
func (v *view) base() (change.State, []byte) {
	if v.committed {
		return v.now.State, v.now.Content
	}
	committed := 0
	for _, h := range v.hunks {
		if h.committed {
			committed++
		}
	}
	if committed == 0 {
		return v.target.State, v.target.Content
	}
	if committed == len(v.hunks) {
		return v.now.State, v.now.Content
	}
	return v.state(v.with(func(h hunk) bool { return h.committed }), v.target.State)
}

// state returns the state of a file with a content and the mode of like.
func (v *view) state(content []byte, like change.State) (change.State, []byte) {
	mode := like.Mode
	if like.Kind != change.Regular {
		mode = v.now.State.Mode
	}
	return change.State{Kind: change.Regular, SHA256: change.Sum(content), Mode: mode, Size: int64(len(content))}, content
}
