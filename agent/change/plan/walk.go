package plan

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// walk undoes the steps of one path, newest first.
type walk struct {
	in      *Input
	now     Now
	cur     change.State
	content []byte // of cur, nil if it is only in the store
	loaded  bool   // content has been loaded
	merged  bool
	hidden  bool // a part of the changes had already been undone
	stop    *conflict
	force   bool    // overlaps are resolved in favor of the earlier text
	mixed   []place // forced overlaps, as lines of the text that was current then
}

// place is a range of lines of a text.
type place struct {
	text []byte
	at   merge.Range
}

type conflict struct {
	reason, text string
	places       []place
}

// same reports whether two states are equal. An unknown mode of a file equals any mode.
func same(a, b change.State) bool {
	if a.Kind == b.Kind && (a.Mode == 0 || b.Mode == 0) {
		return a.SHA256 == b.SHA256
	}
	return a.Same(b)
}

// isAfter reports whether cur is the state after a change. A directory equals a missing path here, because only its files count.
func (w *walk) isAfter(after change.State) bool {
	switch {
	case same(w.cur, after):
		return true
	case w.cur.Kind == change.Special && w.now.Dir && w.cur == w.now.State:
		return after.Kind == change.Absent
	case w.cur.Kind == change.Absent:
		return after.Kind == change.Special
	}
	return false
}

func (w *walk) run(steps []change.Step) {
	for i := len(steps) - 1; i >= 0 && w.stop == nil; i-- {
		c := steps[i].Change
		if c.After == nil {
			w.open(steps[i])
			continue
		}
		if w.isAfter(*c.After) {
			w.become(c.Before)
			continue
		}
		if j := w.was(steps[:i+1]); j >= 0 {
			i, w.hidden = j, true // neither this step nor those in between have an effect any more
			continue
		}
		w.merge(c.Before, *c.After)
	}
}

// was returns the newest step whose earlier state is the current one, -1 if there is none. Such a step did not happen, or was undone.
func (w *walk) was(steps []change.Step) int {
	for j, s := range slices.Backward(steps) {
		if same(w.cur, s.Change.Before) {
			return j
		}
	}
	return -1
}

// open undoes a command that did not end.
func (w *walk) open(s change.Step) {
	if same(w.cur, s.Change.Before) {
		return
	}
	if !named(w.in, s.Record, s.Change.Path) {
		w.refuse(wire.AlsoEditor, "The command did not end, so later changes of the file may be its own or yours.")
		return
	}
	w.become(s.Change.Before)
}

// become makes a recorded state the current one. It keeps a mode that the user changed if the content stays the same.
func (w *walk) become(s change.State) {
	if s.Kind == change.Regular && s.Mode == 0 && w.cur.Kind == change.Regular {
		s.Mode = w.cur.Mode
	}
	w.loaded = w.loaded && w.cur.SHA256 == s.SHA256 && w.cur.Kind == s.Kind
	if !w.loaded {
		w.content = nil
	}
	w.cur = s
}

func (w *walk) refuse(reason, format string, args ...any) {
	w.stop = &conflict{reason: reason, text: fmt.Sprintf(format, args...)}
}

// merge undoes a change after which the file was changed again.
func (w *walk) merge(before, after change.State) {
	cur := w.cur
	switch {
	case before.Same(after):
		return // the kept changes
	case before.Kind == change.Special || after.Kind == change.Special || cur.Kind == change.Special:
		w.refuse(wire.Kind, "%s", kindText(w.now, before, after))
	case cur.Kind == change.Regular && after.Kind == change.Regular && cur.SHA256 == after.SHA256:
		w.onlyMode(before, after)
	case before.Kind == change.Large || after.Kind == change.Large || cur.Kind == change.Large:
		w.refuse(wire.Large, "The file was changed since, and its content was too large to be stored: %s before the change, %s after it.", size(before), size(after))
	case cur.Kind == change.Absent:
		w.refuse(wire.Kind, "The file was removed or renamed since the change.")
	case cur.Kind == change.Link && (before.Kind == change.Link || before.Kind == change.Absent) && after.Kind == change.Link:
		w.refuse(wire.Overlaps, "The link was changed since the change was recorded.")
	case cur.Kind != change.Regular || after.Kind == change.Link || before.Kind == change.Link:
		w.refuse(wire.Kind, "%s", kindText(w.now, before, after))
	case after.Kind == change.Absent:
		w.refuse(wire.Overlaps, "The file was removed and created again since the change.")
		w.stop.places = wholeOf(w.text())
		w.forced(before)
	default:
		w.mergeText(before, after)
	}
}

