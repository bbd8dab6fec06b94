package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// recordedWhereItBegan runs a command of the user, leaves its session meanwhile and, if busy is set, begins a turn in
// the new one.
func recordedWhereItBegan(t *testing.T, busy bool) {
	t.Helper()
	shell := tool.NewShell(tool.Options{})
	release, entered := make(chan struct{}), make(chan struct{})
	wait := tool.Tool{Tool: provider.Tool{Name: "wait"}, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		close(entered)
		<-release
		return tool.TextResult("waited"), nil
	}}
	m := scripted(providertest.Reply{Text: "A."}, providertest.Reply{ToolCalls: []providertest.Call{{Name: "wait"}}}, providertest.Reply{Text: "B."})
	fs := afero.NewMemMapFs()
	w := newWorld(t, fs, withModel(m), withTools(wait), func(c *agent.Config) { c.Shell = &shell })
	s := w.live(t, t.TempDir())
	prompt(t, s, "in A")
	a, id := s.File(), state(t, s).SessionID
	started, bashDone := make(chan struct{}), make(chan error, 1)
	begun := sync.OnceFunc(func() { close(started) })
	w.Subscribe(func(e agent.Event) {
		if e, ok := isEvent[event.BashUpdate](e); ok && strings.Contains(e.Text, "begun") {
			begun()
		}
	})
	go func() {
		_, err := s.Bash(t.Context(), "echo begun; until [ -e never ]; do sleep 0.02; done; echo from A", false)
		bashDone <- err
	}()
	<-started
	_, err := s.New(t.Context(), session.NewOptions{})
	require.NoError(t, err)
	var done <-chan agent.Turn
	if busy {
		done = promptInBackground(t, s, "in B")
		<-entered
	}
	assert.NoError(t, <-bashDone)
	close(release)
	if busy {
		<-done
		content, err := afero.ReadFile(fs, s.File())
		require.NoError(t, err)
		assert.NotContains(t, string(content), "from A", "the record is in the wrong session's file")
	}
	require.Equal(t, id, sessionOfEvent(w, "bash_execution_end"))
	content, err := afero.ReadFile(fs, a)
	require.NoError(t, err)
	assert.Contains(t, string(content), "from A", "the record is lost")
}

// A command is stopped when its session is left, and recorded there.
func TestACommandIsRecordedWhereItBegan(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]bool{"idle": false, "running turn": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recordedWhereItBegan(t, busy)
		})
	}
}

// The command has run: its output is not lost with its record.
func TestACommandThatCannotBeRecordedReturnsItsOutput(t *testing.T) {
	t.Parallel()
	shell := tool.NewShell(tool.Options{})
	broken := false
	fs := &st.FaultFs{Fs: afero.NewMemMapFs(), At: 1, Mode: st.Dead, On: func(string, string) bool { return broken }}
	dir := t.TempDir()
	path := put(t, fs, "a", "0123456789abcdef", dir)
	w := newWorld(t, fs, func(c *agent.Config) { c.Shell = &shell })
	s := w.live(t, dir)
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	broken = true
	message, err := s.Bash(t.Context(), "echo precious", false)
	require.NoError(t, err)
	require.Contains(t, string(message), "precious")
	require.NotEmpty(t, sessionOfEvent(w, "persistence_error"))
	broken = false
	require.NoError(t, w.Close(t.Context()))
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	require.Contains(t, string(content), "precious", "the unsaved records are saved now")
}

// sessionOfEvent returns the session of the first event of a type, "" if there is none.
func sessionOfEvent(w *world, typ string) string {
	for _, e := range w.runEvents() {
		if e.Event.Type() == typ {
			return e.SessionID
		}
	}
	return ""
}
