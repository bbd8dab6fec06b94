package setup_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/trust"
	"github.com/xcsh-ls/xcsh-ls/session"
)

const (
	home   = "/home/dev"
	folder = home + "/project"
)

// world is a home directory in memory with the agent directories of the programs.
type world struct {
	setup.Finder
	t *testing.T
}

func newWorld(t *testing.T) *world {
	t.Helper()
	fsys := afero.NewMemMapFs()
	require.NoError(t, fsys.MkdirAll(folder, 0o700))
	w := &world{t: t, Finder: setup.Finder{
		Fs: fsys, Home: home, Decisions: &trust.Store{Fs: fsys, Path: "/home/dev/.xcsh/agent/xcsh-ls/trust.json"},
		Getenv: func(name string) string {
			return map[string]string{"MY_ARG": "argument", "TOKEN": "secret-value"}[name]
		},
		Dirs: []setup.Dir{
			{Path: home + "/.xcsh/agent", Program: session.Xcsh}, {Path: home + "/.pi/agent", Program: session.Pi}, {Path: home + "/.omp/agent", Program: session.Omp},
		},
	}}
	return w
}

// tree is a world with the files of a recorded tree.
func tree(t *testing.T, name string) *world {
	t.Helper()
	w := newWorld(t)
	source := filepath.Join("testdata", name)
	require.NoError(t, filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		w.file(home+"/"+filepath.ToSlash(rel), string(content))
		return err
	}))
	return w
}

// file writes a file. A relative path is in the folder.
func (w *world) file(path, content string) *world {
	w.t.Helper()
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(home, rest)
	} else if !strings.HasPrefix(path, "/") {
		path = filepath.Join(folder, path)
	}
	require.NoError(w.t, w.Fs.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(w.t, afero.WriteFile(w.Fs, path, []byte(content), 0o600))
	return w
}

func (w *world) resolve(program session.Dialect) *setup.Resolved {
	w.t.Helper()
	return w.Resolve(w.t.Context(), setup.Query{Cwd: folder, Program: program})
}

// trusted resolves the set-up of the folder after the user trusted it.
func (w *world) trusted(program session.Dialect) *setup.Resolved {
	w.t.Helper()
	require.NoError(w.t, w.Decide(w.resolve(program), setup.Trusted))
	return w.resolve(program)
}

func names[T any](list []T, name func(T) string) []string {
	all := []string{}
	for _, v := range list {
		all = append(all, name(v))
	}
	return all
}

func servers(r *setup.Resolved) []string {
	return names(r.Servers, func(s setup.Server) string { return s.Name })
}

func skills(r *setup.Resolved) []string {
	return names(r.Skills, func(s setup.Skill) string { return s.Name })
}

func templates(r *setup.Resolved) []string {
	return names(r.Templates, func(s setup.Template) string { return s.Name })
}

func contexts(r *setup.Resolved) []string {
	return names(r.Context, func(f setup.File) string { return f.Path })
}

func rules(r *setup.Resolved) []string {
	return names(r.Rules, func(x setup.Rule) string { return string(x.Use) + " " + x.Name })
}

func settings(r *setup.Resolved) []string {
	return names(r.Settings, func(s setup.Setting) string { return s.Name + "=" + s.Value })
}

func problems(r *setup.Resolved) []string {
	return names(r.Problems, func(p setup.Problem) string { return p.Text })
}

// why returns the reason for which something was left out, "" if it was not.
func why(r *setup.Resolved, kind setup.Kind, name string) string {
	for _, o := range r.LeftOut {
		if o.Kind == kind && o.Name == name {
			return o.Why
		}
	}
	return ""
}
