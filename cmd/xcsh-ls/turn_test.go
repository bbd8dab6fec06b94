package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// editQuestion is the text of the message box before a.txt is edited.
const editQuestion = "Allow xcsh to edit a.txt?\nFor this session: edits to files in this folder, except protected files\n--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-%s\n+%s\n"

// gated is the offline demo, but waits for the test before each answer.
type gated struct {
	asked  chan provider.Request // one for each request
	answer chan struct{}
}

func newGated() gated {
	return gated{asked: make(chan provider.Request, 16), answer: make(chan struct{}, 16)}
}

func (g gated) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return func(yield func(provider.Event) bool) {
		g.asked <- req
		select {
		case <-g.answer:
		case <-ctx.Done():
		}
		for e := range (blocks{offline.Provider{Now: now}}).Stream(ctx, req) {
			if !yield(e) {
				return
			}
		}
	}
}

// refusing is a service that rejects every request.
type refusing struct{ err provider.Error }

func (r refusing) Stream(_ context.Context, req provider.Request) iter.Seq[provider.Event] {
	return func(yield func(provider.Event) bool) {
		m := provider.Message{
			Role: provider.RoleAssistant, API: provider.Scripted, Provider: req.Model.Provider, Model: req.Model.ID,
			Usage: &provider.Usage{}, StopReason: provider.StopError, ErrorMessage: r.err.Message, Timestamp: now().UnixMilli(),
		}
		_ = yield(provider.Event{Kind: provider.Start, Message: &m}) && yield(provider.Event{Kind: provider.Failed, Message: &m, Err: &r.err})
	}
}

// ask starts an editor on folder /w whose sessions use offline/demo.
func ask(t *testing.T, o lsp.Options, options, capabilities lsptest.Fields) *lsptest.Editor {
	t.Helper()
	settings := lsptest.Fields{"model": "offline/demo"}
	maps.Copy(settings, options)
	if capabilities == nil {
		capabilities = lsptest.Fields{}
	}
	ed := lsptest.Start(t, o)
	ed.Initialize(lsptest.Fields{
		"workspaceFolders":      []lsptest.Fields{{"uri": lsptest.URI("/w"), "name": "w"}},
		"initializationOptions": settings, "capabilities": capabilities,
	})
	return ed
}

var editing = lsptest.Fields{"workspace": lsptest.Fields{
	"applyEdit": true, "workspaceEdit": lsptest.Fields{"documentChanges": true},
}}

var hooking = lsptest.Fields{"ui": lsptest.Fields{"hooks": true}}

// numbered holds the fields that the events of a session share.
type numbered struct {
	Seq       uint64          `json:"seq"`
	SessionID string          `json:"sessionId"`
	Event     json.RawMessage `json:"event"`
}

// event holds the fields of a turn's event that the tests check.
type event struct {
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	Kind         string          `json:"kind"`
	ErrorMessage string          `json:"errorMessage"`
	Steering     []string        `json:"steering"`
	FollowUp     []string        `json:"followUp"`
	IsError      bool            `json:"isError"`
	Result       json.RawMessage `json:"result"`
	Approvals    json.RawMessage `json:"approvals"`
	StopReason   string          `json:"stopReason"`
}

// eventsSoFar returns the events of the folder's session so far and requires that none is missing.
func eventsSoFar(t *testing.T, ed *lsptest.Editor) []event {
	t.Helper()
	var events []event
	next := uint64(1)
	for _, m := range ed.Messages() {
		if m.Method != "xcsh/event" && m.Method != "xcsh/sessionChanged" {
			continue
		}
		var n numbered
		require.NoError(t, json.Unmarshal(m.Params, &n))
		require.Equal(t, next, n.Seq, "the events are numbered without gaps")
		next++
		if n.Event != nil {
			var e event
			require.NoError(t, json.Unmarshal(n.Event, &e))
			events = append(events, e)
		}
	}
	return events
}

// waitEvent waits for the next event of a type.
func waitEvent(t *testing.T, ed *lsptest.Editor, typ string) (e event) {
	t.Helper()
	require.NoError(t, json.Unmarshal(ed.WaitEvent(typ), &e))
	return e
}

