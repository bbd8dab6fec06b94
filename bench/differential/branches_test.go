//go:build peers

package differential

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// branches is one session that both programs keep open: pi does not read what we append, and we
// follow pi only below our leaf.
type branches struct {
	*writers
	own    []string // the ids of our own entries since we last chose a branch
	leaf   string   // where our leaf must be, by the test's own account
	seen   int      // bytes of the file that are accounted for
	asides int      // how often pi's entries were not below our leaf
}

// line is what the account of a file needs of an entry.
type line struct {
	ID, ParentID, Type string
}

// account reads the lines that pi appended and moves the expected leaf to the newest one below it.
func (b *branches) account() {
	b.t.Helper()
	content := b.read(b.file)
	parents, order := map[string]string{}, []string{}
	for raw := range strings.Lines(string(content[b.seen:])) {
		var l line
		require.NoError(b.t, json.Unmarshal([]byte(raw), &l))
		parents[l.ID], order = l.ParentID, append(order, l.ID)
	}
	b.seen = len(content)
	leaf := b.leaf
	for _, id := range order {
		top := id
		for parents[top] != "" {
			top = parents[top]
		}
		if top == leaf {
			b.leaf = id
		} else {
			b.asides++
		}
	}
}

// act lets one of the writers do something while the other has the session open.
func (b *branches) act() {
	b.t.Helper()
	switch n := b.r.IntN(10); {
	case n < 4:
		b.weTalk()
	case n < 7:
		b.piTalks()
	case n < 8:
		b.piMoves()
	case n < 9:
		b.note("pi opens again") // it takes the last entry as its leaf
		b.manager = b.pi.open("open", b.file)
	default:
		b.weFollow()
	}
}

// weTalk appends a question and an answer, in half of the cases as a turn does, which follows no program.
// pi may write in between.
func (b *branches) weTalk() {
	b.t.Helper()
	b.note("we talk")
	release := func() {}
	if b.r.IntN(2) == 0 {
		release = b.log.Hold()
	}
	b.append(object{"role": "user", "content": b.text(), "timestamp": 1767225600000})
	if b.r.IntN(2) == 0 {
		b.piTalks()
		_, err := b.log.Refresh()
		require.NoError(b.t, err)
	}
	b.append(object{
		"role": "assistant", "content": []any{object{"type": "text", "text": b.text()}}, "api": "anthropic-messages", "provider": "fake",
		"model": "m", "usage": usage(), "stopReason": "stop", "timestamp": 1767225600001,
	})
	release()
}

func (b *branches) append(message object) {
	b.t.Helper()
	id, err := b.log.Append(session.DraftMessage(b.json(message)))
	require.NoError(b.t, err)
	b.own, b.leaf, b.seen = append(b.own, id), id, len(b.read(b.file))
}

// piTalks lets pi append entries of any kind at its own leaf.
func (b *branches) piTalks() {
	b.t.Helper()
	ids := b.ids()
	for range 1 + b.r.IntN(3) {
		op := pick(b.world, operations...)
		if op.name == "branch" || op.name == "resetLeaf" {
			op = appendMessage
		}
		args := op.args(b.writers, ids)
		err := b.pi.call(b.manager, nil, op.name, args...)
		b.note("pi %s %s: %v", op.name, b.json(args), err)
	}
}

// piMoves moves pi's leaf to an entry that pi knows. Nothing is written.
func (b *branches) piMoves() {
	b.t.Helper()
	var known []line
	require.NoError(b.t, b.pi.call(b.manager, &known, "getEntries"))
	id := pick(b.world, known...).ID
	b.note("pi branch %s", id)
	require.NoError(b.t, b.pi.call(b.manager, nil, "branch", id))
}

// weFollow moves our leaf to the end of pi's branch, if there is one.
func (b *branches) weFollow() {
	b.t.Helper()
	if other, ok := b.log.ForeignBranch(); ok {
		b.note("we follow to %s", other.End)
		require.NoError(b.t, b.log.Branch(other.End))
		b.leaf, b.own = other.End, nil
	}
}

// requireBranches requires that our leaf is where it should be, that our last question and answer
// are in our context, and that both programs read both branches alike.
func (b *branches) requireBranches() {
	b.t.Helper()
	_, err := b.log.Refresh()
	require.NoError(b.t, err)
	b.account()
	require.NoError(b.t, b.log.View(func(d *session.Document, leaf session.Leaf) error {
		require.Equal(b.t, d.LeafID(session.At(b.leaf)), d.LeafID(leaf))
		path := []string{}
		for _, i := range d.PathTo(leaf) {
			path = append(path, d.ID(i))
		}
		for _, id := range b.own[max(0, len(b.own)-2):] {
			require.Contains(b.t, path, id, "our last question and answer")
		}
		return nil
	}))
	c, _, err := b.log.Context()
	require.NoError(b.t, err)
	var piLeaf *string
	require.NoError(b.t, b.pi.call(b.manager, &piLeaf, "getLeafId"))
	var theirs shown
	require.NoError(b.t, b.pi.call(b.manager, &theirs, "buildSessionContext"))
	at := []any{b.leaf}
	if piLeaf != nil {
		at = append(at, *piLeaf)
	} else {
		at = append(at, nil)
	}
	pis, ours := b.pis(b.file, at, false), b.ours(b.file, at, false)
	require.Equal(b.t, pis.Contexts, ours.Contexts)
	require.Equal(b.t, pis.Contexts[0].Messages, b.shown(c).Messages, "our open session is what pi reads at our leaf")
	require.Equal(b.t, theirs, ours.Contexts[1], "pi's open session is what we read at its leaf")
}

// Two programs keep one session open and continue it on branches: neither loses its conversation.
func TestTwoProgramsOnBranches(t *testing.T) {
	t.Parallel()
	asides, follows := 0, 0
	run(t, 40, func(w *world) {
		b := &branches{writers: w.session(w.begin())}
		b.reopenOurs(1)
		b.append(object{"role": "user", "content": "ours", "timestamp": 1767225600000})
		b.manager = w.pi.open("open", b.file)
		for range 24 {
			before := w.read(b.file)
			b.act()
			after := w.read(b.file)
			require.Equal(t, string(before), string(after[:len(before)]), "existing content has changed")
			b.requireBranches()
		}
		asides += b.asides
		follows += len(slices.DeleteFunc(slices.Clone(w.trace), func(s string) bool { return !strings.HasPrefix(s, "we follow") }))
		b.close()
		w.requireSame(b.file, w.some(b.ids()))
	})
	t.Logf("%d entries of pi were on other branches; we followed %d times", asides, follows)
	require.NotZero(t, asides)
	require.NotZero(t, follows)
}
