//go:build unix

package script_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/hook/script"
)

const saysNo = "#!/bin/sh\necho '{\"cancel\": true}'\n"

// Proves: E-10
func TestWhichFilesAreExecutables(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		put    func(t *testing.T, w *world)
		runs   bool
		report string // of the file; $DIR is the folder of hooks, $CWD that of the workspace
	}{
		"an executable":           {put: func(t *testing.T, w *world) { write(t, w.dir+"/a", saysNo, 0o700) }, runs: true},
		"readable by other users": {put: func(t *testing.T, w *world) { write(t, w.dir+"/a", saysNo, 0o755) }, runs: true},
		"no executable":           {put: func(t *testing.T, w *world) { write(t, w.dir+"/a", saysNo, 0o600) }},
		"hidden":                  {put: func(t *testing.T, w *world) { write(t, w.dir+"/.a", saysNo, 0o700) }},
		"an editor's backup":      {put: func(t *testing.T, w *world) { write(t, w.dir+"/a~", saysNo, 0o700) }},
		"a backup of the user":    {put: func(t *testing.T, w *world) { write(t, w.dir+"/a.bak", saysNo, 0o700) }},
		"a directory":             {put: func(t *testing.T, w *world) { require.NoError(t, os.Mkdir(w.dir+"/a", 0o700)) }},
		"in a directory": {put: func(t *testing.T, w *world) {
			require.NoError(t, os.Mkdir(w.dir+"/a", 0o700))
			write(t, w.dir+"/a/a", saysNo, 0o700)
		}},
		"a pipe": {put: func(t *testing.T, w *world) { require.NoError(t, os.Chmod(fifo(t, w.dir+"/a"), 0o700)) }},
		"a link": {runs: true, put: func(t *testing.T, w *world) {
			write(t, w.cwd+"/tool", saysNo, 0o700)
			require.NoError(t, os.Symlink(w.cwd+"/tool", w.dir+"/a"))
		}},
		"a link to no executable": {put: func(t *testing.T, w *world) {
			write(t, w.cwd+"/tool", saysNo, 0o600)
			require.NoError(t, os.Symlink(w.cwd+"/tool", w.dir+"/a"))
		}},
		"a link that leads nowhere": {
			put:    func(t *testing.T, w *world) { require.NoError(t, os.Symlink("nowhere", w.dir+"/a")) },
			report: "a| The hook a is not run: stat a: no such file or directory.",
		},
		"writable for the group": {
			put:    func(t *testing.T, w *world) { write(t, w.dir+"/a", saysNo, 0o770) },
			report: "a| The hook a is not run: other users can write to $DIR/a; remove the permission with: chmod go-w '$DIR/a'.",
		},
		"writable for the world": {
			put:    func(t *testing.T, w *world) { write(t, w.dir+"/a", saysNo, 0o707) },
			report: "a| The hook a is not run: other users can write to $DIR/a; remove the permission with: chmod go-w '$DIR/a'.",
		},
		"a link to a world-writable file": {
			put: func(t *testing.T, w *world) {
				write(t, w.cwd+"/tool", saysNo, 0o707)
				require.NoError(t, os.Symlink(w.cwd+"/tool", w.dir+"/a"))
			},
			report: "a| The hook a is not run: other users can write to $DIR/a; remove the permission with: chmod go-w '$DIR/a'.",
		},
		"a link to where the group may write": {
			put: func(t *testing.T, w *world) {
				write(t, w.cwd+"/tool", saysNo, 0o700)
				require.NoError(t, os.Symlink(w.cwd+"/tool", w.dir+"/a"))
				require.NoError(t, os.Chmod(w.cwd, 0o770))
			},
			report: "a| The hook a is not run: other users can write to $CWD; remove the permission with: chmod go-w '$CWD'.",
		},
		"in a folder that the group may write to": {
			put: func(t *testing.T, w *world) {
				write(t, w.dir+"/a", saysNo, 0o700)
				require.NoError(t, os.Chmod(w.dir, 0o770))
			},
			report: "| The hooks in $DIR are not run: other users can write to $DIR; remove the permission with: chmod go-w '$DIR'.",
		},
		"in a file": {
			put: func(t *testing.T, w *world) {
				require.NoError(t, os.Remove(w.dir))
				write(t, w.dir, saysNo, 0o700)
			},
			report: "| The hooks in $DIR are not run: stat .: not a directory.",
		},
		"with a missing interpreter": {
			put:    func(t *testing.T, w *world) { write(t, w.dir+"/a", "#!/nowhere/sh\n", 0o700) },
			report: "a| The hook a cannot be run for session_before_fork: fork/exec $DIR/a: no such file or directory.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tc.put(t, w)
			require.Equal(t, tc.runs, w.ask(t).Cancel)
			var reports []string
			if tc.report != "" {
				cwd, err := filepath.EvalSymlinks(w.cwd)
				require.NoError(t, err)
				vars := map[string]string{"DIR": w.dir, "CWD": cwd}
				reports = []string{os.Expand(tc.report, func(name string) string { return vars[name] })}
			}
			require.Equal(t, reports, w.allReports())
		})
	}
}

