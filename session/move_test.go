package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

var movedTo = strings.Replace(movedFrom, "--home-zed-p--", "--home-zed-q--", 1)

// artifactsAt are the artifacts that shelve makes, where path is the session.
func artifactsAt(path string) map[string]string {
	dir := strings.TrimSuffix(path, ".jsonl")
	return map[string]string{dir + "/": "", dir + "/Sub/": "", dir + "/0.bash.log": "output", dir + "/Sub/Sub.jsonl": "{}"}
}

func TestRelocateMovesFileArtifactsAndHeader(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		shelve(t, fs)
		was := content(t, fs, movedFrom)
		stat, err := fs.Stat(movedFrom)
		require.NoError(t, err)
		modified := stat.ModTime()
		s, f := rooted(fs, 1)
		require.Len(t, listed(t, f, "/home/zed/p"), 1)

		to, err := s.Relocate(movedFrom, "/home/zed/q/")
		require.NoError(t, err)
		require.Equal(t, movedTo, filepath.ToSlash(to))
		require.Equal(t, strings.Replace(was, `"cwd":"/home/zed/p"`, `"cwd":"/home/zed/q"`, 1), content(t, fs, to))
		require.Empty(t, listed(t, f, "/home/zed/p"))
		require.Equal(t, []string{to}, listed(t, f, "/home/zed/q"))
		all := holdings(t, fs)
		for path, want := range artifactsAt(movedTo) {
			require.Contains(t, all, path)
			require.Equal(t, want, all[path])
		}
		for path := range all {
			require.False(t, strings.HasPrefix(path, strings.TrimSuffix(movedFrom, ".jsonl")), path)
			require.NotContains(t, filepath.Base(path), ".tmp")
		}
		stat, err = fs.Stat(to)
		require.NoError(t, err)
		require.WithinDuration(t, modified, stat.ModTime(), 0)

		require.NoError(t, s.Refile(to, movedFrom, "/home/zed/p"))
		require.Equal(t, was, content(t, fs, movedFrom))
	})
}

func TestRelocateChangesNoOtherByte(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile(filepath.Join(fixtures, "pi/v1-compaction.jsonl"))
	require.NoError(t, err)
	slotted, err := os.ReadFile(filepath.Join(fixtures, "omp/compaction.jsonl"))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"version 1":             string(old),
		"title slot":            string(slotted),
		"torn":                  conversation() + `{"torn`,
		"CRLF":                  strings.ReplaceAll(conversation(), "\n", "\r\n"),
		"byte order mark":       "\uFEFF" + conversation(),
		"garbage":               "garbage\n" + conversation() + "\x00\x00\nnull\n",
		"no cwd":                strings.Replace(conversation(), `,"cwd":"/w"`, "", 1),
		"unknown members":       strings.Replace(conversation(), `"cwd":"/w"`, `"cwd": "/w" , "more":[1, 2]`, 1),
		"an id that leads away": strings.Replace(conversation(), "0123456789abcdef", "../../../../tmp/x", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				shelve(t, fs)
				put(t, fs, movedFrom, text)
				doc, err := session.Load(fs, movedFrom)
				require.NoError(t, err)
				cwd := doc.Header().Cwd
				s, _ := rooted(fs, 1)
				to, err := s.Relocate(movedFrom, "/home/zed/q")
				require.NoError(t, err)
				require.Equal(t, movedTo, filepath.ToSlash(to))
				after, err := session.Load(fs, to)
				require.NoError(t, err)
				require.Equal(t, "/home/zed/q", after.Header().Cwd)
				require.Equal(t, doc.Header().Version, after.Header().Version)
				require.Equal(t, doc.Problems(), after.Problems())
				require.NoError(t, s.Refile(to, movedFrom, cwd))
				require.Equal(t, text, content(t, fs, movedFrom))
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
		"a file in the way":    {func(t *testing.T, fs afero.Fs) { put(t, fs, movedTo, "") }, movedFrom, "/home/zed/q", fault.FileExists, "exists already"},
		"artifacts in the way": {func(t *testing.T, fs afero.Fs) { put(t, fs, strings.TrimSuffix(movedTo, ".jsonl")+"/x", "") }, movedFrom, "/home/zed/q", fault.FileExists, "exists already"},
		"no such directory":    {nil, movedFrom, "/home/zed/none", fault.NotFound, "Directory not found: /home/zed/none"},
		"a relative directory": {nil, movedFrom, "q", fault.NotFound, "Directory not found: q"},
		"a file":               {nil, movedFrom, movedFrom, fault.NotFound, "Directory not found"},
		"no such session":      {nil, movedTo, "/home/zed/q", fault.NotFound, "File not found"},
		"another program's":    {func(t *testing.T, fs afero.Fs) { put(t, fs, pi, conversation()) }, pi, "/home/zed/q", fault.OutsideRoot, "fork it instead"},
		"no header":            {func(t *testing.T, fs afero.Fs) { put(t, fs, movedFrom, "x\n") }, movedFrom, "/home/zed/q", fault.Damaged, "header"},
		"a newer version": {func(t *testing.T, fs afero.Fs) {
			put(t, fs, movedFrom, strings.Replace(conversation(), `"version":3`, `"version":4`, 1))
		}, movedFrom, "/home/zed/q", fault.NewerVersion, "newer program"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				shelve(t, fs)
				if c.prepare != nil {
					c.prepare(t, fs)
				}
				before := holdings(t, fs)
				s, _ := rooted(fs, 1)
				_, err := s.Relocate(c.path, c.to)
				require.Equal(t, c.kind, fault.KindOf(err), err)
				require.ErrorContains(t, err, c.complaint)
				require.NotContains(t, err.Error(), "\n")
				require.Equal(t, before, holdings(t, fs))
			})
		})
	}
}

