package lsp_test

import (
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

func TestArgumentsAsClientsSendThem(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).start(t)
	for name, tc := range map[string]struct{ params, want string }{
		"none":                  {`{"command":"test.echo"}`, `{"text":""}`},
		"null":                  {`{"command":"test.echo","arguments":null}`, `{"text":""}`},
		"empty list":            {`{"command":"test.echo","arguments":[]}`, `{"text":""}`},
		"list of null":          {`{"command":"test.echo","arguments":[null]}`, `{"text":""}`},
		"Lua's empty table":     {`{"command":"test.echo","arguments":[[]]}`, `{"text":""}`},
		"an object":             {`{"command":"test.echo","arguments":[{"text":"a"}]}`, `{"text":"a"}`},
		"an object, no list":    {`{"command":"test.echo","arguments":{"text":"a"}}`, `{"text":"a"}`},
		"odd token is no token": {`{"command":"test.echo","arguments":[{"text":"a"}],"workDoneToken":{}}`, `{"text":"a"}`},
	} {
		res, err := ed.Call("workspace/executeCommand", rawJSON(tc.params))
		require.Nil(t, err, name)
		require.JSONEq(t, tc.want, string(res), name)
	}
}

// Proves: AB-089
func TestErrorsOfCommands(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).start(t)
	fail := func(kind string) string { return `{"command":"test.fail","arguments":[{"kind":"` + kind + `"}]}` }
	for name, tc := range map[string]struct {
		params  string
		code    int
		message string
		data    string
	}{
		"params that are no object": {`[1]`, -32602, `workspace/executeCommand: the parameter "params" has the wrong type.`, `{"kind":"invalidArgument","field":"params"}`},
		"no params":                 {`null`, -32602, `workspace/executeCommand: the parameter "command" has the wrong type.`, `{"kind":"invalidArgument","field":"command"}`},
		"command of the wrong type": {`{"command":1}`, -32602, `workspace/executeCommand: the parameter "command" has the wrong type.`, `{"kind":"invalidArgument","field":"command"}`},
		"arguments that are text":   {`{"command":"test.echo","arguments":"x"}`, -32602, `workspace/executeCommand: the parameter "arguments" has the wrong type.`, `{"kind":"invalidArgument","field":"arguments"}`},
		"unknown command":           {`{"command":"made.up"}`, -32602, `Unknown command "made.up".`, `{"kind":"invalidArgument","field":"command"}`},
		"unknown argument":          {`{"command":"test.echo","arguments":[{"txt":1}]}`, -32602, `test.echo has no argument "txt".`, `{"kind":"invalidArgument","field":"txt"}`},
		"argument of a wrong type":  {`{"command":"test.echo","arguments":[{"text":1}]}`, -32602, `test.echo: argument "text" must be a string, not a number.`, `{"kind":"invalidArgument","field":"text"}`},
		"two arguments":             {`{"command":"test.echo","arguments":[{},{}]}`, -32602, `test.echo takes one JSON object, not 2 arguments.`, `{"kind":"invalidArgument","field":"arguments"}`},
		"invalid argument":          {fail("invalidArgument"), -32602, `It failed: invalidArgument.`, `{"kind":"invalidArgument","path":"/p"}`},
		"stale":                     {fail("stale"), -32801, `It failed: stale.`, `{"kind":"stale","path":"/p"}`},
		"cancelled":                 {fail("cancelled"), -32800, `It failed: cancelled.`, `{"kind":"cancelled","path":"/p"}`},
		"internal":                  {fail("internal"), -32603, `It failed: internal.`, `{"kind":"internal","path":"/p"}`},
		"not found":                 {fail("notFound"), -32803, `It failed: notFound.`, `{"kind":"notFound","path":"/p"}`},
		"a kind of the future":      {fail("brandNew"), -32803, `It failed: brandNew.`, `{"kind":"brandNew","path":"/p"}`},
		"a plain Go error":          {fail("plain"), -32603, `something plain went wrong`, `{"kind":"internal"}`},
		"data without a JSON form":  {fail("unencodable"), -32803, `Odd.`, `{"kind":"io"}`},
		"a panic":                   {`{"command":"test.panic"}`, -32603, `The server failed in workspace/executeCommand; see its log for details.`, `{"kind":"internal"}`},
		"a result that is no JSON":  {`{"command":"test.nan"}`, -32603, `The result of test.nan could not be encoded: json: unsupported type: chan int.`, `{"kind":"internal"}`},
	} {
		_, err := ed.Call("workspace/executeCommand", rawJSON(tc.params))
		require.NotNil(t, err, name)
		require.Equal(t, tc.code, err.Code, name)
		require.Equal(t, tc.message, err.Message, name)
		require.JSONEq(t, tc.data, string(err.Data), name)
	}
}

