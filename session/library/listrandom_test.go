package library_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// hall is a store whose files change at random.
type hall struct {
	fs    afero.Fs
	f     library.Finder
	r     *rand.Rand
	names []string // of files that may exist
	n     int
	clock time.Time
}

// newHall puts a store below top on a file system, "" for its root.
func newHall(t testing.TB, fs afero.Fs, top string, seed uint64) *hall {
	t.Helper()
	h := &hall{fs: fs, r: rand.New(rand.NewPCG(seed, 18))}
	home := filepath.Join(top, "/home/zed")
	h.f = library.Finder{
		Fs: fs, Home: home, Temp: filepath.Join(top, "tmp"), CacheDir: filepath.Join(home, ".xcsh/agent/xcsh-ls"),
		Roots: []library.Root{
			library.OwnRoot(library.AgentPlaces(filepath.Join(home, ".xcsh/agent"))),
			{Places: library.AgentPlaces(filepath.Join(home, ".pi/agent")), Dialect: session.Pi},
		},
	}
	h.clock = time.Now().Add(time.Hour) // long after every change, unless a test turns it back
	h.f.Now = func() time.Time { return h.clock }
	for root := range 2 {
		for dir := range 3 {
			for n := range 50 {
				h.names = append(h.names, filepath.Join(h.f.Roots[root].Sessions, fmt.Sprint("-d", dir), fmt.Sprintf("2026-01-01T00-00-00-000Z_%d.jsonl", n)))
			}
		}
	}
	for _, path := range h.names {
		h.put(t, path, h.content())
	}
	return h
}

func (h *hall) put(t testing.TB, path, content string) {
	t.Helper()
	require.NoError(t, h.fs.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, afero.WriteFile(h.fs, path, []byte(content), 0o600))
	at := kit.Noon.Add(-time.Duration(h.r.IntN(200)) * time.Second) // some at the same moment
	require.NoError(t, h.fs.Chtimes(path, at, at))
}

// cwd returns a working directory whose sessions are in one of the directories, among others.
func (h *hall) cwd() string { return filepath.Join(h.f.Home, fmt.Sprint("d", h.r.IntN(3))) }

// content makes a session. Few titles make many equal slugs.
func (h *hall) content() string {
	h.n++
	id, cwd := fmt.Sprintf("%08x", h.r.IntN(400)), h.cwd()
	switch h.r.IntN(10) {
	case 0:
		return kit.Chat(id, cwd) // without messages
	case 1:
		return "no header\n"
	case 2:
		return kit.Chat(id, cwd, fmt.Sprint("torn ", h.n)) + `{"type":"message","id":"`
	case 3:
		return kit.Chat(id, "", "without a directory")
	}
	long := strings.Repeat("x", h.r.IntN(900)) // so that the cache is no small one
	if h.r.IntN(2) == 0 {
		return kit.Chat(id, cwd, fmt.Sprint(h.n, " hello ", long))
	}
	return titled(id, cwd, fmt.Sprint("Title ", h.r.IntN(20))) + sessiontest.User("q", "e0", long) + "\n"
}

// change does one thing to a file or more. The error of a file that does not exist is of no interest.
func (h *hall) change(t testing.TB) {
	t.Helper()
	path, other := h.names[h.r.IntN(len(h.names))], h.names[h.r.IntN(len(h.names))]
	switch h.r.IntN(9) {
	case 0:
		_ = h.fs.Remove(path)
	case 1:
		_ = h.fs.Rename(path, other)
	case 2: // touched
		at := kit.Noon.Add(-time.Duration(h.r.IntN(9)) * time.Hour)
		_ = h.fs.Chtimes(path, at, at)
	case 3: // rewritten in place, with the same time
		info, err := h.fs.Stat(path)
		if err == nil {
			h.put(t, path, h.content())
			require.NoError(t, h.fs.Chtimes(path, info.ModTime(), info.ModTime()))
		}
	case 4: // torn
		if content, err := afero.ReadFile(h.fs, path); err == nil {
			h.put(t, path, string(content[:h.r.IntN(len(content)+1)]))
		}
	case 5: // swapped
		if h.fs.Rename(path, path+".x") == nil {
			_ = h.fs.Rename(other, path)
			_ = h.fs.Rename(path+".x", other)
		}
	case 6:
		if h.r.IntN(4) == 0 {
			_ = h.fs.RemoveAll(filepath.Dir(path))
		}
	default:
		h.put(t, path, h.content())
	}
}

