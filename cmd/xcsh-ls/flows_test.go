package main_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

const (
	otherFile  = "/home/u/.xcsh/agent/sessions/--w--/2026-01-01T00-00-00-000Z_0190000000000002.jsonl"
	theirFile  = "/home/u/.xcsh/agent/sessions/--v--/2026-01-01T00-00-00-000Z_0290000000000003.jsonl"
	breadcrumb = "/home/u/.xcsh/agent/terminal-sessions/t1"
)

// putAll writes three session files: two of the folder, one of another project.
func putAll(t *testing.T, fs afero.Fs) {
	t.Helper()
	put(t, fs, talk()...)
	for path, id := range map[string]string{otherFile: "0190000000000002", theirFile: "0290000000000003"} {
		cwd := "/w"
		if path == theirFile {
			cwd = "/v"
		}
		content := st.File(st.Header(id, cwd), st.User("aaaaaaaa", "", "other"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"))
		require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
	}
	require.NoError(t, fs.MkdirAll("/v", 0o700))
}

// file returns the live session's file.
func file(t *testing.T, ed *lsptest.Editor, cwd string) string {
	t.Helper()
	var state struct{ File string }
	require.NoError(t, json.Unmarshal(do(t, ed, "xcsh.state", lsptest.Fields{"cwd": cwd}), &state))
	return state.File
}

// Every operation that changes the live session leaves a breadcrumb, so that continue, here or in a
// terminal, opens that session. Operations that only read, fail or are refused leave none.
// Proves
func TestBreadcrumbFollowsEveryChange(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	putAll(t, fs)
	ed := ask(t, memoryServer(t, fs), lsptest.Fields{"terminalId": "t1"}, nil)
	leads := func(cwd, what string) {
		t.Helper()
		content, err := afero.ReadFile(fs, breadcrumb)
		require.NoError(t, err, what)
		require.Equal(t, cwd+"\n"+file(t, ed, cwd)+"\n", string(content), what)
	}
	none := func(what string) {
		t.Helper()
		exists, err := afero.Exists(fs, breadcrumb)
		require.NoError(t, err)
		require.False(t, exists, what)
	}
	do(t, ed, "xcsh.state", nil)
	none("a session that is only looked at")
	_, err := ed.Exec("xcsh.resume", lsptest.Fields{"target": "gone"})
	require.NotNil(t, err)
	none("a change that failed")
	do(t, ed, "xcsh.prompt", lsptest.Fields{"text": "hello"})
	leads("/w", "the first answer, which makes the file")

	steps := []struct {
		command string
		args    lsptest.Fields
		cwd     string
	}{
		{"xcsh.resume", lsptest.Fields{"target": sessionFile}, "/w"},
		{"xcsh.fork", nil, "/w"},
		{"xcsh.fork", lsptest.Fields{"entryId": "bbbbbbbb"}, "/w"},
		{"xcsh.fork", lsptest.Fields{"source": otherFile}, "/w"},
		{"xcsh.fork", lsptest.Fields{"source": otherFile, "entryId": "aaaaaaaa"}, "/w"},
		{"xcsh.resume", lsptest.Fields{"target": "0290", "onOtherProject": "fork"}, "/w"},
		{"xcsh.resume", lsptest.Fields{"target": "0290", "onOtherProject": "open"}, "/w"},
		{"xcsh.resume", lsptest.Fields{"target": "/w/new.jsonl", "create": true}, "/w"},
		{"xcsh.new", nil, "/w"},
		{"xcsh.resume", lsptest.Fields{"target": otherFile}, "/w"},
		{"xcsh.move", lsptest.Fields{"cwd": "/w", "to": "/v"}, "/v"},
		{"xcsh.resume", lsptest.Fields{"cwd": "/w", "target": sessionFile}, "/w"},
		{"xcsh.delete", lsptest.Fields{"cwd": "/w", "source": sessionFile, "confirm": true}, "/w"},
	}
	for _, step := range steps {
		args := lsptest.Fields{"cwd": "/w"}
		maps.Copy(args, step.args)
		do(t, ed, step.command, args)
		leads(step.cwd, step.command)
	}
}

// A fork is refused while an answer is streaming, whatever its source: the answer continues and no file
// is left behind. A resume stops the answer, and the partial answer stays in its own session.
// Proves: X-195, X-209 (snapshot), O-031
func TestForkWaitsAndResumeStopsTheTurn(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	putAll(t, fs)
	model := newGated()
	ed := ask(t, serverOf(t, fs, model), nil, nil)
	do(t, ed, "xcsh.resume", lsptest.Fields{"target": sessionFile})
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "a long story"})
	<-model.asked
	before := paths(t, fs)
	for name, args := range map[string]lsptest.Fields{
		"the session":              nil,
		"to an entry":              {"entryId": "bbbbbbbb"},
		"another":                  {"source": otherFile},
		"another, to an entry":     {"source": otherFile, "entryId": "aaaaaaaa"},
		"the session, by its file": {"source": sessionFile},
	} {
		_, err := ed.Exec("xcsh.fork", args)
		require.NotNil(t, err, name)
		require.Equal(t, "busy", err.Kind(), name)
		require.Equal(t, "Wait for the current response to finish or abort it before forking.", err.Message, name)
	}
	require.Equal(t, before, paths(t, fs))
	require.Equal(t, sessionFile, file(t, ed, "/w"))

	requireLeavingAsks(t, ed)
	require.Equal(t, sessionFile, file(t, ed, "/w"), "the turn goes on")
	require.Contains(t, string(do(t, ed, "xcsh.snapshot", nil)), `"isStreaming":true`)

	leaving := ed.BeginExec("xcsh.resume", lsptest.Fields{"target": otherFile, "onRunning": "ask"})
	ed.AnswerQuestion("A turn is running in this session. Stop it and switch?", "Stop and Switch")
	_, err := leaving.Wait()
	require.Nil(t, err)
	_, err = turn.Wait()
	require.Nil(t, err, "a stopped turn ends without an error")
	require.Equal(t, otherFile, file(t, ed, "/w"))
	require.Contains(t, read(t, fs), "a long story")
	shown := string(do(t, ed, "xcsh.snapshot", nil))
	require.Contains(t, shown, `"content":"other"`)
	require.NotContains(t, shown, "a long story")
	require.Contains(t, shown, `"isStreaming":false`)
}

