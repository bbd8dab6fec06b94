package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// written is the text that the user writes into each file.
const written = "hello"

// plainClient is an editor without a plugin: it runs commands by name and shows questions only with the
// means of the protocol.
type plainClient struct {
	capabilities lsptest.Fields
	answer       func(t *testing.T, ed *lsptest.Editor, r lsptest.Request)
}

var shows = lsptest.Fields{"window": lsptest.Fields{"showDocument": lsptest.Fields{"support": true}, "workDoneProgress": true}}

// plainClients maps names to clients that differ in how they answer the server's requests.
var plainClients = map[string]plainClient{
	"answers": {shows, func(t *testing.T, ed *lsptest.Editor, r lsptest.Request) {
		if r.Method != "window/showDocument" {
			answerFirst(t, r)
			return
		}
		path := shownPath(t, r)
		r.Reply(lsptest.Fields{"success": true})
		if isInput(path) {
			writeAnswer(t, path)
			ed.Save(path)
		}
	}},
	"answers, and opens nothing": {lsptest.Fields{}, func(t *testing.T, _ *lsptest.Editor, r lsptest.Request) { answerFirst(t, r) }},
	"supports no questions":      {lsptest.Fields{}, func(_ *testing.T, _ *lsptest.Editor, r lsptest.Request) { r.Fail(-32601, "no such method") }},
	"closes each question":       {lsptest.Fields{}, func(_ *testing.T, _ *lsptest.Editor, r lsptest.Request) { r.Reply(nil) }},
	"claims to show documents":   {shows, func(_ *testing.T, _ *lsptest.Editor, r lsptest.Request) { r.Reply(nil) }},
}

// answerFirst answers a question with its first choice, after writing the file to which it refers.
func answerFirst(t *testing.T, r lsptest.Request) {
	t.Helper()
	var q struct {
		Message string           `json:"message"`
		Actions []map[string]any `json:"actions"`
	}
	require.NoError(t, json.Unmarshal(r.Params, &q))
	if len(q.Actions) == 0 {
		r.Reply(nil) // no question: the start of a progress
		return
	}
	if _, rest, ok := strings.Cut(q.Message, "Write it into "); ok {
		path, _, ok := strings.Cut(rest, " and save it, before or after you choose Continue.")
		require.True(t, ok, q.Message)
		writeAnswer(t, filepath.FromSlash(path))
	}
	r.Reply(q.Actions[0])
}

func shownPath(t *testing.T, r lsptest.Request) string {
	t.Helper()
	var p struct {
		URI string `json:"uri"`
	}
	require.NoError(t, json.Unmarshal(r.Params, &p))
	return lsptest.Path(t, p.URI)
}

// isInput reports whether the user is to write into the file.
func isInput(path string) bool {
	content, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(content), "Write above this line and save.")
}

func writeAnswer(t *testing.T, path string) {
	t.Helper()
	require.True(t, isInput(path), path)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append([]byte(written+"\n"), content...), 0o600))
}

// refusals are the commands that fail although the user answers, with the reasons.
var refusals = map[string]struct{ kind, why string }{
	"xcsh.steer":    {"stale", "no running turn"},
	"xcsh.followUp": {"stale", "no running turn"},

	"xcsh.editQueued": {"stale", "no queued message"},

	"xcsh.approve": {"notFound", "no pending approval"},

	"xcsh.chooseBranch": {"notFound", "no other program has continued"},

	"xcsh.setKey": {"argumentNeeded", "a document would store the key"},

	"xcsh.compact":  {"invalidArgument", "the session is too short"},
	"xcsh.share":    {"notFound", "neither gh nor a share script"},
	"xcsh.import":   {"notFound", "agent-base has no sessions here"},
	"xcsh.forget":   {"notFound", "the history is empty"},
	"xcsh.artifact": {"notFound", "no output was kept"},

	"xcsh.stopBackground": {"notFound", "no command is running"},

	"xcsh.answer": {"notFound", "no extension asks"},
	"xcsh.login":  {"denied", "this program itself answers, which needs no login"},
	"xcsh.change": {"notFound", "no file was changed"},
	"xcsh.keep":   {"notFound", "no file was changed"},

	"xcsh.team.share":    {"refused", "no team store is set up"},
	"xcsh.team.follow":   {"refused", "no team store is set up"},
	"xcsh.team.unshare":  {"refused", "no team store is set up"},
	"xcsh.team.undelete": {"refused", "no team store is set up"},
	"xcsh.team.take":     {"refused", "no team store is set up"},
}