// requireSame compares lists with those that read every file: all, and a part.
func (h *hall) requireSame(t testing.TB) {
	t.Helper()
	uncached := h.f
	uncached.CacheDir = ""
	cwd := h.cwd()
	list := func(f library.Finder, o library.ListOptions) ([]library.Info, []session.Problem) {
		infos, problems, err := f.ListAll(t.Context(), o)
		if o.Only != "" { // as it is used
			infos, problems, err = f.List(t.Context(), cwd, o)
		}
		require.NoError(t, err)
		return infos, problems
	}
	o := library.ListOptions{IncludeEmpty: h.r.IntN(2) == 0}
	whole, problems := list(uncached, o)
	slugs := map[string]bool{}
	for _, i := range whole {
		at := i.Cwd + " " + i.Slug
		require.False(t, i.Cwd != "" && slugs[at], at)
		slugs[at] = true
	}
	if h.r.IntN(3) == 0 {
		got, gotProblems := list(h.f, o)
		require.Equal(t, whole, got)
		require.Equal(t, problems, gotProblems)
	}
	part := o
	part.Skip, part.Limit = h.r.IntN(len(whole)+2), h.r.IntN(30)
	got, gotProblems := list(h.f, part)
	want := whole[min(part.Skip, len(whole)):]
	if part.Limit > 0 {
		want = want[:min(part.Limit, len(want))]
	}
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i])
	}
	require.Equal(t, problems, gotProblems)
	seen := 0
	part.Each = func(i library.Info) {
		i.Slug = want[seen].Slug
		require.Equal(t, want[seen], i)
		seen++
	}
	list(h.f, part)
	require.Equal(t, len(want), seen)

	folder, _, err := uncached.List(t.Context(), cwd, o)
	require.NoError(t, err)
	again, _, err := h.f.List(t.Context(), cwd, o)
	require.NoError(t, err)
	require.Equal(t, folder, again)
	if len(folder) > 0 {
		one := folder[h.r.IntN(len(folder))]
		o.Only = one.Path
		got, _ = list(h.f, o)
		require.Equal(t, []library.Info{one}, got)
		o.Only = ""
	}
	found, _ := list(h.f, library.ListOptions{Query: "title", Skip: 1, Limit: 5})
	wantFound, _ := list(uncached, library.ListOptions{Query: "title"})
	require.Equal(t, wantFound[min(1, len(wantFound)):min(6, len(wantFound))], found)
}

// coarseFs has a clock of two seconds and neither inodes nor change times.
type coarseFs struct{ afero.Fs }

type coarseInfo struct{ os.FileInfo }

func (c coarseInfo) Sys() any { return nil }

func (c coarseInfo) ModTime() time.Time { return c.FileInfo.ModTime().Truncate(2 * time.Second) }

func coarse(info os.FileInfo, err error) (os.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	return coarseInfo{info}, nil
}

func (c coarseFs) Stat(name string) (os.FileInfo, error) { return coarse(c.Fs.Stat(name)) }

// TestListAgainAfterRandomChanges: whatever happened to the files, a list with the cache is the list
// without it, whole or in parts.
// Proves: F-08, AB-013
func TestListAgainAfterRandomChanges(t *testing.T) {
	t.Parallel()
	for name, fs := range map[string]func(t *testing.T) (afero.Fs, string){
		"on the machine's disk": func(t *testing.T) (afero.Fs, string) { return afero.NewOsFs(), t.TempDir() },
		"through afero":         func(t *testing.T) (afero.Fs, string) { return afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()), "/" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" {
				t.Skip("a file rewritten with the same time and size is not noticed there")
			}
			fs, top := fs(t)
			h := newHall(t, fs, top, 1)
			for range 25 {
				for range 1 + h.r.IntN(1+h.r.IntN(12)) {
					h.change(t)
				}
				h.requireSame(t)
			}
		})
	}
}

