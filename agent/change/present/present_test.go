package present_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/present"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// documents are open documents.
type documents struct {
	change.NoDocuments

	open map[string]change.Document
}

func (d documents) Document(path string) (change.Document, bool) {
	doc, ok := d.open[path]
	return doc, ok
}

func look(t *testing.T, o present.Options, path string) plan.Now {
	t.Helper()
	now, err := present.New(context.Background(), o).Look(path)
	require.NoError(t, err)
	return now
}

func memory(t *testing.T, files map[string]string) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, content := range files {
		require.NoError(t, afero.WriteFile(fsys, name, []byte(content), 0o640))
	}
	return fsys
}

func TestAFileOnDisk(t *testing.T) {
	t.Parallel()
	o := present.Options{Fs: memory(t, map[string]string{"/p/d/f": "x\n"}), Folder: "/p"}
	now := look(t, o, "/p/d/f")
	require.Equal(t, change.State{Kind: change.Regular, SHA256: change.Sum([]byte("x\n")), Mode: 0o640, Size: 2}, now.State)
	require.Equal(t, "x\n", string(now.Content))
	require.Empty(t, now.Real)
	require.Empty(t, now.Block)
	require.Equal(t, change.State{Kind: change.Absent}, look(t, o, "/p/d/none").State)
	require.Equal(t, change.State{Kind: change.Absent}, look(t, o, "/p/none/none").State)
	require.Empty(t, look(t, o, "/p/none/none").Real)
	dir := look(t, o, "/p/d")
	require.True(t, dir.Dir)
	require.Equal(t, change.Special, dir.State.Kind)
	below := look(t, o, "/p/d/f/g")
	require.Equal(t, change.Absent, below.State.Kind)
	require.Equal(t, "/p/d/f", below.Parent)
	for _, hostile := range []string{"/p/" + strings.Repeat("x", 5000), "/p/a\x00b"} {
		require.NotEqual(t, change.Regular, look(t, o, hostile).State.Kind)
	}
}

func TestLargeAndExcludedFiles(t *testing.T) {
	t.Parallel()
	o := present.Options{Fs: memory(t, map[string]string{"/p/f": "12345", "/p/key": "k"}), Folder: "/p", MaxFile: 4, Excluded: func(p string) bool { return p == "/p/key" }}
	for path, content := range map[string]string{"/p/f": "12345", "/p/key": "k"} {
		now := look(t, o, path)
		require.Equal(t, change.State{Kind: change.Large, SHA256: change.Sum([]byte(content)), Mode: 0o640, Size: int64(len(content))}, now.State)
		require.Nil(t, now.Content)
	}
}

func TestTheEndOfTheContextEndsALook(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := present.New(ctx, present.Options{Fs: afero.NewMemMapFs()}).Look("/p/f")
	require.ErrorIs(t, err, context.Canceled)
}

// Proves: RW-29
func TestDocuments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		disk     string // "-" for none
		doc      change.Document
		content  string // "-" for none
		document bool
	}{
		"clean":                      {"x\n", change.Document{Text: "x\n"}, "x\n", true},
		"clean with a mark":          {"\ufeffx\n", change.Document{Text: "x\n"}, "\ufeffx\n", true},
		"clean with other line ends": {"x\r\ny\n", change.Document{Text: "x\ny\n"}, "x\r\ny\n", true},
		"unsaved":                    {"x\n", change.Document{Text: "y\n", Dirty: true}, "y\n", true},
		"unsaved with a mark":        {"\ufeffx\n", change.Document{Text: "y\n", Dirty: true}, "\ufeffy\n", true},
		"unsaved line ends":          {"x\r\n", change.Document{Text: "x\n", Dirty: true}, "x\n", true},
		"not read again yet":         {"x\n", change.Document{Text: "y\n"}, "x\n", false},
		"removed on disk":            {"-", change.Document{Text: "y\n"}, "-", false},
		"new and unsaved":            {"-", change.Document{Text: "y\n", Dirty: true}, "y\n", true},
		"another encoding":           {"\xe9\n", change.Document{Text: "é\n"}, "é\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"/p/other": ""}
			if c.disk != "-" {
				files["/p/f"] = c.disk
			}
			o := present.Options{Fs: memory(t, files), Folder: "/p", Documents: documents{open: map[string]change.Document{"/p/f": c.doc}}}
			now := look(t, o, "/p/f")
			require.Equal(t, c.document, now.Document)
			if c.content == "-" {
				require.Equal(t, change.Absent, now.State.Kind)
				return
			}
			require.Equal(t, c.content, string(now.Content))
			require.Equal(t, change.Sum([]byte(c.content)), now.State.SHA256)
			if c.document {
				require.Equal(t, c.doc.Text, now.Text)
			}
			if c.disk != "-" {
				require.Equal(t, uint32(0o640), now.State.Mode)
			}
		})
	}
	require.Equal(t, "x\n", present.DocumentText([]byte("\ufeffx\n")))
}

func TestProtectedPaths(t *testing.T) {
	t.Parallel()
	o := present.Options{Fs: memory(t, map[string]string{"/p/f": "x\n"}), Folder: "/p", Protected: func(string) string { return "It is protected." }}
	now := look(t, o, "/p/f")
	require.Equal(t, wire.Denied, now.Block)
	require.Equal(t, "It is protected.", now.Why)
}

