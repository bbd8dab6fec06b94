package session_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

// newStoreWithBlobs is [newStore] with a place for images.
func newStoreWithBlobs(fs afero.Fs) *session.Store {
	s := newStore(fs)
	s.RootFor = func(string) (session.FileRoot, bool) { return session.FileRoot{Blobs: "/store/blobs"}, true }
	return s
}

func imageMessage(data string) *session.Draft {
	return session.DraftMessage(json.RawMessage(`{"role":"user","content":[{"type":"image","data":"` + data + `","mimeType":"image/png"}],"timestamp":1}`))
}

func TestMemoryKeepsTheFullTextAndOnlyTheFileIsCut(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		long := strings.Repeat("x", session.MaxPersistChars+1)
		image := base64.StdEncoding.EncodeToString(make([]byte, 3000))
		s := newStoreWithBlobs(fs)
		l, err := s.Create("/w", session.NewOptions{})
		require.NoError(t, err)
		mustAppend(t, l, say("user", long))
		mustAppend(t, l, imageMessage(image))
		mustAppend(t, l, say("assistant", "first answer: the file is written whole"))
		mustAppend(t, l, say("user", long))
		mustAppend(t, l, imageMessage(image))
		_, err = l.SetTitle(session.Title{Text: "and rewritten"})
		require.NoError(t, err)

		require.Equal(t, []string{long, "", "first answer: the file is written whole", long, ""}, contextTexts(t, l))
		disk := content(t, fs, l.Path())
		require.NotContains(t, disk, long)
		require.Equal(t, 2, strings.Count(disk, "[Session persistence truncated large content]"))
		require.Equal(t, 2, strings.Count(disk, "blob:sha256:"))
		blobs, err := afero.ReadDir(fs, "/store/blobs")
		require.NoError(t, err)
		require.Len(t, blobs, 1, "one image, one blob")

		fork, err := s.Fork(l)
		require.NoError(t, err)
		require.NotContains(t, content(t, fs, fork.Path()), long)

		again, err := s.Open(l.Path())
		require.NoError(t, err)
		ctx, problems, err := again.Context()
		require.NoError(t, err)
		require.Empty(t, problems)
		require.Contains(t, string(ctx.Messages[1]), image, "the image is whole again")
		require.Len(t, texts(ctx)[0], session.MaxPersistChars)
	})
}

func TestAnImageThatCannotBeStoredStaysInTheFile(t *testing.T) {
	t.Parallel()
	base := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	put(t, base, filed, conversation())
	put(t, base, "/store/blobs", "a file where the directory should be")
	l, err := newStoreWithBlobs(base).Open(filed)
	require.NoError(t, err)
	image := base64.StdEncoding.EncodeToString(make([]byte, 3000))
	mustAppend(t, l, imageMessage(image))
	require.Contains(t, content(t, base, filed), image)
}