// asked are the commands that ask the user, with the error kinds that a client gets if it cannot ask and if its
// user closes each question. A file to write that was never opened does not count as closed by the user.
var asked = map[string]struct{ unknown, closed string }{
	"xcsh.resume":        {"cancelled", "cancelled"}, // nothing was selected, in the wording of the terminal programs
	"xcsh.resolve":       {"argumentNeeded", "cancelled"},
	"xcsh.branch":        {"argumentNeeded", "cancelled"},
	"xcsh.label":         {"argumentNeeded", "cancelled"},
	"xcsh.rename":        {"argumentNeeded", "argumentNeeded"},
	"xcsh.delete":        {"argumentNeeded", "cancelled"},
	"xcsh.undelete":      {"argumentNeeded", "cancelled"},
	"xcsh.deleteTrashed": {"argumentNeeded", "cancelled"},
	"xcsh.move":          {"argumentNeeded", "argumentNeeded"},
	"xcsh.prompt":        {"argumentNeeded", "argumentNeeded"},
	"xcsh.setModel":      {"argumentNeeded", "cancelled"},
	"xcsh.setKey":        {"argumentNeeded", "cancelled"},
	"xcsh.setThinking":   {"argumentNeeded", "cancelled"},
	"xcsh.setApproval":   {"argumentNeeded", "cancelled"},
	"xcsh.setMode":       {"argumentNeeded", "cancelled"},
	"xcsh.bash":          {"argumentNeeded", "argumentNeeded"},
	"xcsh.steer":         {"stale", "stale"},
	"xcsh.followUp":      {"stale", "stale"},
	"xcsh.editQueued":    {"stale", "stale"},
	"xcsh.approve":       {"notFound", "notFound"},
	"xcsh.compact":       {"invalidArgument", "invalidArgument"},
	"xcsh.share":         {"notFound", "notFound"},
	"xcsh.import":        {"notFound", "notFound"},
	"xcsh.forget":        {"notFound", "notFound"},
	"xcsh.artifact":      {"notFound", "notFound"},
	"xcsh.describe":      {"argumentNeeded", "argumentNeeded"},

	"xcsh.chooseBranch":   {"notFound", "notFound"},
	"xcsh.stopBackground": {"notFound", "notFound"},

	"xcsh.setEngine": {"argumentNeeded", "cancelled"},
	"xcsh.answer":    {"notFound", "notFound"},
	"xcsh.login":     {"denied", "denied"},
	"xcsh.change":    {"notFound", "notFound"},
	"xcsh.keep":      {"notFound", "notFound"},
	"xcsh.rewind":    {"argumentNeeded", "cancelled"},

	"xcsh.team.share":    {"refused", "refused"},
	"xcsh.team.follow":   {"refused", "refused"},
	"xcsh.team.unshare":  {"refused", "refused"},
	"xcsh.team.undelete": {"refused", "refused"},
	"xcsh.team.take":     {"refused", "refused"},
}

// Some editors can only run a command by its name. Each command then asks the user for its missing
// arguments, or fails with a one-sentence message; none waits forever.
// Proves: AB-089, E-01
func TestEveryCommandWithoutArguments(t *testing.T) {
	t.Parallel()
	for _, name := range commands.Default.Names() {
		if name == "xcsh.share" {
			continue // see TestShareWithoutArguments
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for client, c := range plainClients {
				t.Run(client, func(t *testing.T) {
					t.Parallel()
					runWithoutArguments(t, name, client, c, "")
				})
			}
			for _, arguments := range []string{`[]`, `[{}]`, `[null]`, `null`} {
				t.Run(arguments, func(t *testing.T) {
					t.Parallel()
					runWithoutArguments(t, name, "answers", plainClients["answers"], arguments)
				})
			}
		})
	}
}

// The PATH is empty, so that running the tests never publishes anything.
// Proves: E-01
func TestShareWithoutArguments(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for client, c := range plainClients {
		t.Run(client, func(t *testing.T) { runWithoutArguments(t, "xcsh.share", client, c, "") })
	}
}

func runWithoutArguments(t *testing.T, name, client string, c plainClient, arguments string) {
	t.Helper()
	ed := plainEditor(t, c)
	params := lsptest.Fields{"command": name}
	if arguments != "" {
		params["arguments"] = json.RawMessage(arguments)
	}
	result, err := ed.Begin("workspace/executeCommand", params).WaitAnswering(func(r lsptest.Request) { c.answer(t, ed, r) })
	if err != nil {
		assert.NotContains(t, []string{"", "internal"}, err.Kind(), err.Message)
		assert.NotContains(t, err.Message, "\n", "one sentence")
		assert.NotEmpty(t, err.Message)
	} else {
		require.True(t, json.Valid(result))
	}
	kind := ""
	if err != nil {
		kind = err.Kind()
	}
	switch client {
	case "answers", "answers, and opens nothing":
		assert.Equal(t, refusals[name].kind, kind, "%v; %s", err, refusals[name].why)
	case "supports no questions":
		assert.Equal(t, asked[name].unknown, kind, "%v", err)
	default:
		assert.Equal(t, asked[name].closed, kind, "%v", err)
	}
	_, failure := ed.Exec("xcsh.state", nil)
	require.Nil(t, failure, "the server still responds")
}

