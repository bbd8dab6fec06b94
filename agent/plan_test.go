package agent_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

func writing(path string) providertest.Reply {
	args, _ := json.Marshal(map[string]string{"path": path, "content": "x"})
	return providertest.Reply{ToolCalls: []providertest.Call{{Name: "write", Args: json.RawMessage(args)}}}
}

// lastResult is the text of the newest tool result that the model was shown.
func lastResult(t *testing.T, m *models) string {
	t.Helper()
	requests := m.Requests()
	messages := requests[len(requests)-1].Messages
	require.Equal(t, provider.RoleToolResult, messages[len(messages)-1].Role)
	return messages[len(messages)-1].PlainText()
}

func withFiles(fs afero.Fs, mode approval.Mode) option {
	return func(c *agent.Config) {
		c.Tools, c.Workspace, c.Approval = tool.All(tool.Options{Fs: fs, Home: "/home/u"}), tool.Local{Fs: fs}, mode
	}
}

// The allowed plan files, by the session's own description.
func TestPlanMode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		data, path string
		allowed    bool
	}{
		{`{"planFilePath":"docs/plan.md"}`, "docs/plan.md", true},
		{`{"planFilePath":"docs/plan.md"}`, "/w/docs/../docs/plan.md", true},
		{`{"planFilePath":"/w/plan.md"}`, "plan.md", true},
		{`{"planFilePath":"docs/plan.md"}`, "plan.md", false},
		{`{"planFilePath":"docs/plan.md"}`, "@docs/plan.md", false},
		{`{"planFilePath":"~/plan.md"}`, "~/plan.md", false},
		{`{"planFilePath":"local://PLAN.md"}`, "local://PLAN.md", true},
		{`{"planFilePath":"local://PLAN.md"}`, "PLAN.md", false},
		{`{"planFilePath":"local://PLAN.md"}`, "local://a-plan.md", false},
		{`{"planFilePath":"xd://x"}`, "xd://x", false},
		{`{"planFilePath":""}`, "x", false},
		{`{"planFilePath":7}`, "7", false},
		{`null`, "x", false},
		{``, "x", false},
	} {
		fs := afero.NewMemMapFs()
		m := scripted(writing(c.path), providertest.Reply{Text: "Done."})
		w := newWorld(t, fs, withModel(m), withFiles(fs, approval.Yolo))
		s := w.live(t, "/w")
		_, err := s.Switch(t.Context(), planned(t, fs, c.data))
		require.NoError(t, err)
		prompt(t, s, "go")
		require.Equal(t, c.allowed, strings.Contains(lastResult(t, m), "Successfully wrote"), "%s %s", c.data, c.path)
		require.Contains(t, m.Requests()[0].System, "Plan mode is on")
		require.NoError(t, w.Close(t.Context()))
	}
}

// planned files a session in plan mode.
func planned(t *testing.T, fs afero.Fs, data string) (path string) {
	t.Helper()
	if data != "" {
		data = `,"data":` + data
	}
	path = filepath.Join(root, "sessions", "--w--", "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
	content := st.File(st.Header("0190000000000001", "/w"), st.User("a0000000", "", "one"), st.Assistant("b0000000", "a0000000", "two"),
		`{"type":"mode_change","id":"c0000000","parentId":"b0000000","timestamp":"2026-01-01T00:00:00.000Z","mode":"plan"`+data+`}`)
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
	return path
}

// The user turns plan mode on while a call waits for permission: the call is not made.
func TestPlanModeDuringAQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		m := scripted(writing("new.txt"), writing("new.txt"), providertest.Reply{Text: "Done."})
		w := newWorld(t, fs, withModel(m), withFiles(fs, approval.Ask))
		s := w.live(t, "/w")
		done := promptInBackground(t, s, "go")
		synctest.Wait()
		changed, err := s.SetMode(t.Context(), agent.PlanMode)
		require.NoError(t, err)
		require.True(t, changed)
		snap, err := s.Snapshot(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.Approve(snap.Approvals[0].ID, approval.Once))
		<-done
		require.Contains(t, lastResult(t, m), "Plan mode is on", "the second call was not asked about")
		exists, err := afero.Exists(fs, "/w/new.txt")
		require.NoError(t, err)
		require.False(t, exists)
		require.Equal(t, "plan", state(t, s).Mode)
		require.NoError(t, w.Close(t.Context()))
	})
}

// A session in memory has no place for a plan file; in one of pi the mode works although pi knows
// none.
func TestPlanModeElsewhere(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	m := scripted(writing("local://PLAN.md"), providertest.Reply{Text: "Done."})
	w := newWorld(t, fs, withModel(m), withFiles(fs, approval.Yolo), func(c *agent.Config) { c.InMemory = true })
	s := w.live(t, "/w")
	_, err := s.SetMode(t.Context(), "vibe")
	require.True(t, fault.Is(err, fault.InvalidArgument))
	_, err = s.SetMode(t.Context(), agent.PlanMode)
	require.NoError(t, err)
	prompt(t, s, "go")
	require.Contains(t, lastResult(t, m), "Nothing may be changed")
	require.NoError(t, w.Close(t.Context()))

	fs = afero.NewMemMapFs()
	m = scripted(writing("new.txt"), providertest.Reply{Text: "Done."}, writing("new.txt"), providertest.Reply{Text: "Done."})
	w = newWorld(t, fs, withModel(m), withFiles(fs, approval.Yolo), func(c *agent.Config) {
		c.Store = session.NewStore(session.StoreConfig{Fs: fs, DirFor: c.Finder.DirFor, RootFor: func(string) (session.FileRoot, bool) {
			return session.FileRoot{Dialect: session.Pi}, true
		}})
	})
	s = w.live(t, "/w")
	_, err = s.Switch(t.Context(), planned(t, fs, ""))
	require.NoError(t, err)
	require.Equal(t, session.Pi.String(), state(t, s).Origin)
	require.Equal(t, "plan", state(t, s).Mode)
	prompt(t, s, "go")
	require.Contains(t, lastResult(t, m), "Plan mode is on")
	_, err = s.SetMode(t.Context(), agent.NoMode)
	require.NoError(t, err)
	prompt(t, s, "go")
	require.Contains(t, lastResult(t, m), "Successfully wrote")
	require.NoError(t, w.Close(t.Context()))
}

// The user is notified of plan mode once per session.
func TestPlanModeIsReportedOnce(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	w := newWorld(t, fs, withModel(scripted(providertest.Reply{Text: "Done."})), withFiles(fs, approval.Ask))
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), planned(t, fs, ""))
	require.NoError(t, err)
	prompt(t, s, "one")
	prompt(t, s, "two")
	notices := 0
	for _, e := range eventsOf[event.Notice](w) {
		if strings.Contains(e.Text, "Plan mode") {
			notices++
		}
	}
	require.Equal(t, 1, notices)
	require.NoError(t, w.Close(t.Context()))
}
