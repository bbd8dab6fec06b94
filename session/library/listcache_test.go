package library_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

const cacheDir = "/home/zed/.xcsh/agent/xcsh-ls"

// readingFs records which session files were opened.
type readingFs struct {
	afero.Fs
	mu     sync.Mutex
	opened []string
}

func (r *readingFs) Open(name string) (afero.File, error) {
	if strings.HasSuffix(name, ".jsonl") {
		r.mu.Lock()
		r.opened = append(r.opened, filepath.Base(name))
		r.mu.Unlock()
	}
	return r.Fs.Open(name)
}

// take returns the files opened since the last call, sorted.
func (r *readingFs) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	opened := r.opened
	r.opened = nil
	slices.Sort(opened)
	return opened
}

// newRemembering is newFinder with a cache. It lists long after every file was written,
// also by the clock of the machine.
func newRemembering(fs afero.Fs) library.Finder {
	f := kit.NewFinder(fs)
	f.CacheDir = cacheDir
	later := time.Now().Add(time.Hour)
	f.Now = func() time.Time { return later }
	return f
}

// all returns the list of all sessions.
func all(t testing.TB, f library.Finder) ([]library.Info, []session.Problem) {
	t.Helper()
	infos, problems, err := f.ListAll(t.Context(), library.ListOptions{IncludeEmpty: true})
	require.NoError(t, err)
	return infos, problems
}

// requireListAsRead compares the list of f with one that reads every file.
func requireListAsRead(t testing.TB, f library.Finder) {
	t.Helper()
	infos, problems := all(t, f)
	f.CacheDir = ""
	wantInfos, wantProblems := all(t, f)
	require.Equal(t, wantInfos, infos)
	require.Equal(t, wantProblems, problems)
}

// putStore writes three sessions, one of them damaged, and one of another program.
func putStore(t testing.TB, fs afero.Fs) library.Finder {
	t.Helper()
	f := newRemembering(fs)
	peer := library.Root{Places: library.AgentPlaces("/home/zed/.pi/agent"), Dialect: session.Pi}
	f.Roots = append(f.Roots, peer)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-p/a.jsonl", titled("a", "/home/zed/p", "Grüße 🚀"), time.Hour)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-p/b.jsonl", kit.Chat("b", "/home/zed/p", "hello", "world", "again")+"garbage\n", 2*time.Hour)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-q/c.jsonl", "no header\n", 3*time.Hour)
	kit.PutSession(t, fs, peer.Sessions+"/--home-zed-p--/d.jsonl", kit.Chat("d", "/home/zed/p"), 4*time.Hour)
	return f
}

// TestListCacheSavesReading: a second list opens no session.
// Proves: A-002
func TestListCacheSavesReading(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		reading := &readingFs{Fs: fs}
		f := putStore(t, reading)
		first, problems := all(t, f)
		require.Len(t, first, 3)
		require.Len(t, problems, 1)
		require.Equal(t, []string{"a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"}, reading.take())

		again, sameProblems := all(t, f)
		require.Empty(t, reading.take())
		require.Equal(t, first, again)
		require.Equal(t, problems, sameProblems)
		requireListAsRead(t, f)
		reading.take()

		found, _, err := f.List(t.Context(), "/home/zed/p", library.ListOptions{})
		require.NoError(t, err)
		require.Len(t, found, 2)
		r, err := f.Resolve(t.Context(), "/home/zed/p", "grüße", library.ResolveOptions{})
		require.NoError(t, err)
		require.Len(t, r.Matches, 1)
		require.Empty(t, reading.take())
	})
}

func TestListCacheKeepsOtherFolders(t *testing.T) {
	t.Parallel()
	reading := &readingFs{Fs: afero.NewMemMapFs()}
	f := putStore(t, reading)
	all(t, f)
	kit.PutSession(t, reading, kit.SessionsRoot+"/-p/new.jsonl", kit.Chat("new", "/home/zed/p", "hello"), time.Hour)
	reading.take()
	_, _, err := f.List(t.Context(), "/home/zed/p", library.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"new.jsonl"}, reading.take())
	all(t, f)
	require.Empty(t, reading.take())
}

