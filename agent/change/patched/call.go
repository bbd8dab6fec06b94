package patched

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// Call is the change of a call in one file, as its arguments and its result describe it.
type Call struct {
	ID     string // of the call
	Entry  string // the entry of its result, which is the id of its record
	Seq    int    // the place of the result in the session file
	Time   time.Time
	Prompt string // the entry of the turn's prompt, "" if there is none
	Tool   string
	Path   string // absolute

	Patch  string  // the unified diff of the result, "" if it has none
	Edits  []Edit  // of the arguments, in their order
	Wrote  *string // the new content of a whole file
	Opaque bool    // the call also did something that its arguments do not describe in a known form
}

// Edit is a replaced text.
type Edit struct{ Old, New string }

// Before takes the call back from the text that it left, which may have been changed in other places since. It returns the text before
// the call, or the reason of a conflict and its sentence.
//
// Each place is looked for in the text without those behind it, from the last to the first: an edit may change the text of an earlier one of
// the same call. Anything that is not found exactly once is ambiguous. Edits are made again in their order in the same way.
func (c Call) Before(text []byte) (before []byte, reason, why string) {
	places := c.replaced()
	if c.Wrote != nil || c.Opaque || len(places) == 0 {
		return nil, wire.Missing, "The content before a call is not recorded."
	}
	body, restore := plainText(text, places)
	before = body
	for _, p := range slices.Backward(places) {
		if before = p.swap(before, p.new, p.old); before == nil {
			return nil, wire.Overlaps, "The text of a call is not found exactly once."
		}
	}
	again := before
	for _, p := range places {
		if again = p.swap(again, p.old, p.new); again == nil {
			break
		}
	}
	if again == nil || !bytes.Equal(again, body) {
		return nil, wire.Overlaps, "The changes of a call can't be undone reliably: redoing them would not give the present text."
	}
	return restore(before), "", ""
}

// replaced is one place of a call: text that was replaced by other text. The texts of a patch are whole lines with those around them.
type replaced struct {
	old, new string
	lines    bool // the texts are whole lines
	diff     merge.Hunk
}

// swap puts one text in the place of another, which must be in the content exactly once. The result is nil if it is not.
func (r replaced) swap(content []byte, from, to string) []byte {
	at, ok := r.find(content, from)
	if !ok {
		return nil
	}
	out := make([]byte, 0, len(content)-len(from)+len(to))
	return append(append(append(out, content[:at]...), to...), content[at+len(from):]...)
}

// find returns where a text is in a content; not ok unless it is there exactly once. Lines are only found where lines are.
func (r replaced) find(content []byte, text string) (at int, ok bool) {
	switch {
	case text == "":
		return 0, false
	case r.lines && !strings.HasSuffix(text, "\n"): // the last line has no end
		at = len(content) - len(text)
		return at, bytes.HasSuffix(content, []byte(text)) && (at == 0 || content[at-1] == '\n')
	case r.lines:
		content, text = append([]byte{'\n'}, content...), "\n"+text
	}
	if at = bytes.Index(content, []byte(text)); at < 0 {
		return 0, false
	}
	return at, !bytes.Contains(content[at+1:], []byte(text)) // another one may overlap it
}

// replaced returns the places of a call in their order.
func (c Call) replaced() (places []replaced) {
	if places = hunksOf(c.Patch); len(places) > 0 {
		return places
	}
	for _, e := range c.Edits {
		old, new := merge.Lines([]byte(e.Old)), merge.Lines([]byte(e.New))
		places = append(places, replaced{old: e.Old, new: e.New, diff: merge.Hunk{
			OldStart: 1, OldLines: len(old), NewStart: 1, NewLines: len(new), Old: old, New: new,
		}})
	}
	return places
}

// plainText returns a text and places with line feeds and without a byte order mark, as the tools see it, and a function that restores
// the line ends and the mark. A text with mixed line ends stays as it is.
func plainText(text []byte, places []replaced) (body []byte, restore func([]byte) []byte) {
	mark := []byte("\ufeff")
	body, marked := bytes.CutPrefix(text, mark)
	plain := bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	windows := len(plain) != len(body)
	if bytes.IndexByte(plain, '\r') >= 0 || windows && !bytes.Equal(withReturns(plain), body) {
		plain, windows = body, false
	} else {
		for i := range places {
			places[i].old, places[i].new = feeds(places[i].old), feeds(places[i].new)
		}
	}
	return plain, func(b []byte) []byte {
		if windows {
			b = withReturns(b)
		}
		if marked {
			b = append(bytes.Clone(mark), b...)
		}
		return b
	}
}

func withReturns(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) }

func feeds(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// Records returns the calls as records, which name the paths. The states are not known; see [Derive]. calls are in the order of the
// session.
func Records(calls []Call, folder string) (records []*change.Record) {
	for _, c := range calls {
		ch := change.Change{Path: c.Path, After: &change.State{}}
		if n := len(records); n > 0 && records[n-1].ID == c.Entry {
			records[n-1].Changes = append(records[n-1].Changes, ch)
			continue
		}
		records = append(records, &change.Record{
			V: change.Version, PromptID: c.Prompt, ToolCallID: c.ID, Tool: c.Tool, Root: change.RootURI(folder), Changes: []change.Change{ch},
			Limits: []string{change.LimitPatch}, ID: c.Entry, Seq: c.Seq, Time: c.Time,
		})
	}
	return records
}

// isText reports whether calls can be undone in a file.
func isText(t plan.Target) bool {
	return t.State.Kind == change.Regular && plan.IsText(t.Content)
}
