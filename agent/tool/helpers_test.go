package tool_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// world is a working directory with tools.
type world struct {
	t     *testing.T
	fs    afero.Fs
	env   tool.Env
	tools map[string]tool.Tool
}

// newWorld has its files in memory, at /w.
func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	return worldOver(t, tool.Options{Fs: afero.NewMemMapFs(), Home: "/home/me"}, "/w", files)
}

// diskWorld has its files in a directory of the machine.
func diskWorld(t *testing.T, o tool.Options, files map[string]string) *world {
	t.Helper()
	o.Fs = afero.NewOsFs()
	return worldOver(t, o, t.TempDir(), files)
}

func worldOver(t *testing.T, o tool.Options, cwd string, files map[string]string) *world {
	t.Helper()
	w := &world{t: t, fs: o.Fs, tools: map[string]tool.Tool{}}
	w.env = tool.Env{Cwd: cwd, Files: tool.Local{Fs: o.Fs}, Permission: tool.Permission{Level: sandbox.Outside}}
	require.NoError(t, o.Fs.MkdirAll(cwd, 0o755))
	for name, content := range files {
		w.write(name, content)
	}
	for _, tl := range tool.All(o) {
		w.tools[tl.Name] = tl
	}
	return w
}

// in returns the same world for a test within the test.
func (w *world) in(t *testing.T) *world {
	t.Helper()
	c := *w
	c.t = t
	return &c
}

func (w *world) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.env.Cwd, name)
}

func (w *world) write(name, content string) {
	w.t.Helper()
	require.NoError(w.t, w.fs.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	require.NoError(w.t, afero.WriteFile(w.fs, w.path(name), []byte(content), 0o644))
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := afero.ReadFile(w.fs, w.path(name))
	require.NoError(w.t, err)
	return string(b)
}

// call runs a tool call of a model: it checks the arguments and converts them to the tool's own
// form.
func (w *world) call(name, args string) (tool.Result, error) {
	w.t.Helper()
	tl, ok := w.tools[name]
	require.True(w.t, ok)
	own, err := tl.Check(json.RawMessage(args))
	if err != nil {
		return tool.Result{}, err
	}
	again, err := tl.Check(own)
	require.NoError(w.t, err)
	require.Equal(w.t, string(own), string(again), "the own form stays as it is")
	return tl.Run(w.t.Context(), w.env, own)
}

// ok returns the text of a call that must succeed.
func (w *world) ok(name, args string) string {
	w.t.Helper()
	r, err := w.call(name, args)
	require.NoError(w.t, err)
	require.False(w.t, r.IsError, text(r))
	return text(r)
}

// refused returns the sentence of a call that must fail.
func (w *world) refused(name, args string) string {
	w.t.Helper()
	_, err := w.call(name, args)
	require.Error(w.t, err)
	return err.Error()
}

func text(r tool.Result) string {
	return provider.Message{Content: r.Content}.PlainText()
}

// object is JSON of names and values in turn.
func object(t *testing.T, pairs ...any) string {
	t.Helper()
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	b, err := json.Marshal(m)
	require.NoError(t, err)
	return string(b)
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line " + string(rune('0'+(i+1)%10)) + "\n")
	}
	return b.String()
}
