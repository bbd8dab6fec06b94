package patched_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/changetest"
	"github.com/xcsh-ls/xcsh-ls/agent/change/patched"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// file is the file of these tests.
var file = changetest.Path("a")

// history is a session without records, or with some.
type history struct {
	w       *changetest.World
	records []*change.Record
	calls   []patched.Call
	seq     int
}

func newHistory(text string) *history {
	w, _ := changetest.New()
	h := &history{w: w}
	h.set(text)
	return h
}

// set is a change of the user.
func (h *history) set(text string) { h.w.Tree[file] = changetest.File{Content: text, Mode: 0o755} }

func (h *history) text() string { return h.w.Tree[file].Content }

func (h *history) id() string { return fmt.Sprint("e", h.seq) }

// call is a call without a record that leaves a text.
func (h *history) call(text string, c patched.Call) {
	h.seq++
	c.Entry, c.ID, c.Seq, c.Path = h.id(), "call-"+h.id(), h.seq, file
	h.calls = append(h.calls, c)
	h.set(text)
}

// edit replaces one text.
func (h *history) edit(old, text string) {
	h.call(strings.Replace(h.text(), old, text, 1), patched.Call{Edits: []patched.Edit{{Old: old, New: text}}})
}

// record is a call with a record.
func (h *history) record(text string) {
	h.seq++
	before := h.w.State(file)
	h.set(text)
	after := h.w.State(file)
	h.records = append(h.records, &change.Record{
		ID: h.id(), Seq: h.seq, Root: change.RootURI(changetest.Root), Changes: []change.Change{{Path: "a", Before: before, After: &after}},
	})
}

func (h *history) book() *change.Book {
	b := change.NewBook()
	for _, r := range h.records {
		b.Add(r)
	}
	return b.With(patched.Records(h.calls, changetest.Root))
}

// back plans to take records back, and returns the new text, or "" and the conflict.
func (h *history) back(t *testing.T, taken func(*change.Record) bool) (text string, p plan.Path) {
	t.Helper()
	b := h.book()
	in := plan.Input{Selection: plan.Of(b, taken), Content: h.w.Content, Present: h.w.Present}
	require.NoError(t, patched.Derive(&in, b, h.calls))
	made, err := plan.Make(in)
	require.NoError(t, err)
	require.Len(t, made.Paths, 1)
	p = made.Paths[0]
	switch p.Action {
	case wire.Conflict:
		require.NotEmpty(t, p.Text)
		return "", p
	case wire.None:
		return h.text(), p
	}
	content := p.Content
	if content == nil {
		content, err = h.w.Content(p.Want.SHA256)
		require.NoError(t, err, "the store has what was not worked out")
	}
	require.Equal(t, change.Sum(content), p.Want.SHA256)
	return string(content), p
}

func all(*change.Record) bool { return true }

func only(ids ...string) func(*change.Record) bool {
	return func(r *change.Record) bool { return slices.Contains(ids, r.ID) }
}

func TestCallsAreTakenBackNewestFirst(t *testing.T) {
	t.Parallel()
	h := newHistory("a\nx\n")
	h.edit("a", "b")
	h.edit("b", "c")
	text, p := h.back(t, all)
	require.Equal(t, "a\nx\n", text)
	require.Equal(t, wire.Merge, p.Action, "it is shown")
	require.Equal(t, uint32(0o755), p.Want.Mode)
	require.Equal(t, []string{"e1", "e2"}, p.By)
	text, _ = h.back(t, only("e2"))
	require.Equal(t, "b\nx\n", text)
	_, p = h.back(t, only("e1"))
	require.Equal(t, wire.Overlaps, p.Reason, "the later call changed the same line")
}

// An earlier call is not taken for one that wrote the same text later.
func TestACallIsNotLookedForInALaterOne(t *testing.T) {
	t.Parallel()
	h := newHistory("x\n1\n2\n3\nq\n")
	h.edit("x\n", "y\n")
	h.call("z\n1\n2\n3\ny\n", patched.Call{Edits: []patched.Edit{{Old: "y\n", New: "z\n"}, {Old: "q\n", New: "y\n"}}})
	_, p := h.back(t, only("e1"))
	require.Equal(t, wire.Conflict, p.Action)

	h = newHistory("x\n1\n2\n3\nq\n")
	h.edit("x\n", "y\n")
	h.call("y\n1\n2\n3\ny\n", patched.Call{Patch: "@@ -4,2 +4,2 @@\n 3\n-q\n+y\n"})
	text, p := h.back(t, only("e1"))
	require.Equal(t, "x\n1\n2\n3\ny\n", text, "though it is there twice now")
	require.Equal(t, []wire.Range{{Start: 5, End: 5}}, p.Yours, "the later change stays")
}

