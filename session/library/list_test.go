package library_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// titled is a session with a title and one message.
func titled(id, cwd, title string) string {
	return strings.Replace(kit.Chat(id, cwd, "hello"), `"cwd"`, `"title":`+string(rawjson.Quote(title))+`,"cwd"`, 1)
}

// Proves, F-05, F-08
func TestListFindsEveryGenerationOfADirectory(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		f := kit.NewFinder(fs)
		at := func(dir, name string) string { return kit.SessionsRoot + "/" + dir + "/" + name }
		kit.PutSession(t, fs, at("-p", "a.jsonl"), kit.Chat("1", "/home/zed/p", "new"), 1*time.Hour)
		kit.PutSession(t, fs, at("--home-zed-p--", "a.jsonl"), kit.Chat("2", "/home/zed/p/", "old"), 2*time.Hour)
		kit.PutSession(t, fs, at("--home-zed-old-x--", "c.jsonl"), kit.Chat("3", "/home/zed-old/x", "neighbour"), 3*time.Hour)
		kit.PutSession(t, fs, at("-old-x", "d.jsonl"), kit.Chat("4", "/home/zed-old/x", "misfiled"), 4*time.Hour)
		kit.PutSession(t, fs, at("--tmp-q--", "e.jsonl"), kit.Chat("5", "/tmp/q", "legacy"), 5*time.Hour)
		kit.PutSession(t, fs, at("-tmp-q", "f.jsonl"), kit.Chat("6", "", "says nothing of its directory"), 6*time.Hour)
		before := kit.StoreHash(t, fs)

		require.Equal(t, []string{at("-p", "a.jsonl"), at("--home-zed-p--", "a.jsonl")}, kit.Listed(t, f, "/home/zed/p"))
		require.Equal(t, []string{at("--home-zed-old-x--", "c.jsonl"), at("-old-x", "d.jsonl")}, kit.Listed(t, f, "/home/zed-old/x"))
		require.Empty(t, kit.Listed(t, f, "/home/zed/old/x"), "the neighbour's session is not the child's")
		require.Equal(t, []string{at("--tmp-q--", "e.jsonl"), at("-tmp-q", "f.jsonl")}, kit.Listed(t, f, "/tmp/q"))
		require.Len(t, kit.ListedAll(t, f), 6)
		require.Equal(t, before, kit.StoreHash(t, fs), "nothing was lost, renamed or merged")
	})
}

// Proves: X-015, F-05, F-36, AB-090
func TestListingNeverWrites(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/a.jsonl", kit.Chat("a", "/w", "hello"), 0)
		kit.PutSession(t, fs, kit.SessionsRoot+"/--w--/v1.jsonl", `{"type":"session","id":"v","timestamp":"x","cwd":"/w"}`+"\n"+`{"type":"message","message":{"role":"user","content":"torn`, 0)
		before := kit.StoreHash(t, fs)
		for _, f := range []library.Finder{kit.NewFinder(fs), kit.NewFinder(afero.NewReadOnlyFs(fs))} {
			for _, cwd := range []string{"/w", "/never/seen", "/home/zed"} {
				_, _, err := f.List(t.Context(), cwd, library.ListOptions{})
				require.NoError(t, err)
				_, err = f.Recent(t.Context(), cwd, 0)
				require.NoError(t, err)
				_, _, err = f.MostRecent(t.Context(), cwd, session.Xcsh)
				require.NoError(t, err)
				_, err = f.Resolve(t.Context(), cwd, "a", library.ResolveOptions{})
				require.NoError(t, err)
				_, err = f.DirFor(cwd)
				require.NoError(t, err)
			}
			_, _, err := f.ListAll(t.Context(), library.ListOptions{})
			require.NoError(t, err)
		}
		require.Equal(t, before, kit.StoreHash(t, fs))
	})
}

