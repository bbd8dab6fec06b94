package upkeep_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

var movedTo = strings.Replace(kit.MovedFrom, "--home-zed-p--", "--home-zed-q--", 1)

// artifactsAt are the artifacts that shelve makes for the session at path.
func artifactsAt(path string) map[string]string {
	dir := strings.TrimSuffix(path, ".jsonl")
	return map[string]string{dir + "/": "", dir + "/Sub/": "", dir + "/0.bash.log": "output", dir + "/Sub/Sub.jsonl": "{}"}
}

// Proves
func TestRelocateMovesFileArtifactsAndHeader(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		shelve(t, fs)
		was := kit.Content(t, fs, kit.MovedFrom)
		stat, err := fs.Stat(kit.MovedFrom)
		require.NoError(t, err)
		modified := stat.ModTime()
		s, f := kit.Rooted(fs, 1)
		require.Len(t, kit.Listed(t, f, "/home/zed/p"), 1)

		to, err := upkeep.Relocate(s, kit.MovedFrom, "/home/zed/q/")
		require.NoError(t, err)
		require.Equal(t, movedTo, filepath.ToSlash(to))
		require.Equal(t, strings.Replace(was, `"cwd":"/home/zed/p"`, `"cwd":"/home/zed/q"`, 1), kit.Content(t, fs, to))
		require.Empty(t, kit.Listed(t, f, "/home/zed/p"))
		require.Equal(t, []string{to}, kit.Listed(t, f, "/home/zed/q"))
		all := holdings(t, fs)
		for path, want := range artifactsAt(movedTo) {
			require.Contains(t, all, path)
			require.Equal(t, want, all[path])
		}
		for path := range all {
			require.False(t, strings.HasPrefix(path, strings.TrimSuffix(kit.MovedFrom, ".jsonl")), path)
			require.NotContains(t, filepath.Base(path), ".tmp")
		}
		stat, err = fs.Stat(to)
		require.NoError(t, err)
		require.WithinDuration(t, modified, stat.ModTime(), 0)

		require.NoError(t, upkeep.Refile(s, to, kit.MovedFrom, "/home/zed/p"))
		require.Equal(t, was, kit.Content(t, fs, kit.MovedFrom))
	})
}

func TestRelocateChangesNoOtherByte(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile(filepath.Join(kit.Fixtures, "pi/v1-compaction.jsonl"))
	require.NoError(t, err)
	slotted, err := os.ReadFile(filepath.Join(kit.Fixtures, "omp/compaction.jsonl"))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"version 1":             string(old),
		"title slot":            string(slotted),
		"torn":                  kit.Conversation() + `{"torn`,
		"CRLF":                  strings.ReplaceAll(kit.Conversation(), "\n", "\r\n"),
		"byte order mark":       "\uFEFF" + kit.Conversation(),
		"garbage":               "garbage\n" + kit.Conversation() + "\x00\x00\nnull\n",
		"no cwd":                strings.Replace(kit.Conversation(), `,"cwd":"/w"`, "", 1),
		"unknown members":       strings.Replace(kit.Conversation(), `"cwd":"/w"`, `"cwd": "/w" , "more":[1, 2]`, 1),
		"an id that leads away": strings.Replace(kit.Conversation(), "0123456789abcdef", "../../../../tmp/x", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				shelve(t, fs)
				kit.Put(t, fs, kit.MovedFrom, text)
				doc, err := kit.NewStore(fs).Load(kit.MovedFrom)
				require.NoError(t, err)
				cwd := doc.Header().Cwd
				s, _ := kit.Rooted(fs, 1)
				to, err := upkeep.Relocate(s, kit.MovedFrom, "/home/zed/q")
				require.NoError(t, err)
				require.Equal(t, movedTo, filepath.ToSlash(to))
				after, err := kit.NewStore(fs).Load(to)
				require.NoError(t, err)
				require.Equal(t, "/home/zed/q", after.Header().Cwd)
				require.Equal(t, doc.Header().Version, after.Header().Version)
				require.Equal(t, doc.Problems(), after.Problems())
				require.NoError(t, upkeep.Refile(s, to, kit.MovedFrom, cwd))
				require.Equal(t, text, kit.Content(t, fs, kit.MovedFrom))
			})
		})
	}
}