// plainEditor starts a client in a folder with one live session, another on disk and a third in the trash.
func plainEditor(t *testing.T, c plainClient) *lsptest.Editor {
	t.Helper()
	work := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(work, written), 0o700))
	fs := afero.NewMemMapFs()
	require.NoError(t, fs.MkdirAll(filepath.Join(work, written), 0o700))
	ed := lsptest.Start(t, memoryServer(t, fs))
	ed.Initialize(lsptest.Fields{
		"capabilities":          c.capabilities,
		"workspaceFolders":      []lsptest.Fields{{"uri": lsptest.URI(work), "name": "w"}},
		"initializationOptions": lsptest.Fields{"model": "offline/demo"},
	})
	quiet := func(name string, args lsptest.Fields) json.RawMessage {
		result, err := ed.BeginExec(name, args).WaitAnswering(func(r lsptest.Request) { r.Reply(nil) })
		require.Nil(t, err, name)
		return result
	}
	var first string
	for _, text := range []string{"three", "two", "one"} {
		var made struct{ Session struct{ SessionID string } }
		require.NoError(t, json.Unmarshal(quiet("xcsh.new", nil), &made))
		quiet("xcsh.prompt", lsptest.Fields{"text": text})
		if first == "" {
			first = made.Session.SessionID
		}
	}
	quiet("xcsh.delete", lsptest.Fields{"source": first, "confirm": true})
	return ed
}

// A pending approval can be answered without its id, for example when its own question is no longer visible.
// Proves: E-01
func TestApproveWithoutArguments(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	putText(t, fs, "/w/a.txt", "one\n")
	ed := ask(t, memoryServer(t, fs), nil, nil)
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "edit a.txt: one => two"})
	behind := ed.WaitRequest("window/showMessageRequest")

	_, err := ed.BeginExec("xcsh.approve", nil).WaitAnswering(func(r lsptest.Request) { r.Reply(nil) })
	require.Equal(t, "cancelled", err.Kind())
	require.Equal(t, "No permission prompt selected", err.Message)
	_, err = ed.BeginExec("xcsh.approve", nil).WaitAnswering(func(r lsptest.Request) { r.Fail(-32601, "no such method") })
	require.Equal(t, "argumentNeeded", err.Kind())
	require.JSONEq(t, `{"kind":"argumentNeeded","input":"text","field":"id","choices":["offline_1"]}`, string(err.Data))
	require.Equal(t, "one\n", textOf(t, fs, "/w/a.txt"))

	approve := ed.BeginExec("xcsh.approve", nil)
	ed.AnswerQuestion("Select a permission prompt", "Edit a.txt · offline_1")
	ed.AnswerQuestion("Allow this action?", "Allow")
	result, err := approve.Wait()
	require.Nil(t, err)
	require.JSONEq(t, `{"decision":"once"}`, string(result))
	behind.Reply(nil) // too late
	_, err = prompt.Wait()
	require.Nil(t, err)
	require.Equal(t, "two\n", textOf(t, fs, "/w/a.txt"))
}

// A notification without its argument must not block the next one while it waits for the user.
// Proves: E-03
func TestNotificationsOfHostsNeverAsk(t *testing.T) {
	t.Parallel()
	ed := plainEditor(t, plainClient{capabilities: shows})
	for method, question := range map[string]string{
		"xcsh/setModel": "Select a model", "xcsh/setThinking": "Select a thinking level",
		"xcsh/prompt": "Message", "xcsh/steer": "Message", "xcsh/followUp": "Message",
	} {
		ed.Notify(method, lsptest.Fields{})
		require.Contains(t, string(ed.WaitEvent("error")), question)
	}
}

// While a turn runs, a user can write a text for it, but not a prompt that would be refused.
// Proves: E-01
func TestSteeringWithoutArguments(t *testing.T) {
	t.Parallel()
	model := newGated()
	ed := ask(t, serverOf(t, afero.NewMemMapFs(), model), nil, nil)
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "a long story"})
	<-model.asked
	_, err := ed.Exec("xcsh.prompt", nil)
	require.Equal(t, "busy", err.Kind())
	for i, command := range []string{"xcsh.steer", "xcsh.followUp"} {
		result, err := ed.BeginExec(command, nil).WaitAnswering(func(r lsptest.Request) { answerFirst(t, r) })
		require.Nil(t, err)
		require.JSONEq(t, fmt.Sprintf(`{"queued":%d}`, i+1), string(result))
	}
	result, err := ed.Exec("xcsh.abort", nil)
	require.Nil(t, err)
	require.JSONEq(t, `{"aborted":true,"unanswered":["hello","hello"]}`, string(result))
	_, err = prompt.Wait()
	require.Nil(t, err)
}