// requireLeavingAsks requires that each command that leaves the session of a running turn asks first, and fails
// without a question if the call says so.
func requireLeavingAsks(t *testing.T, ed *lsptest.Editor) {
	t.Helper()
	for command, args := range map[string]lsptest.Fields{
		"xcsh.new": {}, "xcsh.continue": {}, "xcsh.resume": {"target": otherFile},
	} {
		leaving := ed.BeginExec(command, args)
		ed.AnswerQuestion("A turn is running in this session. Stop it and switch?", "Keep Running")
		_, err := leaving.Wait()
		require.NotNil(t, err, command)
		require.Equal(t, "cancelled", err.Kind(), command)
		require.Equal(t, "The session was not changed. The running turn continues.", err.Message)
		args["onRunning"] = "fail"
		_, err = ed.Exec(command, args)
		require.NotNil(t, err, command)
		require.Equal(t, "busy", err.Kind(), command)
		args["onRunning"] = "wait"
		_, err = ed.Exec(command, args)
		require.NotNil(t, err, command)
		require.Equal(t, "invalidArgument", err.Kind(), command)
	}
}

// A turn is stopped without a question if the call says so. A client that cannot ask its user gets the busy error.
func TestOnRunningStop(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	putAll(t, fs)
	model := newGated()
	ed := ask(t, serverOf(t, fs, model), nil, nil)
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "a long story"})
	<-model.asked
	do(t, ed, "xcsh.new", lsptest.Fields{"onRunning": "stop"})
	_, err := turn.Wait()
	require.Nil(t, err)
	require.Contains(t, string(do(t, ed, "xcsh.snapshot", nil)), `"isStreaming":false`)
	for _, m := range ed.Messages() {
		require.NotEqual(t, "window/showMessageRequest", m.Method)
	}
}

// paths returns the paths of all files.
func paths(t *testing.T, fs afero.Fs) []string {
	t.Helper()
	found, err := afero.Glob(fs, "/home/u/.xcsh/agent/sessions/*/*.jsonl")
	require.NoError(t, err)
	return found
}

// A change that a hook refused is not reported as a change: no session event, no breadcrumb and no file.
// The response names the hook that refused it.
// Proves: X-194, O-069
func TestVetoedChangeLeavesNoTrace(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	putAll(t, fs)
	options := lsptest.Fields{"terminalId": "t1", "ui": lsptest.Fields{"hooks": true}}
	ed := ask(t, memoryServer(t, fs), options, nil)
	do(t, ed, "xcsh.state", nil)
	require.Contains(t, string(ed.WaitNotification("xcsh/sessionChanged")), `"reason":"start"`)
	before, live := paths(t, fs), file(t, ed, "/w")
	for command, args := range map[string]lsptest.Fields{
		"xcsh.resume":   {"target": sessionFile},
		"xcsh.continue": nil,
		"xcsh.new":      nil,
		"xcsh.fork":     {"source": otherFile},
	} {
		pending := ed.BeginExec(command, args)
		ed.WaitRequest("xcsh/beforeSwitch").Reply(lsptest.Fields{"cancel": true})
		answer, err := pending.Wait()
		require.Nil(t, err, command)
		require.Regexp(t, `^\{"(switched|created|forked)":false,"cancelledBy":"hook`, string(answer), command)
		require.Equal(t, live, file(t, ed, "/w"))
	}
	require.Equal(t, before, paths(t, fs))
	exists, err := afero.Exists(fs, breadcrumb)
	require.NoError(t, err)
	require.False(t, exists)
	for _, m := range ed.Messages() {
		require.False(t, m.Method == "xcsh/sessionChanged" && !strings.Contains(string(m.Params), `"reason":"start"`), "%s", m.Params)
	}
}
