package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// held returns a log that follows its file, with an entry that another program appended
// before the log is held.
func held(t *testing.T) (l *session.Log, path string, release func()) {
	t.Helper()
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	l, err := kit.StoreIn(fs, filepath.Dir(path), nil).Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	foreign(t, path, st.User("eeeeeeee", l.LeafID(), "from before"))
	release = l.Hold()
	require.Equal(t, "eeeeeeee", l.LeafID(), "what was there before is followed")
	return l, path, release
}

func refresh(t *testing.T, l *session.Log) {
	t.Helper()
	changed, err := l.Refresh()
	require.NoError(t, err)
	require.True(t, changed)
}

// Entries that other programs append while a log is held do not move its leaf.
func TestHoldKeepsTheLeaf(t *testing.T) {
	t.Parallel()
	l, path, release := held(t)
	foreign(t, path, st.User("ffffffff", "bbbbbbbb", "foreign"))
	mine := kit.MustAppend(t, l, kit.Say("user", "mine"))
	require.Equal(t, []string{"from before", "mine"}, last(contextTexts(t, l), 2))
	foreign(t, path, st.User("f0f0f0f0", "ffffffff", "foreign again"))
	refresh(t, l)
	require.Equal(t, mine, l.LeafID())

	release()
	require.Equal(t, mine, l.LeafID())
	foreign(t, path, st.User("f1f1f1f1", "f0f0f0f0", "and again"))
	refresh(t, l)
	require.Equal(t, mine, l.LeafID(), "the entries are not below it")
}

// The same applies if another program replaces the file with its own state.
func TestHoldKeepsTheLeafInAnotherFile(t *testing.T) {
	t.Parallel()
	l, path, release := held(t)
	mine := kit.MustAppend(t, l, kit.Say("user", "mine"))
	require.NoError(t, l.Flush())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	replaceWith(t, path, string(content)+st.User("ffffffff", "bbbbbbbb", "foreign")+"\n")
	refresh(t, l)
	require.Equal(t, mine, l.LeafID())
	release()
}

// A log follows its file again once it is released, if no other program appended after it,
// but not before the last release.
func TestReleaseFollowsAgain(t *testing.T) {
	t.Parallel()
	l, path, release := held(t)
	again := l.Hold()
	mine := kit.MustAppend(t, l, kit.Say("user", "mine"))
	again()
	foreign(t, path, st.User("ffffffff", mine, "foreign"))
	refresh(t, l)
	require.Equal(t, mine, l.LeafID())
	next := kit.MustAppend(t, l, kit.Say("user", "next"))
	release()
	foreign(t, path, st.User("f1f1f1f1", next, "goes on"))
	refresh(t, l)
	require.Equal(t, "f1f1f1f1", l.LeafID())
}

func last(texts []string, n int) []string { return texts[len(texts)-n:] }
