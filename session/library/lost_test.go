package library_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

// Proves: P-027, F-22, F-25, AB-082
func TestLostSessions(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		_, f := kit.Rooted(fs, 1)
		for _, dir := range []string{"/home/zed/p", "/tmp/q", "/home/zed-old/x"} {
			require.NoError(t, fs.MkdirAll(dir, 0o700))
		}
		at := func(name string) string { return kit.SessionsRoot + "/" + name }
		pi := "/home/zed/.pi/agent/sessions/--home-zed-gone--/a.jsonl"
		for path, text := range map[string]string{
			// A session in any list is not lost.
			at("-p/a.jsonl"): kit.Chat("1", "/home/zed/p", "x"), at("--home-zed-p--/a.jsonl"): kit.Chat("2", "/home/zed/p/", "x"),
			at("-old-x/a.jsonl"): kit.Chat("3", "/home/zed-old/x", "x"), at("-tmp-q/a.jsonl"): kit.Chat("4", "", "x"),
			"/home/zed/.pi/agent/sessions/--home-zed-p--/a.jsonl": kit.Chat("5", "/home/zed/p", "x"),
			at("-p/a/Agent.jsonl"):                                kit.Chat("6", "/gone", "the transcript of a sub-agent"),
			at("-p/empty-talk.jsonl"):                             kit.Chat("7", "/home/zed/p"),

			at("-p/torn.jsonl"): "{torn", at("-p/zero.jsonl"): "",
			at("-p/gone.jsonl"): kit.Chat("8", "/home/zed/gone", "x"), at("-p/relative.jsonl"): kit.Chat("9", "p", "x"),
			at("-wrong/a.jsonl"): kit.Chat("10", "/home/zed/p", "x"), at("flat.jsonl"): kit.Chat("11", "/home/zed/p", "x"),
			at("nameless.jsonl"): kit.Chat("12", "", "x"), pi: kit.Chat("13", "/home/zed/gone", "x"),
		} {
			kit.Put(t, fs, path, text)
		}
		before := kit.StoreHash(t, fs)
		lost, problems, err := f.Lost(t.Context())
		require.NoError(t, err)
		require.Empty(t, problems)
		got := map[string]string{}
		for _, l := range lost {
			got[filepath.ToSlash(l.Path)] = l.Reason
			require.Equal(t, l.Path == pi, l.Dialect == session.Pi)
			if l.Path == at("-wrong/a.jsonl") {
				require.Equal(t, "/home/zed/p", l.Cwd)
			}
		}
		require.Equal(t, map[string]string{
			at("-p/torn.jsonl"): library.LostHeader, at("-p/zero.jsonl"): library.LostHeader,
			at("-p/gone.jsonl"): library.LostCwd, at("-p/relative.jsonl"): library.LostCwd, pi: library.LostCwd,
			at("-wrong/a.jsonl"): library.LostPlace, at("flat.jsonl"): library.LostPlace, at("nameless.jsonl"): library.LostPlace,
		}, got)
		require.Equal(t, before, kit.StoreHash(t, fs), "looking changes nothing")

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err = f.Lost(ctx)
		require.Equal(t, fault.Cancelled, fault.KindOf(err))
	})
}

// Proves: F-22, AB-082
func TestLostSessionsAreFoundAfterTheyAreMoved(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		require.NoError(t, fs.MkdirAll("/home/zed/p", 0o700))
		kit.Put(t, fs, kit.SessionsRoot+"/-wrong/a.jsonl", kit.Chat("1", "/home/zed/p", "x"))
		kit.Put(t, fs, kit.SessionsRoot+"/-p/b.jsonl", kit.Chat("2", "/home/zed/gone", "x"))
		kit.Put(t, fs, kit.SessionsRoot+"/c.jsonl", kit.Chat("3", "", "x"))
		s, f := kit.Rooted(fs, 1)
		lost, _, err := f.Lost(t.Context())
		require.NoError(t, err)
		require.Len(t, lost, 3)
		for _, l := range lost {
			_, err := upkeep.Relocate(s, l.Path, "/home/zed/p")
			require.NoError(t, err)
		}
		require.Len(t, kit.Listed(t, f, "/home/zed/p"), 3)
		lost, _, err = f.Lost(t.Context())
		require.NoError(t, err)
		require.Empty(t, lost)
	})
}

func TestASessionDirectoryLosesNothingByItsPlace(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	require.NoError(t, fs.MkdirAll("/home/zed/p", 0o700))
	kit.Put(t, fs, "/flat/a.jsonl", kit.Chat("1", "/home/zed/p", "x"))
	kit.Put(t, fs, "/flat/b.jsonl", kit.Chat("2", "", "x"))
	f := kit.NewFinder(fs)
	f.SessionDir = "/flat"
	lost, problems, err := f.Lost(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Empty(t, lost)
}

// Proves: F-23
func TestLinksLoseNothing(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	fs := afero.NewOsFs()
	require.NoError(t, fs.MkdirAll(filepath.Join(dir, "real"), 0o700))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
	f := kit.NewFinder(fs)
	f.Home, f.Temp, f.RealPath = filepath.Join(dir, "home"), "", filepath.EvalSymlinks
	agentDir := filepath.Join(dir, "home/.xcsh/agent")
	f.Roots = []library.Root{library.OwnRoot(library.AgentPlaces(agentDir))}
	sessions := f.Roots[0].Sessions
	for i, cwd := range []string{filepath.Join(dir, "real"), filepath.Join(dir, "link")} {
		names := library.DirNames(cwd, f.Home, f.Temp, f.RealPath)
		kit.Put(t, fs, filepath.Join(sessions, names[0], string(rune('a'+i))+".jsonl"), kit.Chat("1", cwd, "x"))
		kit.Put(t, fs, filepath.Join(sessions, names[len(names)-1], string(rune('c'+i))+".jsonl"), kit.Chat("1", cwd, "x"))
	}
	// A directory that was moved out of the way and linked to under its old name.
	entries, err := afero.ReadDir(fs, sessions)
	require.NoError(t, err)
	first := filepath.Join(sessions, entries[0].Name())
	require.NoError(t, fs.Rename(first, filepath.Join(sessions, "0moved")))
	require.NoError(t, os.Symlink("0moved", first))
	lost, problems, err := f.Lost(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Empty(t, lost)
}
