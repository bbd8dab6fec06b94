package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	others "github.com/xcsh-ls/xcsh-ls/session/foreign"
)

// shared returns an open log of a file that another program has open too, and the id of the
// file's last entry, which is the leaf of both.
func shared(t *testing.T) (l *session.Log, path, fork string) {
	t.Helper()
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l, path, l.LeafID()
}

// asked is [shared] with a question and an answer of ours, which the other program, still at
// the fork, does not know.
func asked(t *testing.T) (l *session.Log, path, fork string) {
	t.Helper()
	l, path, fork = shared(t)
	kit.MustAppend(t, l, kit.Say("user", "my question"))
	kit.MustAppend(t, l, kit.Say("assistant", "my answer"))
	return l, path, fork
}

var mine = []string{"one", "two", "my question", "my answer"}

func requireNoForeign(t *testing.T, l *session.Log) {
	t.Helper()
	b, ok := l.ForeignBranch()
	require.False(t, ok, "%+v", b)
}

// The conversation of another program that continues from an older entry does not replace ours.
func TestTheLeafStaysIfAnotherProgramContinuesElsewhere(t *testing.T) {
	t.Parallel()
	l, path, fork := asked(t)
	was := l.LeafID()
	foreign(t, path, st.User("f0000001", fork, "their question\nsecond line"))
	refresh(t, l)
	require.Equal(t, was, l.LeafID())
	require.Equal(t, mine, contextTexts(t, l))
	b, ok := l.ForeignBranch()
	require.True(t, ok)
	require.Equal(t, others.Branch{Start: "f0000001", End: "f0000001", Entries: 1, Prompt: "their question"}, b)

	foreign(t, path, st.Assistant("f0000002", "f0000001", "their answer"), st.User("f0000003", "f0000002", "their next"))
	refresh(t, l)
	b, ok = l.ForeignBranch()
	require.True(t, ok)
	require.Equal(t, others.Branch{Start: "f0000001", End: "f0000003", Entries: 3, Prompt: "their next"}, b)

	// Our next entry continues our branch, though theirs is newer in the file.
	kit.MustAppend(t, l, kit.Say("user", "my next"))
	require.Equal(t, append(mine[:4:4], "my next"), contextTexts(t, l))
	require.NoError(t, l.Branch("f0000003"))
	requireNoForeign(t, l)
	require.Equal(t, []string{"one", "two", "their question\nsecond line", "their answer", "their next"}, contextTexts(t, l))
}

// Entries below the leaf are followed, at any depth and in pieces, and settings as messages.
func TestTheLeafFollowsEntriesBelowIt(t *testing.T) {
	t.Parallel()
	l, path, _ := asked(t)
	leaf := l.LeafID()
	foreign(t, path,
		`{"type":"model_change","id":"f0000001","parentId":"`+leaf+`","timestamp":"2026-01-01T00:00:02.000Z","provider":"p","modelId":"m"}`,
		st.User("f0000002", "f0000001", "they ask"), st.Assistant("f0000003", "f0000002", "they answer"))
	refresh(t, l)
	require.Equal(t, "f0000003", l.LeafID())

	line := st.User("f0000004", "f0000003", "in pieces")
	for _, piece := range []string{line[:20], line[20:60], line[60:] + "\n"} {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		_, err = f.WriteString(piece)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		_, err = l.Refresh()
		require.NoError(t, err)
	}
	require.Equal(t, "f0000004", l.LeafID())
	foreign(t, path, `{"type":"session_info","id":"f0000005","parentId":"f0000004","timestamp":"2026-01-01T00:00:02.000Z","name":"n"}`)
	refresh(t, l)
	require.Equal(t, "f0000005", l.LeafID())
	requireNoForeign(t, l)
}

// A title or a setting on their branch moves nothing, and is no reason to tell the user that they
// continued. Their next message is.
func TestSettingsOfAnotherProgramMoveNothing(t *testing.T) {
	t.Parallel()
	l, path, fork := asked(t)
	foreign(t, path,
		`{"type":"session_info","id":"f0000001","parentId":"`+fork+`","timestamp":"2026-01-01T00:00:02.000Z","name":"n"}`,
		`{"type":"label","id":"f0000002","parentId":"f0000001","timestamp":"2026-01-01T00:00:02.000Z","targetId":"`+fork+`","label":"x"}`)
	refresh(t, l)
	require.Equal(t, mine, contextTexts(t, l))
	requireNoForeign(t, l)
	foreign(t, path, strings.Replace(st.User("f0000003", "f0000002", "TEXT"), "TEXT", `\u001b[2Jred\u202e`, 1))
	refresh(t, l)
	b, ok := l.ForeignBranch()
	require.True(t, ok)
	require.Equal(t, others.Branch{Start: "f0000001", End: "f0000003", Entries: 3, Prompt: "[2Jred", Program: "pi"}, b)
}

