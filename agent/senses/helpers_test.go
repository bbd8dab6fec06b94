package senses_test

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/senses"
	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// editor is an editor with fixed answers, whose positions are bytes.
type editor struct {
	actions []string
	answers map[string]string // by request
	fails   map[string]error
	asked   []string // the requests and their parameters
}

func (e *editor) Actions() []string { return e.actions }

func (e *editor) Ask(ctx context.Context, request string, _ time.Duration, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	e.asked = append(e.asked, request+" "+string(raw))
	if err := e.fails[request]; err != nil {
		return nil, err
	}
	return json.RawMessage(e.answers[request]), ctx.Err()
}

func (*editor) URI(path string) string { return "file://" + path }

func (*editor) Path(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !filepath.IsAbs(u.Path) {
		return "", false
	}
	return filepath.Clean(u.Path), true
}

func (*editor) Offset(text string, p senses.Position) int {
	start := 0
	for range p.Line {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return len(text)
		}
		start += i + 1
	}
	end := len(text)
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i
	}
	return min(start+p.Character, end)
}

func (*editor) Position(text string, offset int) senses.Position {
	before := text[:offset]
	return senses.Position{Line: strings.Count(before, "\n"), Character: offset - strings.LastIndexByte(before, '\n') - 1}
}

// desk is a folder with files, and an editor that can be asked for everything.
type desk struct {
	*editor
	t      *testing.T
	senses *senses.Senses
	env    tool.Env
}

func newDesk(t *testing.T, files map[string]string) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	d := &desk{editor: &editor{actions: slices.Clone(senses.Requests), answers: map[string]string{}, fails: map[string]error{}}, t: t}
	d.env = tool.Env{Cwd: filepath.Join(dir, "w"), Files: tool.Local{Fs: afero.NewOsFs()}}
	for name, text := range files {
		path := d.path(name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	private := sensitive.New(sensitive.Env{Home: d.env.Cwd})
	d.senses = senses.New(senses.Options{Editor: d.editor, Files: tool.NewFiles(tool.Options{Private: private})})
	return d
}

func (d *desk) path(name string) string { return filepath.Join(d.env.Cwd, name) }

// answer sets the answer to a request. @NAME@ in it is the URI of a file.
func (d *desk) answer(request, text string) {
	d.t.Helper()
	parts := strings.Split(text, "@")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "file://" + d.path(parts[i])
	}
	d.answers[request] = strings.Join(parts, "")
}

// call makes a call as the loop does: arguments are checked, and a change is shown before it is made.
func (d *desk) call(args string) (text string, failed bool) {
	d.t.Helper()
	t, ok := d.senses.Tool(false)
	require.True(d.t, ok)
	checked, err := t.Check(json.RawMessage(args))
	if err != nil {
		return err.Error(), true
	}
	if t.Changing(json.RawMessage(args)) {
		if _, err := t.Preview(d.t.Context(), d.env, checked); err != nil {
			return err.Error(), true
		}
	}
	r, err := t.Run(d.t.Context(), d.env, checked)
	require.NoError(d.t, err)
	return r.Content[0].Text, r.IsError
}

func (d *desk) read(name string) string {
	d.t.Helper()
	content, err := os.ReadFile(d.path(name))
	require.NoError(d.t, err)
	return string(content)
}