func TestConflictsOfCalls(t *testing.T) {
	t.Parallel()
	text := "w\n"
	h := newHistory("a\n")
	h.call(text, patched.Call{Wrote: &text})
	h.edit("w", "v")
	_, p := h.back(t, all)
	require.Equal(t, wire.Missing, p.Reason)
	back, _ := h.back(t, only("e2"))
	require.Equal(t, "w\n", back, "what followed the write is known")

	h = newHistory("a\n")
	h.edit("a", "b")
	h.call(text, patched.Call{Wrote: &text})
	_, p = h.back(t, only("e1"))
	require.Equal(t, wire.Missing, p.Reason, "what was there before the later call is not known")

	for name, f := range map[string]changetest.File{
		"a link": {Content: "b\n", Link: true}, "a directory": {Dir: true}, "no text": {Content: "b\x00"}, "nothing": {},
	} {
		h = newHistory("a\n")
		h.edit("a", "b")
		if h.w.Tree[file] = f; name == "nothing" {
			delete(h.w.Tree, file)
		}
		_, p = h.back(t, all)
		require.Equal(t, wire.Kind, p.Reason, name)
	}

	h = newHistory("a\n")
	h.edit("a", "b")
	h.w.Now[file] = func(n *plan.Now) { n.Block, n.Why = wire.Denied, "No." }
	_, p = h.back(t, all)
	require.Equal(t, wire.Denied, p.Reason)
}

func TestRecordsAndCalls(t *testing.T) {
	t.Parallel()
	h := newHistory("a\n1\n2\n3\nb\n")
	h.record("A\n1\n2\n3\nb\n")
	h.edit("b", "B")
	h.record("A\n1\ntwo\n3\nB\n")
	h.edit("A", "AA")
	h.set("AA\n1\ntwo\n3\nB\n4\n5\nmine\n")
	text, _ := h.back(t, all)
	require.Equal(t, "a\n1\n2\n3\nb\n4\n5\nmine\n", text)
	text, _ = h.back(t, only("e2"))
	require.Equal(t, "AA\n1\ntwo\n3\nb\n4\n5\nmine\n", text)
	text, _ = h.back(t, only("e3"))
	require.Equal(t, "AA\n1\n2\n3\nB\n4\n5\nmine\n", text)
	text, _ = h.back(t, only("e3", "e4"))
	require.Equal(t, "A\n1\n2\n3\nB\n4\n5\nmine\n", text)

	// A command of the user brought the file back to what a record found: nothing of the session is there.
	h.set("a\n1\n2\n3\nb\n")
	text, p := h.back(t, all)
	require.Equal(t, wire.None, p.Action, p.Text)
	require.Equal(t, h.text(), text)
}

func TestAPlanEndsWithItsContext(t *testing.T) {
	t.Parallel()
	h := newHistory("a\n")
	h.edit("a", "b")
	in := plan.Input{Selection: plan.Of(h.book(), nil), Content: h.w.Content, Present: func(string) (plan.Now, error) { return plan.Now{}, context.Canceled }}
	require.ErrorIs(t, patched.Derive(&in, h.book(), h.calls), context.Canceled)
}

// editor makes random calls of a file as programs do: the text that they see has LF line ends.
type editor struct {
	r      *rand.Rand
	h      *history
	encode func(string) string
	line   func() string
	lines  []string // the text
}

func (e *editor) text() string { return strings.Join(e.lines, "") }

// span picks lines of the text.
func (e *editor) span() (from, to int) {
	from = e.r.IntN(len(e.lines))
	return from, min(len(e.lines), from+1+e.r.IntN(3))
}

func (e *editor) some() (lines []string) {
	for range e.r.IntN(4) {
		lines = append(lines, e.line())
	}
	return lines
}

// replace makes new lines of some, and returns the edit if its old text is there exactly once.
func (e *editor) replace(old, text string) (patched.Edit, bool) {
	was := e.text()
	at := strings.Index(was, old)
	if old == "" || old == text || at < 0 || strings.Contains(was[at+1:], old) {
		return patched.Edit{}, false
	}
	e.lines = strings.SplitAfter(was[:at]+text+was[at+len(old):], "\n")
	if n := len(e.lines) - 1; e.lines[n] == "" {
		e.lines = e.lines[:n]
	}
	return patched.Edit{Old: old, New: text}, true
}

// edits makes one edit after the other, whole lines or parts of them.
func (e *editor) edits(n int) (c patched.Call) {
	for range n {
		if len(e.lines) == 0 {
			break
		}
		from, to := e.span()
		old, text := strings.Join(e.lines[from:to], ""), strings.Join(e.some(), "")
		if e.r.IntN(3) == 0 {
			cut := e.r.IntN(len(old))
			old, text = old[cut:], text[min(cut, len(text)):]
		}
		if edit, ok := e.replace(old, text); ok {
			c.Edits = append(c.Edits, edit)
		}
	}
	return c
}

// patch changes lines in several places, and makes a patch as the programs do.
func (e *editor) patch() (c patched.Call) {
	was := e.text()
	for range 1 + e.r.IntN(3) {
		if len(e.lines) == 0 {
			break
		}
		from, to := e.span()
		e.lines = slices.Concat(e.lines[:from], e.some(), e.lines[to:])
	}
	u, err := udiff.ToUnifiedDiff("a", "a", was, udiff.Lines(was, e.text()), 1+e.r.IntN(4))
	if err != nil {
		panic(err)
	}
	c.Patch = u.String()
	return c
}

