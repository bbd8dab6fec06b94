package lsp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// probe is the output of a broken or hostile client.
type probe struct {
	name string
	raw  string // the bytes, with headers
	id   string // of the answer that must come; "" when there is none
	code int    // of the answer, 0 for a result
}

func frame(name, body, id string, code int) probe {
	return probe{name, string(lsptest.Frame(body)), id, code}
}

func notification(method, params string) probe {
	if params == "" {
		return frame(method+" without params", `{"jsonrpc":"2.0","method":"`+method+`"}`, "", 0)
	}
	return frame(method+" "+params, `{"jsonrpc":"2.0","method":"`+method+`","params":`+params+`}`, "", 0)
}

func probes() []probe {
	ps := []probe{
		// invalid JSON
		frame("not JSON", `hello`, "null", -32700),
		frame("half an object", `{"jsonrpc":"2.0","id":1,"method":`, "null", -32700),
		frame("a trailing comma", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1,}}`, "null", -32700),
		frame("two values", `{"jsonrpc":"2.0","method":"x"}{"jsonrpc":"2.0","method":"y"}`, "null", -32700),
		frame("only blanks", `   `, "null", -32700),
		frame("a NUL", "{\x00}", "null", -32700),
		frame("UTF-16", "\xff\xfe{\x00}\x00", "null", -32700),
		{"an empty body", "Content-Length: 0\r\n\r\n", "null", -32700},
		frame("deeper than any stack", strings.Repeat(`[`, 2<<20), "null", -32700),
		frame("deep and closed", `{"jsonrpc":"2.0","id":"deep","method":"x","params":`+strings.Repeat(`[`, 20000)+strings.Repeat(`]`, 20000)+`}`, "null", -32700),

		// JSON that is not a message
		frame("a number", `1`, "null", -32600),
		frame("null", `null`, "null", -32600),
		frame("text", `"initialize"`, "null", -32600),
		frame("an empty object", `{}`, "null", -32600),
		frame("an empty batch", `[]`, "null", -32600),
		frame("a batch", `[{"jsonrpc":"2.0","id":"b","method":"x"}]`, "null", -32600),
		frame("a batch of rubbish", `[1,2,3]`, "null", -32600),
		frame("no version", `{"id":"nv","method":"x"}`, `"nv"`, -32600),
		frame("version 1.0", `{"jsonrpc":"1.0","id":"v1","method":"x"}`, `"v1"`, -32600),
		frame("version as a number", `{"jsonrpc":2.0,"id":"vn","method":"x"}`, `"vn"`, -32600),
		frame("a method that is a number", `{"jsonrpc":"2.0","id":"mn","method":5}`, `"mn"`, -32600),
		frame("a method that is null", `{"jsonrpc":"2.0","id":"m0","method":null}`, `"m0"`, -32600),
		frame("no method", `{"jsonrpc":"2.0","id":"nm"}`, `"nm"`, -32600),
		frame("a fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"x"}`, "null", -32600),
		frame("an id beyond 64 bits", `{"jsonrpc":"2.0","id":99999999999999999999,"method":"x"}`, "null", -32600),
		frame("an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"x"}`, "null", -32600),
		frame("an id that is true", `{"jsonrpc":"2.0","id":true,"method":"x"}`, "null", -32600),

		// messages that are unusual but valid
		frame("a byte order mark", "\xef\xbb\xbf"+`{"jsonrpc":"2.0","id":"bom","method":"x/y"}`, `"bom"`, -32601),
		frame("an id beyond 32 bits", `{"jsonrpc":"2.0","id":5000000000,"method":"x/y"}`, `5000000000`, -32601),
		frame("a negative id", `{"jsonrpc":"2.0","id":-7,"method":"x/y"}`, `-7`, -32601),
		frame("an empty id", `{"jsonrpc":"2.0","id":"","method":"x/y"}`, `""`, -32601),
		frame("a null id", `{"jsonrpc":"2.0","id":null,"method":"shutdown"}`, "", 0),
		frame("repeated keys", `{"jsonrpc":"2.0","id":1,"id":"rep","method":"x","method":"x/y"}`, `"rep"`, -32601),
		frame("an escaped method", `{"jsonrpc":"2.0","id":"esc","method":"x\u002fy"}`, `"esc"`, -32601),
		frame("invalid UTF-8 in a method", "{\"jsonrpc\":\"2.0\",\"id\":\"u8\",\"method\":\"x\xff\"}", `"u8"`, -32601),
		frame("invalid UTF-8 in an argument", "{\"jsonrpc\":\"2.0\",\"id\":\"u9\",\"method\":\"workspace/executeCommand\",\"params\":{\"command\":\"test.echo\",\"arguments\":[{\"text\":\"\xff\"}]}}", `"u9"`, 0),
		frame("a lone surrogate", `{"jsonrpc":"2.0","id":"sur","method":"workspace/executeCommand","params":{"command":"test.echo","arguments":[{"text":"\ud800"}]}}`, `"sur"`, 0),
		frame("a very long method", `{"jsonrpc":"2.0","id":"long","method":"`+strings.Repeat("x", 1<<20)+`"}`, `"long"`, -32601),
		frame("an unknown request", `{"jsonrpc":"2.0","id":"unk","method":"xcsh/foo","params":null}`, `"unk"`, -32601),
		frame("an unknown $/ request", `{"jsonrpc":"2.0","id":"dol","method":"$/foo"}`, `"dol"`, -32601),
		frame("a notification as a request", `{"jsonrpc":"2.0","id":"not","method":"textDocument/didOpen","params":{}}`, `"not"`, -32600),
		frame("exit as a request", `{"jsonrpc":"2.0","id":"ex","method":"exit"}`, `"ex"`, -32600),
		frame("a method of another server", `{"jsonrpc":"2.0","id":"hov","method":"textDocument/rename","params":{}}`, `"hov"`, -32601),
		frame("params that are a number", `{"jsonrpc":"2.0","id":"p5","method":"workspace/executeCommand","params":5}`, `"p5"`, -32602),
		frame("params that are a list", `{"jsonrpc":"2.0","id":"pl","method":"workspace/executeCommand","params":[]}`, `"pl"`, -32602),
		frame("no params", `{"jsonrpc":"2.0","id":"np","method":"workspace/executeCommand"}`, `"np"`, -32602),

		// unsolicited answers
		frame("an answer to nothing", `{"jsonrpc":"2.0","id":424242,"result":null}`, "", 0),
		frame("an answer with a text id", `{"jsonrpc":"2.0","id":"who","result":{}}`, "", 0),
		frame("an answer without an id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, "", 0),
		frame("result and error", `{"jsonrpc":"2.0","id":424242,"result":1,"error":{"code":1,"message":"m"}}`, "", 0),
		frame("an error code beyond 32 bits", `{"jsonrpc":"2.0","id":424242,"error":{"code":99999999999,"message":"m"}}`, "", 0),
		frame("an error that is text", `{"jsonrpc":"2.0","id":424242,"error":"m"}`, "", 0),
		frame("an answer without an id at all", `{"jsonrpc":"2.0","result":1}`, "", 0),

		// headers
		{"lower case and no blank", "content-length:2\r\n\r\n{}", "null", -32600},
		{"bare newlines", "Content-Length: 2\n\n{}", "null", -32600},
		{"more fields", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nX: y\r\nContent-Length: 2\r\n\r\n{}", "null", -32600},
		{"the same length twice", "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "null", -32600},
		{"blank lines between messages", "\r\n\r\n\nContent-Length: 2\r\n\r\n{}\r\n", "null", -32600},
		{"more than is allowed", fmt.Sprintf("Content-Length: %d\r\n\r\n", 192<<20+1) + strings.Repeat(" ", 192<<20+1), "null", -32600},
	}
	for _, method := range []string{
		"$/cancelRequest", "$/setTrace", "$/foo", "$/progress", "initialized", "xcsh/foo", "textDocument/didOpen",
		"textDocument/didChange", "textDocument/didClose", "workspace/didChangeWorkspaceFolders", "workspace/didChangeConfiguration",
		"window/workDoneProgress/cancel", "initialize", "workspace/executeCommand", "notebookDocument/didOpen",
	} {
		for _, params := range []string{"", `null`, `[]`, `{}`, `5`, `"x"`, `{"id":null,"token":null,"textDocument":null,"event":null}`} {
			ps = append(ps, notification(method, params))
		}
	}
	for _, id := range []string{`null`, `1.5`, `99999999999`, `99999999999999999999`, `-1`, `""`, `{}`, `[1]`, `true`, `"\ud800"`} {
		ps = append(ps, notification("$/cancelRequest", `{"id":`+id+`}`))
	}
	return ps
}

// No message of a client ends the connection. Each probe is followed by a request that must succeed.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := lsptest.StartOver(t, f.options, lsptest.OSPipes(t))
	ed.Initialize(nil)
	for _, p := range probes() {
		ed.Raw([]byte(p.raw))
		if p.id != "" {
			m := ed.WaitAnswer(p.id)
			if p.code == 0 {
				require.Nil(t, m.Error, p.name)
			} else {
				require.NotNil(t, m.Error, p.name)
				require.Equal(t, p.code, m.Error.Code, p.name)
				require.NotEmpty(t, m.Error.Message, p.name)
				require.NotEmpty(t, m.Error.Kind(), p.name)
			}
		}
		_, err := ed.Exec("test.echo", lsptest.Fields{"text": p.name})
		require.Nil(t, err, p.name)
	}
	ed.Shutdown()
	require.Equal(t, 0, ed.Exit().ExitCode())
	require.Zero(t, f.logs.FilterMessage("panic").Len())
}

// After a header without a valid length nothing can be read any more, so the server shuts down in order.
func TestLostFraming(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"no header at all":    "hello world\r\n\r\n",
		"a negative length":   "Content-Length: -5\r\n\r\n",
		"no length":           "Content-Type: x\r\n\r\n{}",
		"a length of text":    "Content-Length: many\r\n\r\n{}",
		"a fractional one":    "Content-Length: 1.5\r\n\r\n{}",
		"a signed one":        "Content-Length: +2\r\n\r\n{}",
		"an absurd one":       "Content-Length: 99999999999999999999999\r\n\r\n{}",
		"two lengths":         "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		"an endless line":     strings.Repeat("A", 64<<10),
		"an endless header":   strings.Repeat("X-Field: y\r\n", 4<<10),
		"endless blank lines": strings.Repeat("\r\n", 64<<10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ed := lsptest.StartOver(t, f.options, lsptest.OSPipes(t))
			ed.Initialize(nil)
			ed.Raw([]byte(raw))
			r := ed.Wait()
			require.Equal(t, lsp.EndFraming, r.Reason)
			require.Equal(t, 1, r.ExitCode())
			require.ErrorContains(t, r.Err, "header is broken")
			receive(t, f.live.done)
		})
	}
}

// The input may end anywhere.
func TestTruncatedInput(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"C", "Content-Length: 10", "Content-Length: 10\r\n", "Content-Length: 10\r\n\r\n", "Content-Length: 10\r\n\r\n{}",
		fmt.Sprintf("Content-Length: %d\r\n\r\nx", 1<<40),
	} {
		f := newFixture(t)
		ed := lsptest.StartOver(t, f.options, lsptest.OSPipes(t))
		ed.Initialize(nil)
		ed.Raw([]byte(raw))
		ed.CloseInput()
		require.Equal(t, lsp.Result{Reason: lsp.EndInput}, ed.Wait(), raw)
	}
}