// A branch ends with its settings, because the other program continues below them.
func TestFollowingABranchThatEndsWithASetting(t *testing.T) {
	t.Parallel()
	l, path, fork := asked(t)
	foreign(t, path, st.User("f0000001", fork, "theirs"),
		`{"type":"label","id":"f0000002","parentId":"f0000001","timestamp":"2026-01-01T00:00:02.000Z","targetId":"`+fork+`","label":"x"}`)
	refresh(t, l)
	b, ok := l.ForeignBranch()
	require.True(t, ok)
	require.Equal(t, others.Branch{Start: "f0000001", End: "f0000002", Entries: 2, Prompt: "theirs"}, b)
	require.NoError(t, l.Branch(b.End))
	foreign(t, path, st.Assistant("f0000003", "f0000002", "their answer"))
	refresh(t, l)
	require.Equal(t, "f0000003", l.LeafID())
	requireNoForeign(t, l)
}

// A leaf that the user moved back stays there, even if the branch that it left grows.
func TestAChosenLeafFollowsNothing(t *testing.T) {
	t.Parallel()
	l, path, end := shared(t)
	require.NoError(t, l.Branch("aaaaaaaa"))
	foreign(t, path, st.User("f0000001", end, "on the old branch"), st.User("f0000002", "aaaaaaaa", "below the leaf"))
	refresh(t, l)
	require.Equal(t, "aaaaaaaa", l.LeafID())
	_, ok := l.ForeignBranch()
	require.True(t, ok)
	require.NoError(t, l.ResetLeaf())
	foreign(t, path, st.User("f0000003", "", "another root"))
	refresh(t, l)
	require.Empty(t, l.LeafID())

	// The end of a branch is not a choice against its continuation.
	require.NoError(t, l.Branch("f0000001"))
	foreign(t, path, st.Assistant("f0000004", "f0000001", "continues"))
	refresh(t, l)
	require.Equal(t, "f0000004", l.LeafID())
}

// Going back after following another program is no divergence.
func TestGoingBackFromFollowedEntriesIsNoDivergence(t *testing.T) {
	t.Parallel()
	l, path, fork := shared(t)
	foreign(t, path, st.User("f0000001", fork, "followed"))
	refresh(t, l)
	require.Equal(t, "f0000001", l.LeafID())
	require.NoError(t, l.Branch("aaaaaaaa"))
	requireNoForeign(t, l)
}

// Both programs append at the same time: one below our leaf, one elsewhere. The newest below the
// leaf wins, and the other one is reported.
func TestOneProgramIsFollowedAndAnotherReported(t *testing.T) {
	t.Parallel()
	l, path, fork := asked(t)
	foreign(t, path, st.User("f0000001", fork, "elsewhere"), st.User("e0000001", l.LeafID(), "below"))
	refresh(t, l)
	require.Equal(t, "e0000001", l.LeafID())
	b, ok := l.ForeignBranch()
	require.True(t, ok)
	require.Equal(t, "f0000001", b.End)
	foreign(t, path, st.Assistant("e0000002", "e0000001", "below again"))
	refresh(t, l)
	b, ok = l.ForeignBranch()
	require.True(t, ok, "it stays reported")
	require.Equal(t, "f0000001", b.End)
}

// Another program replaces the file with its own state, which lacks our entries, has more of its
// own, or lacks the entry at the leaf.
func TestTheLeafAfterAnotherProgramReplacedTheFile(t *testing.T) {
	t.Parallel()
	content := func(t *testing.T, path string) string {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(b)
	}
	t.Run("elsewhere", func(t *testing.T) {
		t.Parallel()
		l, path, fork := asked(t)
		replaceWith(t, path, kit.Conversation()+st.File(st.User("f0000001", fork, "theirs")))
		refresh(t, l)
		require.Equal(t, mine, contextTexts(t, l))
		b, ok := l.ForeignBranch()
		require.True(t, ok)
		require.Equal(t, "f0000001", b.End)
		kit.MustAppend(t, l, kit.Say("user", "my next"))
		require.Contains(t, content(t, path), "my question", "what they lost is written again")
	})
	t.Run("below", func(t *testing.T) {
		t.Parallel()
		l, path, _ := asked(t)
		replaceWith(t, path, content(t, path)+st.File(st.User("f0000001", l.LeafID(), "theirs"), st.Assistant("f0000002", "f0000001", "x")))
		refresh(t, l)
		require.Equal(t, "f0000002", l.LeafID())
		requireNoForeign(t, l)
	})
	t.Run("without the leaf", func(t *testing.T) {
		t.Parallel()
		l, path, fork := shared(t)
		foreign(t, path, st.User("f0000001", fork, "followed"))
		refresh(t, l)
		replaceWith(t, path, kit.Conversation()+st.File(st.User("f0000002", "aaaaaaaa", "elsewhere"), st.User("f0000003", fork, "instead")))
		refresh(t, l)
		require.Equal(t, "f0000003", l.LeafID())
	})
	t.Run("with a chosen leaf", func(t *testing.T) {
		t.Parallel()
		l, path, fork := shared(t)
		require.NoError(t, l.Branch("aaaaaaaa"))
		replaceWith(t, path, kit.Conversation()+st.File(st.User("f0000001", fork, "theirs")))
		refresh(t, l)
		require.Equal(t, "aaaaaaaa", l.LeafID())
	})
}

