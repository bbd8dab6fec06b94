package trust_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/trust"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// place is a machine with a home, a workspace folder and a directory beside it.
type place struct {
	*trust.Gate
	t                   *testing.T
	home, work, outside string
	folders             []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &place{t: t, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "home", "work"), outside: filepath.Join(dir, "outside")}
	p.folders = []string{p.work}
	standard := filepath.Join(p.home, ".xcsh", "agent")
	for _, d := range []string{p.work, p.outside, standard} {
		require.NoError(t, os.MkdirAll(d, 0o700))
	}
	fs := afero.NewOsFs()
	p.Gate = &trust.Gate{
		Fs: fs, Store: &trust.Store{Fs: fs, Path: filepath.Join(standard, "xcsh-ls", "trust.json")},
		Home: p.home, Standard: []string{standard}, Folders: func() []string { return p.folders },
	}
	return p
}

func (p *place) agent(dir string) string {
	p.t.Helper()
	p.write(filepath.Join(dir, "models.json"), "{}")
	return dir
}

func (p *place) write(path, text string) {
	p.t.Helper()
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(p.t, os.WriteFile(path, []byte(text), 0o600))
}

func (p *place) refused(dir, why string) {
	p.t.Helper()
	err := p.Check(dir)
	require.ErrorContains(p.t, err, why)
	require.True(p.t, fault.Is(err, fault.Denied))
	require.False(p.t, p.Owns(dir))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	inside := p.agent(filepath.Join(p.work, ".agent"))
	require.NoError(t, os.Symlink(p.work, filepath.Join(p.outside, "w")))
	require.NoError(t, os.Symlink(inside, filepath.Join(p.outside, "a")))
	for _, dir := range []string{
		inside, inside + "/", p.work, filepath.Join(p.work, "not", "yet"), filepath.Join(p.outside, "w", ".agent"), filepath.Join(p.outside, "a"),
		filepath.Join(p.outside, "w", "not", "yet"), p.outside + "/../home/work/.agent",
	} {
		p.refused(dir, "is inside the workspace folder "+p.work)
	}
	p.refused("relative", "is not absolute")
	require.NoError(t, p.Check(p.agent(filepath.Join(p.outside, "agent"))))
	assert.False(t, p.Owns(filepath.Join(p.outside, "agent")), "settings name it, not the user")
	require.NoError(t, p.Check(p.Standard[0]))
	assert.True(t, p.Owns(p.Standard[0]))
}

func TestAFolderMayBeALink(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	inside := p.agent(filepath.Join(p.work, ".agent"))
	p.folders = []string{filepath.Join(p.outside, "w")}
	require.NoError(t, p.Check(inside))
	require.NoError(t, os.Symlink(p.work, filepath.Join(p.outside, "w")))
	p.refused(inside, "is inside the workspace folder "+p.folders[0])
}

// A user who works in the home directory works in no clone.
func TestTheHomeDirectoryIsNoWorkspace(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir := p.agent(filepath.Join(p.home, "agent"))
	for _, folder := range []string{p.home, filepath.Dir(p.home), "/", ""} {
		p.folders = []string{folder}
		require.NoError(t, p.Check(dir), folder)
	}
	p.Gate.Folders = nil
	require.NoError(t, p.Check(dir))
}

func TestNamedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	inside := p.agent(filepath.Join(p.work, ".agent"))
	p.Named = []string{filepath.Join(p.work, ".agent")}
	require.NoError(t, p.Check(inside))
	assert.True(t, p.Owns(inside))
	p.write(filepath.Join(inside, "sessions", "x.jsonl"), "data")
	require.NoError(t, p.Check(inside), "sessions are data")
	for _, name := range []string{"models.json", "models.yml", "models.yaml", "auth.json", "share", "AGENTS.md", "xcsh-ls/hooks/new", "xcsh-ls/tools/new.json", "xcsh-ls/tools/sub/run.sh"} {
		before, err := os.ReadFile(filepath.Join(inside, name))
		p.write(filepath.Join(inside, name), "changed while the program runs")
		require.ErrorContains(t, p.Check(inside), "changed since you allowed it", name)
		if err != nil {
			require.NoError(t, os.Remove(filepath.Join(inside, name)))
		} else {
			p.write(filepath.Join(inside, name), string(before))
		}
		require.NoError(t, p.Check(inside), name)
	}
}