// Proves
func TestListReadsOnlyItsOwnDirectory(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	kit.PutSession(t, fs, kit.SessionsRoot+"/--one--/a.jsonl", kit.Chat("a", "/one", "hello"), 0)
	kit.PutSession(t, fs, kit.SessionsRoot+"/--two--/b.jsonl", kit.Chat("b", "/two", "hello"), 0)
	kit.PutSession(t, fs, kit.SessionsRoot+"/--two--/stray.jsonl", kit.Chat("stray", "/one", "hello"), 0)
	kit.PutSession(t, fs, "/flat/c.jsonl", kit.Chat("c", "/three", "hello"), 0)
	require.Equal(t, []string{kit.SessionsRoot + "/--one--/a.jsonl"}, kit.Listed(t, f, "/one"), "another directory is not read")
	require.Len(t, kit.ListedAll(t, f), 3)

	infos, _, err := f.List(t.Context(), "/one", library.ListOptions{SessionDir: "/flat"})
	require.NoError(t, err)
	require.Equal(t, []string{"/flat/c.jsonl"}, kit.PathsOf(infos), "an explicit directory replaces the default")
	f.SessionDir = "/flat"
	require.Equal(t, []string{"/flat/c.jsonl"}, kit.Listed(t, f, "/one"))
	require.Equal(t, []string{"/flat/c.jsonl"}, kit.ListedAll(t, f))
}

// Proves: P-029, F-33
func TestListOfAnotherProgramsRoot(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	peer := library.AgentPlaces("/home/zed/.pi/agent")
	f.Roots = append(f.Roots, library.Root{Places: peer, Dialect: session.Pi})
	kit.PutSession(t, fs, kit.SessionsRoot+"/-p/a.jsonl", kit.Chat("a", "/home/zed/p", "hello"), time.Hour)
	kit.PutSession(t, fs, peer.Sessions+"/--home-zed-p--/b.jsonl", kit.Chat("b", "/home/zed/p", "hello"), 0)
	infos, _, err := f.List(t.Context(), "/home/zed/p", library.ListOptions{})
	require.NoError(t, err)
	require.Len(t, infos, 2)
	require.Equal(t, "pi", infos[0].Origin)
	require.Equal(t, "xcsh", infos[1].Origin)
	path, ok, err := f.MostRecent(t.Context(), "/home/zed/p", session.Xcsh)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, kit.SessionsRoot+"/-p/a.jsonl", path, "another program's session is not continued unasked")
	dir, err := f.DirFor("/home/zed/p")
	require.NoError(t, err)
	require.Equal(t, kit.SessionsRoot+"/-p", dir)
}

// Proves, AB-081
func TestListOnDiskFollowsDirectoriesNotFiles(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	home := filepath.Join(top, "home")
	fs := afero.NewOsFs()
	f := kit.NewFinder(fs)
	f.Home, f.Temp, f.RealPath = home, filepath.Join(top, "tmp"), filepath.EvalSymlinks
	f.Roots = []library.Root{library.OwnRoot(library.AgentPlaces(filepath.Join(home, ".xcsh", "agent")))}
	root := f.Roots[0].Sessions
	project := filepath.Join(home, "p")
	link := filepath.Join(top, "link")
	require.NoError(t, os.MkdirAll(project, 0o755))
	if err := os.Symlink(project, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	file := filepath.Join(root, "-p", "a.jsonl")
	kit.PutSession(t, fs, file, kit.Chat("a", project, "hello"), 0)
	for _, name := range []string{".hidden.jsonl", "b.JSONL", "c.jsonl.bak", "d.txt"} {
		kit.PutSession(t, fs, filepath.Join(root, "-p", name), kit.Chat("x", project, "hello"), 0)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(root, "-p", "dir.jsonl"), 0o755))
	require.NoError(t, os.Symlink(file, filepath.Join(root, "-p", "link.jsonl")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(root, "-p", "dangling.jsonl")))
	require.NoError(t, os.Symlink(filepath.Join(root, "-p"), filepath.Join(root, "--link--")))

	require.Equal(t, []string{file}, kit.Listed(t, f, project))
	require.Equal(t, []string{file}, kit.Listed(t, f, link), "a link to the project shows the same")
	require.Len(t, kit.ListedAll(t, f), 1, "a link to a directory shows nothing twice")
}

