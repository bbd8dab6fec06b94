package session_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

const sessionsRoot = "/home/zed/.xcsh/agent/sessions"

// noon is when every test of the listings happens.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// newFinder looks for xcsh's sessions of a person called zed.
func newFinder(fs afero.Fs) session.Finder {
	return session.Finder{
		Fs: fs, Home: "/home/zed", Temp: "/tmp", Now: func() time.Time { return noon },
		Roots: []session.Root{session.OwnRoot(session.AgentPlaces("/home/zed/.xcsh/agent"))},
	}
}

// chat is a session in which the person and the model take turns.
func chat(id, cwd string, texts ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"session","version":3,"id":%s,"timestamp":"2026-11-20T10:00:00.000Z","cwd":%s}`+"\n",
		rawjson.Quote(id), rawjson.Quote(cwd))
	parent := "null"
	for i, text := range texts {
		role := [...]string{"user", "assistant"}[i%2]
		fmt.Fprintf(&b, `{"type":"message","id":"e%d","parentId":%s,"timestamp":"2026-11-20T10:00:01.000Z","message":{"role":%q,"content":[{"type":"text","text":%s}]}}`+"\n",
			i, parent, role, rawjson.Quote(text))
		parent = fmt.Sprintf(`"e%d"`, i)
	}
	return b.String()
}

// titled is a session with a title and one message.
func titled(id, cwd, title string) string {
	return strings.Replace(chat(id, cwd, "hello"), `"cwd"`, `"title":`+string(rawjson.Quote(title))+`,"cwd"`, 1)
}

// putSession writes a session file that was changed some time before noon.
func putSession(t testing.TB, fs afero.Fs, path, content string, ago time.Duration) {
	t.Helper()
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
	require.NoError(t, fs.Chtimes(path, noon.Add(-ago), noon.Add(-ago)))
}

func pathsOf(infos []session.Info) []string {
	paths := []string{}
	for _, i := range infos {
		paths = append(paths, i.Path)
	}
	return paths
}

// listed returns the files that List shows, and fails on any problem.
func listed(t *testing.T, f session.Finder, cwd string) []string {
	t.Helper()
	infos, problems, err := f.List(t.Context(), cwd, session.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, problems)
	return pathsOf(infos)
}

func listedAll(t *testing.T, f session.Finder) []string {
	t.Helper()
	infos, problems, err := f.ListAll(t.Context(), session.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, problems)
	return pathsOf(infos)
}

// onEveryFs runs test on memory and on a real directory.
func onEveryFs(t *testing.T, test func(t *testing.T, fs afero.Fs)) {
	t.Helper()
	t.Run("in memory", func(t *testing.T) { t.Parallel(); test(t, afero.NewMemMapFs()) })
	t.Run("on disk", func(t *testing.T) {
		t.Parallel()
		test(t, afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()))
	})
}

func TestListFindsEveryGenerationOfADirectory(t *testing.T) {
	t.Parallel()
	onEveryFs(t, func(t *testing.T, fs afero.Fs) {
		f := newFinder(fs)
		at := func(dir, name string) string { return sessionsRoot + "/" + dir + "/" + name }
		putSession(t, fs, at("-p", "a.jsonl"), chat("1", "/home/zed/p", "new"), 1*time.Hour)
		putSession(t, fs, at("--home-zed-p--", "a.jsonl"), chat("2", "/home/zed/p/", "old"), 2*time.Hour)
		putSession(t, fs, at("--home-zed-old-x--", "c.jsonl"), chat("3", "/home/zed-old/x", "neighbour"), 3*time.Hour)
		putSession(t, fs, at("-old-x", "d.jsonl"), chat("4", "/home/zed-old/x", "misfiled"), 4*time.Hour)
		putSession(t, fs, at("--tmp-q--", "e.jsonl"), chat("5", "/tmp/q", "legacy"), 5*time.Hour)
		putSession(t, fs, at("-tmp-q", "f.jsonl"), chat("6", "", "says nothing of its directory"), 6*time.Hour)
		before := storeHash(t, fs)

		require.Equal(t, []string{at("-p", "a.jsonl"), at("--home-zed-p--", "a.jsonl")}, listed(t, f, "/home/zed/p"))
		require.Equal(t, []string{at("--home-zed-old-x--", "c.jsonl"), at("-old-x", "d.jsonl")}, listed(t, f, "/home/zed-old/x"))
		require.Empty(t, listed(t, f, "/home/zed/old/x"), "the neighbour's session is not the child's")
		require.Equal(t, []string{at("--tmp-q--", "e.jsonl"), at("-tmp-q", "f.jsonl")}, listed(t, f, "/tmp/q"))
		require.Len(t, listedAll(t, f), 6)
		require.Equal(t, before, storeHash(t, fs), "nothing was lost, renamed or merged")
	})
}

// storeHash digests every path and byte of a file system.
func storeHash(t *testing.T, fs afero.Fs) string {
	t.Helper()
	h := sha256.New()
	require.NoError(t, afero.Walk(fs, "/", func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		var content []byte
		if info.Mode().IsRegular() {
			content, err = afero.ReadFile(fs, path)
		}
		_, hashErr := fmt.Fprintf(h, "%s %s %x\n", path, info.Mode(), content)
		return errors.Join(err, hashErr)
	}))
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestListingNeverWrites(t *testing.T) {
	t.Parallel()
	onEveryFs(t, func(t *testing.T, fs afero.Fs) {
		putSession(t, fs, sessionsRoot+"/--w--/a.jsonl", chat("a", "/w", "hello"), 0)
		putSession(t, fs, sessionsRoot+"/--w--/v1.jsonl", `{"type":"session","id":"v","timestamp":"x","cwd":"/w"}`+"\n"+`{"type":"message","message":{"role":"user","content":"torn`, 0)
		before := storeHash(t, fs)
		for _, f := range []session.Finder{newFinder(fs), newFinder(afero.NewReadOnlyFs(fs))} {
			for _, cwd := range []string{"/w", "/never/seen", "/home/zed"} {
				_, _, err := f.List(t.Context(), cwd, session.ListOptions{})
				require.NoError(t, err)
				_, err = f.Recent(t.Context(), cwd, 0)
				require.NoError(t, err)
				_, _, err = f.MostRecent(t.Context(), cwd)
				require.NoError(t, err)
				_, err = f.Resolve(t.Context(), cwd, "a", session.ResolveOptions{})
				require.NoError(t, err)
				_, err = f.DirFor(cwd)
				require.NoError(t, err)
			}
			_, _, err := f.ListAll(t.Context(), session.ListOptions{})
			require.NoError(t, err)
		}
		require.Equal(t, before, storeHash(t, fs))
	})
}

