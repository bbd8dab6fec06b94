package acp_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/acp"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

// Proves: ACP-01
func TestInitialize(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(t)
	c.refused("session/new", object{"cwd": "/w"}, -32600, "session/new was sent before initialize.")
	c.refused("initialize", object{"protocolVersion": "one"}, -32602, `the parameter "protocolVersion" has the wrong type`)
	c.refused("initialize", []any{}, -32602, "The parameters of initialize must be an object.")
	// A client with a future version and odd capabilities gets the version that the server supports.
	result := c.ok("initialize", object{
		"protocolVersion": 2, "clientCapabilities": object{"fs": 5, "session": []any{}, "terminal": true, "new": object{}}, "clientInfo": object{"name": "x", "version": "1"},
	})
	require.InDelta(t, 1, result["protocolVersion"], 0)
	require.Equal(t, object{
		"loadSession":         true,
		"promptCapabilities":  object{"image": true, "audio": false, "embeddedContext": true},
		"mcpCapabilities":     object{"http": true, "sse": true},
		"sessionCapabilities": object{"list": object{}, "delete": object{}, "resume": object{}, "close": object{}, "fork": object{}},
	}, result["agentCapabilities"])
	require.Equal(t, object{"name": "xcsh-ls", "title": "xcsh", "version": "1.2.3"}, result["agentInfo"])
	require.Len(t, result["authMethods"], 1)
	c.refused("initialize", object{"protocolVersion": 1}, -32600, "already initialized")
	require.Empty(t, c.ok("authenticate", object{"methodId": "stored-key"}))
	c.open()
}

// Proves: ACP-01
func TestLinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.models.Script("m", providertest.Reply{Text: "Still here."})
	c := w.connect(t, object{})
	for line, want := range map[string]struct {
		id   string
		code int
	}{
		`{`:                                   {"null", -32700},
		`nonsense`:                            {"null", -32700},
		"\xff\xfe":                            {"null", -32700},
		`"text"`:                              {"null", -32600},
		`5`:                                   {"null", -32600},
		`[]`:                                  {"null", -32600},
		`[{"jsonrpc":"2.0","id":1}]`:          {"null", -32600},
		`{}`:                                  {"null", -32600},
		`{"id":"i1"}`:                         {`"i1"`, -32600},
		`{"id":"i2","method":5}`:              {`"i2"`, -32600},
		`{"id":"i3","method":""}`:             {`"i3"`, -32600},
		`{"id":{},"method":"session/list"}`:   {"null", -32600},
		`{"id":true,"method":"session/list"}`: {"null", -32600},
		`{"id":"i4","method":"session/fly"}`:  {`"i4"`, -32601},
		`{"id":"i5","method":"_ext/x"}`:       {`"i5"`, -32601},
		`{"id":-6,"method":"session/cancel"}`: {"-6", -32601},
		`{"id":"i7","method":"session/new"}`:  {`"i7"`, -32602},
		`{"id":"i8","method":"session/prompt","params":{"sessionId":5}}`:                 {`"i8"`, -32602},
		`{"id":"i9","method":"session/prompt","params":[]}`:                              {`"i9"`, -32602},
		`{"id":"i10","method":"session/prompt","params":null}`:                           {`"i10"`, -32602},
		`{"id":"i11","method":"session/prompt","params":{"sessionId":"a","prompt":"x"}}`: {`"i11"`, -32602},
		`{"id":"i12","method":"session/prompt","params":{"sessionId":"a\u0000"}}`:        {`"i12"`, -32002},
	} {
		before := len(c.seen())
		c.raw(line)
		m := c.wait("an answer to "+line, func(m message) bool {
			return m.Error != nil && string(m.ID) == want.id && (want.id != "null" || c.after(before, m))
		})
		require.Equal(t, want.code, m.Error.Code, line)
		require.NotEmpty(t, m.Error.Message, line)
		require.NotEmpty(t, m.Error.Data.Kind, line)
	}
	// A message that needs no response gets none.
	for _, line := range []string{
		"", "  ", "\r", `{"method":"session/fly"}`, `{"method":"$/progress","params":5}`, `{"method":"session/cancel"}`, `{"method":"session/cancel","params":{"sessionId":5}}`,
		`{"method":"session/prompt","params":{}}`, `{"method":"$/cancel_request","params":{}}`, `{"method":"$/cancel_request"}`, `{"method":"$/cancel_request","params":{"requestId":{}}}`,
		`{"id":77,"result":{}}`, `{"id":"x","error":{"code":"no","message":7}}`, `{"id":1,"error":5}`, `{"id":1,"result":null,"error":null}`,
	} {
		before := len(c.seen())
		c.raw(line)
		c.ok("session/list", object{})
		require.Len(t, c.seen(), before+1, line)
	}
	id := c.open()
	require.Equal(t, "end_turn", c.prompt(id, "hello"), "the connection is as good as before")
}

// seen returns all messages so far.
func (c *client) seen() []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.received
}

// after reports whether m came after the first n messages.
func (c *client) after(n int, m message) bool {
	for _, later := range c.seen()[n:] {
		if later.line == m.line {
			return true
		}
	}
	return false
}

