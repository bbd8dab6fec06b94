package session_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// TestTheRememberedContextFollowsTheSession gets the state, changes the session in every
// possible way, and gets the state again.
func TestTheRememberedContextFollowsTheSession(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		kit.Put(t, fs, kit.Filed, kit.Conversation())
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		expect := func(messages int, model, why string) {
			t.Helper()
			for range 2 {
				require.NoError(t, l.View(func(d *session.Document, leaf session.Leaf) error {
					got, err := d.ContextState(leaf)
					require.NoError(t, err)
					require.Equal(t, messages, got.MessageCount, why)
					require.Equal(t, model, got.Models["default"], why)
					return nil
				}))
				ctx, _, err := l.Context()
				require.NoError(t, err)
				require.Len(t, ctx.Messages, messages, why)
				require.Equal(t, model, ctx.Models["default"], why)
			}
		}
		const model = "offline/demo" // of the answers
		expect(2, model, "as opened")
		kit.MustAppend(t, l, kit.Say("user", "three"))
		expect(3, model, "after an append")
		require.NoError(t, l.Branch("aaaaaaaa"))
		expect(1, "", "at another leaf")
		_, err = l.SetLabel("bbbbbbbb", "here")
		require.NoError(t, err)
		expect(1, "", "after a label, which is the leaf now")
		require.NoError(t, l.ResetLeaf())
		expect(0, "", "before the first entry")
		_, err = l.BranchWithSummary("bbbbbbbb", "left")
		require.NoError(t, err)
		expect(3, model, "after a branch with a summary")
		leafID := l.LeafID()

		appendForeign(t, fs, st.User("cccccccc", leafID, "of another program"))
		changed, err := l.Refresh()
		require.NoError(t, err)
		require.True(t, changed)
		expect(4, model, "after an append by another program")

		// A duplicate id: the last entry becomes the parent, so the path changes.
		appendForeign(t, fs, st.User("bbbbbbbb", "", "instead of the answer"))
		require.NoError(t, l.Branch("cccccccc"))
		_, err = l.Refresh()
		require.NoError(t, err)
		require.NoError(t, l.Branch("cccccccc"))
		expect(3, "", "after an entry took the place of another")

		require.NoError(t, l.Branch("aaaaaaaa"))
		expect(1, "", "at the first entry")
		require.NoError(t, fs.Remove(kit.Filed))
		kit.Put(t, fs, kit.Filed, st.File(st.Header("0123456789abcdef", "/w"), st.Assistant("eeeeeeee", "", "zero"), st.User("aaaaaaaa", "eeeeeeee", "one")))
		_, err = l.Refresh()
		require.NoError(t, err)
		require.NoError(t, l.Branch("aaaaaaaa"))
		expect(2, model, "after the file was replaced")
		require.NoError(t, l.Close())
	})
}

func appendForeign(t *testing.T, fs afero.Fs, line string) {
	t.Helper()
	f, err := fs.OpenFile(kit.Filed, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(line + "\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// TestAMissingImageIsLookedForAgain adds an image after it was reported missing.
func TestAMissingImageIsLookedForAgain(t *testing.T) {
	t.Parallel()
	const hash = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae" // of "foo"
	fs := afero.NewMemMapFs()
	image := `{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"blob:sha256:` + hash + `"}]}`
	line, err := json.Marshal(map[string]any{
		"type": "message", "id": "aaaaaaaa", "parentId": nil, "timestamp": "2026-01-01T00:00:00.000Z", "message": json.RawMessage(image),
	})
	require.NoError(t, err)
	for _, dialect := range []session.Dialect{session.Xcsh, session.Omp} {
		kit.Put(t, fs, kit.Filed, st.File(st.Header("0123456789abcdef", "/w"), string(line)))
		d, err := session.LoadAs(fs, kit.Filed, &dialect)
		require.NoError(t, err)
		blobs := session.BlobDir{Fs: fs, Dir: "/blobs/" + dialect.String()}
		problems, err := d.ContextProblems(session.AtLast(), blobs)
		require.NoError(t, err)
		require.True(t, hasProblem(problems, session.MissingBlob))
		kit.Put(t, fs, blobs.Dir+"/"+hash, "foo")
		problems, err = d.ContextProblems(session.AtLast(), blobs)
		require.NoError(t, err)
		require.Empty(t, problems)
	}
}