func TestListReadsOnlyItsOwnDirectory(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := newFinder(fs)
	putSession(t, fs, sessionsRoot+"/--one--/a.jsonl", chat("a", "/one", "hello"), 0)
	putSession(t, fs, sessionsRoot+"/--two--/b.jsonl", chat("b", "/two", "hello"), 0)
	putSession(t, fs, "/flat/c.jsonl", chat("c", "/three", "hello"), 0)
	require.Equal(t, []string{sessionsRoot + "/--one--/a.jsonl"}, listed(t, f, "/one"))
	require.Len(t, listedAll(t, f), 2)

	infos, _, err := f.List(t.Context(), "/one", session.ListOptions{SessionDir: "/flat"})
	require.NoError(t, err)
	require.Equal(t, []string{"/flat/c.jsonl"}, pathsOf(infos), "an explicit directory replaces the default")
	f.SessionDir = "/flat"
	require.Equal(t, []string{"/flat/c.jsonl"}, listed(t, f, "/one"))
	require.Equal(t, []string{"/flat/c.jsonl"}, listedAll(t, f))
}

func TestListOfAnotherProgramsRoot(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := newFinder(fs)
	peer := session.AgentPlaces("/home/zed/.pi/agent")
	f.Roots = append(f.Roots, session.Root{Places: peer, Dialect: session.Pi})
	putSession(t, fs, sessionsRoot+"/-p/a.jsonl", chat("a", "/home/zed/p", "hello"), time.Hour)
	putSession(t, fs, peer.Sessions+"/--home-zed-p--/b.jsonl", chat("b", "/home/zed/p", "hello"), 0)
	infos, _, err := f.List(t.Context(), "/home/zed/p", session.ListOptions{})
	require.NoError(t, err)
	require.Len(t, infos, 2)
	require.Equal(t, "pi", infos[0].Origin)
	require.Equal(t, "xcsh", infos[1].Origin)
	path, ok, err := f.MostRecent(t.Context(), "/home/zed/p")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, sessionsRoot+"/-p/a.jsonl", path, "another program's session is not continued unasked")
	dir, err := f.DirFor("/home/zed/p")
	require.NoError(t, err)
	require.Equal(t, sessionsRoot+"/-p", dir)
}

