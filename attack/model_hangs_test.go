//go:build unix

package attack

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// hangs returns calls that would block or run forever, keyed by a description.
func (v *victim) hangs() map[string][]providertest.Call {
	v.t.Helper()
	require.NoError(v.t, syscall.Mkfifo(v.path("fifo"), 0o600))
	for name, to := range map[string]string{
		"zero": "/dev/zero", "kmsg": "/proc/kmsg", "self": "/proc/self", "tofifo": "fifo", "environ": "/proc/self/environ", "kernel": "/sys/kernel",
	} {
		require.NoError(v.t, os.Symlink(to, v.path(name)))
	}
	calls := map[string][]providertest.Call{}
	for _, path := range []string{
		"fifo", "tofifo", "zero", "kmsg", "environ", "self/environ", "/dev/zero", "/dev/tty", "/dev/stdin", "/dev/fd/0", "/proc/kmsg", "/proc/self/environ",
		"/proc/1/root/proc/self/environ", "/proc/self/cwd/fifo", "/proc/self/root/etc/hostname", "/sys/kernel/notes",
	} {
		calls["read "+path] = call("read", map[string]any{"path": path})
		calls["grep "+path] = call("grep", map[string]any{"pattern": "x", "path": path})
		calls["edit "+path] = call("edit", map[string]any{"path": path, "edits": []any{map[string]any{"oldText": "x", "newText": "y"}}})
		calls["write "+path] = call("write", map[string]any{"path": path, "content": "x"})
	}
	for _, path := range []string{"self", "kernel", "/proc", "/proc/self", "/proc/self/task", "/proc/self/root", "/sys", "/dev"} {
		calls["grep "+path] = call("grep", map[string]any{"pattern": "x", "path": path})
		calls["find "+path] = call("find", map[string]any{"pattern": "x", "path": path})
	}
	return calls
}

// A tool returns immediately when the model gives it an endless file. One turn makes all calls of a tool.
func TestAToolNeverBlocksOnAFile(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"read", "grep", "edit", "write", "find"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			var calls [][]providertest.Call
			var names []string
			for name, c := range v.hangs() {
				if strings.HasPrefix(name, tool+" ") {
					names, calls = append(names, name), append(calls, c)
				}
			}
			v.does(calls...)
			out := v.ask("--approval", "yolo")
			require.Zero(t, out.code, "%s", out.stderr)
			require.Len(t, v.results(), len(names))
			for i, result := range v.results() {
				assert.Regexp(t, "not a regular file|is not a directory", result, names[i])
			}
		})
	}
}

// A search skips pipes and devices in a tree and finds the other files.
func TestSearchSkipsIrregularFiles(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.hangs()
	v.write(v.path("a/plain"), "needle\n")
	require.NoError(t, syscall.Mkfifo(v.path("a/.gitignore"), 0o600))
	require.NoError(t, os.MkdirAll(v.path("b"), 0o700))
	require.NoError(t, os.Symlink("/dev/zero", v.path("b/.gitignore")))
	v.write(v.path("b/plain"), "needle\n")
	v.does(call("grep", map[string]any{"pattern": "needle"}), call("find", map[string]any{"pattern": "plain"}))
	out := v.ask()
	require.Zero(t, out.code, "%s", out.stderr)
	for _, result := range v.results() {
		assert.Contains(t, result, "a/plain")
		assert.Contains(t, result, "b/plain")
	}
}

// While a tool works on such files, the user can stop the turn, and the editor can exit.
func TestABlockedToolDoesNotKeepTheEditorFromEnding(t *testing.T) {
	t.Parallel()
	for _, c := range [][]providertest.Call{
		call("read", map[string]any{"path": "/proc/kmsg"}),
		call("grep", map[string]any{"pattern": "x", "path": "/proc/self"}),
	} {
		v := newVictim(t)
		v.Script("m", providertest.Reply{ToolCalls: c}, providertest.Reply{Text: "waits", Hold: make(chan struct{})})
		ed := v.edit(nil)
		prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"})
		ed.WaitEvent("tool_execution_end")
		_, err := ed.Exec("xcsh.abort", nil)
		require.Nil(t, err)
		_, err = prompt.Wait()
		require.Nil(t, err)
		ed.Shutdown()
		ed.Exit()
		assert.Empty(t, v.locks())
	}
}

// locks returns the session locks that are held.
func (v *victim) locks() (names []string) {
	v.t.Helper()
	for _, pattern := range []string{"xcsh-ls/locks/*", "sessions/*/*.lock", "sessions/*/.*.lock*"} {
		found, err := filepath.Glob(filepath.Join(v.agentDir(), pattern))
		require.NoError(v.t, err)
		for _, f := range found {
			names = append(names, strings.TrimPrefix(f, v.agentDir()))
		}
	}
	return names
}