func TestListCacheForgetsFoldersThatAreGone(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := putStore(t, fs)
	all(t, f)
	before, err := afero.ReadFile(fs, cacheDir+"/sessions.cache")
	require.NoError(t, err)
	require.Contains(t, string(before), "/-q")
	require.NoError(t, fs.RemoveAll(kit.SessionsRoot+"/-q"))
	require.NoError(t, fs.Remove(kit.SessionsRoot+"/-p/a.jsonl"))
	kit.PutSession(t, fs, kit.SessionsRoot+"/-p/new.jsonl", kit.Chat("new", "/home/zed/p", "hello"), time.Hour)
	_, _, err = f.List(t.Context(), "/home/zed/p", library.ListOptions{})
	require.NoError(t, err)
	after, err := afero.ReadFile(fs, cacheDir+"/sessions.cache")
	require.NoError(t, err)
	require.NotContains(t, string(after), "/-q")
	require.NotContains(t, string(after), "a.jsonl")
	require.Contains(t, string(after), "d.jsonl")
}

// TestListCacheNoticesEveryChange: after each of the changes a list shows the current
// state.
// Proves: F-08, AB-013, AB-016
func TestListCacheNoticesEveryChange(t *testing.T) {
	t.Parallel()
	const a, b = kit.SessionsRoot + "/-p/a.jsonl", kit.SessionsRoot + "/-p/b.jsonl"
	other := func(t *testing.T, fs afero.Fs) string {
		content, err := afero.ReadFile(fs, a)
		require.NoError(t, err)
		return strings.Replace(string(content), "hello", "HELLO", 1)
	}
	for name, change := range map[string]func(t *testing.T, fs afero.Fs){
		"grown": func(t *testing.T, fs afero.Fs) {
			kit.PutSession(t, fs, a, other(t, fs)+sessiontest.User("x", "e0", "more")+"\n", time.Minute)
		},
		"cut":      func(t *testing.T, fs afero.Fs) { kit.PutSession(t, fs, a, kit.Chat("a", "/home/zed/p"), time.Minute) },
		"emptied":  func(t *testing.T, fs afero.Fs) { kit.PutSession(t, fs, a, "", time.Hour) },
		"replaced": func(t *testing.T, fs afero.Fs) { kit.PutSession(t, fs, a, other(t, fs), time.Minute) },
		"time set back": func(t *testing.T, fs afero.Fs) {
			kit.PutSession(t, fs, a, other(t, fs), 24*time.Hour)
		},
		"renamed": func(t *testing.T, fs afero.Fs) {
			require.NoError(t, fs.Rename(a, kit.SessionsRoot+"/-q/z.jsonl"))
		},
		"renamed over another": func(t *testing.T, fs afero.Fs) { require.NoError(t, fs.Rename(b, a)) },
		"swapped": func(t *testing.T, fs afero.Fs) {
			require.NoError(t, fs.Rename(a, a+".x"))
			require.NoError(t, fs.Rename(b, a))
			require.NoError(t, fs.Rename(a+".x", b))
		},
		"deleted":     func(t *testing.T, fs afero.Fs) { require.NoError(t, fs.Remove(a)) },
		"all deleted": func(t *testing.T, fs afero.Fs) { require.NoError(t, fs.RemoveAll(kit.SessionsRoot)) },
		"made a directory": func(t *testing.T, fs afero.Fs) {
			require.NoError(t, fs.Remove(a))
			require.NoError(t, fs.Mkdir(a, 0o700))
		},
		"header came": func(t *testing.T, fs afero.Fs) {
			kit.PutSession(t, fs, kit.SessionsRoot+"/-q/c.jsonl", kit.Chat("c", "/c", "x"), 0)
		},
		"another came": func(t *testing.T, fs afero.Fs) {
			kit.PutSession(t, fs, kit.SessionsRoot+"/-r/n.jsonl", kit.Chat("n", "/n", "x"), 0)
		},
		"touched":           func(t *testing.T, fs afero.Fs) { require.NoError(t, fs.Chtimes(a, kit.Noon, kit.Noon)) },
		"moved to the past": func(t *testing.T, fs afero.Fs) { require.NoError(t, fs.Chtimes(a, time.Unix(0, 0), time.Unix(0, 0))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
				f := putStore(t, fs)
				all(t, f)
				change(t, fs)
				requireListAsRead(t, f)
				requireListAsRead(t, f)
			})
		})
	}
}

// TestListCacheSeesThroughAFakedTime: a file system that records the time of the real
// change reveals a change that kept size and time.
func TestListCacheSeesThroughAFakedTime(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the system does not tell")
	}
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	f := putStore(t, fs)
	before, _ := all(t, f)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-p/a.jsonl", titled("a", "/home/zed/p", "Gruesse 🚀"), time.Hour)
	after, _ := all(t, f)
	require.Equal(t, before[0].Size, after[0].Size)
	require.Equal(t, before[0].ModTime, after[0].ModTime)
	require.Equal(t, "Gruesse 🚀", after[0].Title)
}

