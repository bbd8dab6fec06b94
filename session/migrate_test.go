package session_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// TestCompactionOfTheFirstVersionKeepsUpToItself tries every index that a compaction can
// keep from: the entries before it have an id to name, and so has the compaction itself.
// Proves
func TestCompactionOfTheFirstVersionKeepsUpToItself(t *testing.T) {
	t.Parallel()
	const place = 3 // of the compaction, the header being 0
	for index := range 6 {
		doc, err := session.Parse([]byte(st.File(
			`{"type":"session","id":"old","cwd":"/w"}`,
			`{"type":"message","message":{"role":"user","content":"one"}}`,
			`{"type":"message","message":{"role":"user","content":"two"}}`,
			fmt.Sprintf(`{"type":"compaction","summary":"s","firstKeptEntryIndex":%d}`, index),
			`{"type":"message","message":{"role":"user","content":"three"}}`,
		)))
		require.NoError(t, err)
		e, err := doc.Entry(place - 1)
		require.NoError(t, err)
		want := ""
		if index > 0 && index <= place {
			want = doc.ID(index - 1)
		}
		require.Equal(t, want, e.AsCompaction().FirstKeptEntryID, "index %d", index)
		require.NotContains(t, string(e.Raw), "firstKeptEntryIndex")
		_, problems, err := session.BuildContext(doc, session.AtLast(), nil)
		require.NoError(t, err)
		require.Empty(t, problems)
	}
}
