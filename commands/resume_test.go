package commands_test

import (
	"maps"
	"os"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/indexed"
)

// access is how often a path was used.
type access struct {
	stat    int // Stat
	lstat   int // Stat without following links
	open    int // Open or OpenFile
	resolve int // RealPath, which follows links and takes one system call per element of the path
}

// accessFs counts how often each path is used.
type accessFs struct {
	afero.Fs
	mu    sync.Mutex
	count map[string]access
}

func (a *accessFs) add(path string, more access) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.count[path]
	a.count[path] = access{c.stat + more.stat, c.lstat + more.lstat, c.open + more.open, c.resolve + more.resolve}
}

func (a *accessFs) Stat(name string) (os.FileInfo, error) {
	a.add(name, access{stat: 1})
	return a.Fs.Stat(name)
}

func (a *accessFs) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	a.add(name, access{lstat: 1})
	info, err := a.Fs.Stat(name)
	return info, false, err
}

func (a *accessFs) Open(name string) (afero.File, error) {
	a.add(name, access{open: 1})
	return a.Fs.Open(name)
}

func (a *accessFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	a.add(name, access{open: 1})
	return a.Fs.OpenFile(name, flag, perm)
}

func (a *accessFs) realPath(path string) (string, error) {
	a.add(path, access{resolve: 1})
	_, err := a.Fs.Stat(path)
	return path, err
}

// countingEnv returns an environment in which the folder's live session has no file yet, and the
// file that it will have.
func countingEnv(t *testing.T, files *accessFs) (env *commands.Env, live string) {
	t.Helper()
	env = newEnv(files, func(c *agent.Config) { c.Finder.RealPath = files.realPath })
	env.Finder.RealPath = files.realPath
	do(t, env, "xcsh.state", nil)
	return env, env.Sessions.Live("/w").File()
}

// listing returns the accesses by a search in the folder /w.
func listing() map[string]access {
	all := map[string]access{
		"/home/u": {resolve: 1}, // names of directories are relative to them
		"/tmp":    {resolve: 1},
		"/w":      {resolve: 2}, // for those names, and to compare it with the folder in each session's header
	}
	// The programs name the directory of /w in two ways. Each is resolved, because both can be links
	// to the same directory, and listed.
	for _, program := range []string{"xcsh", "pi", "omp"} {
		for _, name := range []string{"--w--", "abs-w-d1bb8ca354673cd575d31d952490058c9943aef39d5a9553fb4a21ab7a59a19d"} {
			all["/home/u/."+program+"/agent/sessions/"+name] = access{resolve: 1, open: 1}
		}
	}
	return all
}

// One resume uses each path as often as it must, however the session is named.
func TestAResumeUsesEachPathAsOftenAsNeeded(t *testing.T) {
	indexed.NeedsContentInMemory(t)
	t.Parallel()
	// The resolver stats a path to decide whether it names a file. Loading stats it again, after the
	// hooks have agreed, because opening a pipe would block. The last one is for the announcement of a
	// large file.
	byPath := access{stat: 3, open: 1, resolve: 1}
	// A list uses lstat to leave out links and pipes, and opens the file to read its header. The
	// session is then loaded like any other.
	listed := access{lstat: 1, stat: 2, open: 2, resolve: 1}
	// The file of the previous session does not exist yet. Its path is resolved to see whether it is
	// the target, first in case the target is live in any folder, then to order the steps of the
	// change, when the session can no longer be replaced by another.
	previous := access{resolve: 2}
	for name, test := range map[string]struct {
		target string
		search bool
		want   map[string]access
	}{
		"a path":          {file1, false, map[string]access{file1: byPath}},
		"a relative path": {".." + file1, false, map[string]access{file1: byPath}},
		"a file: URI":     {"file://" + file1, false, map[string]access{file1: byPath}},
		// The quotes may be part of the name, so the quoted name is tried first.
		"a quoted path": {`"` + file1 + `"`, false, map[string]access{file1: byPath, `/w/"` + file1 + `"`: {stat: 1}}},
		"an ID":         {id1, true, map[string]access{file1: listed}},
		"an ID prefix":  {id1[:8], true, map[string]access{file1: listed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := &accessFs{Fs: afero.NewMemMapFs(), count: map[string]access{}}
			write(t, files, file1, talk(id1)...)
			env, live := countingEnv(t, files)
			if test.search {
				maps.Copy(test.want, listing())
			}
			test.want[live] = previous
			clear(files.count)
			do(t, env, "xcsh.resume", args{"target": test.target})
			require.Equal(t, test.want, files.count)
		})
	}
}

// The session that is live already is read again, and its path is resolved only to compare it.
func TestAResumeOfTheLiveSessionUsesItsPathAsOftenAsNeeded(t *testing.T) {
	indexed.NeedsContentInMemory(t)
	t.Parallel()
	files := &accessFs{Fs: afero.NewMemMapFs(), count: map[string]access{}}
	write(t, files, file1, talk(id1)...)
	env, _ := countingEnv(t, files)
	do(t, env, "xcsh.resume", args{"target": file1})
	clear(files.count)
	do(t, env, "xcsh.resume", args{"target": file1})
	// As a target and as the live session, and for the announcement of a large file.
	require.Equal(t, map[string]access{file1: {stat: 3, open: 1, resolve: 2}}, files.count)
}