// TestListAgainWithoutInodes: on a file system that knows only sizes and coarse times, changes that
// change one of them are noticed.
func TestListAgainWithoutInodes(t *testing.T) {
	t.Parallel()
	h := newHall(t, coarseFs{afero.NewMemMapFs()}, "/", 2)
	moment := kit.Noon
	for range 25 {
		for range 1 + h.r.IntN(8) {
			path := h.names[h.r.IntN(len(h.names))]
			if h.r.IntN(4) == 0 {
				_ = h.fs.Remove(path)
				continue
			}
			h.put(t, path, h.content())
			moment = moment.Add(-2 * time.Second)
			require.NoError(t, h.fs.Chtimes(path, moment, moment))
		}
		h.requireSame(t)
	}
}

// TestListAgainWithAClockThatGoesBack: files that are newer than the clock are read each time.
func TestListAgainWithAClockThatGoesBack(t *testing.T) {
	t.Parallel()
	reading := &readingFs{Fs: afero.NewMemMapFs()}
	h := newHall(t, reading, "/", 3)
	for range 6 {
		h.clock = kit.Noon.Add(-time.Duration(h.r.IntN(400)) * time.Second)
		for range 5 {
			path := h.names[h.r.IntN(len(h.names))]
			info, err := h.fs.Stat(path)
			if err != nil || !info.ModTime().After(h.clock.Add(-2*time.Second)) {
				continue
			}
			content, err := afero.ReadFile(h.fs, path) // another content of the same length and time
			require.NoError(t, err)
			require.NoError(t, afero.WriteFile(h.fs, path, []byte(strings.Replace(string(content), "hello", "HELLO", 1)), 0o600))
			require.NoError(t, h.fs.Chtimes(path, info.ModTime(), info.ModTime()))
		}
		h.requireSame(t)
	}
}

// TestHardLinks: two names of one file are two sessions in the list, with the cache too.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	h := newHall(t, afero.NewOsFs(), top, 4)
	h.requireSame(t)
	for n := range 20 {
		path := h.names[n*7]
		link := filepath.Join(filepath.Dir(path), fmt.Sprintf("link-%d.jsonl", n))
		if err := os.Link(path, link); err != nil {
			t.Skip(err)
		}
		h.names = append(h.names, link)
	}
	for range 4 {
		h.requireSame(t)
		h.change(t)
	}
}

