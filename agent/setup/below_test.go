package setup_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/session"
)

func texts(files []setup.File) []string {
	return names(files, func(f setup.File) string { return f.Text })
}

func TestTheNearestInstructionsComeLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file("~/.xcsh/agent/AGENTS.md", "for all").file("/home/AGENTS.md", "for the company").file("CLAUDE.md", "for the project")
	w.file("cmd/AGENTS.md", "for the command").file("cmd/CLAUDE.md", "not used beside AGENTS.md").file("other/AGENTS.md", "not of this folder").file("/AGENTS.md", "  \n")
	r := w.Resolve(t.Context(), setup.Query{Cwd: folder + "/cmd", Program: session.Xcsh})
	assert.Equal(t, []string{"for all", "for the company", "for the project", "for the command"}, texts(r.Context))
}

func TestWorkingInTheAgentDirNamesItsFileOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t).file("~/.xcsh/agent/AGENTS.md", "mine")
	assert.Len(t, w.Resolve(t.Context(), setup.Query{Cwd: home + "/.xcsh/agent", Program: session.Xcsh}).Context, 1)
}

func TestLongInstructions(t *testing.T) {
	t.Parallel()
	w := newWorld(t).file("AGENTS.md", strings.Repeat("é", 64<<10)).file("XCSH.md", strings.Repeat("\xffa", 30<<10)).file("a/AGENTS.md", "x"+strings.Repeat("é", 64<<10))
	files := w.resolve(session.Xcsh).Context
	files2, _ := w.Below(t.Context(), setup.Query{Cwd: folder, Program: session.Xcsh}, folder+"/a/x.go")
	files = append(files, files2...)
	require.Len(t, files, 3)
	for i, f := range files {
		assert.True(t, f.Cut)
		assert.LessOrEqual(t, len(f.Text), 64<<10)
		assert.Equal(t, i == 0, strings.Contains(f.Text, "\uFFFD"), "only a file that isn't text: %d", i)
	}
	assert.LessOrEqual(t, len(files[2].Text), 16<<10)
	w.file(".omp/AGENTS.md", strings.Repeat("a", 60<<10)+" @big.md").file(".omp/big.md", strings.Repeat("b", 60<<10))
	f := w.resolve(session.Omp).Context[0]
	assert.True(t, f.Cut)
	assert.Len(t, f.Text, 64<<10)
}

// Instructions come from regular files in their own directories. Everything else is left out and
// reported, and does not affect the others.
func TestInstructionsThatAreLeftOut(t *testing.T) {
	t.Parallel()
	f, cwd := onDisk(t)
	top := filepath.Dir(cwd)
	parent := filepath.Join(top, "parent")
	work := filepath.Join(parent, "w")
	f.Dirs = []setup.Dir{{Path: filepath.Join(f.Home, ".xcsh/agent"), Program: session.Xcsh}}
	f.Private = sensitive.New(sensitive.Env{Home: f.Home, OS: runtime.GOOS})
	put(t, filepath.Join(f.Home, ".ssh", "id.md"), "a key")
	put(t, filepath.Join(top, "AGENTS.md"), "others can write to this")
	require.NoError(t, os.Chmod(filepath.Join(top, "AGENTS.md"), 0o646))
	put(t, filepath.Join(parent, ".env"), "a secret")
	require.NoError(t, os.Symlink(".env", filepath.Join(parent, "AGENTS.md")))
	put(t, filepath.Join(parent, "CLAUDE.md"), "of the parent")
	require.NoError(t, os.MkdirAll(work, 0o700))
	require.NoError(t, os.Symlink("../CLAUDE.md", filepath.Join(work, "AGENTS.md")))
	require.NoError(t, os.Link(filepath.Join(f.Home, ".ssh", "id.md"), filepath.Join(work, "CLAUDE.md")))
	r := f.Resolve(t.Context(), setup.Query{Cwd: work, Program: session.Xcsh})
	assert.Equal(t, []string{"of the parent"}, texts(r.Context))
	told := strings.Join(problems(r), "\n")
	for path, why := range map[string]string{
		filepath.Join(parent, "AGENTS.md"): "it is a symbolic link to a file of another kind",
		filepath.Join(work, "AGENTS.md"):   "it is a symbolic link that leaves its folder",
		filepath.Join(work, "CLAUDE.md"):   "it is a credentials file",
		filepath.Join(top, "AGENTS.md"):    "another user owns it or can write to it",
	} {
		if runtime.GOOS != "windows" || !strings.HasPrefix(why, "another user") {
			assert.Contains(t, told, "The instructions in "+path+" are not sent to the model: "+why+".")
		}
	}
}

func TestAnAgentDirThatMayNotBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t).file("~/.xcsh/agent/AGENTS.md", "obey")
	usable := false
	w.Usable = func(string) bool { return usable }
	assert.Empty(t, w.resolve(session.Xcsh).Context)
	usable = true
	assert.Len(t, w.resolve(session.Xcsh).Context, 1)
}

// Below a folder the same conditions hold as in it.
func TestInstructionsBelow(t *testing.T) {
	t.Parallel()
	f, cwd := onDisk(t)
	top := filepath.Join(filepath.Dir(cwd), "below")
	work := filepath.Join(top, "w")
	for path, content := range map[string]string{
		"w/AGENTS.md": "of the folder", "w/a/AGENTS.md": "of a", "w/a/b/CLAUDE.md": "of b", "w/a/b/x.go": "x", "w/.env": "a secret", "w/c/x.go": "x",
		"w/vendor/d/AGENTS.md": "of a dependency", "w/vendor/d/x.go": "x", "o/AGENTS.md": "of another folder", "o/x.go": "x", "w/agent/AGENTS.md": "the user's own", "w/agent/x": "x",
		"w/d/AGENTS.md": "of d",
	} {
		put(t, filepath.Join(top, path), content)
	}
	require.NoError(t, os.Symlink("../.env", filepath.Join(work, "c", "AGENTS.md")))
	require.NoError(t, os.Symlink(filepath.Join(top, "o"), filepath.Join(work, "out")))
	require.NoError(t, os.Symlink("a", filepath.Join(work, "in")))
	deep := work
	for range 40 {
		deep = filepath.Join(deep, "d")
	}
	require.NoError(t, os.MkdirAll(deep, 0o700))
	f.Private = sensitive.New(sensitive.Env{Home: top, OS: runtime.GOOS})
	f.Dirs = []setup.Dir{{Path: filepath.Join(work, "agent"), Program: session.Xcsh}}
	q := setup.Query{Cwd: work, Program: session.Xcsh}
	for path, want := range map[string][]string{
		"a/b/x.go": {"of a", "of b"}, "a/b": {"of a", "of b"}, "a/new.go": {"of a"}, "a": {"of a"}, "in/b/x.go": {"of a", "of b"},
		"": {}, "x.go": {}, "c/x.go": {}, "vendor/d/x.go": {}, "out/x.go": {}, "../o/x.go": {}, "agent/x": {}, "missing/x.go": {},
		"d/x": {"of d"}, strings.TrimPrefix(deep, work+"/"): {},
	} {
		files, problems := f.Below(t.Context(), q, filepath.Join(work, path))
		assert.Equal(t, want, texts(files), path)
		assert.Len(t, problems, map[string]int{"c/x.go": 1}[path], path)
	}
}

// Below a folder the names are those of the program, too.
func TestInstructionsBelowByProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t).file("a/XCSH.md", "xcsh").file("a/AGENTS.override.md", "pi").file("a/.omp/AGENTS.md", "omp, and @more.md").file("a/.omp/more.md", "imported").file("a/AGENTS.md", "all")
	for program, want := range map[session.Dialect][]string{session.Xcsh: {"xcsh", "all"}, session.Pi: {"pi"}, session.Omp: {"omp, and imported"}} {
		files, _ := w.Below(t.Context(), setup.Query{Cwd: folder, Program: program}, folder+"/a/x.go")
		assert.Equal(t, want, texts(files), "%v", program)
	}
}