// Proves: ACP-01
func TestLinesThatAreTooLong(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	c := newWorld(t).connect(t, object{})
	go func() { // in pieces: a test should not hold a line of 64 MiB twice
		piece := strings.Repeat("x", 1<<20)
		for range 65 {
			_, _ = io.WriteString(c.in, piece)
		}
		_, _ = io.WriteString(c.in, "\n")
	}()
	m := c.wait("a refusal", func(m message) bool { return m.Error != nil })
	require.Equal(t, -32600, m.Error.Code)
	require.Contains(t, m.Error.Message, "was skipped")
	c.open()
}

func TestOddEndsOfLines(t *testing.T) {
	t.Parallel()
	c := newWorld(t).start(t)
	c.raw(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\r")
	require.Nil(t, c.answered("1").Error)
	_, err := io.WriteString(c.in, `{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}`) // followed by the end of the input
	require.NoError(t, err)
	require.NoError(t, c.in.Close())
	require.Nil(t, c.answered("2").Error, "the last line needs no end")
}

func TestIDsAreAnsweredAsTheyWereGiven(t *testing.T) {
	t.Parallel()
	c := newWorld(t).connect(t, object{})
	for _, id := range []string{"0", "-1", "1.5", "12345678901234567890", `"a"`, `""`, `"\u00e9\n"`, "null"} {
		c.raw(`{"jsonrpc":"2.0","method":"session/list","params":{},"id":` + id + `}`)
		c.answered(id)
	}
}

func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := make(chan struct{})
	w.models.Script("m", providertest.Reply{Text: "Slow.", Before: hold})
	c := w.start(t, func(o *acp.Options) { o.MaxInFlight = 1 })
	c.ok("initialize", object{"protocolVersion": 1})
	id := c.open()
	turn := c.say(id, text("x"))
	e := c.refused("session/list", object{}, -32603, "Too many requests")
	require.Equal(t, "busy", e.Data.Kind)
	close(hold)
	require.Equal(t, "end_turn", stopOf(t, c.answered(turn)))
	c.ok("session/list", object{})
}

func TestAnIDThatIsInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := make(chan struct{})
	w.models.Script("m", providertest.Reply{Text: "Slow.", Before: hold})
	c := w.connect(t, object{})
	id := c.open()
	turn := c.say(id, text("x"))
	c.raw(`{"jsonrpc":"2.0","method":"session/list","params":{},"id":` + turn + `}`)
	m := c.answered(turn)
	require.NotNil(t, m.Error, m.line)
	close(hold)
	c.wait("the turn's own answer", func(m message) bool { return string(m.ID) == turn && m.Result != nil })
}

func TestEndOfInputEndsTheRunningTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := make(chan struct{})
	defer close(hold)
	w.file(t, "/w/a.txt", "one\n")
	w.models.Script("m", providertest.Reply{Text: "A long long answer.", Hold: hold}, providertest.Reply{ToolCalls: []providertest.Call{edit("a.txt", "one", "two")}},
		providertest.Reply{Text: "It was denied because the client left.", Hold: hold})
	c := w.start(t, func(o *acp.Options) { o.Drain = time.Millisecond })
	c.ok("initialize", object{"protocolVersion": 1})
	c.on("session/request_permission", func(json.RawMessage) (any, *wireError) { return nil, nil })
	talking, asking := c.open(), c.open()
	turn := c.say(talking, text("talk"))
	c.awaitUpdate(talking, "a piece", func(u update) bool { return u.Kind == "agent_message_chunk" })
	other := c.say(asking, text("edit"))
	c.wait("the question", func(m message) bool { return m.Method == "session/request_permission" })
	require.NoError(t, c.in.Close())
	require.Equal(t, -32800, c.answered(turn).Error.Code)
	require.Equal(t, -32800, c.answered(other).Error.Code)
	require.Equal(t, "one\n", w.read(t, "/w/a.txt"))
}

func TestAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	serverIn, in := io.Pipe()
	out, serverOut := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- acp.Serve(t.Context(), serverIn, serverOut, acp.Options{
			Commands: commands.Default, Backend: w.backend(), Drain: time.Millisecond, Grace: 50 * time.Millisecond,
		})
	}()
	for range 3 { // the client reads nothing, and the server accepts everything
		_, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`+"\n")
		require.NoError(t, err)
	}
	require.NoError(t, in.Close())
	select {
	case err := <-served:
		require.NoError(t, err, "a client that only leaves has broken nothing")
	case <-time.After(waitLimit):
		require.Fail(t, "the server waits for a client that does not read")
	}
	require.NoError(t, out.Close())
}

func TestAnOutputThatBreaks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	serverIn, in := io.Pipe()
	out, serverOut := io.Pipe()
	gone := errors.New("gone")
	out.CloseWithError(gone)
	served := make(chan error, 1)
	go func() {
		served <- acp.Serve(t.Context(), serverIn, serverOut, acp.Options{Commands: commands.Default, Backend: w.backend()})
	}()
	_, err := io.WriteString(in, "nonsense\n")
	require.NoError(t, err)
	select {
	case err := <-served:
		require.ErrorIs(t, err, gone)
	case <-time.After(waitLimit):
		require.Fail(t, "the server does not notice")
	}
}