// TestOneChangedSession: a list after a change reads one file, and writes little.
func TestOneChangedSession(t *testing.T) {
	t.Parallel()
	reading := &readingFs{Fs: afero.NewMemMapFs()}
	h := newHall(t, reading, "/", 5)
	cache := filepath.Join(h.f.CacheDir, "sessions.cache")
	_, _, err := h.f.ListAll(t.Context(), library.ListOptions{})
	require.NoError(t, err)
	before, err := afero.ReadFile(reading, cache)
	require.NoError(t, err)
	require.Greater(t, len(before), 64<<10)
	h.put(t, h.names[7], kit.Chat("new", "/elsewhere", "a new message"))
	reading.take()
	infos, _, err := h.f.ListAll(t.Context(), library.ListOptions{Limit: 10})
	require.NoError(t, err)
	require.Len(t, infos, 10)
	require.Equal(t, []string{filepath.Base(h.names[7])}, reading.take())
	after, err := afero.ReadFile(reading, cache)
	require.NoError(t, err)
	require.Equal(t, before, after[:len(before)])
	require.Less(t, len(after)-len(before), 500)
	_, _, err = h.f.ListAll(t.Context(), library.ListOptions{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, reading.take())
}

// cacheFs counts the bytes read of the cache.
type cacheFs struct {
	afero.Fs
	mu   sync.Mutex
	read int // guarded by mu
}

type cacheFile struct {
	afero.File
	of *cacheFs
}

func (c *cacheFs) Open(name string) (afero.File, error) {
	f, err := c.Fs.Open(name)
	if err != nil || !strings.HasSuffix(name, "sessions.cache") {
		return f, err
	}
	return cacheFile{f, c}, nil
}

func (f cacheFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	f.of.mu.Lock()
	f.of.read += n
	f.of.mu.Unlock()
	return n, err
}

func (f cacheFile) Read([]byte) (int, error) { return 0, errors.New("it is read by place") }

// TestAPageReadsFewTexts: what the sessions of other pages are called is not looked at.
func TestAPageReadsFewTexts(t *testing.T) {
	t.Parallel()
	fs := &cacheFs{Fs: afero.NewMemMapFs()}
	h := newHall(t, fs, "/", 6)
	for n, path := range h.names { // equal slugs would need the others' texts
		h.put(t, path, titled(fmt.Sprint(n), "/elsewhere", fmt.Sprint("Title ", n))+sessiontest.User("q", "e0", "x")+strings.Repeat(" ", n)+"\n")
	}
	_, _, err := h.f.ListAll(t.Context(), library.ListOptions{})
	require.NoError(t, err)
	info, err := fs.Stat(filepath.Join(h.f.CacheDir, "sessions.cache"))
	require.NoError(t, err)
	fs.read = 0
	infos, _, err := h.f.ListAll(t.Context(), library.ListOptions{Limit: 1})
	require.NoError(t, err)
	require.Len(t, infos, 1)
	require.Less(t, fs.read, len(h.names)*64+2<<10)
	require.Greater(t, int(info.Size()), 2*fs.read)
}

// TestListFaults: whatever step of writing the cache fails, lists stay right, of a store large enough
// that a change is added to the cache.
// Proves: F-21, AB-014
func TestListFaults(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	for _, mode := range []sessiontest.Mode{sessiontest.Once, sessiontest.Short, sessiontest.Dead} {
		for at := 1; ; at++ {
			memory := afero.NewMemMapFs()
			h := newHall(t, memory, "/", 7)
			_, _, err := h.f.ListAll(t.Context(), library.ListOptions{})
			require.NoError(t, err)
			h.put(t, h.names[7], kit.Chat("new", "/elsewhere", "a new message"))
			faulty := &sessiontest.FaultFs{Fs: memory, At: at, Mode: mode}
			h.f.Fs = faulty
			_, _, err = h.f.ListAll(t.Context(), library.ListOptions{Limit: 3})
			require.NoError(t, err)
			fired := faulty.Fired()
			h.f.Fs = memory
			h.requireSame(t)
			h.put(t, h.names[9], kit.Chat("another", "/elsewhere", "another message"))
			h.requireSame(t)
			if !fired {
				require.Greater(t, at, 3, "opening, writing, closing")
				break
			}
		}
	}
}

// TestListsOfManyServers: servers that share a cache while files change give true lists.
func TestListsOfManyServers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced there")
	}
	h := newHall(t, afero.NewOsFs(), t.TempDir(), 8)
	_, _, err := h.f.ListAll(t.Context(), library.ListOptions{})
	require.NoError(t, err)
	var servers sync.WaitGroup
	for server := range 4 {
		own := filepath.Join(h.f.Roots[0].Sessions, fmt.Sprint("-own", server), "s.jsonl")
		require.NoError(t, h.fs.MkdirAll(filepath.Dir(own), 0o700))
		servers.Go(func() {
			for n := range 12 {
				text := fmt.Sprint(n, " of ", server, strings.Repeat("!", n)) // each is longer than the one before
				if err := replace(h.fs, own, kit.Chat("own", fmt.Sprint("/own/", server), text)); err != nil {
					t.Error(err)
				}
				infos, _, err := h.f.ListAll(context.Background(), library.ListOptions{IncludeEmpty: true, Limit: 4 + n%2*1000})
				seen := false
				for _, i := range infos { // it is one of the newest
					seen = seen || i.Path == own && i.FirstMessage == text
				}
				if err != nil || !seen {
					t.Error(server, n, err, len(infos))
				}
			}
		})
	}
	servers.Wait()
	h.requireSame(t)
	h.requireSame(t)
}

// replace replaces a file as a whole.
func replace(fs afero.Fs, path, content string) error {
	return errors.Join(afero.WriteFile(fs, path+".new", []byte(content), 0o600), fs.Rename(path+".new", path))
}
