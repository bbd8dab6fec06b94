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

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// newStoreWithBlobs is [newStore] with an image store.
func newStoreWithBlobs(fs afero.Fs) *session.Store {
	s := kit.NewStore(fs)
	s.RootFor = func(string) (session.FileRoot, bool) { return session.FileRoot{Blobs: "/store/blobs"}, true }
	return s
}

func imageMessage(data string) *session.Draft {
	return session.DraftMessage(json.RawMessage(`{"role":"user","content":[{"type":"image","data":"` + data + `","mimeType":"image/png"}],"timestamp":1}`))
}

// Proves: X-011, X-128 (our own), X-133, X-214
func TestMemoryKeepsTheFullTextAndOnlyTheFileIsCut(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		long := strings.Repeat("x", session.MaxPersistChars+1)
		image := base64.StdEncoding.EncodeToString(make([]byte, 3000))
		s := newStoreWithBlobs(fs)
		l, err := s.Create("/w", session.NewOptions{})
		require.NoError(t, err)
		kit.MustAppend(t, l, kit.Say("user", long))
		kit.MustAppend(t, l, imageMessage(image))
		kit.MustAppend(t, l, kit.Say("assistant", "first answer: the file is written whole"))
		kit.MustAppend(t, l, kit.Say("user", long))
		kit.MustAppend(t, l, imageMessage(image))
		_, err = l.SetTitle(session.Title{Text: "and rewritten"})
		require.NoError(t, err)

		require.Equal(t, []string{long, "", "first answer: the file is written whole", long, ""}, contextTexts(t, l))
		disk := kit.Content(t, fs, l.Path())
		require.NotContains(t, disk, long)
		require.Equal(t, 2, strings.Count(disk, "[Session persistence truncated large content]"))
		require.Equal(t, 2, strings.Count(disk, "blob:sha256:"))
		blobs, err := afero.ReadDir(fs, "/store/blobs")
		require.NoError(t, err)
		require.Len(t, blobs, 1, "one image, one blob")

		fork, err := s.Fork(l)
		require.NoError(t, err)
		require.NotContains(t, kit.Content(t, fs, fork.Path()), long)

		again, err := s.Open(l.Path())
		require.NoError(t, err)
		ctx, problems, err := again.Context()
		require.NoError(t, err)
		require.Empty(t, problems)
		require.Contains(t, string(ctx.Messages[1]), image, "the image is whole again")
		require.Len(t, texts(ctx)[0], session.MaxPersistChars)
	})
}

// TestLinesWrittenForPiAreNotCut: pi has no blobs, so it would send the reference to a
// model, and no limit for a text. That applies in its directory, whatever the file
// contains, and to its files elsewhere.
func TestLinesWrittenForPiAreNotCut(t *testing.T) {
	t.Parallel()
	const uuid = "11111111-2222-3333-4444-555555555555" // identifies a file of pi's
	finder := kit.NewFinder(nil)
	finder.Roots = append(finder.Roots, library.Root{Places: library.AgentPlaces("/home/zed/.pi/agent"), Dialect: session.Pi})
	for name, c := range map[string]struct{ path, id string }{
		"in pi's directory":           {"/home/zed/.pi/agent/sessions/--w--/p.jsonl", uuid},
		"ours in pi's directory":      {"/home/zed/.pi/agent/sessions/--w--/x.jsonl", "0123456789abcdef"},
		"pi's outside every root":     {"/w/p.jsonl", uuid},
		"a fork beside one of pi's":   {"/w/p.jsonl", uuid},
		"a salvage of pi's elsewhere": {"/w/p.jsonl", uuid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				path := c.path
				kit.Put(t, fs, path, strings.ReplaceAll(kit.Conversation(), "0123456789abcdef", c.id))
				s := kit.NewStore(fs)
				s.RootFor = finder.FileRoot
				l, err := s.Open(path)
				require.NoError(t, err)
				switch name {
				case "a fork beside one of pi's":
					fork, err := s.Fork(l)
					require.NoError(t, err)
					require.NoError(t, l.Close())
					l, path = fork, fork.Path()
				case "a salvage of pi's elsewhere":
					require.NoError(t, l.Close())
					_, err := s.Salvage(path, "/w/q.jsonl", "/w")
					require.NoError(t, err)
					path = "/w/q.jsonl"
					l, err = s.Open(path)
					require.NoError(t, err)
				}
				long := strings.Repeat("x", session.MaxPersistChars+1)
				image := base64.StdEncoding.EncodeToString(make([]byte, 3000))
				kit.MustAppend(t, l, imageMessage(image))
				kit.MustAppend(t, l, kit.Say("user", long))
				require.NoError(t, fs.Remove(path)) // so that the whole file is written again
				last := kit.MustAppend(t, l, kit.Say("user", "x"))
				require.NoError(t, l.Close())
				disk := kit.Content(t, fs, path)
				require.Contains(t, disk, image)
				require.Contains(t, disk, long)
				require.Contains(t, disk, last)
				for _, blobs := range []string{"/home/zed/.pi/agent/blobs", kit.ZedAgent + "/blobs"} {
					exists, err := afero.DirExists(fs, blobs)
					require.NoError(t, err)
					require.False(t, exists, "nothing is put where pi does not look")
				}
			})
		})
	}
}