func TestVariablesCountOutsideOfWorkspaces(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	inside, beside := p.agent(filepath.Join(p.work, ".agent")), p.agent(filepath.Join(p.outside, "agent"))
	p.Configured = []string{inside, beside}
	p.refused(inside, "is inside the workspace folder")
	require.NoError(t, p.Check(beside))
	assert.True(t, p.Owns(beside))
}

func TestAllow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	inside := p.agent(filepath.Join(p.work, ".agent"))
	require.NoError(t, p.Allow(inside))
	require.NoError(t, p.Check(inside))
	assert.True(t, p.Owns(inside))
	require.NoError(t, os.Symlink(inside, filepath.Join(p.outside, "a")))
	require.NoError(t, p.Check(filepath.Join(p.outside, "a")), "the same directory")
	p.refused(p.agent(filepath.Join(p.work, ".other")), "is inside the workspace folder")
	p.write(filepath.Join(inside, "share"), "#!/bin/sh\n")
	p.refused(inside, "changed since you allowed it")
	require.NoError(t, p.Allow(inside))
	require.NoError(t, os.Chmod(filepath.Join(inside, "share"), 0o700))
	p.refused(inside, "changed since you allowed it")
}

func TestAllowedInTheUsersSettings(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	inside := p.agent(filepath.Join(p.work, ".agent"))
	p.write(p.Store.Path, `{"allowedAgentDirs":["`+inside+`"]}`)
	require.NoError(t, p.Check(inside))
	p.write(filepath.Join(inside, "models.json"), `{"changed":1}`)
	require.NoError(t, p.Check(inside))
	assert.True(t, p.Owns(inside))
	p.write(p.Store.Path, `not JSON`)
	require.ErrorContains(t, p.Check(inside), "is not a list of trusted folders")
	assert.False(t, p.Owns(inside))
}

func TestADirectoryThatOthersCanWriteTo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir := p.agent(filepath.Join(p.outside, "agent"))
	require.NoError(t, os.Chmod(dir, 0o777))
	p.refused(dir, "another user owns it or can write to it")
	p.Named = []string{dir}
	require.NoError(t, p.Check(dir))
}

func TestDigest(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/w/a", []byte("1"), 0o600))
	require.NoError(t, afero.WriteFile(fs, "/w/d/b", []byte("2"), 0o600))
	digest := func(names ...string) string {
		d, err := trust.Digest(fs, "/w", names)
		require.NoError(t, err)
		require.Len(t, d, 64)
		return d
	}
	all := digest("a", "d", "none")
	assert.Equal(t, all, digest("none", "d", "a", "a"))
	assert.NotEqual(t, all, digest("a"))
	assert.NotEqual(t, digest("a"), digest())
	require.NoError(t, afero.WriteFile(fs, "/w/a", []byte("2"), 0o600))
	assert.NotEqual(t, all, digest("a", "d", "none"))
}

// The system prompt that a session file records is not used if the workspace's author may have written it.
func TestCheckSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	file := func(path string) string {
		p.write(path, "{}")
		return path
	}
	inside := p.agent(filepath.Join(p.work, ".agent"))
	own, session := filepath.Join(p.home, ".xcsh", "agent", "sessions", "a.jsonl"), filepath.Join(p.work, "a.jsonl")
	require.NoError(t, p.CheckSession(file(own)))
	require.NoError(t, p.CheckSession(file(filepath.Join(p.outside, "a.jsonl"))))
	for _, path := range []string{session, filepath.Join(inside, "sessions", "a.jsonl")} {
		err := p.CheckSession(file(path))
		require.ErrorContains(t, err, "is inside the workspace folder "+p.work)
		require.True(t, fault.Is(err, fault.Denied))
	}
	require.NoError(t, os.Symlink(session, filepath.Join(p.outside, "link.jsonl")))
	require.Error(t, p.CheckSession(filepath.Join(p.outside, "link.jsonl")))

	require.NoError(t, p.Allow(inside))
	p.Configured = []string{inside}
	require.NoError(t, p.CheckSession(filepath.Join(inside, "sessions", "a.jsonl")), "the user allowed the directory")
	p.write(filepath.Join(inside, "models.json"), `{"changed":1}`)
	require.Error(t, p.CheckSession(filepath.Join(inside, "sessions", "a.jsonl")))

	if runtime.GOOS != "windows" { // where permissions are not checked
		require.NoError(t, os.Chmod(own, 0o666))
		require.ErrorContains(t, p.CheckSession(own), "another user")
	}
}