func TestRelocateRefuses(t *testing.T) {
	t.Parallel()
	pi := "/home/zed/.pi/agent/sessions/--home-zed-p--/a.jsonl"
	for name, c := range map[string]struct {
		prepare   func(t *testing.T, fs afero.Fs)
		path, to  string
		kind      fault.Kind
		complaint string
	}{
		"a file in the way":    {func(t *testing.T, fs afero.Fs) { kit.Put(t, fs, movedTo, "") }, kit.MovedFrom, "/home/zed/q", fault.FileExists, "exists already"},
		"artifacts in the way": {func(t *testing.T, fs afero.Fs) { kit.Put(t, fs, strings.TrimSuffix(movedTo, ".jsonl")+"/x", "") }, kit.MovedFrom, "/home/zed/q", fault.FileExists, "exists already"},
		"no such directory":    {nil, kit.MovedFrom, "/home/zed/none", fault.NotFound, "Directory not found: /home/zed/none"},
		"a relative directory": {nil, kit.MovedFrom, "q", fault.NotFound, "Directory not found: q"},
		"a file":               {nil, kit.MovedFrom, kit.MovedFrom, fault.NotFound, "Directory not found"},
		"no such session":      {nil, movedTo, "/home/zed/q", fault.NotFound, "File not found"},
		"another program's":    {func(t *testing.T, fs afero.Fs) { kit.Put(t, fs, pi, kit.Conversation()) }, pi, "/home/zed/q", fault.OutsideRoot, "fork it instead"},
		"no header":            {func(t *testing.T, fs afero.Fs) { kit.Put(t, fs, kit.MovedFrom, "x\n") }, kit.MovedFrom, "/home/zed/q", fault.Damaged, "header"},
		"a newer version": {func(t *testing.T, fs afero.Fs) {
			kit.Put(t, fs, kit.MovedFrom, strings.Replace(kit.Conversation(), `"version":3`, `"version":4`, 1))
		}, kit.MovedFrom, "/home/zed/q", fault.NewerVersion, "newer program"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				shelve(t, fs)
				if c.prepare != nil {
					c.prepare(t, fs)
				}
				before := holdings(t, fs)
				s, _ := kit.Rooted(fs, 1)
				_, err := upkeep.Relocate(s, c.path, c.to)
				require.Equal(t, c.kind, fault.KindOf(err), err)
				require.ErrorContains(t, err, c.complaint)
				require.NotContains(t, err.Error(), "\n")
				require.Equal(t, before, holdings(t, fs))
			})
		})
	}
}

// TestRelocateSurvivesEveryFault fails each step of a move. In every case a complete
// session with complete artifacts exists, and after an error it is where it was.
func TestRelocateSurvivesEveryFault(t *testing.T) {
	t.Parallel()
	for where, apart := range map[string]string{"renamed": "", "copied": filepath.Dir(movedTo)} {
		for mode, how := range []string{"once", "dead", "short"} {
			for _, reads := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s reads=%v", where, how, reads), func(t *testing.T) {
					t.Parallel()
					at := 1
					for ; moveSurvives(t, apart, &st.FaultFs{At: at, Mode: st.Mode(mode), Reads: reads}); at++ {
					}
					require.Greater(t, at, 10)
				})
			}
		}
	}
}

func moveSurvives(t *testing.T, apart string, broken *st.FaultFs) bool {
	t.Helper()
	base := afero.NewMemMapFs()
	shelve(t, base)
	before := holdings(t, base)
	broken.Fs = devices{Fs: base, apart: apart}
	at, mode := broken.At, broken.Mode
	s, _ := kit.Rooted(broken, 1)
	_, err := upkeep.Relocate(s, kit.MovedFrom, "/home/zed/q")
	after := holdings(t, base)
	if err != nil && mode != st.Dead {
		require.Equal(t, before, after, "fault %d: an error means that nothing happened", at)
	}
	want := map[string]string{
		kit.MovedFrom: before[kit.MovedFrom],
		movedTo:       strings.Replace(before[kit.MovedFrom], "/home/zed/p", "/home/zed/q", 1),
	}
	whole := 0
	for path, text := range want {
		if got, there := after[path]; there {
			require.Equal(t, text, got, "fault %d: no file is half of one", at)
			whole++
		}
	}
	require.Positive(t, whole, "fault %d", at)
	if mode != st.Dead {
		require.Equal(t, 1, whole, "fault %d", at)
	}
	artifacts := 0
	for path := range want {
		there := true
		for part, text := range artifactsAt(path) {
			got, ok := after[part]
			there = there && ok && got == text
		}
		if _, session := after[path]; there && session {
			artifacts++
		}
	}
	if mode != st.Dead {
		require.Equal(t, 1, artifacts, "fault %d: the artifacts are beside their session", at)
	}
	return broken.Fired()
}