// Proves: X-152, F-33, AB-022
func TestListAllLeavesOutSubAgents(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	dir := kit.SessionsRoot + "/--w--/"
	kit.PutSession(t, fs, dir+"s.jsonl", kit.Chat("s", "/w", "hello"), 0)
	kit.PutSession(t, fs, dir+"s/0-Task.jsonl", kit.Chat("task", "/w", "sub"), 0)
	kit.PutSession(t, fs, dir+"s/0-Task/1-Deeper.jsonl", kit.Chat("deeper", "/w", "sub"), 0)
	kit.PutSession(t, fs, kit.SessionsRoot+"/flat.jsonl", kit.Chat("flat", "/v", "hello"), time.Hour)
	kit.PutSession(t, fs, kit.SessionsRoot+"/flat/0-Task.jsonl", kit.Chat("task", "/v", "sub"), 0)
	kit.PutSession(t, fs, kit.SessionsRoot+"/.trash/t.jsonl", kit.Chat("trash", "/w", "hello"), 0)
	require.Equal(t, []string{dir + "s.jsonl", kit.SessionsRoot + "/flat.jsonl"}, kit.ListedAll(t, f))
	require.Equal(t, []string{dir + "s.jsonl"}, kit.Listed(t, f, "/w"))
	r, err := f.Resolve(t.Context(), "/w", "task", library.ResolveOptions{})
	require.NoError(t, err)
	require.Empty(t, r.Matches)
}

// Proves, AB-009
func TestListOrder(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		dir := kit.SessionsRoot + "/--w--/"
		for name, ago := range map[string]time.Duration{"b": time.Minute, "a": time.Minute, "new": 0, "old": time.Hour} {
			kit.PutSession(t, fs, dir+name+".jsonl", kit.Chat(name, "/w", "hello"), ago)
		}
		want := []string{dir + "new.jsonl", dir + "b.jsonl", dir + "a.jsonl", dir + "old.jsonl"}
		require.Equal(t, want, kit.Listed(t, kit.NewFinder(fs), "/w"))
		require.Equal(t, want, kit.ListedAll(t, kit.NewFinder(fs)))
	})
}

// Proves: X-149
func TestListLeavesOutEmptySessions(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	dir := kit.SessionsRoot + "/--w--/"
	kit.PutSession(t, fs, dir+"empty.jsonl", kit.Chat("empty", "/w"), 0)
	kit.PutSession(t, fs, dir+"full.jsonl", kit.Chat("full", "/w", "hello"), time.Hour)
	kit.PutSession(t, fs, dir+"quiet.jsonl", kit.Chat("quiet", "/w")+`{"type":"label","id":"l","parentId":null,"targetId":"x"}`+"\n", 2*time.Hour)
	require.Equal(t, []string{dir + "full.jsonl"}, kit.Listed(t, f, "/w"), "entries that are no messages do not count")
	infos, _, err := f.List(t.Context(), "/w", library.ListOptions{IncludeEmpty: true})
	require.NoError(t, err)
	require.Equal(t, []string{dir + "empty.jsonl", dir + "full.jsonl", dir + "quiet.jsonl"}, kit.PathsOf(infos))
	require.Equal(t, library.NoMessages, infos[0].FirstMessage)
}

// Proves
func TestOneBrokenFileHidesNoOther(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	dir := kit.SessionsRoot + "/--w--/"
	for name, content := range map[string]string{
		"nothing": "", "text": "dear diary\n", "entry": `{"type":"message","id":"a","message":{"role":"user","content":"x"}}` + "\n",
		"number": `{"type":"session","id":42}` + "\n", "binary": "\x00\xff\xfe{{{[[[",
	} {
		kit.PutSession(t, fs, dir+name+".jsonl", content, 0)
	}
	kit.PutSession(t, fs, dir+"good.jsonl", kit.Chat("good", "/w", "hello"), 0)
	infos, problems, err := f.List(t.Context(), "/w", library.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{dir + "good.jsonl"}, kit.PathsOf(infos))
	require.Len(t, problems, 5)
	for _, p := range problems {
		require.Equal(t, session.NoHeader, p.Kind)
		require.Contains(t, p.Message, dir)
	}
	recent, err := f.Recent(t.Context(), "/w", 0)
	require.NoError(t, err)
	require.Len(t, recent, 1)
	path, ok, err := f.MostRecent(t.Context(), "/w", session.Xcsh)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, dir+"good.jsonl", path)
}