// A failed write of ours is tried again. Meanwhile another program wrote: the leaf is ours.
func TestTheLeafIsOursAfterAFailedWrite(t *testing.T) {
	t.Parallel()
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	fork := l.LeafID()
	fs.OnOpenFile = func(string, int) error { return os.ErrPermission }
	_, err = l.Append(kit.Say("user", "my question"))
	require.Error(t, err)
	fs.OnOpenFile = nil
	foreign(t, path, st.User("f0000001", fork, "theirs"))
	refresh(t, l)
	require.Equal(t, []string{"one", "two", "my question"}, contextTexts(t, l))
	_, ok := l.ForeignBranch()
	require.True(t, ok)
	kit.MustAppend(t, l, kit.Say("assistant", "my answer"))
	require.NoError(t, l.Close())
	require.Equal(t, mine, reopenTexts(t, kit.StoreIn(fs, filepath.Dir(path), nil), path))
}

// Entries that continue ours while a turn runs are followed when it ends, unless our turn went on.
func TestReleaseFollowsEntriesBelowTheLeaf(t *testing.T) {
	t.Parallel()
	l, path, release := held(t)
	own := kit.MustAppend(t, l, kit.Say("user", "mine"))
	foreign(t, path, st.User("f0000001", own, "below"))
	refresh(t, l)
	require.Equal(t, own, l.LeafID())
	release()
	require.Equal(t, "f0000001", l.LeafID())
	requireNoForeign(t, l)

	release = l.Hold()
	foreign(t, path, st.User("f0000002", "f0000001", "in the middle"))
	own = kit.MustAppend(t, l, kit.Say("user", "goes on"))
	release()
	require.Equal(t, own, l.LeafID())
	b, ok := l.ForeignBranch()
	require.True(t, ok)
	require.Equal(t, "f0000002", b.End)
}

// A hostile program cannot move the leaf with cycles, entries of its own making above ours, or
// lines without ids, and a long branch takes linear time.
func TestHostileLinesDoNotMoveTheLeaf(t *testing.T) {
	t.Parallel()
	l, path, fork := asked(t)
	leaf := l.LeafID()
	foreign(t, path,
		st.User("c0000001", "c0000002", "a"), st.User("c0000002", "c0000001", "a cycle"),
		st.User("c0000003", "c0000003", "its own parent"),
		st.User("c0000004", "missing0", "an orphan"),
		`{"type":"message","parentId":"`+leaf[:4]+`","message":{"role":"user","content":"no id"}}`,
		`{"type":"message","id":7,"parentId":{},"message":[]}`,
		`[]`, `{"type":"session","id":"x"}`)
	refresh(t, l)
	require.Equal(t, leaf, l.LeafID())
	require.Equal(t, mine, contextTexts(t, l))
	b, ok := l.ForeignBranch()
	require.True(t, ok)
	assert.Equal(t, 1, b.Entries)

	const long = 5_000
	var lines []string
	parent := fork
	for i := range 5 * long {
		id := fmt.Sprintf("%08x", 0xd0000000+i)
		lines = append(lines, st.User(id, parent, "x"))
		parent = id
	}
	requireFast(t, func() {
		foreign(t, path, lines[:long]...)
		lines = lines[long:]
		_, err := l.Refresh()
		require.NoError(t, err)
		b, ok = l.ForeignBranch()
		require.True(t, ok)
	})
	require.Equal(t, leaf, l.LeafID())
	foreign(t, path, st.User("c0000009", fork, strings.Repeat("long ", 1<<18)))
	refresh(t, l)
	b, _ = l.ForeignBranch()
	require.LessOrEqual(t, len(b.Prompt), others.MaxPrompt)
}
