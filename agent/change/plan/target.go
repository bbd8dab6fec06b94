package plan

import (
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
)

// Target is the state of a path without some changes, for a review. It is never written.
type Target struct {
	State   change.State
	Content []byte // of a file or a link
	Mixed   []merge.Range

	Reason, Text string // why the state is unknown
}

// TargetOf undoes the steps of a path, starting from its present state. Where the user changed the same lines, the earlier text is used
// and Mixed has the lines of the present text.
func TargetOf(in *Input, c Chain, now Now) (t Target) {
	w := walk{in: in, now: now, cur: now.State, content: now.Content, loaded: now.Content != nil, force: true}
	if now.Unknown {
		return Target{Reason: now.Block, Text: now.Why}
	}
	w.run(c.Steps)
	if k := w.cur.Kind; w.stop == nil && (k == change.Regular || k == change.Link) {
		w.text()
	}
	if w.stop != nil {
		return Target{Reason: w.stop.reason, Text: w.stop.text}
	}
	t = Target{State: w.cur, Content: w.content}
	for _, p := range w.mixed {
		t.Mixed = append(t.Mixed, Moved(p.at, merge.Diff(p.text, now.Content)))
	}
	return t
}

// Before undoes the steps of a path from its present state, and returns the state before them, or why that is not possible. Unlike a target of
// a review, lines that changed since are a conflict.
func Before(in *Input, c Chain, now Now) Target {
	w := walk{in: in, now: now, cur: now.State, content: now.Content, loaded: now.Content != nil}
	if w.run(c.Steps); w.stop == nil && w.cur.Kind == change.Regular {
		w.text()
	}
	if w.stop != nil {
		return Target{Reason: w.stop.reason, Text: w.stop.text}
	}
	return Target{State: w.cur, Content: w.content}
}

// Same reports whether two states are equal. An unknown mode of a file equals any mode.
func Same(a, b change.State) bool { return same(a, b) }

// Load returns the content of a state, or the reason and the message if it is not available.
func Load(in *Input, s change.State) (content []byte, reason, text string) {
	content, stop := load(in, s)
	if stop != nil {
		return nil, stop.reason, stop.text
	}
	return content, "", ""
}