// TestRelocateSurvivesEveryFault fails each step of a move. Whatever happens, a whole
// session with whole artifacts is there, and after an error it is where it was.
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
	s, _ := rooted(broken, 1)
	_, err := s.Relocate(movedFrom, "/home/zed/q")
	after := holdings(t, base)
	if err != nil && mode != st.Dead {
		require.Equal(t, before, after, "fault %d: an error means that nothing happened", at)
	}
	want := map[string]string{
		movedFrom: before[movedFrom],
		movedTo:   strings.Replace(before[movedFrom], "/home/zed/p", "/home/zed/q", 1),
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

// TestRelocateAsksForItsDirectoryFirst: who does not know whether a directory was there
// cannot take it away again after an error.
func TestRelocateAsksForItsDirectoryFirst(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	shelve(t, base)
	before := holdings(t, base)
	broken := &st.FaultFs{Fs: base, At: 1, Mode: st.Dead, Reads: true, On: func(op, name string) bool {
		return op == "stat" && filepath.ToSlash(name) == filepath.Dir(movedTo)
	}}
	s, _ := rooted(broken, 1)
	_, err := s.Relocate(movedFrom, "/home/zed/q")
	require.ErrorIs(t, err, st.ErrInjected)
	require.Equal(t, before, holdings(t, base))
}

func TestRelocateOfAFileThatChanges(t *testing.T) {
	t.Parallel()
	// Before the new file gets its name, before the artifacts move, before the old one goes.
	for step, name := range []string{"rename .tmp", "rename artifacts", "remove"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				shelve(t, fs)
				was, done := content(t, fs, movedFrom), false
				s, _ := rooted(devices{Fs: fs, before: func(op, path string) {
					now := [...]bool{
						op == "rename" && strings.HasSuffix(path, ".tmp"),
						op == "rename" && path == strings.TrimSuffix(movedFrom, ".jsonl"),
						op == "remove" && path == movedFrom,
					}
					if now[step] && !done {
						done = true
						put(t, fs, movedFrom, was+"{}\n")
					}
				}}, 1)
				_, err := s.Relocate(movedFrom, "/home/zed/q")
				require.True(t, done)
				if step == 2 { // too late for anybody who does not take the lock
					require.NoError(t, err)
					return
				}
				require.Equal(t, fault.Stale, fault.KindOf(err))
				require.Equal(t, was+"{}\n", content(t, fs, movedFrom))
				all := holdings(t, fs)
				require.NotContains(t, all, movedTo)
				for path := range artifactsAt(movedFrom) {
					require.Contains(t, all, path)
				}
			})
		})
	}
}

func TestRelocateWaitsForWhoWrites(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	shelve(t, fs)
	before := holdings(t, fs)
	// Process 1 lives for as long as the machine does.
	put(t, fs, filepath.Dir(movedFrom)+"/."+filepath.Base(movedFrom)+".lock", "1:1\n")
	s, _ := rooted(fs, 1)
	_, err := s.Relocate(movedFrom, "/home/zed/q")
	require.Equal(t, fault.Busy, fault.KindOf(err))
	_, err = s.Trash(movedFrom)
	require.Equal(t, fault.Busy, fault.KindOf(err))
	require.Equal(t, before, holdings(t, fs))
}