// toolEnds returns the events of completed tool calls so far.
func toolEnds(t *testing.T, ed *lsptest.Editor) []event {
	t.Helper()
	var ends []event
	for _, e := range eventsSoFar(t, ed) {
		if e.Type == "tool_execution_end" {
			ends = append(ends, e)
		}
	}
	return ends
}

func putText(t *testing.T, fs afero.Fs, path, text string) {
	t.Helper()
	require.NoError(t, afero.WriteFile(fs, path, []byte(text), 0o600))
}

func textOf(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	return string(content)
}

// An edit of an open document requires the user's approval and is applied by the editor: the client
// receives everything it needs to show the change, then applies the change itself.
func TestApprovedEditIsMadeByTheClient(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	putText(t, fs, "/w/a.txt", "saved\n")
	ed := ask(t, memoryServer(t, fs), hooking, editing)
	ed.Open("/w/a.txt", "one\n")
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "edit a.txt: one => two"})

	question := ed.WaitRequest("xcsh/approve")
	require.JSONEq(t, `{"cwd":"/w","sessionId":"0000000000000001","id":"offline_1","tool":"edit",
		"args":{"path":"a.txt","edits":[{"oldText":"one","newText":"two"}]},
		"title":"Edit a.txt","diff":"--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n","paths":["/w/a.txt"],"base":"`+tool.Sum([]byte("one\n"))+`","rules":[{"edit":true,"text":"edits to files in this folder, except protected files"}]}`, string(question.Params))
	require.JSONEq(t, `[{"id":"offline_1","tool":"edit","args":{"path":"a.txt","edits":[{"oldText":"one","newText":"two"}]},
		"preview":{"title":"Edit a.txt","diff":"--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n","paths":["/w/a.txt"],"base":"`+tool.Sum([]byte("one\n"))+`"},
		"rules":[{"edit":true,"text":"edits to files in this folder, except protected files"}],"shown":true}]`, string(waitEvent(t, ed, "approvals_changed").Approvals))
	question.Reply(lsptest.Fields{"decision": "once"})

	edit := ed.WaitRequest("workspace/applyEdit")
	require.JSONEq(t, `{"label":"Edit a.txt","edit":{"documentChanges":[{"textDocument":{"uri":"file:///w/a.txt","version":1},
		"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":0}},"newText":"two\n"}]}]}}`, string(edit.Params))
	require.JSONEq(t, `[]`, string(waitEvent(t, ed, "approvals_changed").Approvals), "no approval is pending")
	ed.Change("/w/a.txt", 2, "two\n")
	edit.Reply(lsptest.Fields{"applied": true})

	result, err := prompt.Wait()
	require.Nil(t, err)
	require.Contains(t, string(result), `"stopReason":"stop"`)
	ends := toolEnds(t, ed)
	require.Len(t, ends, 1)
	require.False(t, ends[0].IsError)
	require.Equal(t, "saved\n", textOf(t, fs, "/w/a.txt"), "the user saves the file")
}

// A client without hooks is asked with a message box.
func TestEditIsApprovedInAMessageBox(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	putText(t, fs, "/w/a.txt", "one\n")
	ed := ask(t, memoryServer(t, fs), nil, nil)
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "edit a.txt: one => two"})
	ed.AnswerQuestion(fmt.Sprintf(editQuestion, "one", "two"), "Allow")
	_, err := prompt.Wait()
	require.Nil(t, err)
	require.Equal(t, "two\n", textOf(t, fs, "/w/a.txt"))

	// The first approval was for one edit only. The next one covers similar edits, too.
	prompt = ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "edit a.txt: two => three"})
	ed.AnswerQuestion(fmt.Sprintf(editQuestion, "two", "three"), "Allow for this session")
	_, err = prompt.Wait()
	require.Nil(t, err)
	do(t, ed, "xcsh.prompt", lsptest.Fields{"text": "edit a.txt: three => four"})
	require.Equal(t, "four\n", textOf(t, fs, "/w/a.txt"))
}