func TestFindAndUnder(t *testing.T) {
	t.Parallel()
	o := present.Options{Fs: memory(t, map[string]string{"/p/a/f": "x\n", "/p/b/g": "y\n", "/p/.git/g": "z\n", "/q/f": "q\n"}), Folder: "/p"}
	p := present.New(context.Background(), o)
	state := func(s string) change.State {
		return change.State{Kind: change.Regular, SHA256: change.Sum([]byte(s)), Size: int64(len(s))}
	}
	require.Equal(t, "/p/b/g", p.Find(state("y\n"), "/p/a/gone"))
	require.Empty(t, p.Find(state("z\n"), "/p/a/gone"), "not in .git")
	require.Empty(t, p.Find(state("q\n"), "/q/gone"), "not outside of the folder")
	under, ok := p.Under("/p/a")
	require.True(t, ok)
	require.Equal(t, []string{"/p/a/f"}, under)
	_, ok = p.Under("/p/none")
	require.False(t, ok)
}

func TestOnARealDisk(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links and pipes")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	fsys := afero.NewOsFs()
	folder := filepath.Join(base, "p")
	require.NoError(t, fsys.MkdirAll(filepath.Join(folder, "d"), 0o755))
	require.NoError(t, afero.WriteFile(fsys, filepath.Join(folder, "f"), []byte("x\n"), 0o600))
	links, ok := fsys.(afero.Symlinker)
	require.True(t, ok)
	require.NoError(t, links.SymlinkIfPossible("f", filepath.Join(folder, "link")))
	require.NoError(t, links.SymlinkIfPossible("d", filepath.Join(folder, "dirlink")))
	require.NoError(t, links.SymlinkIfPossible(folder, filepath.Join(base, "alias")))
	require.NoError(t, afero.WriteFile(fsys, filepath.Join(folder, "d", "g"), []byte("y\n"), 0o600))
	require.NoError(t, mkfifo(filepath.Join(folder, "pipe")))
	o := present.Options{Fs: fsys, Folder: folder}

	link := look(t, o, filepath.Join(folder, "link"))
	require.Equal(t, change.Link, link.State.Kind)
	require.Equal(t, "f", string(link.Content), "a link is not followed")
	through := look(t, o, filepath.Join(folder, "dirlink", "g"))
	require.Equal(t, filepath.Join(folder, "d", "g"), through.Real)
	pipe := look(t, o, filepath.Join(folder, "pipe"))
	require.Equal(t, change.Special, pipe.State.Kind)
	require.False(t, pipe.Dir)

	aliased := look(t, present.Options{Fs: fsys, Folder: filepath.Join(base, "alias")}, filepath.Join(base, "alias", "f"))
	require.Empty(t, aliased.Real, "links above the folder are the user's")
	outside := look(t, o, filepath.Join(base, "alias", "f"))
	require.Equal(t, filepath.Join(folder, "f"), outside.Real)

	require.NotEmpty(t, look(t, o, filepath.Join(folder, "f")).Same)
	linker, err := os.OpenRoot(folder)
	require.NoError(t, err)
	require.NoError(t, linker.Link("f", "hard"))
	require.NoError(t, linker.Close())
	require.Empty(t, look(t, o, filepath.Join(folder, "f")).Same, "hard links are files of their own")
}

// Proves: RW-12
func TestAReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		fsys := memory(t, map[string]string{"/p/d/f": "x\n"})
		require.NoError(t, fsys.Chmod("/p/d", 0o555))
		require.Equal(t, wire.ReadOnly, look(t, present.Options{Fs: fsys, Folder: "/p"}, "/p/d/f").Block)
		return
	}
	dir := t.TempDir()
	fsys := afero.NewOsFs()
	require.NoError(t, fsys.MkdirAll(filepath.Join(dir, "d"), 0o755))
	require.NoError(t, fsys.Chmod(filepath.Join(dir, "d"), 0o555))
	require.Equal(t, wire.ReadOnly, look(t, present.Options{Fs: fsys, Folder: dir}, filepath.Join(dir, "d", "f")).Block)
	require.NoError(t, fsys.Chmod(filepath.Join(dir, "d"), 0o755))
}

// denying is a file system that refuses to open files.
type denying struct {
	afero.Fs

	err error
}

func (d denying) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	return nil, &os.PathError{Op: "open", Path: name, Err: d.err}
}

func (d denying) Open(name string) (afero.File, error) { return d.OpenFile(name, 0, 0) }

func TestAFileThatCantBeRead(t *testing.T) {
	t.Parallel()
	for err, reason := range map[error]string{syscall.EACCES: wire.Denied, syscall.EBUSY: wire.Locked, syscall.EIO: wire.Denied} {
		o := present.Options{Fs: denying{memory(t, map[string]string{"/p/f": "x\n"}), err}, Folder: "/p"}
		now := look(t, o, "/p/f")
		require.True(t, now.Unknown)
		require.Equal(t, reason, now.Block)
		require.NotEmpty(t, now.Why)
		require.NotContains(t, now.Why, "\n")
	}
}
