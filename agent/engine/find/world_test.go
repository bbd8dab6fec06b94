package find

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
)

// world is a machine in memory. Its programs are files whose output the test determines.
type world struct {
	t   *testing.T
	fs  afero.Fs
	env map[string]string
	os  string
	now time.Time

	mu      sync.Mutex
	outputs map[string]string // what a program prints, by its path; guarded by mu
	fails   map[string]error  // guarded by mu
	ran     []Command         // guarded by mu

	login func() []string
	said  []string
}

const home = "/home/dev"

func newWorld(t *testing.T) *world {
	t.Helper()
	if filepath.Separator != '/' {
		t.Skip("the paths are those of Unix")
	}
	w := &world{
		t: t, fs: afero.NewMemMapFs(), env: map[string]string{"PATH": "/usr/bin:/bin"}, os: "linux", now: time.Unix(1e9, 0),
		outputs: map[string]string{}, fails: map[string]error{},
	}
	w.file("/usr/bin/env", "", 0o755)
	w.file("/usr/bin/node", "", 0o755)
	w.outputs["/usr/bin/node"] = "v26.1.0\n"
	return w
}

func (w *world) file(path, content string, mode fs.FileMode) {
	w.t.Helper()
	require.NoError(w.t, w.fs.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.t, afero.WriteFile(w.fs, path, []byte(content), mode))
	require.NoError(w.t, w.fs.Chmod(path, mode))
	require.NoError(w.t, w.fs.Chtimes(path, w.now, w.now))
}

// program adds a binary that prints its version.
func (w *world) program(path, prints string) {
	w.t.Helper()
	w.file(path, "\x7fELF", 0o755)
	w.outputs[path] = prints + "\n"
}

// script adds a script of Node.js that prints its version.
func (w *world) script(path, prints string) {
	w.t.Helper()
	w.file(path, "#!/usr/bin/env node\n", 0o755)
	w.outputs[path] = prints + "\n"
}

func (w *world) machine() Machine {
	return Machine{
		OS: w.os, Home: home, Fs: w.fs, Getenv: func(name string) string { return w.env[name] }, Now: func() time.Time { return w.now },
		Writers: func(info fs.FileInfo) string {
			if info.Mode().Perm()&0o002 != 0 {
				return "every user"
			}
			return ""
		},
		LoginPath: w.login,
		Run: func(_ context.Context, c Command) (string, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ran = append(w.ran, c)
			return w.outputs[c.Path], w.fails[c.Path]
		},
	}
}

// paths returns the programs that ran.
func (w *world) paths() (paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.ran {
		paths = append(paths, c.Path)
	}
	return paths
}

// every makes engines of all protocols.
var every = map[engine.Protocol]func(engine.Program) (engine.Engine, error){
	engine.PiRPC:  func(engine.Program) (engine.Engine, error) { return nil, nil }, //nolint:nilnil // no engine is used
	engine.OmpRPC: func(engine.Program) (engine.Engine, error) { return nil, nil }, //nolint:nilnil // no engine is used
	engine.ACP:    func(engine.Program) (engine.Engine, error) { return nil, nil }, //nolint:nilnil // no engine is used
}

func (w *world) catalog(s Setting) *Catalog {
	return New(Config{
		Machine: w.machine(), Setting: s, Make: every, Store: home + "/.xcsh/agent/xcsh-ls/engine.json", Cache: home + "/.xcsh/agent/cache/engines.json",
		Report: func(_, text string) { w.said = append(w.said, text) },
	})
}

// list returns the programs as NAME VERSION PATH, or with the problem.
func (w *world) list(c *Catalog, folders ...string) (lines []string) {
	for _, p := range c.List(w.t.Context(), folders) {
		line := strings.Join([]string{p.Name, p.Version, p.Path}, " ")
		if p.Problem != "" {
			line += " (" + p.Problem + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func (w *world) find(name string, folders ...string) engine.Program {
	w.t.Helper()
	p, err := w.catalog(Setting{}).Find(w.t.Context(), name, folders)
	require.NoError(w.t, err)
	return p
}

// pathOf returns the PATH that a program gets.
func pathOf(env []string) string {
	for _, v := range env {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			return list
		}
	}
	return ""
}