// TestListCacheDistrustsTheMoment: a file that changed right before it was read may change
// again and keep its stamp.
func TestListCacheDistrustsTheMoment(t *testing.T) {
	t.Parallel()
	for age, trusted := range map[time.Duration]bool{
		-time.Hour: false, 0: false, time.Nanosecond: false, 2*time.Second - 1: false, 2 * time.Second: true, time.Hour: true,
	} {
		t.Run(age.String(), func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			f := kit.NewFinder(fs)
			f.CacheDir = cacheDir
			path := kit.SessionsRoot + "/--w--/a.jsonl"
			kit.PutSession(t, fs, path, titled("a", "/w", "before"), age)
			titleOf := func() string { infos, _ := all(t, f); return infos[0].Title }
			require.Equal(t, "before", titleOf())
			kit.PutSession(t, fs, path, titled("a", "/w", "behind"), age)
			if trusted {
				require.Equal(t, "before", titleOf(), "memory has nothing but size and time, so this shows that the cache was used")
			} else {
				require.Equal(t, "behind", titleOf())
			}
		})
	}
}

// TestListCacheDistrustsTheMomentBehindAFakedTime: an old modification time does not make
// a file old that was written just now.
func TestListCacheDistrustsTheMomentBehindAFakedTime(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the system does not tell")
	}
	reading := &readingFs{Fs: afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())}
	require.NoError(t, reading.MkdirAll(cacheDir, 0o700))
	f := newRemembering(reading)
	started := time.Now()
	f.Now = func() time.Time { return started.Add(-time.Hour) }
	path := kit.SessionsRoot + "/--w--/a.jsonl"
	kit.PutSession(t, reading, path, kit.Chat("a", "/w", "hello"), 0)
	require.NoError(t, reading.Chtimes(path, started.Add(-2*time.Hour), started.Add(-2*time.Hour)))
	all(t, f)
	reading.take()
	all(t, f)
	require.Equal(t, []string{"a.jsonl"}, reading.take())
}

func TestListCacheOfAnotherRoot(t *testing.T) {
	t.Parallel()
	reading := &readingFs{Fs: afero.NewMemMapFs()}
	f := newRemembering(reading)
	kit.PutSession(t, reading, kit.SessionsRoot+"/--w--/a.jsonl", kit.Chat("a", "/w", "hello"), time.Hour)
	all(t, f)
	f.Roots[0].Dialect, f.Roots[0].Own = session.Pi, false
	infos, _ := all(t, f)
	require.Equal(t, "pi", infos[0].Origin)
	f.Roots[0] = library.OwnRoot(library.AgentPlaces("/elsewhere"))
	infos, _ = all(t, f)
	require.Empty(t, infos, "what is in the cache is not in the list")
}

// TestListCacheDamaged: with any damage to the cache, the list is correct, and the next
// one is fast again.
// Proves, AB-011, AB-012
func TestListCacheDamaged(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	reading := &readingFs{Fs: fs}
	f := putStore(t, reading)
	want, problems := all(t, f)
	const cache = cacheDir + "/sessions.cache"
	good, err := afero.ReadFile(fs, cache)
	require.NoError(t, err)
	try := func(content []byte, what string) {
		t.Helper()
		require.NoError(t, afero.WriteFile(fs, cache, content, 0o600))
		got, gotProblems := all(t, f)
		require.Equal(t, want, got, what)
		require.Equal(t, problems, gotProblems, what)
		reading.take()
		all(t, f)
		require.Empty(t, reading.take(), "%s: the cache was repaired", what)
	}
	for i := range good {
		for _, bit := range []byte{1, 0x80} {
			bad := slices.Clone(good)
			bad[i] ^= bit
			try(bad, fmt.Sprintf("bit %x of byte %d", bit, i))
		}
		try(good[:i], fmt.Sprintf("cut to %d", i))
	}
	try(append(slices.Clone(good), 0), "longer")
	for _, version := range []string{"1", "2", "4", "10", "9.9", ""} {
		require.Contains(t, string(good), "list 3\n")
		require.NoError(t, afero.WriteFile(fs, cache, []byte(strings.Replace(string(good), "list 3\n", "list "+version+"\n", 1)), 0o600))
		reading.take()
		requireListAsRead(t, f)
		require.Len(t, reading.take(), 8, "all are read again, version "+version)
	}
	for _, other := range []string{"{}", `{"sessions":null}`, `{"version":"9.9"}`, "garbage", "\x00"} {
		try([]byte(other), other)
	}
	head := "xcsh-ls list 3\nROWS\x00\x00\x00\x00"
	for _, body := range []string{"", "\x00", strings.Repeat("\x00", 12), strings.Repeat("\xff", 20), "\x05\x00\x00\x00" + strings.Repeat("\x00", 8) + "\xff\xff\xff\xff\x7f"} {
		try(library.SealListCache([]byte(head+body)), fmt.Sprintf("a right checksum of %q", body))
	}
	reading.take()
	all(t, f)
	require.Empty(t, reading.take())

	require.NoError(t, fs.Remove(cache))
	requireListAsRead(t, f)
	require.Len(t, reading.take(), 8, "both lists read all")
	requireListAsRead(t, f)
	require.Len(t, reading.take(), 4, "the cache was written again")
	require.NoError(t, fs.Remove(cache))
	require.NoError(t, fs.MkdirAll(cache+"/x", 0o700))
	requireListAsRead(t, f)
}

