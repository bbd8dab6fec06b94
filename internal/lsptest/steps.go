package lsptest

import (
	"encoding/json"
	"maps"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/uri"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// Fields is a JSON object written in Go.
type Fields = map[string]any

// Pending is a request of the editor that may not be answered yet.
type Pending struct {
	ed     *Editor
	ID     int
	method string
}

// Begin sends a request and does not wait for the answer.
func (ed *Editor) Begin(method string, params any) *Pending {
	ed.t.Helper()
	ed.nextID++
	p := &Pending{ed: ed, ID: ed.nextID, method: method}
	ed.send(Message{ID: json.RawMessage(strconv.Itoa(p.ID)), Method: method, Params: ed.encode(params)})
	return p
}

// Wait waits for the answer.
func (p *Pending) Wait() (json.RawMessage, *Error) {
	p.ed.t.Helper()
	id := strconv.Itoa(p.ID)
	m := p.ed.await("an answer to "+p.method, func(m *Message) bool { return m.Method == "" && string(m.ID) == id })
	return m.Result, m.Error
}

// WaitAnswering waits for the answer. Meanwhile it calls answer for each request of the server, in
// order.
func (p *Pending) WaitAnswering(answer func(Request)) (json.RawMessage, *Error) {
	p.ed.t.Helper()
	id := strconv.Itoa(p.ID)
	for {
		m := p.ed.await("an answer to "+p.method, func(m *Message) bool {
			return m.isRequest() || m.Method == "" && string(m.ID) == id
		})
		if !m.isRequest() {
			return m.Result, m.Error
		}
		answer(Request{p.ed, m})
	}
}

// Cancel sends $/cancelRequest for the request.
func (p *Pending) Cancel() { p.ed.Notify("$/cancelRequest", Fields{"id": p.ID}) }

// Call sends a request and waits for the answer.
func (ed *Editor) Call(method string, params any) (json.RawMessage, *Error) {
	ed.t.Helper()
	return ed.Begin(method, params).Wait()
}

// Notify sends a notification.
func (ed *Editor) Notify(method string, params any) {
	ed.t.Helper()
	ed.send(Message{Method: method, Params: ed.encode(params)})
}

// Initialize sends initialize and initialized, and returns the result. params override harmless
// defaults.
func (ed *Editor) Initialize(params Fields) json.RawMessage {
	ed.t.Helper()
	all := Fields{"processId": nil, "rootUri": nil, "capabilities": Fields{}}
	maps.Copy(all, params)
	res, err := ed.Call("initialize", all)
	require.Nil(ed.t, err, "initialize")
	ed.Notify("initialized", Fields{})
	return res
}

// Exec runs a command. args is its one argument; nil sends none.
func (ed *Editor) Exec(command string, args any) (json.RawMessage, *Error) {
	ed.t.Helper()
	return ed.BeginExec(command, args).Wait()
}

// BeginExec starts a command.
func (ed *Editor) BeginExec(command string, args any) *Pending {
	ed.t.Helper()
	params := Fields{"command": command}
	if args != nil {
		params["arguments"] = []any{args}
	}
	return ed.Begin("workspace/executeCommand", params)
}

// Open opens a document with version 1.
func (ed *Editor) Open(path, text string) {
	ed.t.Helper()
	ed.Notify("textDocument/didOpen", Fields{"textDocument": Fields{
		"uri": URI(path), "languageId": "plaintext", "version": 1, "text": text,
	}})
}

// Change replaces the whole text of a document.
func (ed *Editor) Change(path string, version int, text string) {
	ed.t.Helper()
	ed.ChangeWith(path, version, Fields{"text": text})
}

// ChangeWith sends changes of a document in the protocol's form.
func (ed *Editor) ChangeWith(path string, version int, changes ...any) {
	ed.t.Helper()
	ed.Notify("textDocument/didChange", Fields{
		"textDocument": Fields{"uri": URI(path), "version": version}, "contentChanges": changes,
	})
}

// Save notifies the server that a document was saved. It writes nothing.
func (ed *Editor) Save(path string) {
	ed.t.Helper()
	ed.Notify("textDocument/didSave", Fields{"textDocument": Fields{"uri": URI(path)}})
}

// Close closes a document.
func (ed *Editor) Close(path string) {
	ed.t.Helper()
	ed.Notify("textDocument/didClose", Fields{"textDocument": Fields{"uri": URI(path)}})
}

// WaitNotification returns the parameters of the first notification of a method that no step has
// returned yet.
func (ed *Editor) WaitNotification(method string) json.RawMessage {
	ed.t.Helper()
	m := ed.await(method, func(m *Message) bool { return m.isNotification() && m.Method == method })
	return m.Params
}

// WaitEvent returns the next event of a type, and passes over those before it. A test that waits for an effect names the
// event that proves it: any notice can come first.
func (ed *Editor) WaitEvent(kind string) json.RawMessage {
	ed.t.Helper()
	for {
		var p struct{ Event json.RawMessage }
		var e struct{ Type string }
		require.NoError(ed.t, json.Unmarshal(ed.WaitNotification("xcsh/event"), &p))
		require.NoError(ed.t, json.Unmarshal(p.Event, &e))
		if e.Type == kind {
			return p.Event
		}
	}
}

// Request is a request of the server.
type Request struct {
	ed *Editor
	*Message
}

// WaitRequest returns the first request of a method that no step has returned yet.
func (ed *Editor) WaitRequest(method string) Request {
	ed.t.Helper()
	return Request{ed, ed.await(method, func(m *Message) bool { return m.isRequest() && m.Method == method })}
}

// Reply answers the request with a result; nil is null.
func (r Request) Reply(result any) {
	r.ed.t.Helper()
	raw, err := json.Marshal(result)
	require.NoError(r.ed.t, err)
	r.ed.send(Message{ID: r.ID, Result: raw})
}

// Fail answers the request with an error.
func (r Request) Fail(code int, message string) {
	r.ed.t.Helper()
	r.ed.send(Message{ID: r.ID, Error: &Error{Code: code, Message: message}})
}

// AnswerQuestion waits for a window/showMessageRequest, checks its text and
// answers with the button of that title; "" closes the question.
func (ed *Editor) AnswerQuestion(text, title string) {
	ed.t.Helper()
	r := ed.WaitRequest("window/showMessageRequest")
	var q struct {
		Message string `json:"message"`
		Actions []struct {
			Title string `json:"title"`
		} `json:"actions"`
	}
	require.NoError(ed.t, json.Unmarshal(r.Params, &q))
	require.Equal(ed.t, text, q.Message)
	if title == "" {
		r.Reply(nil)
		return
	}
	for _, a := range q.Actions {
		if a.Title == title {
			r.Reply(a)
			return
		}
	}
	require.FailNow(ed.t, "the question has no such button", "%q among %v", title, q.Actions)
}

// Shutdown sends shutdown and waits for the answer.
func (ed *Editor) Shutdown() {
	ed.t.Helper()
	_, err := ed.Call("shutdown", nil)
	require.Nil(ed.t, err, "shutdown")
}

// Exit sends exit and waits for the server to end.
func (ed *Editor) Exit() lsp.Result {
	ed.t.Helper()
	ed.Notify("exit", nil)
	return ed.Wait()
}

// URI returns the file: URI of a path.
func URI(path string) string { return string(uri.File(path)) }

func (ed *Editor) send(m Message) {
	ed.t.Helper()
	m.JSONRPC = "2.0"
	body, err := json.Marshal(m)
	require.NoError(ed.t, err)
	ed.Raw(Frame(string(body)))
}

func (ed *Editor) encode(params any) json.RawMessage {
	ed.t.Helper()
	if params == nil {
		return nil
	}
	raw, err := json.Marshal(params)
	require.NoError(ed.t, err)
	return raw
}

// WaitAnswer returns the answer with an id in JSON form, for messages sent with [Editor.Send].
func (ed *Editor) WaitAnswer(id string) *Message {
	ed.t.Helper()
	return ed.await("an answer with id "+id, func(m *Message) bool { return m.Method == "" && string(m.ID) == id })
}

// Path returns the path that a file: URI names.
func Path(t testing.TB, address string) string {
	t.Helper()
	u, err := uri.Parse(address)
	require.NoError(t, err)
	require.True(t, u.IsFile(), address)
	return u.FsPath()
}