func TestListOnDiskFollowsDirectoriesNotFiles(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	home := filepath.Join(top, "home")
	fs := afero.NewOsFs()
	f := newFinder(fs)
	f.Home, f.Temp, f.RealPath = home, filepath.Join(top, "tmp"), filepath.EvalSymlinks
	f.Roots = []session.Root{session.OwnRoot(session.AgentPlaces(filepath.Join(home, ".xcsh", "agent")))}
	root := f.Roots[0].Sessions
	project := filepath.Join(home, "p")
	link := filepath.Join(top, "link")
	require.NoError(t, os.MkdirAll(project, 0o755))
	if err := os.Symlink(project, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	file := filepath.Join(root, "-p", "a.jsonl")
	putSession(t, fs, file, chat("a", project, "hello"), 0)
	for _, name := range []string{".hidden.jsonl", "b.JSONL", "c.jsonl.bak", "d.txt"} {
		putSession(t, fs, filepath.Join(root, "-p", name), chat("x", project, "hello"), 0)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(root, "-p", "dir.jsonl"), 0o755))
	require.NoError(t, os.Symlink(file, filepath.Join(root, "-p", "link.jsonl")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(root, "-p", "dangling.jsonl")))
	require.NoError(t, os.Symlink(filepath.Join(root, "-p"), filepath.Join(root, "--link--")))

	require.Equal(t, []string{file}, listed(t, f, project))
	require.Equal(t, []string{file}, listed(t, f, link), "a link to the project shows the same")
	require.Len(t, listedAll(t, f), 1, "a link to a directory shows nothing twice")
}

func TestListAllLeavesOutSubAgents(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := newFinder(fs)
	dir := sessionsRoot + "/--w--/"
	putSession(t, fs, dir+"s.jsonl", chat("s", "/w", "hello"), 0)
	putSession(t, fs, dir+"s/0-Task.jsonl", chat("task", "/w", "sub"), 0)
	putSession(t, fs, dir+"s/0-Task/1-Deeper.jsonl", chat("deeper", "/w", "sub"), 0)
	putSession(t, fs, sessionsRoot+"/flat.jsonl", chat("flat", "/v", "hello"), time.Hour)
	putSession(t, fs, sessionsRoot+"/flat/0-Task.jsonl", chat("task", "/v", "sub"), 0)
	putSession(t, fs, sessionsRoot+"/.trash/t.jsonl", chat("trash", "/w", "hello"), 0)
	require.Equal(t, []string{dir + "s.jsonl", sessionsRoot + "/flat.jsonl"}, listedAll(t, f))
	require.Equal(t, []string{dir + "s.jsonl"}, listed(t, f, "/w"))
	r, err := f.Resolve(t.Context(), "/w", "task", session.ResolveOptions{})
	require.NoError(t, err)
	require.Empty(t, r.Matches)
}

func TestListOrder(t *testing.T) {
	t.Parallel()
	onEveryFs(t, func(t *testing.T, fs afero.Fs) {
		dir := sessionsRoot + "/--w--/"
		for name, ago := range map[string]time.Duration{"b": time.Minute, "a": time.Minute, "new": 0, "old": time.Hour} {
			putSession(t, fs, dir+name+".jsonl", chat(name, "/w", "hello"), ago)
		}
		want := []string{dir + "new.jsonl", dir + "b.jsonl", dir + "a.jsonl", dir + "old.jsonl"}
		require.Equal(t, want, listed(t, newFinder(fs), "/w"))
		require.Equal(t, want, listedAll(t, newFinder(fs)))
	})
}

func TestListLeavesOutEmptySessions(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := newFinder(fs)
	dir := sessionsRoot + "/--w--/"
	putSession(t, fs, dir+"empty.jsonl", chat("empty", "/w"), 0)
	putSession(t, fs, dir+"full.jsonl", chat("full", "/w", "hello"), time.Hour)
	require.Equal(t, []string{dir + "full.jsonl"}, listed(t, f, "/w"))
	infos, _, err := f.List(t.Context(), "/w", session.ListOptions{IncludeEmpty: true})
	require.NoError(t, err)
	require.Equal(t, []string{dir + "empty.jsonl", dir + "full.jsonl"}, pathsOf(infos))
	require.Equal(t, session.NoMessages, infos[0].FirstMessage)
}