// TestListCacheWithFalseContent: records of files that are missing, or that changed, have no effect.
// Proves: F-08, AB-013
func TestListCacheWithFalseContent(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := putStore(t, fs)
	all(t, f)
	content, err := afero.ReadFile(fs, cacheDir+"/sessions.cache")
	require.NoError(t, err)
	body := string(content)
	for was, is := range map[string]string{"a.jsonl": "e.jsonl", "b.jsonl": "a.jsonl", "/-p": "/-q", "d.jsonl": "e.jsonl"} {
		require.Contains(t, body, was)
		lie := library.SealListCache([]byte(strings.Replace(body, was, is, 1)))
		require.NoError(t, afero.WriteFile(fs, cacheDir+"/sessions.cache", lie, 0o600))
		requireListAsRead(t, f)
	}
}

// TestListCacheWriteFails: at any step, the list is correct and nothing is left behind
// except the files of a dead machine.
// Proves: F-21, AB-014
func TestListCacheWriteFails(t *testing.T) {
	t.Parallel()
	for _, mode := range []sessiontest.Mode{sessiontest.Once, sessiontest.Short, sessiontest.Dead} {
		for at := 1; ; at++ {
			memory := afero.NewMemMapFs()
			putStore(t, memory)
			faulty := &sessiontest.FaultFs{Fs: memory, At: at, Mode: mode}
			f := newRemembering(faulty)
			infos, problems := all(t, f)
			require.Len(t, infos, 2)
			require.Len(t, problems, 1)
			if !faulty.Fired() {
				require.Greater(t, at, 3, "making the directory, creating, writing, renaming")
				break
			}
			entries, _ := afero.ReadDir(memory, cacheDir)
			if mode != sessiontest.Dead {
				require.Empty(t, entries, "step %d", at)
			}
			f.Fs = memory
			requireListAsRead(t, f)
		}
	}
}

// Proves: AB-015
func TestListCacheOnAReadOnlyHome(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := putStore(t, fs)
	f.Fs = afero.NewReadOnlyFs(fs)
	before := kit.StoreHash(t, fs)
	requireListAsRead(t, f)
	require.Equal(t, before, kit.StoreHash(t, fs))
}

// Proves: AB-017, AB-018
func TestListCacheFiles(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	fs := afero.NewBasePathFs(afero.NewOsFs(), top)
	f := newRemembering(fs)
	f.Roots = []library.Root{{Places: library.AgentPlaces("/home/zed/.pi/agent"), Dialect: session.Pi}}
	kit.PutSession(t, fs, f.Roots[0].Sessions+"/--w--/a.jsonl", kit.Chat("a", "/w", "hello"), time.Hour)
	all(t, f)
	require.NoDirExists(t, filepath.Join(top, "home/zed/.xcsh"), "who only lists gets no agent directory")

	agent := filepath.Join(top, filepath.Dir(cacheDir))
	require.NoError(t, os.MkdirAll(agent, 0o755))
	all(t, f)
	dir, err := os.Stat(filepath.Join(agent, "xcsh-ls"))
	require.NoError(t, err)
	file, err := os.Stat(filepath.Join(agent, "xcsh-ls/sessions.cache"))
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o700), dir.Mode().Perm())
		require.Equal(t, os.FileMode(0o600), file.Mode().Perm())
	}

	old := filepath.Join(agent, "xcsh-ls/sessions.cache.123.tmp")
	fresh := filepath.Join(agent, "xcsh-ls/sessions.cache.456.tmp")
	for path, age := range map[string]time.Duration{old: 61 * time.Minute, fresh: 59 * time.Minute} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, f.Now().Add(-age), f.Now().Add(-age)))
	}
	kit.PutSession(t, fs, f.Roots[0].Sessions+"/--w--/b.jsonl", kit.Chat("b", "/w", "hello"), time.Hour)
	all(t, f)
	require.NoFileExists(t, old, "its writer is dead")
	require.FileExists(t, fresh, "its writer may be alive")
}

