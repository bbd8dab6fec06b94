package agent_test

import (
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// A directory that a change made goes with its last file. It stays if the user put a file into it.
// Proves: RW-21
func TestADirectoryThatASessionMade(t *testing.T) {
	t.Parallel()
	for name, mine := range map[string]bool{"empty": false, "with a file of the user": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			require.NoError(t, fs.MkdirAll("/w", 0o755))
			_, s := editing(t, fs, "/w", []providertest.Reply{answerOf(t, "write", fields{"path": "made/deep/new", "content": "x\n"}), {Text: "Done."}})
			prompt(t, s, "go")
			if mine {
				require.NoError(t, afero.WriteFile(fs, "/w/made/mine", []byte("mine\n"), 0o644))
			}
			done := rewindTo(t, s, wholeOf(t, s))
			require.Equal(t, "none", content(t, fs, "/w/made/deep/new"))
			for dir, stays := range map[string]bool{"/w": true, "/w/made": mine, "/w/made/deep": false} {
				exists, err := afero.DirExists(fs, dir)
				require.NoError(t, err)
				require.Equal(t, stays, exists, dir)
			}
			rewindTo(t, s, wire.RewindArgs{Redo: &done.ID})
			require.Equal(t, "x\n", content(t, fs, "/w/made/deep/new"))
		})
	}
}

// A fork has the records and the contents, also when its source is gone. So has a session that moved to another folder.
// Proves: RW-43
func TestRecordsComeAlong(t *testing.T) {
	t.Parallel()
	w, s, r := rewinding(t)
	_, err := s.Fork(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, r.path, s.File())
	require.NoError(t, w.fs.Remove(r.path))
	require.NoError(t, w.fs.RemoveAll(filepath.Dir(r.store.Dir())))
	before := wire.RewindArgs{Before: new("cccccccc")}
	rewindTo(t, s, before)
	require.Equal(t, "A\nb\nc\nd\ne\n", content(t, w.fs, "/w/a"))
	require.Equal(t, "none", content(t, w.fs, "/w/new"))
	rewindTo(t, s, wire.RewindArgs{Redo: new("")})

	require.NoError(t, w.fs.MkdirAll("/elsewhere", 0o755))
	_, err = s.MoveTo(t.Context(), "/elsewhere")
	require.NoError(t, err)
	moved := w.live(t, "/elsewhere")
	c, err := moved.Changes(t.Context(), wire.ChangesQuery{Since: "session"})
	require.NoError(t, err)
	require.Equal(t, []string{"/w/a", "/w/mine", "/w/new"}, paths(c), "the files are where they were")
	rewindTo(t, moved, before)
	require.Equal(t, "A\nb\nc\nd\ne\n", content(t, w.fs, "/w/a"))
	require.Equal(t, "none", content(t, w.fs, "/w/new"))
}