// TestImagesInPisDirectoryAreRead: an older version of this program stored them there.
func TestImagesInPisDirectoryAreRead(t *testing.T) {
	t.Parallel()
	const hash = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae" // of "foo"
	fs := afero.NewMemMapFs()
	kit.Put(t, fs, kit.Filed, kit.Conversation())
	kit.Put(t, fs, "/pi/blobs/"+hash, "foo")
	s := kit.NewStore(fs)
	s.RootFor = func(string) (session.FileRoot, bool) {
		return session.FileRoot{Dialect: session.Pi, Blobs: "/pi/blobs"}, true
	}
	l, err := s.Open(kit.Filed)
	require.NoError(t, err)
	kit.MustAppend(t, l, imageMessage("blob:sha256:"+hash))
	ctx, problems, err := l.Context()
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Contains(t, string(ctx.Messages[2]), base64.StdEncoding.EncodeToString([]byte("foo")))
}

func TestAnImageThatCannotBeStoredStaysInTheFile(t *testing.T) {
	t.Parallel()
	base := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	kit.Put(t, base, kit.Filed, kit.Conversation())
	kit.Put(t, base, "/store/blobs", "a file where the directory should be")
	l, err := newStoreWithBlobs(base).Open(kit.Filed)
	require.NoError(t, err)
	image := base64.StdEncoding.EncodeToString(make([]byte, 3000))
	kit.MustAppend(t, l, imageMessage(image))
	require.Contains(t, kit.Content(t, base, kit.Filed), image)
}

// Proves: X-116, F-03
func TestASessionHasOneWriter(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		kit.Put(t, fs, kit.Filed, kit.Conversation())
		stores := [2]*session.Store{kit.NewStoreWithIDs(fs, 1), kit.NewStoreWithIDs(fs, 2)}
		var logs [2]*session.Log
		for i, s := range stores {
			s.LockDir = "/store/locks"
			l, err := s.Open(kit.Filed)
			require.NoError(t, err, "opening asks nobody")
			logs[i] = l
		}
		kit.MustAppend(t, logs[0], kit.Say("user", "ours"))
		require.Contains(t, stores[1].Owners(), kit.Filed)

		_, err := logs[1].Append(kit.Say("user", "theirs"))
		require.Equal(t, fault.Busy, fault.KindOf(err))
		_, err = logs[1].SetTitle(session.Title{Text: "theirs"})
		require.Equal(t, fault.Busy, fault.KindOf(err))
		require.NotContains(t, kit.Content(t, fs, kit.Filed), "theirs")
		require.Equal(t, []string{"one", "two"}, contextTexts(t, logs[1]), "reading goes on")

		require.NoError(t, logs[0].Close())
		kit.MustAppend(t, logs[1], kit.Say("assistant", "now"))
		require.Equal(t, []string{"one", "two", "ours", "now"}, contextTexts(t, logs[1]))
		require.NoError(t, logs[1].Close())
		require.Empty(t, stores[0].Owners())
	})
}

// Proves: X-111
func TestAFailureToSaveIsLoggedOnceWithItsFile(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	kit.Put(t, base, kit.Filed, kit.Conversation())
	core, logs := observer.New(zap.WarnLevel)
	s := session.NewStore(session.StoreConfig{
		Fs: &st.FaultFs{Fs: base, At: 1, Mode: st.Dead}, DirFor: func(string) (string, error) { return kit.StoreDir, nil }, Log: zap.New(core),
	})
	l, err := s.Open(kit.Filed)
	require.NoError(t, err)
	for range 3 {
		_, err = l.Append(kit.Say("user", "x"))
		require.ErrorIs(t, err, st.ErrInjected)
	}
	told := logs.FilterMessage("session cannot be saved").All()
	require.Len(t, told, 1)
	require.Equal(t, kit.Filed, told[0].ContextMap()["path"])
}