// A stranger's workspace must not run anything, regardless of its content.
// Proves: E-10
func TestNothingOfAWorkspaceIsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "consents", ":")
	for _, dir := range []string{"", ".xcsh", ".xcsh/agent", ".xcsh/agent/xcsh-ls", ".xcsh/agent/xcsh-ls/hooks", "xcsh-ls", "xcsh-ls/hooks", "hooks", ".git", ".git/hooks"} {
		require.NoError(t, os.MkdirAll(filepath.Join(w.cwd, dir), 0o700))
		for _, name := range []string{"a", "consents", "sh", "session_before_fork"} {
			write(t, filepath.Join(w.cwd, dir, name), "#!/bin/sh\ntouch "+w.dir+"/ran\n"+saysNo, 0o700)
		}
	}
	require.Zero(t, w.ask(t))
	w.After(t.Context(), w.event(hook.Start))
	w.Close(t.Context())
	require.NoFileExists(t, w.dir+"/ran")
	require.Empty(t, w.allReports())
}

// A workspace's settings may set the agent directory.
func TestHooksInTheWorkspaceAreNotRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "a", `echo '{"cancel": true}'`)
	root := filepath.Dir(w.dir)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(root, link))
	for name, tc := range map[string]struct {
		config script.Config
		cwd    string
		runs   bool
	}{
		"in another folder":           {script.Config{Dir: w.dir}, w.cwd, true},
		"in a folder of a like name":  {script.Config{Dir: w.dir, Workspaces: []string{w.dir[:len(w.dir)-1]}}, w.cwd, true},
		"in the folder":               {script.Config{Dir: w.dir}, root, false},
		"is the folder":               {script.Config{Dir: w.dir}, w.dir, false},
		"in another workspace folder": {script.Config{Dir: w.dir, Workspaces: []string{"/nowhere", root}}, w.cwd, false},
		"in a folder behind a link":   {script.Config{Dir: w.dir}, link, false},
		"a link into the folder":      {script.Config{Dir: filepath.Join(link, "hooks")}, root, false},
		"where it always is":          {script.Config{Dir: w.dir, Settled: true, Workspaces: []string{root}}, root, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reports []string
			tc.config.Report = func(_, text string) { reports = append(reports, text) }
			e := w.event(hook.BeforeFork)
			e.Cwd = tc.cwd
			d, err := script.New(tc.config).Before(t.Context(), e)
			require.NoError(t, err)
			require.Equal(t, tc.runs, d.Cancel)
			require.Equal(t, tc.runs, len(reports) == 0, reports)
		})
	}
}

// Whether a folder may be used can change from one event to the next.
func TestAFolderThatMayNotBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "a", `echo '{"cancel": true}'`)
	var refusal error
	var reports []string
	h := script.New(script.Config{
		Dir: w.dir, Settled: true, Check: func() error { return refusal }, Report: func(_, text string) { reports = append(reports, text) },
	})
	for _, refusal = range []error{nil, errors.New("Not used."), nil} {
		d, err := h.Before(t.Context(), w.event(hook.BeforeFork))
		require.NoError(t, err)
		require.Equal(t, refusal == nil, d.Cancel)
	}
	require.Equal(t, []string{"Not used."}, reports)
}

// A path that does not begin at the root would be looked for in the workspace.
func TestRelativeFolderHasNoHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "a", `echo '{"cancel": true}'`)
	here, err := os.Getwd()
	require.NoError(t, err)
	relative, err := filepath.Rel(here, w.dir)
	require.NoError(t, err)
	d, err := script.New(script.Config{Dir: relative, Settled: true}).Before(t.Context(), w.event(hook.BeforeFork))
	require.NoError(t, err)
	require.Zero(t, d)
}
