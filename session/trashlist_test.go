package session_test

import (
	"math/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

// What can be taken back is listed, of all programs together, the newest first; what else lies in
// the trash is not.
func TestListTrash(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		finder := newFinder(fs)
		finder.Roots = append(finder.Roots, session.Root{Places: session.AgentPlaces("/home/zed/.pi/agent"), Dialect: session.Pi})
		at := noon
		now := func() time.Time { return at }
		store := session.NewStore(session.StoreConfig{
			Fs: fs, Now: now, IDs: session.NewIDs(now, rand.New(rand.NewSource(1))), DirFor: finder.DirFor, RootFor: finder.FileRoot,
		})
		list, err := store.ListTrash(finder.Roots)
		require.NoError(t, err)
		require.Empty(t, list)

		paths := []string{
			sessionsRoot + "/--p--/2026-01-01T00-00-00-000Z_0123456789abcde0.jsonl",
			"/home/zed/.pi/agent/sessions/--p--/2026-01-01T00-00-00-000Z_0123456789abcde1.jsonl",
			sessionsRoot + "/--p--/2026-01-01T00-00-00-000Z_0123456789abcde2.jsonl",
		}
		var want []session.Trashed
		for i, path := range paths {
			put(t, fs, path, chat("0123456789abcdef", "/p", "one"))
			at = noon.Add(time.Duration(i) * time.Second)
			dir, err := store.Trash(path)
			require.NoError(t, err)
			want = append([]session.Trashed{{
				Dir: dir, File: filepath.Join(dir, "session.jsonl"), Path: filepath.Clean(path), TrashedAt: session.FormatTime(at),
			}}, want...)
		}
		put(t, fs, zedTrash+"/notes.txt", "of somebody")
		put(t, fs, zedTrash+"/0123456789abcdef/trashed.json", `{"path":"/home/zed/p/a.jsonl","trashedAt":"2026-01-01T00:00:00Z"}`)
		put(t, fs, zedTrash+"/0123456789abcdee/trashed.json", `{torn`)
		list, err = store.ListTrash(finder.Roots)
		require.NoError(t, err)
		require.Equal(t, want, list)

		_, err = store.Untrash(list[1].Dir)
		require.NoError(t, err)
		list, err = store.ListTrash(finder.Roots)
		require.NoError(t, err)
		require.Equal(t, []session.Trashed{want[0], want[2]}, list)
	})
}