// A denial denies the edit, and so does every invalid answer. The model is notified and the turn continues.
func TestDeniedEditIsNotMade(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		options lsptest.Fields
		answer  func(*lsptest.Editor)
	}{
		"denied":               {hooking, func(ed *lsptest.Editor) { ed.WaitRequest("xcsh/approve").Reply(lsptest.Fields{"decision": "deny"}) }},
		"an unknown answer":    {hooking, func(ed *lsptest.Editor) { ed.WaitRequest("xcsh/approve").Reply(lsptest.Fields{"decision": "always"}) }},
		"null":                 {hooking, func(ed *lsptest.Editor) { ed.WaitRequest("xcsh/approve").Reply(nil) }},
		"denied in a box":      {nil, func(ed *lsptest.Editor) { ed.AnswerQuestion(fmt.Sprintf(editQuestion, "one", "two"), "Deny") }},
		"a box that is closed": {nil, func(ed *lsptest.Editor) { ed.AnswerQuestion(fmt.Sprintf(editQuestion, "one", "two"), "") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			putText(t, fs, "/w/a.txt", "one\n")
			ed := ask(t, memoryServer(t, fs), tc.options, nil)
			prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "edit a.txt: one => two"})
			tc.answer(ed)
			result, err := prompt.Wait()
			require.Nil(t, err)
			require.Contains(t, string(result), `"stopReason":"stop"`)
			ends := toolEnds(t, ed)
			require.Len(t, ends, 1)
			require.True(t, ends[0].IsError)
			require.Contains(t, string(ends[0].Result), "The user denied this edit call.")
			require.Equal(t, "one\n", textOf(t, fs, "/w/a.txt"))
		})
	}
}

// A question can be answered by a command, for example from a panel that follows the events. The client
// is then asked to close the question.
func TestCommandAnswersAnApproval(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	putText(t, fs, "/w/a.txt", "one\n")
	ed := ask(t, memoryServer(t, fs), hooking, nil)
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "edit a.txt: one => two"})
	question := ed.WaitRequest("xcsh/approve")
	require.Contains(t, string(do(t, ed, "xcsh.snapshot", nil)), `"approvals":[{"id":"offline_1"`)
	require.JSONEq(t, `{"decision":"once"}`, string(do(t, ed, "xcsh.approve", lsptest.Fields{"id": "offline_1", "decision": "once"})))
	require.JSONEq(t, `{"id":`+string(question.ID)+`}`, string(ed.WaitNotification("$/cancelRequest")))
	_, err := prompt.Wait()
	require.Nil(t, err)
	question.Reply(lsptest.Fields{"decision": "deny"}) // too late
	_, again := ed.Exec("xcsh.approve", lsptest.Fields{"id": "offline_1", "decision": "deny"})
	require.Equal(t, "notFound", again.Kind())
	require.Equal(t, "two\n", textOf(t, fs, "/w/a.txt"))
}

// While a turn runs, a second prompt is refused, or queued if its arguments say so. Both queues are shown and
// processed in the same run.
func TestSteeringAndFollowUps(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	demo := newGated()
	ed := ask(t, serverOf(t, fs, demo), nil, nil)
	first := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "look at one.txt"})
	<-demo.asked

	_, err := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "two"})
	require.Equal(t, "busy", err.Kind())
	_, err = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "two", "streamingBehavior": "shout"})
	require.Equal(t, "invalidArgument", err.Kind())
	_, err = ed.Exec("xcsh.compact", nil)
	require.Equal(t, "busy", err.Kind())
	require.Contains(t, string(do(t, ed, "xcsh.prompt", lsptest.Fields{"text": "look at two.txt", "streamingBehavior": "steer"})), `"queued":true`)
	require.JSONEq(t, `{"queued":2}`, string(do(t, ed, "xcsh.followUp", lsptest.Fields{"text": "look at four.txt"})))
	require.JSONEq(t, `{"queued":3}`, string(do(t, ed, "xcsh.steer", lsptest.Fields{"text": "look at three.txt"})))
	snapshot := string(do(t, ed, "xcsh.snapshot", nil))
	require.Contains(t, snapshot, `"queues":{"steering":["look at two.txt","look at three.txt"],"followUp":["look at four.txt"]}`)
	require.Contains(t, snapshot, `"isStreaming":true`)

	for range 8 {
		demo.answer <- struct{}{}
	}
	_, err = first.Wait()
	require.Nil(t, err)
	var said []string
	var shown struct {
		Context struct{ Messages []provider.Message }
	}
	require.NoError(t, json.Unmarshal(do(t, ed, "xcsh.context", nil), &shown))
	for _, m := range shown.Context.Messages {
		if m.Role == provider.RoleUser {
			said = append(said, m.PlainText())
		}
	}
	require.Equal(t, []string{"look at one.txt", "look at two.txt", "look at three.txt", "look at four.txt"}, said)
	eventsSoFar(t, ed)
}