func TestPanicsAreLoggedWithTheirStack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	_, err := ed.Exec("test.panic", nil)
	require.NotContains(t, err.Message, "secret")
	entries := f.logs.FilterMessage("panic").All()
	require.Len(t, entries, 1)
	require.Equal(t, zapcore.ErrorLevel, entries[0].Level)
	require.Contains(t, string(entries[0].ContextMap()["stack"].(string)), "runPanic")
	require.Equal(t, "the secret of the panic", entries[0].ContextMap()["value"])
}

// Sessions contain JSON that strict encoders reject. Results with such bytes are sent.
// Proves
func TestResultsOfOddBytes(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).start(t)
	for name, want := range map[string]string{
		"lone surrogate": `{"raw":"\ud800 and \uDFFF"}`,
		"duplicate keys": `{"raw":{"a":1,"a":2}}`,
		"huge number":    `{"raw":123456789012345678901234567890.5e400}`,
		"invalid UTF-8":  `{"raw":"` + "\uFFFD and \uFFFD" + `"}`,
		"markup":         `{"raw":"<b> & </b>"}`,
		"null":           `{"raw":null}`,
	} {
		res, err := ed.Exec("test.raw", lsptest.Fields{"text": name})
		require.Nil(t, err, name)
		require.Equal(t, want, string(res), name)
		require.True(t, utf8.Valid(res))
	}
	_, err := ed.Exec("test.raw", lsptest.Fields{"text": "broken"})
	require.Equal(t, "internal", err.Kind())
}

func TestCancelledCommand(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	exec := ed.BeginExec("test.wait", nil)
	receive(t, f.running)
	exec.Cancel()
	_, err := exec.Wait()
	require.Equal(t, -32800, err.Code)
	require.JSONEq(t, `{"kind":"cancelled"}`, string(err.Data))
	require.Equal(t, "test.wait was cancelled.", err.Message)
	require.ErrorContains(t, receive(t, f.ended), "client cancelled")
	exec.Cancel() // it has ended, so this has no effect
	_, err = ed.Exec("test.echo", nil)
	require.Nil(t, err)
}

// A cancellation may follow immediately.
func TestCancelAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	for range 100 {
		exec := ed.BeginExec("test.wait", nil)
		exec.Cancel()
		_, err := exec.Wait()
		require.Equal(t, -32800, err.Code)
	}
}

func TestCancelOfOneIDMeansAllRequestsWithIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	for range 3 {
		ed.Send(`{"jsonrpc":"2.0","id":"same","method":"workspace/executeCommand","params":{"command":"test.wait"}}`)
		receive(t, f.running)
	}
	ed.Notify("$/cancelRequest", lsptest.Fields{"id": "same"})
	for range 3 {
		require.ErrorContains(t, receive(t, f.ended), "client cancelled")
	}
	_, err := ed.Exec("test.echo", nil)
	require.Nil(t, err)
}

func TestTooManyRequestsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.MaxInFlight = 8
	ed := f.start(t)
	var held []*lsptest.Pending
	for i := range 8 {
		held = append(held, ed.BeginExec("test.hold", lsptest.Fields{"text": strconv.Itoa(i)}))
		receive(t, f.running)
	}
	_, err := ed.Exec("test.echo", nil)
	require.Equal(t, -32803, err.Code)
	require.Equal(t, "busy", err.Kind())
	require.Contains(t, err.Message, "8 requests")

	close(f.release)
	for i, p := range held {
		res, err := p.Wait()
		require.Nil(t, err)
		require.JSONEq(t, `{"text":"`+strconv.Itoa(i)+`"}`, string(res))
	}
	_, err = ed.Exec("test.echo", nil)
	require.Nil(t, err)
}

func TestRequestsOverlap(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	held := ed.BeginExec("test.hold", nil)
	receive(t, f.running)
	_, err := ed.Exec("test.echo", nil)
	require.Nil(t, err, "answered while the other one runs")
	close(f.release)
	_, err = held.Wait()
	require.Nil(t, err)
}
