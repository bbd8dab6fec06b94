package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// starting starts an editor whose server has flags, in a folder with one session of its own and one of
// another project.
func starting(t *testing.T, f flags) (ed *lsptest.Editor, folder string) {
	t.Helper()
	folder, f.agentDir = t.TempDir(), t.TempDir()
	sessions := library.AgentPlaces(f.agentDir).Sessions
	for id, cwd := range map[string]string{"0190000000000001": folder, "0290000000000002": "/elsewhere"} {
		path := filepath.Join(sessions, "--"+strings.ReplaceAll(strings.TrimPrefix(cwd, "/"), "/", "-")+"--", "2026-01-01T00-00-00-000Z_"+id+".jsonl")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		content := st.File(st.Header(id, cwd), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	ed = lsptest.Start(t, serverOptions(f, zaptest.NewLogger(t)))
	ed.Initialize(lsptest.Fields{
		"workspaceFolders":      []lsptest.Fields{{"uri": lsptest.URI(folder), "name": "w"}},
		"initializationOptions": lsptest.Fields{"roots": []string{}, "ui": lsptest.Fields{"pick": true}},
	})
	return ed, folder
}

func sessionOf(t *testing.T, ed *lsptest.Editor) string {
	t.Helper()
	state, err := ed.Exec("xcsh.state", nil)
	require.Nil(t, err)
	return string(state)
}

// A question at startup is shown to the user whatever pickers the client has, because no command of the
// client caused it. Commands run meanwhile, and the answer is processed when it arrives.
// Proves: O-048
func TestStartupPickerDoesNotBlockCommands(t *testing.T) {
	t.Parallel()
	ed, _ := starting(t, flags{resume: target{given: true}})
	question := ed.WaitRequest("window/showMessageRequest")
	require.Contains(t, sessionOf(t, ed), `"messageCount":0`)
	var asked struct{ Actions []lsptest.Fields }
	require.NoError(t, json.Unmarshal(question.Params, &asked))
	require.Len(t, asked.Actions, 1, "the folder's own session")
	question.Reply(asked.Actions[0])
	for _, reason := range []string{"start", "resume"} {
		require.Contains(t, string(ed.WaitNotification("xcsh/sessionChanged")), `"reason":"`+reason+`"`)
	}
	require.Contains(t, sessionOf(t, ed), `"sessionId":"0190000000000001"`)
}

// If the user closes the picker at startup, the folder has a new session and no error is shown.
// Proves: O-068
func TestClosedStartupPickerOpensANewSession(t *testing.T) {
	t.Parallel()
	ed, _ := starting(t, flags{resume: target{given: true}})
	ed.WaitRequest("window/showMessageRequest").Reply(nil)
	require.JSONEq(t, `{"type":3,"message":"No session selected"}`, string(ed.WaitNotification("window/showMessage")))
	require.Contains(t, sessionOf(t, ed), `"messageCount":0`)
}

// At startup, a session of another project is copied into the folder only after confirmation.
// Proves: O-050
func TestStartupForksASessionOfAnotherProject(t *testing.T) {
	t.Parallel()
	ed, folder := starting(t, flags{resume: target{true, "0290"}})
	ed.AnswerQuestion("Session found in different project: /elsewhere. Fork into current directory?", "Fork")
	for _, reason := range []string{"start", "fork"} {
		require.Contains(t, string(ed.WaitNotification("xcsh/sessionChanged")), `"reason":"`+reason+`"`)
	}
	state := sessionOf(t, ed)
	require.Contains(t, state, `"parentSession":"0290000000000002"`)
	require.Contains(t, state, filepath.ToSlash(folder))
}

// Proves: O-048
func TestResumeFlagWithoutAValue(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                        "",
		"--resume":                "--resume=",
		"--resume 0190":           "--resume 0190",
		"--resume --stdio":        "--resume= --stdio",
		"--resume=x --stdio":      "--resume=x --stdio",
		"run --resume --json hi":  "run --resume= --json hi",
		"run -- --resume":         "run -- --resume",
		"--resume -- --resume":    "--resume= -- --resume",
		"--export a.jsonl b.html": "--export a.jsonl b.html",
	} {
		given := strings.Fields(line)
		require.Equal(t, strings.Fields(want), withoutValue(given), line)
		require.Equal(t, strings.Fields(line), given, "the caller's slice is unchanged")
	}
}