// TestListCacheOfTwoServers: after any number of concurrent writers the cache is that of
// one of them.
func TestListCacheOfTwoServers(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		require.NoError(t, fs.MkdirAll(cacheDir, 0o700))
		f := putStore(t, fs)
		var servers sync.WaitGroup
		for server := range 4 {
			servers.Go(func() {
				for n := range 10 {
					path := fmt.Sprintf("%s/-s%d/%d.jsonl", kit.SessionsRoot, server, n)
					content := kit.Chat(fmt.Sprint(server, n), "/s", "hello")
					err := errors.Join(fs.MkdirAll(filepath.Dir(path), 0o700), afero.WriteFile(fs, path+".new", []byte(content), 0o600), fs.Rename(path+".new", path))
					if err != nil {
						t.Error(err)
					}
					infos, problems, err := f.ListAll(t.Context(), library.ListOptions{})
					if err != nil || len(problems) != 1 || len(infos) < 2+n+1 {
						t.Error(len(infos), problems, err)
					}
				}
			})
		}
		servers.Wait()
		requireListAsRead(t, f)
		entries, err := afero.ReadDir(fs, cacheDir)
		require.NoError(t, err)
		require.Len(t, entries, 1)
	})
}

// TestListCacheOverFixtures compares lists of everything that the programs wrote.
func TestListCacheOverFixtures(t *testing.T) {
	t.Parallel()
	reading := &readingFs{Fs: afero.NewMemMapFs()}
	f := newRemembering(reading)
	f.Roots = nil
	files := 0
	for dialect, dir := range map[session.Dialect]string{session.Xcsh: "xcsh", session.Pi: "pi", session.Omp: "omp"} {
		root := library.Root{Places: library.AgentPlaces("/" + dir), Dialect: dialect, Own: dialect == session.Xcsh}
		f.Roots = append(f.Roots, root)
		paths, err := filepath.Glob(filepath.Join(kit.Fixtures, dir, "*.jsonl"))
		require.NoError(t, err)
		for _, path := range paths {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			kit.PutSession(t, reading, filepath.Join(root.Sessions, "d", filepath.Base(path)), string(content), time.Hour)
			files++
		}
	}
	require.Greater(t, files, 20)
	all(t, f)
	require.Len(t, reading.take(), files)
	all(t, f)
	require.Empty(t, reading.take())
	requireListAsRead(t, f)
}

func TestListCacheLeavesOutLongFirstMessages(t *testing.T) {
	t.Parallel()
	reading := &readingFs{Fs: afero.NewMemMapFs()}
	f := newRemembering(reading)
	kit.PutSession(t, reading, kit.SessionsRoot+"/--w--/long.jsonl", kit.Chat("l", "/w", strings.Repeat("x", 70_000)), time.Hour)
	kit.PutSession(t, reading, kit.SessionsRoot+"/--w--/short.jsonl", kit.Chat("s", "/w", "x"), time.Hour)
	all(t, f)
	reading.take()
	requireListAsRead(t, f)
	require.Equal(t, []string{"long.jsonl", "long.jsonl", "short.jsonl"}, reading.take(), "once for each list, the short one only without the cache")
}

// FuzzListCache: no cache, not even one with a correct checksum, breaks a list or changes
// its set of files.
func FuzzListCache(f *testing.F) {
	files := afero.NewMemMapFs()
	finder := putStore(f, files)
	want, problems := all(f, finder)
	const cache = cacheDir + "/sessions.cache"
	good, err := afero.ReadFile(files, cache)
	require.NoError(f, err)
	f.Add(good, true)
	f.Add(good, false)
	f.Fuzz(func(t *testing.T, content []byte, sealed bool) {
		fs := afero.NewCopyOnWriteFs(files, afero.NewMemMapFs())
		if sealed {
			content = library.SealListCache(content)
		}
		require.NoError(t, afero.WriteFile(fs, cache, content, 0o600))
		finder := finder
		finder.Fs = fs
		got, gotProblems := all(t, finder)
		require.Len(t, got, len(want)+len(problems)-len(gotProblems))
		if !sealed {
			require.Equal(t, want, got)
			require.Equal(t, problems, gotProblems)
		}
	})
}
