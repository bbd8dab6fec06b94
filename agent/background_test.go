//go:build unix

package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// inBackground is a call that starts a command.
func inBackground(t *testing.T, line string) providertest.Reply {
	t.Helper()
	args, err := json.Marshal(map[string]any{"command": line, "background": true})
	require.NoError(t, err)
	return providertest.Reply{ToolCalls: []providertest.Call{{Name: "bash", Args: json.RawMessage(args)}}}
}

// pid waits for the process id that a command writes to a file of the folder.
func pid(t *testing.T, s *agent.Session) int {
	t.Helper()
	var n int
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(filepath.Join(s.Cwd(), "pid"))
		return err == nil && json.Unmarshal(content, &n) == nil
	}, 30*time.Second, time.Millisecond)
	return n
}

// gone fails unless a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, 30*time.Second, time.Millisecond)
}

func newBackgroundWorld(t *testing.T, m *models, o ...option) (*world, *agent.Session) {
	t.Helper()
	yolo := func(c *agent.Config) { c.Approval = "yolo" }
	w := newWorld(t, afero.NewMemMapFs(), append([]option{withModel(m), withTools(tool.All(tool.Options{})...), yolo}, o...)...)
	t.Cleanup(func() { _ = w.Close(t.Context()) })
	return w, w.live(t, t.TempDir())
}

// The next request, of the same turn or a later one, ends with a message about the end of a command. The messages
// before it stay the same.
func TestTheModelIsNotifiedThatABackgroundCommandEnded(t *testing.T) {
	t.Parallel()
	m := scripted(inBackground(t, "echo $$ >pid; read x <pipe; echo crashed; exit 4"), providertest.Reply{Text: "Started."}, providertest.Reply{Text: "I see."}, providertest.Reply{Text: "Yes."})
	w, s := newBackgroundWorld(t, m)
	require.NoError(t, syscall.Mkfifo(filepath.Join(s.Cwd(), "pipe"), 0o600))
	prompt(t, s, "start it")
	snapshot, err := s.Snapshot(t.Context())
	require.NoError(t, err)
	require.Len(t, snapshot.Background, 1)
	require.Contains(t, snapshot.Background[0].Command, "read x <pipe")

	require.NoError(t, os.WriteFile(filepath.Join(s.Cwd(), "pipe"), []byte("\n"), 0o600))
	require.Eventually(t, func() bool { return len(s.Background()) == 0 }, 30*time.Second, time.Millisecond)
	prompt(t, s, "what now?")
	prompt(t, s, "sure?")
	requests := m.Requests()
	require.Len(t, requests, 4)
	before, noted, after := requests[1].Messages, requests[2].Messages, requests[3].Messages
	require.Equal(t, before, noted[:len(before)])
	require.Equal(t, noted, after[:len(noted)], "it is notified once, and this stays")
	last := noted[len(noted)-1].PlainText()
	require.Contains(t, last, "A background command has ended.\ncrashed\n\n[bg-")
	require.Contains(t, last, " exited with code 4: ")
	content, err := afero.ReadFile(w.fs, s.File())
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(content), `"role":"custom"`))

	var counts []int
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e, ok := isEvent[event.BackgroundChanged](e); ok {
			counts = append(counts, len(e.Running))
		}
	}
	require.Equal(t, []int{1, 0}, counts)
}

// A command ends with its conversation, however that ends.
func TestBackgroundCommandsEndWithTheConversation(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, w *world, s *agent.Session){
		"another session": func(t *testing.T, _ *world, s *agent.Session) {
			t.Helper()
			_, err := s.New(t.Context(), session.NewOptions{})
			require.NoError(t, err)
		},
		"the folder": func(t *testing.T, w *world, s *agent.Session) {
			t.Helper()
			require.NoError(t, w.CloseFolder(t.Context(), s.Cwd()))
		},
		"the server": func(t *testing.T, w *world, _ *agent.Session) {
			t.Helper()
			require.NoError(t, w.Close(t.Context()))
		},
		"the user": func(t *testing.T, _ *world, s *agent.Session) {
			t.Helper()
			require.NoError(t, s.StopBackground(t.Context(), s.Background()[0].ID))
			require.True(t, fault.Is(s.StopBackground(t.Context(), "bg-x"), fault.NotFound))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := newBackgroundWorld(t, scripted(inBackground(t, "trap '' HUP; echo $$ >pid; while :; do sleep 0.02; done"), providertest.Reply{Text: "Started."}))
			prompt(t, s, "start it")
			p := pid(t, s)
			require.NoError(t, syscall.Kill(p, 0))
			leave(t, w, s)
			gone(t, p)
			require.Empty(t, s.Background())
		})
	}
}

// The end of a turn is not the end of its background commands.
func TestAbortLeavesBackgroundCommandsAlone(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	_, s := newBackgroundWorld(t, scripted(inBackground(t, "echo $$ >pid; exec sleep 1000"), providertest.Reply{Text: "I am waiting", Hold: hold}))
	done := promptInBackground(t, s, "start it")
	p := pid(t, s)
	require.Eventually(t, func() bool {
		snapshot, err := s.Snapshot(t.Context())
		return err == nil && snapshot.Partial != nil && len(snapshot.Background) == 1
	}, 30*time.Second, time.Millisecond)
	_, _, err := s.Abort(t.Context())
	require.NoError(t, err)
	<-done
	require.NoError(t, syscall.Kill(p, 0))
	require.Len(t, s.Background(), 1)
}

// Where commands are refused, so are those in the background.
func TestRefusedModesRefuseBackgroundCommands(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(t *testing.T, s *agent.Session){
		"read-only": func(t *testing.T, s *agent.Session) { t.Helper(); require.NoError(t, s.SetApproval("read-only")) },
		"plan mode": func(t *testing.T, s *agent.Session) {
			t.Helper()
			_, err := s.SetMode(t.Context(), agent.PlanMode)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := scripted(inBackground(t, "echo $$ >pid; exec sleep 1000"), providertest.Reply{Text: "Started."})
			_, s := newBackgroundWorld(t, m)
			set(t, s)
			prompt(t, s, "start it")
			require.NoFileExists(t, filepath.Join(s.Cwd(), "pid"))
			require.Empty(t, s.Background())
			messages := m.Requests()[1].Messages
			require.True(t, *messages[len(messages)-1].IsError)
		})
	}
}