// onlyMode undoes a change of a file whose mode was changed since.
func (w *walk) onlyMode(before, after change.State) {
	if before.Kind == change.Regular && w.cur.Mode != after.Mode {
		w.hidden = w.hidden || before.Mode != after.Mode
		before.Mode = w.cur.Mode
	}
	w.become(before)
}

// forced continues after a conflict with the earlier text, for a review.
func (w *walk) forced(before change.State) {
	if !w.force {
		return
	}
	w.mixed = append(w.mixed, w.stop.places...)
	w.stop = nil
	w.become(before)
}

// text returns the content of cur.
func (w *walk) text() []byte {
	if !w.loaded {
		if content, stop := load(w.in, w.cur); stop != nil {
			w.stop = stop
		} else {
			w.content, w.loaded = content, true
		}
	}
	return w.content
}

// mergeText merges the lines of three files. Before may be absent.
func (w *walk) mergeText(before, after change.State) {
	base, stop := load(w.in, after)
	theirs, stop2 := load(w.in, before)
	ours := w.text()
	if stop == nil {
		stop = stop2
	}
	if stop != nil {
		w.stop = stop
	}
	if w.stop != nil {
		return
	}
	if reason := notText(ours, base, theirs); reason != "" {
		w.refuse(reason, "%s", map[string]string{
			wire.Binary:   "The file is not text and was changed since.",
			wire.Encoding: "The file was changed since and is not UTF-8, so it can't be merged. Open it in the editor and try again.",
		}[reason])
		return
	}
	if before.Kind == change.Absent {
		w.refuse(wire.Overlaps, "")
		w.stop.places = changedIn(base, ours)
		w.stop.text = "The change created the file, and lines of it were changed since: " + rangesText(w.stop.places) + ". Removing the file would lose them."
		w.forced(before)
		return
	}
	r := merge.Three(base, ours, theirs)
	merged := r.Text
	if !r.OK {
		w.refuse(wire.Overlaps, "")
		for _, o := range r.Overlaps {
			w.stop.places = append(w.stop.places, place{ours, o.Ours})
		}
		w.stop.text = "Lines of this change were edited since: " + rangesText(w.stop.places) + "."
		if !w.force {
			return
		}
		w.mixed = append(w.mixed, w.stop.places...)
		w.stop = nil
		merged, _ = merge.Favor(base, ours, theirs)
	}
	w.hidden = w.hidden || r.Agreed
	mode := w.cur.Mode
	switch {
	case before.Mode == 0 || before.Mode == after.Mode:
	case mode == after.Mode:
		mode = before.Mode
	default:
		w.hidden = true
	}
	w.cur = change.State{Kind: change.Regular, SHA256: change.Sum(merged), Mode: mode, Size: int64(len(merged))}
	w.content, w.loaded, w.merged = merged, true, true
}

// load returns the content of a state from the store. That of a missing file is empty.
func load(in *Input, s change.State) ([]byte, *conflict) {
	switch s.Kind {
	case change.Absent:
		return nil, nil
	case change.Large:
		return nil, &conflict{reason: wire.Large, text: fmt.Sprintf("The content of %s was too large to be stored.", size(s))}
	case change.Special:
		return nil, &conflict{reason: wire.Kind, text: "The path was a directory or device."}
	case change.Regular, change.Link:
	default:
		return nil, &conflict{reason: wire.Kind, text: "The record has a kind of file that this version does not support."}
	}
	if s.Size == 0 && s.SHA256 == emptySum {
		return []byte{}, nil
	}
	content, err := in.Content(s.SHA256)
	switch {
	case err == nil:
		return content, nil
	case in.Missing == nil || in.Missing(err):
		return nil, &conflict{reason: wire.Missing, text: "The stored content of the record is missing."}
	default:
		return nil, &conflict{reason: wire.Damaged, text: "The stored content of the record is damaged."}
	}
}

var emptySum = change.Sum(nil)

// notText returns why contents can't be merged by lines: wire.Binary or wire.Encoding, "" if they can.
func notText(contents ...[]byte) (reason string) {
	for _, c := range contents {
		switch {
		case bytes.HasPrefix(c, []byte("\xff\xfe")), bytes.HasPrefix(c, []byte("\xfe\xff")):
			reason = wire.Encoding
		case bytes.IndexByte(c, 0) >= 0:
			return wire.Binary
		case !utf8.Valid(c):
			reason = wire.Encoding
		}
	}
	return reason
}

// IsText reports whether a content is UTF-8 text that can be compared by lines.
func IsText(content []byte) bool { return notText(content) == "" }
