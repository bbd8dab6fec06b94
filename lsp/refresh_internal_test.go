package lsp

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A document about changes is outdated when changes have moved, although the session's file has not changed; a transcript is not.
func TestDocumentsAboutChangesAreOutdatedByChanges(t *testing.T) {
	t.Parallel()
	stat := func(string) (os.FileInfo, error) { return nil, os.ErrNotExist }
	st := newShownTranscripts()
	changes, transcript := changesURI("/s/a b.jsonl", "turn"), transcriptURI("/s/a b.jsonl")
	require.Equal(t, "xcsh:///s/a%20b.jsonl/changes.md?since=turn", changes)
	path, since, ok := readChangesURI(changes)
	require.True(t, ok)
	require.Equal(t, []string{"/s/a b.jsonl", "turn"}, []string{path, since})
	require.False(t, isChangesURI(transcript))
	st.add(shownTranscript{uri: changes, path: path})
	st.add(shownTranscript{uri: transcript, path: path})
	require.Empty(t, st.outdated(stat))
	st.changesMoved()
	require.Equal(t, []string{changes}, st.outdated(stat))
	require.Empty(t, st.outdated(stat), "once")
}
