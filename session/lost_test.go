package session_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

func TestLostSessions(t *testing.T) {
	t.Parallel()
	onEveryFs(t, func(t *testing.T, fs afero.Fs) {
		_, f := rooted(fs, 1)
		for _, dir := range []string{"/home/zed/p", "/tmp/q", "/home/zed-old/x"} {
			require.NoError(t, fs.MkdirAll(dir, 0o700))
		}
		at := func(name string) string { return sessionsRoot + "/" + name }
		pi := "/home/zed/.pi/agent/sessions/--home-zed-gone--/a.jsonl"
		for path, text := range map[string]string{
			// What some list shows is not lost.
			at("-p/a.jsonl"): chat("1", "/home/zed/p", "x"), at("--home-zed-p--/a.jsonl"): chat("2", "/home/zed/p/", "x"),
			at("-old-x/a.jsonl"): chat("3", "/home/zed-old/x", "x"), at("-tmp-q/a.jsonl"): chat("4", "", "x"),
			"/home/zed/.pi/agent/sessions/--home-zed-p--/a.jsonl": chat("5", "/home/zed/p", "x"),
			at("-p/a/Agent.jsonl"):                                chat("6", "/gone", "the transcript of a sub-agent"),
			at("-p/empty-talk.jsonl"):                             chat("7", "/home/zed/p"),

			at("-p/torn.jsonl"): "{torn", at("-p/zero.jsonl"): "",
			at("-p/gone.jsonl"): chat("8", "/home/zed/gone", "x"), at("-p/relative.jsonl"): chat("9", "p", "x"),
			at("-wrong/a.jsonl"): chat("10", "/home/zed/p", "x"), at("flat.jsonl"): chat("11", "/home/zed/p", "x"),
			at("nameless.jsonl"): chat("12", "", "x"), pi: chat("13", "/home/zed/gone", "x"),
		} {
			put(t, fs, path, text)
		}
		before := storeHash(t, fs)
		lost, problems, err := f.Lost(t.Context())
		require.NoError(t, err)
		require.Empty(t, problems)
		got := map[string]session.LostReason{}
		for _, l := range lost {
			got[filepath.ToSlash(l.Path)] = l.Reason
			require.Contains(t, l.Advice, map[session.LostReason]string{
				session.LostHeader: "doctor", session.LostCwd: "xcsh.", session.LostPlace: "xcsh.move",
			}[l.Reason])
			require.Contains(t, l.Advice, l.Path)
			if l.Path == pi {
				require.Contains(t, l.Advice, "xcsh.fork")
			}
			if l.Path == at("-wrong/a.jsonl") {
				require.Contains(t, l.Advice, `"to": "/home/zed/p"`)
			}
		}
		require.Equal(t, map[string]session.LostReason{
			at("-p/torn.jsonl"): session.LostHeader, at("-p/zero.jsonl"): session.LostHeader,
			at("-p/gone.jsonl"): session.LostCwd, at("-p/relative.jsonl"): session.LostCwd, pi: session.LostCwd,
			at("-wrong/a.jsonl"): session.LostPlace, at("flat.jsonl"): session.LostPlace, at("nameless.jsonl"): session.LostPlace,
		}, got)
		require.Equal(t, before, storeHash(t, fs), "looking changes nothing")

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err = f.Lost(ctx)
		require.Equal(t, fault.Cancelled, fault.KindOf(err))
	})
}

func TestWhatWasLostIsFoundAfterItsAdvice(t *testing.T) {
	t.Parallel()
	onEveryFs(t, func(t *testing.T, fs afero.Fs) {
		require.NoError(t, fs.MkdirAll("/home/zed/p", 0o700))
		put(t, fs, sessionsRoot+"/-wrong/a.jsonl", chat("1", "/home/zed/p", "x"))
		put(t, fs, sessionsRoot+"/-p/b.jsonl", chat("2", "/home/zed/gone", "x"))
		put(t, fs, sessionsRoot+"/c.jsonl", chat("3", "", "x"))
		s, f := rooted(fs, 1)
		lost, _, err := f.Lost(t.Context())
		require.NoError(t, err)
		require.Len(t, lost, 3)
		for _, l := range lost {
			_, err := s.Relocate(l.Path, "/home/zed/p")
			require.NoError(t, err)
		}
		require.Len(t, listed(t, f, "/home/zed/p"), 3)
		lost, _, err = f.Lost(t.Context())
		require.NoError(t, err)
		require.Empty(t, lost)
	})
}

func TestASessionDirectoryLosesNothingByItsPlace(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	require.NoError(t, fs.MkdirAll("/home/zed/p", 0o700))
	put(t, fs, "/flat/a.jsonl", chat("1", "/home/zed/p", "x"))
	put(t, fs, "/flat/b.jsonl", chat("2", "", "x"))
	f := newFinder(fs)
	f.SessionDir = "/flat"
	lost, problems, err := f.Lost(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Empty(t, lost)
}

func TestLinksLoseNothing(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	fs := afero.NewOsFs()
	require.NoError(t, fs.MkdirAll(filepath.Join(dir, "real"), 0o700))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
	f := newFinder(fs)
	f.Home, f.Temp, f.RealPath = filepath.Join(dir, "home"), "", filepath.EvalSymlinks
	agentDir := filepath.Join(dir, "home/.xcsh/agent")
	f.Roots = []session.Root{session.OwnRoot(session.AgentPlaces(agentDir))}
	sessions := f.Roots[0].Sessions
	for i, cwd := range []string{filepath.Join(dir, "real"), filepath.Join(dir, "link")} {
		names := session.DirNames(cwd, f.Home, f.Temp, f.RealPath)
		put(t, fs, filepath.Join(sessions, names[0], string(rune('a'+i))+".jsonl"), chat("1", cwd, "x"))
		put(t, fs, filepath.Join(sessions, names[len(names)-1], string(rune('c'+i))+".jsonl"), chat("1", cwd, "x"))
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