// A turn is stopped by cancelling its request and by xcsh.abort. Queued prompts are returned, and the
// next prompt has a turn of its own.
func TestAbortStopsTheTurn(t *testing.T) {
	t.Parallel()
	demo := newGated()
	ed := ask(t, serverOf(t, afero.NewMemMapFs(), demo), nil, nil)
	first := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "look at one.txt"})
	<-demo.asked
	first.Cancel()
	_, err := first.Wait()
	require.Equal(t, -32800, err.Code)
	require.Equal(t, "cancelled", err.Kind())

	second := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "look at two.txt"})
	<-demo.asked
	do(t, ed, "xcsh.followUp", lsptest.Fields{"text": "and then"})
	require.JSONEq(t, `{"aborted":true,"unanswered":["and then"]}`, string(do(t, ed, "xcsh.abort", nil)))
	result, err := second.Wait()
	require.Nil(t, err)
	require.Contains(t, string(result), `"stopReason":"aborted"`)
	require.JSONEq(t, `{"aborted":false,"unanswered":[]}`, string(do(t, ed, "xcsh.abort", nil)))

	third := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "look at three.txt"})
	demo.answer <- struct{}{}
	demo.answer <- struct{}{}
	_, err = third.Wait()
	require.Nil(t, err)
	eventsSoFar(t, ed)
}

// A running turn does not keep the server from shutting down, and the prompt and the partial answer are
// in the file.
func TestShutdownEndsTheTurn(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	put(t, fs, talk()...)
	demo := newGated()
	o := serverOf(t, fs, demo)
	ed := ask(t, o, nil, nil)
	do(t, ed, "xcsh.resume", lsptest.Fields{"target": "0190000000000001"})
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "look at three.txt"})
	<-demo.asked
	ed.Shutdown()
	_, err := prompt.Wait()
	require.NotNil(t, err)
	require.Equal(t, "cancelled", err.Kind())
	require.Zero(t, ed.Exit().ExitCode())
	require.Contains(t, read(t, fs), "look at three.txt")
}

// A turn is shown as a cancellable progress, for editors that show nothing else of it.
func TestTurnReportsProgress(t *testing.T) {
	t.Parallel()
	demo := newGated()
	ed := ask(t, serverOf(t, afero.NewMemMapFs(), demo), nil, nil)
	prompt := ed.Begin("workspace/executeCommand", lsptest.Fields{
		"command": "xcsh.prompt", "arguments": []any{lsptest.Fields{"text": "look at one.txt"}}, "workDoneToken": "t",
	})
	require.JSONEq(t, `{"token":"t","value":{"kind":"begin","title":"xcsh","cancellable":true}}`, string(ed.WaitNotification("$/progress")))
	<-demo.asked
	ed.Notify("window/workDoneProgress/cancel", lsptest.Fields{"token": "t"})
	_, err := prompt.Wait()
	require.Equal(t, "cancelled", err.Kind())
	require.JSONEq(t, `{"token":"t","value":{"kind":"end"}}`, string(ed.WaitNotification("$/progress")))
}

