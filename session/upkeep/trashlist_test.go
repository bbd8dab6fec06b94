package upkeep_test

import (
	"math/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

// Items that can be restored are listed, of all programs together, the newest first; other files
// in the trash are not.
func TestListTrash(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		finder := kit.NewFinder(fs)
		finder.Roots = append(finder.Roots, library.Root{Places: library.AgentPlaces("/home/zed/.pi/agent"), Dialect: session.Pi})
		at := kit.Noon
		now := func() time.Time { return at }
		store := session.NewStore(session.StoreConfig{
			Fs: fs, Now: now, Random: rand.New(rand.NewSource(1)), DirFor: finder.DirFor, RootFor: finder.FileRoot,
		})
		list, err := upkeep.ListTrash(store, finder.Roots)
		require.NoError(t, err)
		require.Empty(t, list)

		paths := []string{
			kit.SessionsRoot + "/--p--/2026-01-01T00-00-00-000Z_0123456789abcde0.jsonl",
			"/home/zed/.pi/agent/sessions/--p--/2026-01-01T00-00-00-000Z_0123456789abcde1.jsonl",
			kit.SessionsRoot + "/--p--/2026-01-01T00-00-00-000Z_0123456789abcde2.jsonl",
		}
		var want []upkeep.Trashed
		for i, path := range paths {
			kit.Put(t, fs, path, kit.Chat("0123456789abcdef", "/p", "one"))
			at = kit.Noon.Add(time.Duration(i) * time.Second)
			dir, err := upkeep.Trash(store, path)
			require.NoError(t, err)
			want = append([]upkeep.Trashed{{
				Dir: dir, File: filepath.Join(dir, "session.jsonl"), Path: filepath.Clean(path), TrashedAt: session.FormatTime(at),
			}}, want...)
		}
		kit.Put(t, fs, kit.ZedTrash+"/notes.txt", "of somebody")
		kit.Put(t, fs, kit.ZedTrash+"/0123456789abcdef/trashed.json", `{"path":"/home/zed/p/a.jsonl","trashedAt":"2026-01-01T00:00:00Z"}`)
		kit.Put(t, fs, kit.ZedTrash+"/0123456789abcdee/trashed.json", `{torn`)
		list, err = upkeep.ListTrash(store, finder.Roots)
		require.NoError(t, err)
		require.Equal(t, want, list)

		_, err = upkeep.Untrash(store, list[1].Dir)
		require.NoError(t, err)
		list, err = upkeep.ListTrash(store, finder.Roots)
		require.NoError(t, err)
		require.Equal(t, []upkeep.Trashed{want[0], want[2]}, list)
	})
}
