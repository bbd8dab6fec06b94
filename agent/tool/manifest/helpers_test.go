//go:build unix

package manifest_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/manifest"
)

// world is a folder of tools, and a workspace folder.
type world struct {
	manifest.Folder
	t       *testing.T
	cwd     string
	reports []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, cwd: filepath.Join(root, "work")}
	require.NoError(t, os.Mkdir(w.cwd, 0o700))
	w.Folder = manifest.Folder{
		Fs: afero.NewOsFs(), Dir: filepath.Join(root, "tools"), Shell: tool.NewShell(tool.Options{}), Taken: []string{"bash", "read"},
		Report: func(text string) { w.reports = append(w.reports, text) },
	}
	require.NoError(t, os.Mkdir(w.Dir, 0o700))
	return w
}

// write writes a file while no other test starts a process, which would hold it open and so keep
// it from being run.
func (w *world) write(name, content string, mode os.FileMode) string {
	w.t.Helper()
	path := filepath.Join(w.Dir, name)
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(w.t, os.WriteFile(path, []byte(content), mode))
	require.NoError(w.t, os.Chmod(path, mode)) // independent of the umask
	return path
}

const anything = `{"type":"object"}`

// put makes a tool of a shell script.
func (w *world) put(name, schema string, lines ...string) {
	w.t.Helper()
	w.write(name+".sh", "#!/bin/sh\n"+strings.Join(lines, "\n")+"\n", 0o700)
	w.write(name+".json", `{"name":"`+name+`","description":"A tool.","parameters":`+schema+`,"executable":"`+name+`.sh"}`, 0o600)
}

// only returns the one tool of the folder.
func (w *world) only() manifest.Tool {
	w.t.Helper()
	tools := w.Load()
	require.Empty(w.t, w.reports)
	require.Len(w.t, tools, 1)
	return tools[0]
}

// call calls a tool outside of a sandbox, as after the user's approval.
func (w *world) call(ctx context.Context, t manifest.Tool, args string) (tool.Result, error) {
	line, err := t.Check(json.RawMessage(args))
	if err != nil {
		return tool.Result{}, err
	}
	return t.RunWithin(ctx, tool.Env{Cwd: w.cwd, Permission: tool.Permission{Level: sandbox.Outside}}, line)
}

// does makes a tool of a script and returns the result of a call.
func (w *world) does(lines ...string) tool.Result {
	w.t.Helper()
	w.put("t", anything, lines...)
	r, err := w.call(w.t.Context(), w.only(), `{}`)
	require.NoError(w.t, err)
	return r
}

// text returns the texts of a result.
func text(r tool.Result) string {
	var all []string
	for _, b := range r.Content {
		if b.Type == provider.TypeText {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "|")
}

// progress records updates.
type progress struct {
	mu    sync.Mutex
	shown []string // guarded by mu
}

func (p *progress) update(r tool.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = append(p.shown, text(r))
}
