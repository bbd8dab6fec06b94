package session_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
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

func TestASessionHasOneWriter(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		put(t, fs, filed, conversation())
		stores := [2]*session.Store{newStoreWithIDs(fs, 1), newStoreWithIDs(fs, 2)}
		var logs [2]*session.Log
		for i, s := range stores {
			s.LockDir = "/store/locks"
			l, err := s.Open(filed)
			require.NoError(t, err, "opening asks nobody")
			logs[i] = l
		}
		mustAppend(t, logs[0], say("user", "ours"))
		require.Contains(t, stores[1].Owners(), filed)

		_, err := logs[1].Append(say("user", "theirs"))
		require.Equal(t, fault.Busy, fault.KindOf(err))
		_, err = logs[1].SetTitle(session.Title{Text: "theirs"})
		require.Equal(t, fault.Busy, fault.KindOf(err))
		require.NotContains(t, content(t, fs, filed), "theirs")
		require.Equal(t, []string{"one", "two"}, contextTexts(t, logs[1]), "reading goes on")

		require.NoError(t, logs[0].Close())
		mustAppend(t, logs[1], say("assistant", "now"))
		require.Equal(t, []string{"one", "two", "ours", "now"}, contextTexts(t, logs[1]))
		require.NoError(t, logs[1].Close())
		require.Empty(t, stores[0].Owners())
	})
}

func TestAFailureToSaveIsLoggedOnceWithItsFile(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	put(t, base, filed, conversation())
	core, logs := observer.New(zap.WarnLevel)
	s := session.NewStore(session.StoreConfig{
		Fs: &st.FaultFs{Fs: base, At: 1, Mode: st.Dead}, DirFor: func(string) (string, error) { return storeDir, nil }, Log: zap.New(core),
	})
	l, err := s.Open(filed)
	require.NoError(t, err)
	for range 3 {
		_, err = l.Append(say("user", "x"))
		require.ErrorIs(t, err, st.ErrInjected)
	}
	told := logs.FilterMessage("session cannot be saved").All()
	require.Len(t, told, 1)
	require.Equal(t, filed, told[0].ContextMap()["path"])
}