// deniedFs denies opening one path.
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

// Proves: X-061 (a refused open)
func TestUnreadableFilesAreNamed(t *testing.T) {
	t.Parallel()
	memory := afero.NewMemMapFs()
	dir := kit.SessionsRoot + "/--w--"
	kit.PutSession(t, memory, dir+"/a.jsonl", kit.Chat("a", "/w", "hello"), 0)
	kit.PutSession(t, memory, dir+"/b.jsonl", kit.Chat("b", "/w", "hello"), 0)
	for denied, shown := range map[string]int{dir + "/a.jsonl": 1, dir: 0} {
		f := kit.NewFinder(deniedFs{memory, denied})
		infos, problems, err := f.List(t.Context(), "/w", library.ListOptions{})
		require.NoError(t, err)
		require.Len(t, infos, shown)
		require.Len(t, problems, 1)
		require.Equal(t, session.UnreadableFile, problems[0].Kind)
		require.Contains(t, problems[0].Message, denied)
	}
}

// Proves: X-155
func TestListOfNothing(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		f := kit.NewFinder(fs)
		require.Empty(t, kit.Listed(t, f, "/w"))
		require.Empty(t, kit.ListedAll(t, f))
		require.NoError(t, fs.MkdirAll(kit.SessionsRoot+"/--w--", 0o700))
		infos, _, err := f.List(t.Context(), "/w", library.ListOptions{})
		require.NoError(t, err)
		require.NotNil(t, infos, "the wire wants an empty list, not null")
		_, ok, err := f.MostRecent(t.Context(), "/w", session.Xcsh)
		require.NoError(t, err)
		require.False(t, ok)
	})
}

func TestListNeedsAnAbsoluteDirectory(t *testing.T) {
	t.Parallel()
	for _, cwd := range []string{"", "relative", "/nul\x00"} {
		_, _, err := kit.NewFinder(afero.NewMemMapFs()).List(t.Context(), cwd, library.ListOptions{})
		require.Equal(t, fault.InvalidArgument, fault.KindOf(err), "%q", cwd)
	}
}

// Proves: X-156, AB-084
func TestListCanBeCancelled(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	for i := range 50 {
		kit.PutSession(t, fs, fmt.Sprintf("%s/--w--/%02d.jsonl", kit.SessionsRoot, i), kit.Chat("x", "/w", "hello"), 0)
	}
	ctx, cancel := context.WithCancel(t.Context())
	last := 0
	_, _, err := f.List(ctx, "/w", library.ListOptions{Progress: func(done, total int) {
		require.Equal(t, 50, total)
		require.Equal(t, last+1, done)
		if last = done; done == 3 {
			cancel()
		}
	}})
	require.Equal(t, fault.Cancelled, fault.KindOf(err))
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, last, 50)
	_, _, err = f.ListAll(ctx, library.ListOptions{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Recent(ctx, "/w", 0)
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Resolve(ctx, "/w", "x", library.ResolveOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

func BenchmarkListAll(b *testing.B) {
	fs := afero.NewBasePathFs(afero.NewOsFs(), b.TempDir())
	f := kit.NewFinder(fs)
	var texts []string
	for i := range 120 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("word%d ", i), 200))
	}
	size := int64(0)
	for i := range 200 {
		content := kit.Chat(fmt.Sprintf("%016x", i), fmt.Sprintf("/w%d", i%10), texts...)
		size += int64(len(content))
		kit.PutSession(b, fs, fmt.Sprintf("%s/--w%d--/%03d.jsonl", kit.SessionsRoot, i%10, i), content, time.Duration(i)*time.Minute)
	}
	for name, opts := range map[string]library.ListOptions{"text": {AllText: true}, "noText": {}} {
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