func TestOneBrokenFileHidesNoOther(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := newFinder(fs)
	dir := sessionsRoot + "/--w--/"
	for name, content := range map[string]string{
		"nothing": "", "text": "dear diary\n", "entry": `{"type":"message","id":"a","message":{"role":"user","content":"x"}}` + "\n",
		"number": `{"type":"session","id":42}` + "\n", "binary": "\x00\xff\xfe{{{[[[",
	} {
		putSession(t, fs, dir+name+".jsonl", content, 0)
	}
	putSession(t, fs, dir+"good.jsonl", chat("good", "/w", "hello"), 0)
	infos, problems, err := f.List(t.Context(), "/w", session.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{dir + "good.jsonl"}, pathsOf(infos))
	require.Len(t, problems, 5)
	for _, p := range problems {
		require.Equal(t, session.NoHeader, p.Kind)
		require.Contains(t, p.Message, dir)
	}
	recent, err := f.Recent(t.Context(), "/w", 0)
	require.NoError(t, err)
	require.Len(t, recent, 1)
	path, ok, err := f.MostRecent(t.Context(), "/w")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, dir+"good.jsonl", path)
}

// deniedFs does not let one path be opened.
type deniedFs struct {
	afero.Fs
	path string
}

func (d deniedFs) Open(name string) (afero.File, error) {
	if name == d.path {
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrPermission}
	}
	return d.Fs.Open(name)
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	memory := afero.NewMemMapFs()
	dir := sessionsRoot + "/--w--"
	putSession(t, memory, dir+"/a.jsonl", chat("a", "/w", "hello"), 0)
	putSession(t, memory, dir+"/b.jsonl", chat("b", "/w", "hello"), 0)
	for denied, shown := range map[string]int{dir + "/a.jsonl": 1, dir: 0} {
		f := newFinder(deniedFs{memory, denied})
		infos, problems, err := f.List(t.Context(), "/w", session.ListOptions{})
		require.NoError(t, err)
		require.Len(t, infos, shown)
		require.Len(t, problems, 1)
		require.Equal(t, session.UnreadableFile, problems[0].Kind)
		require.Contains(t, problems[0].Message, denied)
	}
}

func TestListOfNothing(t *testing.T) {
	t.Parallel()
	onEveryFs(t, func(t *testing.T, fs afero.Fs) {
		f := newFinder(fs)
		require.Empty(t, listed(t, f, "/w"))
		require.Empty(t, listedAll(t, f))
		require.NoError(t, fs.MkdirAll(sessionsRoot+"/--w--", 0o700))
		infos, _, err := f.List(t.Context(), "/w", session.ListOptions{})
		require.NoError(t, err)
		require.NotNil(t, infos, "the wire wants an empty list, not null")
		_, ok, err := f.MostRecent(t.Context(), "/w")
		require.NoError(t, err)
		require.False(t, ok)
	})
}

func TestListNeedsAnAbsoluteDirectory(t *testing.T) {
	t.Parallel()
	for _, cwd := range []string{"", "relative", "/nul\x00"} {
		_, _, err := newFinder(afero.NewMemMapFs()).List(t.Context(), cwd, session.ListOptions{})
		require.Equal(t, fault.InvalidArgument, fault.KindOf(err), "%q", cwd)
	}
}

func TestListCanBeCancelled(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := newFinder(fs)
	for i := range 50 {
		putSession(t, fs, fmt.Sprintf("%s/--w--/%02d.jsonl", sessionsRoot, i), chat("x", "/w", "hello"), 0)
	}
	ctx, cancel := context.WithCancel(t.Context())
	last := 0
	_, _, err := f.List(ctx, "/w", session.ListOptions{Progress: func(done, total int) {
		require.Equal(t, 50, total)
		require.Equal(t, last+1, done)
		if last = done; done == 3 {
			cancel()
		}
	}})
	require.Equal(t, fault.Cancelled, fault.KindOf(err))
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, last, 50)
	_, _, err = f.ListAll(ctx, session.ListOptions{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Recent(ctx, "/w", 0)
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Resolve(ctx, "/w", "x", session.ResolveOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

func BenchmarkListAll(b *testing.B) {
	fs := afero.NewBasePathFs(afero.NewOsFs(), b.TempDir())
	f := newFinder(fs)
	var texts []string
	for i := range 120 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("word%d ", i), 200))
	}
	size := int64(0)
	for i := range 200 {
		content := chat(fmt.Sprintf("%016x", i), fmt.Sprintf("/w%d", i%10), texts...)
		size += int64(len(content))
		putSession(b, fs, fmt.Sprintf("%s/--w%d--/%03d.jsonl", sessionsRoot, i%10, i), content, time.Duration(i)*time.Minute)
	}
	for name, opts := range map[string]session.ListOptions{"text": {AllText: true}, "noText": {}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				infos, _, err := f.ListAll(b.Context(), opts)
				require.NoError(b, err)
				require.Len(b, infos, 200)
			}
		})
	}
}
