package soak

import (
	"encoding/json"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// TestReplacedTwice has another program rewrite the file twice from stale memory while we do not
// check it. On Linux the second file often gets the inode number of the one we know, which is free
// again, and is longer: it looks as if lines had been appended.
func TestReplacedTwice(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be replaced there")
	}
	path := newSession(t)
	stale, err := readLines(path)
	require.NoError(t, err)
	log, err := newStore().Open(path)
	require.NoError(t, err)
	ours, err := log.Append(session.DraftMessage(json.RawMessage(st.UserMessage("ours"))))
	require.NoError(t, err)
	known, err := os.Stat(path)
	require.NoError(t, err)

	for _, id := range []string{"c1", "c2"} {
		stale = append(stale, st.Assistant(id, lastID(stale), "theirs, and longer than what we wrote: "+path))
		require.NoError(t, rewrite(path, stale))
	}
	now, err := os.Stat(path)
	require.NoError(t, err)
	t.Log("same inode:", os.SameFile(known, now))

	_, err = log.Append(session.DraftMessage(json.RawMessage(st.UserMessage("more"))))
	require.NoError(t, err)
	require.NoError(t, log.Close())
	doc, err := newStore().Load(path)
	require.NoError(t, err)
	requireAll(t, doc, []string{ours, "c1", "c2"})
	requireTree(t, doc)
}
