package lsp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// Proves: X-183
func TestQuestions(t *testing.T) {
	t.Parallel()
	ask := lsptest.Fields{"text": "Which?", "choices": []string{"a", "b", "a"}}
	for name, tc := range map[string]struct {
		reply func(lsptest.Request)
		want  int
	}{
		"a button":                   {func(r lsptest.Request) { r.Reply(lsptest.Fields{"title": "b"}) }, 1},
		"a title that appears twice": {func(r lsptest.Request) { r.Reply(lsptest.Fields{"title": "a"}) }, 0},
		"closed":                     {func(r lsptest.Request) { r.Reply(nil) }, -1},
		"not supported":              {func(r lsptest.Request) { r.Fail(-32601, "no such method") }, commands.Unasked},
		"failed":                     {func(r lsptest.Request) { r.Fail(-32603, "boom") }, -1},
		"an unknown button":          {func(r lsptest.Request) { r.Reply(lsptest.Fields{"title": "z"}) }, -1},
		"an answer of another shape": {func(r lsptest.Request) { r.Reply("b") }, -1},
		"an empty answer":            {func(r lsptest.Request) { r.Reply(lsptest.Fields{}) }, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed := newFixture(t).start(t)
			exec := ed.BeginExec("test.ask", ask)
			r := ed.WaitRequest("window/showMessageRequest")
			require.JSONEq(t, `{"type":3,"message":"Which?","actions":[{"title":"a"},{"title":"b"},{"title":"a"}]}`, string(r.Params))
			tc.reply(r)
			res, err := exec.Wait()
			require.Nil(t, err)
			require.Equal(t, tc.want, decode[answer](t, res).Index)
		})
	}
}

// An answer that is not a JSON-RPC response must neither block the command nor end the connection.
// Proves: X-183
func TestMalformedAnswersToQuestions(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"result and error":        `{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}`,
		"a code beyond 32 bits":   `{"jsonrpc":"2.0","id":1,"error":{"code":99999999999,"message":"m"}}`,
		"an error of text":        `{"jsonrpc":"2.0","id":1,"error":"boom"}`,
		"no jsonrpc":              `{"id":1,"result":null}`,
		"a fractional code":       `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}`,
		"an error without a code": `{"jsonrpc":"2.0","id":1,"error":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed := newFixture(t).start(t)
			exec := ed.BeginExec("test.ask", lsptest.Fields{"text": "?", "choices": []string{"a"}})
			r := ed.WaitRequest("window/showMessageRequest")
			require.Equal(t, "1", string(r.ID))
			ed.Send(body)
			res, err := exec.Wait()
			require.Nil(t, err)
			require.Equal(t, -1, decode[answer](t, res).Index)
		})
	}
}

func TestQuestionOfACancelledCommand(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).start(t)
	exec := ed.BeginExec("test.ask", lsptest.Fields{"text": "?", "choices": []string{"a"}})
	r := ed.WaitRequest("window/showMessageRequest")
	exec.Cancel()
	_, err := exec.Wait()
	require.Equal(t, "cancelled", err.Kind())
	require.JSONEq(t, `{"id":`+string(r.ID)+`}`, string(ed.WaitNotification("$/cancelRequest")))
	r.Reply(lsptest.Fields{"title": "a"}) // too late
	_, err = ed.Exec("test.echo", nil)
	require.Nil(t, err)
}

func TestQuestionWithoutChoices(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).start(t)
	res, err := ed.Exec("test.ask", lsptest.Fields{"text": "?"})
	require.Nil(t, err)
	require.Equal(t, -1, decode[answer](t, res).Index)
}

func TestMessagesComeBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).start(t)
	_, err := ed.Exec("test.tell", lsptest.Fields{"text": "look"})
	require.Nil(t, err)
	ms := ed.Messages()
	require.JSONEq(t, `{"type":1,"message":"look"}`, string(ms[len(ms)-2].Params))
}

func TestOpenShowsAFile(t *testing.T) {
	t.Parallel()
	unixPaths(t)
	announced := lsptest.Fields{"window": lsptest.Fields{"showDocument": lsptest.Fields{"support": true}}}
	for name, tc := range map[string]struct {
		caps  any
		reply func(lsptest.Request)
		want  bool
	}{
		"shown":           {announced, func(r lsptest.Request) { r.Reply(lsptest.Fields{"success": true}) }, true},
		"refused":         {announced, func(r lsptest.Request) { r.Reply(lsptest.Fields{"success": false}) }, false},
		"answered null":   {announced, func(r lsptest.Request) { r.Reply(nil) }, false},
		"failed":          {announced, func(r lsptest.Request) { r.Fail(-32601, "no") }, false},
		"not announced":   {lsptest.Fields{}, nil, false},
		"denied":          {lsptest.Fields{"window": lsptest.Fields{"showDocument": lsptest.Fields{"support": false}}}, nil, false},
		"a Lua table":     {json.RawMessage(`[]`), nil, false},
		"window is null":  {lsptest.Fields{"window": nil}, nil, false},
		"support is text": {lsptest.Fields{"window": lsptest.Fields{"showDocument": lsptest.Fields{"support": "yes"}}}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed := lsptest.Start(t, newFixture(t).options)
			ed.Initialize(lsptest.Fields{"capabilities": tc.caps})
			exec := ed.BeginExec("test.open", lsptest.Fields{"text": "/tmp/a b#%.html"})
			if tc.reply != nil {
				r := ed.WaitRequest("window/showDocument")
				require.JSONEq(t, `{"uri":"file:///tmp/a%20b%23%25.html","external":true}`, string(r.Params))
				tc.reply(r)
			}
			res, err := exec.Wait()
			require.Nil(t, err)
			require.Equal(t, tc.want, decode[shown](t, res).Shown)
			if !tc.want {
				require.JSONEq(t, `{"type":3,"message":"/tmp/a b#%.html"}`, string(ed.WaitNotification("window/showMessage")))
			}

			// A page that opens by default is shown in the same way, or not at all.
			exec = ed.BeginExec("test.openPage", lsptest.Fields{"text": "/tmp/page.html"})
			if tc.reply != nil {
				r := ed.WaitRequest("window/showDocument")
				require.JSONEq(t, `{"uri":"file:///tmp/page.html","external":true}`, string(r.Params))
				tc.reply(r)
			}
			res, err = exec.Wait()
			require.Nil(t, err)
			require.Equal(t, tc.want, decode[shown](t, res).Shown)
			for _, m := range ed.Messages() {
				require.NotContains(t, string(m.Params), `"message":"/tmp/page.html"`)
			}
		})
	}
}