// The error of a service includes its message, and the prompt is in the session.
func TestServiceErrorIsReported(t *testing.T) {
	t.Parallel()
	ed := ask(t, serverOf(t, afero.NewMemMapFs(), refusing{provider.Error{Class: provider.InvalidRequest, Status: 400, Message: "That is no request."}}), nil, nil)
	_, err := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "hello"})
	require.NotNil(t, err)
	require.Equal(t, -32803, err.Code)
	require.Contains(t, err.Message, "That is no request.")
	require.Contains(t, string(err.Data), `"class":"invalid_request"`)
	require.Contains(t, string(err.Data), `"actions":[{"title":"Go Back Before the Last Prompt","command":"xcsh.branch","arguments":{"entryId":"00000003"}},`)
	events := eventsSoFar(t, ed)
	require.Equal(t, "agent_end", events[len(events)-1].Type)
	require.Contains(t, events[len(events)-1].ErrorMessage, "That is no request.")
	require.Contains(t, string(do(t, ed, "xcsh.context", nil)), `"hello"`)
}

// Hosts may send notifications instead of commands. They take effect in order: a message to a turn does
// not overtake the prompt that begins it.
func TestNotificationsOfHosts(t *testing.T) {
	t.Parallel()
	demo := newGated()
	ed := ask(t, serverOf(t, afero.NewMemMapFs(), demo), lsptest.Fields{"model": ""}, nil)
	ed.Notify("xcsh/setModel", lsptest.Fields{"model": "offline/demo"})
	ed.Notify("xcsh/setThinking", lsptest.Fields{"level": "high"})
	ed.Notify("xcsh/prompt", lsptest.Fields{"text": "look at one.txt"})
	ed.Notify("xcsh/steer", lsptest.Fields{"text": "look at two.txt"})
	ed.Notify("xcsh/followUp", lsptest.Fields{"text": "look at three.txt"})
	require.Equal(t, []string{"look at two.txt"}, waitEvent(t, ed, "queue_changed").Steering)
	require.Equal(t, []string{"look at three.txt"}, waitEvent(t, ed, "queue_changed").FollowUp)
	ed.Notify("xcsh/abort", nil)
	require.Equal(t, "aborted", waitEvent(t, ed, "agent_end").StopReason)

	// Every failure is sent as an event, because a notification has no response.
	for method, want := range map[string]event{
		"xcsh/steer":       {Text: "xcsh.steer", Kind: "stale", ErrorMessage: "No turn is running in /w. Send a prompt instead."},
		"xcsh/setModel":    {Text: "xcsh.setModel", Kind: "invalidArgument", ErrorMessage: `xcsh.setModel has no argument "text".`},
		"xcsh/setThinking": {Text: "xcsh.setThinking", Kind: "invalidArgument", ErrorMessage: `xcsh.setThinking has no argument "text".`},
	} {
		ed.Notify(method, lsptest.Fields{"text": "too late"})
		want.Type = "error"
		require.Equal(t, want, waitEvent(t, ed, "error"), method)
	}
	eventsSoFar(t, ed)
}

// A failure that belongs to no known session is shown to the user as a message.
func TestANotificationAboutNoSession(t *testing.T) {
	t.Parallel()
	ed := edit(t, afero.NewMemMapFs(), "/v")
	for _, params := range []any{lsptest.Fields{"text": "hello"}, []any{"hello"}, lsptest.Fields{"cwd": 5}} {
		ed.Notify("xcsh/prompt", params)
		require.Contains(t, string(ed.WaitNotification("window/showMessage")), `"type":1`)
	}
	ed.Notify("xcsh/prompt", lsptest.Fields{"cwd": "/v", "text": "hello"})
	require.Equal(t, "provider", waitEvent(t, ed, "error").Kind)
}

// The list begins with the models that are available now.
func TestAvailableModelsAreListedFirst(t *testing.T) {
	t.Parallel()
	ed := edit(t, afero.NewMemMapFs())
	var list struct {
		Models []struct {
			Provider, ID string
			Available    bool
		}
	}
	require.NoError(t, json.Unmarshal(do(t, ed, "xcsh.models", nil), &list))
	require.Greater(t, len(list.Models), 10)
	require.Equal(t, "offline", list.Models[0].Provider)
	require.Equal(t, "demo", list.Models[0].ID)
	for i, m := range list.Models {
		require.Equal(t, i == 0, m.Available, "%s/%s", m.Provider, m.ID)
	}
}