func TestRelocateBetweenDirectoriesOfOneName(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		shared := sessionsRoot + "/--a-b--/s.jsonl"
		put(t, fs, shared, chat("1", "/a-b", "one"))
		put(t, fs, strings.TrimSuffix(shared, ".jsonl")+"/0.bash.log", "output")
		require.NoError(t, fs.MkdirAll("/a/b", 0o700))
		s, f := rooted(fs, 1)
		to, err := s.Relocate(shared, "/a/b")
		require.NoError(t, err)
		require.Equal(t, shared, filepath.ToSlash(to))
		require.Equal(t, chat("1", "/a/b", "one"), content(t, fs, shared))
		require.Equal(t, "output", content(t, fs, strings.TrimSuffix(shared, ".jsonl")+"/0.bash.log"))
		require.Empty(t, listed(t, f, "/a-b"))
		require.Len(t, listed(t, f, "/a/b"), 1)
	})
}

func TestRelocateOutOfTwoGenerationsOfADirectory(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		old, current := sessionsRoot+"/--home-zed-p--/a.jsonl", sessionsRoot+"/-p/a.jsonl"
		put(t, fs, old, chat("1", "/home/zed/p", "old"))
		put(t, fs, current, chat("2", "/home/zed/p", "new"))
		require.NoError(t, fs.MkdirAll("/home/zed/q", 0o700))
		s, _ := rooted(fs, 1)
		to, err := s.Relocate(old, "/home/zed/q")
		require.NoError(t, err)
		require.Equal(t, sessionsRoot+"/-q/a.jsonl", filepath.ToSlash(to))
		_, err = s.Relocate(current, "/home/zed/q")
		require.Equal(t, fault.FileExists, fault.KindOf(err))
		require.Equal(t, chat("2", "/home/zed/p", "new"), content(t, fs, current))
		require.Equal(t, chat("1", "/home/zed/q", "old"), content(t, fs, to))
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
	put(t, fs, path, chat("1", filepath.Join(dir, "home/p"), "one"))
	f := newFinder(fs)
	f.Home, f.Roots, f.RealPath = filepath.Join(dir, "home"), []session.Root{session.OwnRoot(session.AgentPlaces(agentDir))}, filepath.EvalSymlinks
	s := session.NewStore(session.StoreConfig{Fs: fs, DirFor: f.DirFor, RootFor: f.FileRoot})
	to, err := s.Relocate(path, link)
	require.NoError(t, err)
	require.Equal(t, chat("1", link, "one"), content(t, fs, to))
	require.Equal(t, []string{to}, listed(t, f, link))
	require.Equal(t, []string{to}, listed(t, f, filepath.Join(dir, "real")))
}

func TestAFileOfAnotherNameIsFiledWhereListsLook(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	shelve(t, fs)
	put(t, fs, "/home/zed/.notes", chat("1", "/home/zed/p", "one"))
	s, f := rooted(fs, 1)
	to, err := s.Relocate("/home/zed/.notes", "/home/zed/q")
	require.NoError(t, err)
	require.Equal(t, "notes.jsonl", filepath.Base(to))
	require.Equal(t, []string{to}, listed(t, f, "/home/zed/q"))
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
				s, _ := rooted(fs, int64(i))
				if _, err := s.Relocate(movedFrom, "/home/zed/q"); err == nil {
					mu.Lock()
					won++
					mu.Unlock()
				}
			})
		}
		group.Wait()
		require.Equal(t, 1, won)
		require.Contains(t, headerOf(t, fs, movedTo), `"cwd":"/home/zed/q"`)
		require.Equal(t, "output", content(t, fs, strings.TrimSuffix(movedTo, ".jsonl")+"/0.bash.log"))
	})
}

func TestALargeSessionMoves(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	shelve(t, fs)
	text := chat("1", "/home/zed/p", strings.Repeat("x", 9<<20))
	put(t, fs, movedFrom, text)
	s, _ := rooted(fs, 1)
	to, err := s.Relocate(movedFrom, "/home/zed/q")
	require.NoError(t, err)
	require.Len(t, content(t, fs, to), len(text))
}