// step makes a call that changes the text.
func (e *editor) step() {
	was := e.text()
	var c patched.Call
	switch e.r.IntN(8) {
	case 0:
		e.lines = append(e.some(), e.line())
		text := e.text()
		c.Wrote = &text
	case 1, 2, 3:
		c = e.patch()
	default:
		c = e.edits(1 + e.r.IntN(3))
	}
	if e.text() == was {
		return
	}
	e.h.call(e.encode(e.text()), c)
}

func newEditor(seed uint64, words int) *editor {
	r := rand.New(rand.NewPCG(seed, 7))
	e := &editor{r: r, line: func() string { return fmt.Sprint("w", r.IntN(words), "\n") }}
	e.encode = []func(string) string{
		func(s string) string { return s },
		func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		func(s string) string { return "\ufeff" + s },
		func(s string) string { return "\ufeff" + strings.ReplaceAll(s, "\n", "\r\n") },
	}[r.IntN(4)]
	for range 1 + r.IntN(20) {
		e.lines = append(e.lines, e.line())
	}
	e.h = newHistory(e.encode(e.text()))
	return e
}

// Whatever calls did, to a text of very few different lines: the last ones are taken back to the byte, or not at all.
func TestTheEndOfRandomCallsIsTakenBackExactly(t *testing.T) {
	t.Parallel()
	exact, refused := 0, 0
	for seed := range uint64(3000) {
		e := newEditor(seed, 2+int(seed%7))
		texts := []string{e.h.text()}
		for range 1 + e.r.IntN(6) {
			before := len(e.h.calls)
			if e.step(); len(e.h.calls) > before {
				texts = append(texts, e.h.text())
			}
		}
		if len(texts) == 1 {
			continue
		}
		keep := e.r.IntN(len(texts) - 1)
		got, p := e.h.back(t, func(r *change.Record) bool { return r.Seq > keep })
		if p.Action == wire.Conflict {
			refused++
			continue
		}
		exact++
		require.Equal(t, texts[keep], got, "seed %d", seed)
	}
	t.Log("exact:", exact, "refused:", refused)
	require.Greater(t, exact, 300)
	require.Positive(t, refused)
}

// Any of several calls, which changed different places of a text, between recorded calls and lines of the user, is taken back without
// the others, or not at all.
func TestRandomCallsAreTakenBackWithoutTheOthers(t *testing.T) {
	t.Parallel()
	exact, refused := 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 9))
		const slots = 40
		type write struct {
			slot int
			text string
			id   string
		}
		writes := make([]write, slots)
		for i := range writes {
			writes[i] = write{i, fmt.Sprintf("line %d\n", r.IntN(30)), ""}
		}
		render := func(taken func(string) bool) string {
			var lines [slots]string
			for _, w := range writes {
				if w.id == "" || !taken(w.id) {
					lines[w.slot] = w.text
				}
			}
			return strings.Join(lines[:], "")
		}
		none := func(string) bool { return false }
		h := newHistory(render(none))
		for i := range 2 + r.IntN(6) {
			slot, was := r.IntN(slots), render(none)
			old := ""
			for _, w := range writes {
				if w.slot == slot {
					old = w.text
				}
			}
			w := write{slot, fmt.Sprintf("new %d.%d\n", i, r.IntN(3)), ""}
			if r.IntN(3) == 0 {
				w.text = fmt.Sprintf("line %d\n", r.IntN(30))
			}
			if w.text == old {
				continue
			}
			switch kind := r.IntN(6); {
			case kind == 0: // the user
				w.text = fmt.Sprintf("user %d\n", i)
				writes = append(writes, w)
				h.set(render(none))
			case kind == 1:
				w.id = fmt.Sprint("e", h.seq+1)
				writes = append(writes, w)
				h.record(render(none))
			case kind < 4 || strings.Count(was, old) != 1:
				w.id = fmt.Sprint("e", h.seq+1)
				writes = append(writes, w)
				u, err := udiff.ToUnifiedDiff("a", "a", was, udiff.Lines(was, render(none)), 3)
				require.NoError(t, err)
				h.call(render(none), patched.Call{Patch: u.String()})
			default:
				w.id = fmt.Sprint("e", h.seq+1)
				writes = append(writes, w)
				h.call(render(none), patched.Call{Edits: []patched.Edit{{Old: old, New: w.text}}})
			}
		}
		if h.seq == 0 {
			continue
		}
		taken := map[string]bool{}
		for i := range h.seq {
			if r.IntN(2) == 0 || i == 0 {
				taken[fmt.Sprint("e", i+1)] = true
			}
		}
		got, p := h.back(t, func(r *change.Record) bool { return taken[r.ID] })
		if p.Action == wire.Conflict {
			refused++
			continue
		}
		exact++
		require.Equal(t, render(func(id string) bool { return taken[id] }), got, "seed %d", seed)
	}
	t.Log("exact:", exact, "refused:", refused)
	require.Greater(t, exact, 500)
	require.Positive(t, refused)
}
