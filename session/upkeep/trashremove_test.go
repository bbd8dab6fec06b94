package upkeep_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

func TestRemovingFromTheTrash(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		shelve(t, fs)
		s, finder := kit.Rooted(fs, 1)
		other := strings.Replace(kit.MovedFrom, "0123456789abcdef", "0123456789abcdee", 1)
		kit.Put(t, fs, other, kit.Chat("0123456789abcdee", "/home/zed/p", "stays"))
		kept, err := upkeep.Trash(s, other)
		require.NoError(t, err)
		before := holdings(t, fs)
		trashed, err := upkeep.Trash(s, kit.MovedFrom)
		require.NoError(t, err)

		require.NoError(t, upkeep.RemoveTrashed(s, trashed))
		after := holdings(t, fs)
		for path := range after {
			require.Contains(t, before, path, "nothing new is left")
			require.NotContains(t, path, filepath.Base(trashed))
		}
		list, err := upkeep.ListTrash(s, finder.Roots)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, kept, list[0].Dir)
		_, err = upkeep.Untrash(s, trashed)
		require.True(t, fault.Is(err, fault.NotFound), "%v", err)
		err = upkeep.RemoveTrashed(s, trashed)
		require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	})
}

// Only an item that can be restored is removed: no other file of the trash, and nothing elsewhere, whatever a record says.
func TestNothingElseIsRemovedFromTheTrash(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		shelve(t, fs)
		s, _ := kit.Rooted(fs, 1)
		record := `{"path":"` + kit.MovedFrom + `","trashedAt":"2026-01-01T00:00:00Z"}`
		kit.Put(t, fs, kit.ZedTrash+"/gc-20260102T150405.000Z/trashed.json", record)
		kit.Put(t, fs, kit.ZedTrash+"/0123456789abcdea/session.jsonl", "without a record")
		kit.Put(t, fs, kit.ZedTrash+"/0123456789abcdeb/trashed.json", record) // without a session
		kit.Put(t, fs, kit.ZedTrash+"/0123456789abcdec/trashed.json", `{"path":"/elsewhere/../x.jsonl"}`)
		kit.Put(t, fs, kit.ZedTrash+"/0123456789abcdec/session.jsonl", "of an outsider")
		kit.Put(t, fs, "/home/zed/p/0123456789abcded/trashed.json", record)
		kit.Put(t, fs, "/home/zed/p/0123456789abcded/session.jsonl", "planted in a project")
		before := holdings(t, fs)
		for _, dir := range []string{
			"", "/", ".", kit.MovedFrom, filepath.Dir(kit.MovedFrom), kit.ZedTrash, kit.ZedTrash + "/gc-20260102T150405.000Z",
			kit.ZedTrash + "/0123456789abcdea", kit.ZedTrash + "/0123456789abcdeb", kit.ZedTrash + "/0123456789abcdec",
			"/home/zed/p/0123456789abcded", kit.ZedTrash + "/../trash/../sessions",
		} {
			require.Error(t, upkeep.RemoveTrashed(s, dir), dir)
			require.Equal(t, before, holdings(t, fs), dir)
		}
	})
}

// A link in the trash is removed, and its target stays.
func TestRemovingFromTheTrashFollowsNoLink(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	fs := afero.NewBasePathFs(afero.NewOsFs(), base)
	shelve(t, fs)
	s, _ := kit.Rooted(fs, 1)
	kit.Put(t, fs, "/home/zed/p/main.go", "package main")
	trashed, err := upkeep.Trash(s, kit.MovedFrom)
	require.NoError(t, err)
	linker := fs.(afero.Linker) //nolint:forcetypeassert // the disk has links
	require.NoError(t, linker.SymlinkIfPossible("/home/zed/p", trashed+"/session/link"))
	require.NoError(t, upkeep.RemoveTrashed(s, trashed))
	require.Equal(t, "package main", kit.Content(t, fs, "/home/zed/p/main.go"))

	require.NoError(t, fs.MkdirAll(kit.ZedTrash, 0o700))
	require.NoError(t, linker.SymlinkIfPossible("/home/zed/p", kit.ZedTrash+"/0123456789abcdee"))
	require.Error(t, upkeep.RemoveTrashed(s, kit.ZedTrash+"/0123456789abcdee"))
	require.Equal(t, "package main", kit.Content(t, fs, "/home/zed/p/main.go"))
}

// Each step of a removal fails once: afterwards the session can be restored whole, or is not listed any more. Other
// files are as they were.
func TestRemovingFromTheTrashSurvivesEveryFault(t *testing.T) {
	t.Parallel()
	for mode, how := range []string{"once", "dead", "short"} {
		for _, reads := range []bool{false, true} {
			t.Run(how, func(t *testing.T) {
				t.Parallel()
				at := 1
				for ; removalSurvives(t, &st.FaultFs{At: at, Mode: st.Mode(mode), Reads: reads}); at++ {
				}
				require.Greater(t, at, 4)
			})
		}
	}
}

func removalSurvives(t *testing.T, broken *st.FaultFs) bool {
	t.Helper()
	base := afero.NewMemMapFs()
	shelve(t, base)
	require.NoError(t, base.MkdirAll(kit.ZedTrash, 0o700))
	healthy, finder := kit.Rooted(base, 2)
	before := holdings(t, base)
	trashed, err := upkeep.Trash(healthy, kit.MovedFrom)
	require.NoError(t, err)
	inTrash := holdings(t, base)

	broken.Fs = base
	s, _ := kit.Rooted(broken, 1)
	err = upkeep.RemoveTrashed(s, trashed)
	list, listErr := upkeep.ListTrash(healthy, finder.Roots)
	require.NoError(t, listErr)
	if len(list) == 0 {
		after := holdings(t, base)
		maps.DeleteFunc(after, func(path, _ string) bool { return strings.HasPrefix(path, kit.ZedTrash+"/gc-") })
		maps.DeleteFunc(inTrash, func(path, _ string) bool { return strings.HasPrefix(path, filepath.ToSlash(trashed)) })
		require.Equal(t, inTrash, after, "fault %d", broken.At)
		return broken.Fired()
	}
	require.Error(t, err, "fault %d", broken.At)
	require.Equal(t, inTrash, holdings(t, base), "fault %d", broken.At)
	_, err = upkeep.Untrash(healthy, trashed)
	require.NoError(t, err, "fault %d", broken.At)
	require.Equal(t, before, holdings(t, base), "fault %d", broken.At)
	return broken.Fired()
}