// TestRelocateAsksForItsDirectoryFirst: after an error a directory can be removed again
// only if it is known that it did not exist before.
func TestRelocateAsksForItsDirectoryFirst(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	shelve(t, base)
	before := holdings(t, base)
	broken := &st.FaultFs{Fs: base, At: 1, Mode: st.Dead, Reads: true, On: func(op, name string) bool {
		return op == "stat" && filepath.ToSlash(name) == filepath.Dir(movedTo)
	}}
	s, _ := kit.Rooted(broken, 1)
	_, err := upkeep.Relocate(s, kit.MovedFrom, "/home/zed/q")
	require.ErrorIs(t, err, st.ErrInjected)
	require.Equal(t, before, holdings(t, base))
}

func TestRelocateOfAFileThatChanges(t *testing.T) {
	t.Parallel()
	// Before the new file gets its name, before the artifacts move, before the old one is
	// removed.
	for step, name := range []string{"rename .tmp", "rename artifacts", "remove"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				shelve(t, fs)
				was, done := kit.Content(t, fs, kit.MovedFrom), false
				s, _ := kit.Rooted(devices{Fs: fs, before: func(op, path string) {
					now := [...]bool{
						op == "rename" && strings.HasSuffix(path, ".tmp"),
						op == "rename" && path == strings.TrimSuffix(kit.MovedFrom, ".jsonl"),
						op == "remove" && path == kit.MovedFrom,
					}
					if now[step] && !done {
						done = true
						kit.Put(t, fs, kit.MovedFrom, was+"{}\n")
					}
				}}, 1)
				_, err := upkeep.Relocate(s, kit.MovedFrom, "/home/zed/q")
				require.True(t, done)
				if step == 2 { // too late for a program that does not take the lock
					require.NoError(t, err)
					return
				}
				require.Equal(t, fault.Stale, fault.KindOf(err))
				require.Equal(t, was+"{}\n", kit.Content(t, fs, kit.MovedFrom))
				all := holdings(t, fs)
				require.NotContains(t, all, movedTo)
				for path := range artifactsAt(kit.MovedFrom) {
					require.Contains(t, all, path)
				}
			})
		})
	}
}

func TestRelocateWaitsForWriters(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	shelve(t, fs)
	before := holdings(t, fs)
	// Process 1 lives for as long as the machine does.
	kit.Put(t, fs, filepath.Dir(kit.MovedFrom)+"/."+filepath.Base(kit.MovedFrom)+".lock", "1:1\n")
	s, _ := kit.Rooted(fs, 1)
	_, err := upkeep.Relocate(s, kit.MovedFrom, "/home/zed/q")
	require.Equal(t, fault.Busy, fault.KindOf(err))
	_, err = upkeep.Trash(s, kit.MovedFrom)
	require.Equal(t, fault.Busy, fault.KindOf(err))
	require.Equal(t, before, holdings(t, fs))
}

func TestRelocateBetweenDirectoriesOfOneName(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		shared := kit.SessionsRoot + "/--a-b--/s.jsonl"
		kit.Put(t, fs, shared, kit.Chat("1", "/a-b", "one"))
		kit.Put(t, fs, strings.TrimSuffix(shared, ".jsonl")+"/0.bash.log", "output")
		require.NoError(t, fs.MkdirAll("/a/b", 0o700))
		s, f := kit.Rooted(fs, 1)
		to, err := upkeep.Relocate(s, shared, "/a/b")
		require.NoError(t, err)
		require.Equal(t, shared, filepath.ToSlash(to))
		require.Equal(t, kit.Chat("1", "/a/b", "one"), kit.Content(t, fs, shared))
		require.Equal(t, "output", kit.Content(t, fs, strings.TrimSuffix(shared, ".jsonl")+"/0.bash.log"))
		require.Empty(t, kit.Listed(t, f, "/a-b"))
		require.Len(t, kit.Listed(t, f, "/a/b"), 1)
	})
}

