package lsp_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

var announcesProgress = lsptest.Fields{"capabilities": lsptest.Fields{"window": lsptest.Fields{"workDoneProgress": true}}}

func execWithToken(ed *lsptest.Editor, command string, token any) *lsptest.Pending {
	return ed.Begin("workspace/executeCommand", lsptest.Fields{
		"command": command, "arguments": []any{lsptest.Fields{"text": "Working"}}, "workDoneToken": token,
	})
}

func TestProgressWithTheRequestsToken(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		token any
		wire  string
	}{
		"a number": {7, `7`},
		"text":     {"t<1>", `"t<1>"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ed := f.start(t)
			exec := execWithToken(ed, "test.progress", tc.token)
			expectProgress(t, ed, tc.wire, `{"kind":"begin","title":"Working","cancellable":true}`)
			receive(t, f.running)

			// The first reports are delayed, and the last of them is shown.
			f.clock.advance(249 * time.Millisecond)
			f.clock.advance(time.Millisecond)
			expectProgress(t, ed, tc.wire, `{"kind":"report","message":"three"}`)

			exec.Cancel()
			_, err := exec.Wait()
			require.Equal(t, "cancelled", err.Kind())
			expectProgress(t, ed, tc.wire, `{"kind":"end","message":"over"}`)
			ms := ed.Messages()
			require.Equal(t, "$/progress", ms[len(ms)-2].Method, "the end comes before the answer, and nothing after it")
		})
	}
}

// A report without a message would leave the previous one on the screen.
func TestAMessageOfAProgressIsRemoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	exec := ed.Begin("workspace/executeCommand", lsptest.Fields{
		"command": "test.progress", "arguments": []any{lsptest.Fields{"text": "Clearing"}}, "workDoneToken": 1,
	})
	expectProgress(t, ed, `1`, `{"kind":"begin","title":"Clearing","cancellable":true}`)
	receive(t, f.running)
	f.clock.advance(250 * time.Millisecond)
	expectProgress(t, ed, `1`, `{"kind":"report","message":""}`)
	exec.Cancel()
	_, err := exec.Wait()
	require.Equal(t, "cancelled", err.Kind())
	expectProgress(t, ed, `1`, `{"kind":"end","message":"over"}`)
}

func TestProgressOfTheServersOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := lsptest.Start(t, f.options)
	ed.Initialize(announcesProgress)
	exec := ed.BeginExec("test.progress", lsptest.Fields{"text": "Working"})
	r := ed.WaitRequest("window/workDoneProgress/create")
	require.JSONEq(t, `{"token":"xcsh-1"}`, string(r.Params))
	r.Reply(nil)
	expectProgress(t, ed, `"xcsh-1"`, `{"kind":"begin","title":"Working","cancellable":true}`)
	receive(t, f.running)

	ed.Notify("window/workDoneProgress/cancel", lsptest.Fields{"token": "xcsh-1"})
	_, err := exec.Wait()
	require.Equal(t, "cancelled", err.Kind())
	expectProgress(t, ed, `"xcsh-1"`, `{"kind":"end","message":"over"}`)
}

func TestNoProgressForClientsThatCannot(t *testing.T) {
	t.Parallel()
	for name, init := range map[string]lsptest.Fields{
		"not announced": nil,
		"refused":       announcesProgress,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ed := lsptest.Start(t, f.options)
			ed.Initialize(init)
			exec := ed.BeginExec("test.progress", lsptest.Fields{"text": "Working"})
			if init != nil {
				ed.WaitRequest("window/workDoneProgress/create").Fail(-32601, "no")
			}
			receive(t, f.running)
			exec.Cancel()
			_, err := exec.Wait()
			require.Equal(t, "cancelled", err.Kind())
			for _, m := range ed.Messages() {
				require.NotEqual(t, "$/progress", m.Method)
			}
		})
	}
}

func TestCancelOfTheProgressCancelsTheCommand(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	exec := execWithToken(ed, "test.progress", "mine")
	receive(t, f.running)
	for _, odd := range []string{`null`, `{}`, `{"token":null}`, `{"token":[]}`, `{"token":"other"}`, `{"token":1e99}`} {
		ed.Notify("window/workDoneProgress/cancel", rawJSON(odd))
	}
	ed.Notify("window/workDoneProgress/cancel", rawJSON(`{"token":"\u006dine"}`))
	_, err := exec.Wait()
	require.Equal(t, "cancelled", err.Kind())
}

func TestProgressThatTheCommandForgetsIsEnded(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).start(t)
	_, err := execWithToken(ed, "test.leak", 1).Wait()
	require.Equal(t, "internal", err.Kind())
	expectProgress(t, ed, `1`, `{"kind":"begin","title":"Working","cancellable":true}`)
	expectProgress(t, ed, `1`, `{"kind":"end"}`)
}

func expectProgress(t *testing.T, ed *lsptest.Editor, token, value string) {
	t.Helper()
	p := decode[struct{ Token, Value json.RawMessage }](t, ed.WaitNotification("$/progress"))
	require.Equal(t, token, string(p.Token))
	require.JSONEq(t, value, string(p.Value))
}