func TestRelocateOutOfTwoGenerationsOfADirectory(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		old, current := kit.SessionsRoot+"/--home-zed-p--/a.jsonl", kit.SessionsRoot+"/-p/a.jsonl"
		kit.Put(t, fs, old, kit.Chat("1", "/home/zed/p", "old"))
		kit.Put(t, fs, current, kit.Chat("2", "/home/zed/p", "new"))
		require.NoError(t, fs.MkdirAll("/home/zed/q", 0o700))
		s, _ := kit.Rooted(fs, 1)
		to, err := upkeep.Relocate(s, old, "/home/zed/q")
		require.NoError(t, err)
		require.Equal(t, kit.SessionsRoot+"/-q/a.jsonl", filepath.ToSlash(to))
		_, err = upkeep.Relocate(s, current, "/home/zed/q")
		require.Equal(t, fault.FileExists, fault.KindOf(err))
		require.Equal(t, kit.Chat("2", "/home/zed/p", "new"), kit.Content(t, fs, current))
		require.Equal(t, kit.Chat("1", "/home/zed/q", "old"), kit.Content(t, fs, to))
	})
}

func TestRelocateToALink(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	fs := afero.NewOsFs()
	agentDir := filepath.Join(dir, "home/.xcsh/agent")
	require.NoError(t, fs.MkdirAll(filepath.Join(dir, "real"), 0o700))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(filepath.Join(dir, "real"), link))
	path := filepath.Join(agentDir, "sessions/-p/a.jsonl")
	kit.Put(t, fs, path, kit.Chat("1", filepath.Join(dir, "home/p"), "one"))
	f := kit.NewFinder(fs)
	f.Home, f.Roots, f.RealPath = filepath.Join(dir, "home"), []library.Root{library.OwnRoot(library.AgentPlaces(agentDir))}, filepath.EvalSymlinks
	s := session.NewStore(session.StoreConfig{Fs: fs, DirFor: f.DirFor, RootFor: f.FileRoot})
	to, err := upkeep.Relocate(s, path, link)
	require.NoError(t, err)
	require.Equal(t, kit.Chat("1", link, "one"), kit.Content(t, fs, to))
	require.Equal(t, []string{to}, kit.Listed(t, f, link))
	require.Equal(t, []string{to}, kit.Listed(t, f, filepath.Join(dir, "real")))
}

func TestAFileOfAnotherNameIsFiledWhereListsLook(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	shelve(t, fs)
	kit.Put(t, fs, "/home/zed/.notes", kit.Chat("1", "/home/zed/p", "one"))
	s, f := kit.Rooted(fs, 1)
	to, err := upkeep.Relocate(s, "/home/zed/.notes", "/home/zed/q")
	require.NoError(t, err)
	require.Equal(t, "notes.jsonl", filepath.Base(to))
	require.Equal(t, []string{to}, kit.Listed(t, f, "/home/zed/q"))
}

func TestOneOfManyMovesWins(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		shelve(t, fs)
		var group sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for i := range 8 {
			group.Go(func() {
				s, _ := kit.Rooted(fs, int64(i))
				if _, err := upkeep.Relocate(s, kit.MovedFrom, "/home/zed/q"); err == nil {
					mu.Lock()
					won++
					mu.Unlock()
				}
			})
		}
		group.Wait()
		require.Equal(t, 1, won)
		require.Contains(t, headerOf(t, fs, movedTo), `"cwd":"/home/zed/q"`)
		require.Equal(t, "output", kit.Content(t, fs, strings.TrimSuffix(movedTo, ".jsonl")+"/0.bash.log"))
	})
}

func TestALargeSessionMoves(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	shelve(t, fs)
	text := kit.Chat("1", "/home/zed/p", strings.Repeat("x", 9<<20))
	kit.Put(t, fs, kit.MovedFrom, text)
	s, _ := kit.Rooted(fs, 1)
	to, err := upkeep.Relocate(s, kit.MovedFrom, "/home/zed/q")
	require.NoError(t, err)
	require.Len(t, kit.Content(t, fs, to), len(text))
}
