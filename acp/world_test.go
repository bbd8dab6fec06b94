package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/acp"
	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

const (
	agentDir = "/home/u/.xcsh/agent"
	sessions = agentDir + "/sessions/--w--"
	id1      = "0190000000000001"
	file1    = sessions + "/2026-01-01T00-00-00-000Z_" + id1 + ".jsonl"
)

// waitLimit is the timeout for an expected event.
const waitLimit = 20 * time.Second

type object = map[string]any

// models are two models with scripted replies: p/m thinks, p/plain does not.
type models struct {
	providertest.Scripted
	key     error
	sources []provider.Source
}

func (m *models) All(ctx context.Context) []provider.Info {
	var list []provider.Info
	for _, id := range []string{"m", "plain"} {
		model, _ := m.Find(ctx, provider.Ref{Provider: "p", ID: id})
		list = append(list, provider.Info{Model: model, Available: m.key == nil})
	}
	return list
}

func (m *models) Find(_ context.Context, ref provider.Ref) (provider.Model, bool) {
	model := provider.Model{
		Provider: ref.Provider, ID: ref.ID, API: provider.Scripted, ContextWindow: 1000, Reasoning: ref.ID == "m", Input: []string{"text", "image"},
	}
	return model, ref.Provider == "p" && (ref.ID == "m" || ref.ID == "plain")
}

func (m *models) Service(provider.Model) (provider.Provider, error) { return &m.Scripted, nil }

func (m *models) Key(context.Context, provider.Model) (string, error) { return "secret", m.key }

func (m *models) CheckKey(provider.Model) error { return m.key }

func (m *models) Sources(context.Context) []provider.Source { return m.sources }

// world is a machine with the folder /w.
type world struct {
	planning bool // the model keeps a plan

	pdf func(ctx context.Context, cwd, name string, content []byte) (string, bool, error)

	fs     afero.Fs
	models *models
	model  string
	hooks  []hook.Hook
	large  int64 // see agent.Storage
	store  *session.Store

	programs engine.Catalog // nil: there are none
	setups   *setup.Finder  // nil: there are none
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{fs: afero.NewMemMapFs(), models: &models{}, model: "p/m"}
	require.NoError(t, w.fs.MkdirAll("/w", 0o755))
	return w
}

func (w *world) file(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, w.fs.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, afero.WriteFile(w.fs, path, []byte(content), 0o600))
}

func (w *world) read(t *testing.T, path string) string {
	t.Helper()
	content, err := afero.ReadFile(w.fs, path)
	require.NoError(t, err)
	return string(content)
}

// talk writes a short conversation of the folder to disk.
func (w *world) talk(t *testing.T, more ...string) {
	t.Helper()
	w.file(t, file1, st.File(append([]string{st.Header(id1, "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")}, more...)...))
}

func (w *world) backend() acp.Backend {
	now := func() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC) }
	roots := []library.Root{library.OwnRoot(library.AgentPlaces(agentDir))}
	if w.programs != nil {
		roots = append(roots, library.Root{Places: library.AgentPlaces("/home/u/.pi/agent"), Dialect: session.Pi})
	}
	finder := library.Finder{Fs: w.fs, Roots: roots, Home: "/home/u", Temp: "/tmp", Now: now}
	w.store = session.NewStore(session.StoreConfig{
		Fs: w.fs, Now: now, DirFor: finder.DirFor, RootFor: finder.FileRoot,
	})
	options := tool.Options{Fs: w.fs}
	return acp.Backend{
		Store: w.store, Finder: finder, Fs: w.fs, Disk: tool.Local{Fs: w.fs}, PDF: w.pdf,
		Sessions: func(c acp.Client) *agent.Manager {
			return agent.NewManager(agent.Config{
				Storage:     agent.Storage{Store: w.store, Finder: finder, LargeFile: w.large},
				Requests:    agent.Requests{Models: w.models, Defaults: agent.Defaults{Model: w.model}, Retry: loop.Retry{Attempts: 2, Base: time.Millisecond}},
				Toolbox:     agent.Toolbox{Todos: w.planning, Subagents: true, Tools: tool.All(options), Workspace: c.Files},
				Permissions: agent.Permissions{Ask: c.Approve, CanAsk: c.CanAsk, AskForm: c.AskForm},
				Engines:     agent.Engines{Programs: w.programs, MCPServers: c.MCPServers},
				Hooks:       w.hooks,
				Setups:      w.setups,
			})
		},
	}
}

// client is a client of the protocol that records every message that it receives.
type client struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *io.PipeReader
	served chan error

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced with every message
	received []message     // all messages, in order
	asks     map[string]func(p json.RawMessage) (any, *wireError)
	last     int
}

// message is any message that the client received.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *wireError      `json:"error"`
	line   string
}

type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Kind  string `json:"kind"`
		Field string `json:"field"`
	} `json:"data"`
}

// start serves a client that has sent nothing yet. It ends with the test.
func (w *world) start(t *testing.T, change ...func(*acp.Options)) *client {
	t.Helper()
	serverIn, in := io.Pipe()
	out, serverOut := io.Pipe()
	c := &client{t: t, in: in, out: out, served: make(chan error, 1), changed: make(chan struct{}), asks: map[string]func(json.RawMessage) (any, *wireError){}}
	o := acp.Options{Version: "1.2.3", Commands: commands.Default, Backend: w.backend(), Log: zap.NewNop()}
	for _, f := range change {
		f(&o)
	}
	go func() {
		c.served <- acp.Serve(context.WithoutCancel(t.Context()), serverIn, serverOut, o)
		_ = serverOut.Close() // closing a pipe never fails
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read()
	}()
	t.Cleanup(func() {
		_ = in.Close()
		select {
		case err := <-c.served:
			require.NoError(t, err)
		case <-time.After(waitLimit):
			t.Error("the server does not end")
		}
		<-read
	})
	return c
}

// connect starts a client and initializes it with capabilities.
func (w *world) connect(t *testing.T, capabilities object) *client {
	t.Helper()
	c := w.start(t)
	c.ok("initialize", object{"protocolVersion": 1, "clientCapabilities": capabilities})
	return c
}

func (c *client) read() {
	r := bufio.NewReader(c.out)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			c.t.Errorf("the server sent %q: %v", line, err)
		}
		m.line = strings.TrimSuffix(line, "\n")
		c.mu.Lock()
		c.received = append(c.received, m)
		close(c.changed)
		c.changed = make(chan struct{})
		ask := c.asks[m.Method]
		c.mu.Unlock()
		if m.Method == "" || m.ID == nil {
			continue
		}
		go c.answer(m, ask) // may block
	}
}

func (c *client) answer(m message, ask func(json.RawMessage) (any, *wireError)) {
	reply := object{"jsonrpc": "2.0", "id": m.ID}
	if ask == nil {
		reply["error"] = object{"code": -32601, "message": "Method not found"}
	} else if result, err := ask(m.Params); err != nil {
		reply["error"] = object{"code": err.Code, "message": err.Message}
	} else if result != nil { // otherwise it never answers
		reply["result"] = result
	} else {
		return
	}
	raw, err := json.Marshal(reply)
	if err == nil {
		_, _ = fmt.Fprintf(c.in, "%s\n", raw) // the server may have exited
	}
}

// on sets the client's answer to a method of the server. A nil result is never sent.
func (c *client) on(method string, ask func(p json.RawMessage) (any, *wireError)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks[method] = ask
}

// raw sends a line.
func (c *client) raw(line string) {
	c.t.Helper()
	_, err := io.WriteString(c.in, line+"\n")
	require.NoError(c.t, err)
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	raw, err := json.Marshal(object{"jsonrpc": "2.0", "method": method, "params": params})
	require.NoError(c.t, err)
	c.raw(string(raw))
}

// send sends a request and returns its id.
func (c *client) send(method string, params any) string {
	c.t.Helper()
	c.mu.Lock()
	c.last++
	id := fmt.Sprintf("%q", fmt.Sprint("c", c.last))
	c.mu.Unlock()
	raw, err := json.Marshal(object{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params})
	require.NoError(c.t, err)
	c.raw(string(raw))
	return id
}

// wait returns the first matching message, already received or still to come.
func (c *client) wait(what string, fits func(m message) bool) message {
	c.t.Helper()
	deadline := time.After(waitLimit)
	for seen := 0; ; {
		c.mu.Lock()
		received, changed := c.received, c.changed
		c.mu.Unlock()
		for ; seen < len(received); seen++ {
			if fits(received[seen]) {
				return received[seen]
			}
		}
		select {
		case <-changed:
		case <-deadline:
			require.Fail(c.t, "nothing came: "+what, "%v", lines(received))
		}
	}
}

func lines(received []message) (all []string) {
	for _, m := range received {
		all = append(all, m.line)
	}
	return all
}

// answered returns the response to a request.
func (c *client) answered(id string) message {
	c.t.Helper()
	return c.wait("the answer to "+id, func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

// ok sends a request that must succeed.
func (c *client) ok(method string, params any) object {
	c.t.Helper()
	m := c.answered(c.send(method, params))
	require.Nil(c.t, m.Error, "%s: %s", method, m.line)
	var result object
	require.NoError(c.t, json.Unmarshal(m.Result, &result), m.line)
	return result
}

// refused sends a request that must fail.
func (c *client) refused(method string, params any, code int, sentence string) *wireError {
	c.t.Helper()
	m := c.answered(c.send(method, params))
	require.NotNil(c.t, m.Error, "%s: %s", method, m.line)
	require.Equal(c.t, code, m.Error.Code, m.line)
	require.Contains(c.t, m.Error.Message, sentence)
	require.NotEmpty(c.t, m.Error.Data.Kind, m.line)
	return m.Error
}

// open creates a session in /w and returns its id.
func (c *client) open() string {
	c.t.Helper()
	id, _ := c.ok("session/new", object{"cwd": "/w", "mcpServers": []any{}})["sessionId"].(string)
	require.NotEmpty(c.t, id)
	return id
}

func text(s string) object { return object{"type": "text", "text": s} }

// say sends a prompt and returns the id of the request.
func (c *client) say(session string, blocks ...any) string {
	c.t.Helper()
	return c.send("session/prompt", object{"sessionId": session, "prompt": blocks})
}

// prompt sends a text and returns why the turn ended.
func (c *client) prompt(session, words string) string {
	c.t.Helper()
	m := c.answered(c.say(session, text(words)))
	require.Nil(c.t, m.Error, m.line)
	return stopOf(c.t, m)
}

func stopOf(t *testing.T, m message) string {
	t.Helper()
	var r struct {
		StopReason string `json:"stopReason"`
	}
	require.NoError(t, json.Unmarshal(m.Result, &r), m.line)
	return r.StopReason
}

// update is an update of a session.
type update struct {
	Kind      string          `json:"sessionUpdate"`
	Content   json.RawMessage `json:"content"` // a block of a chunk, a list of a tool call
	MessageID string          `json:"messageId"`
	CallID    string          `json:"toolCallId"`
	Title     string          `json:"title"`
	ToolKind  string          `json:"kind"`
	Status    string          `json:"status"`
	Severity  string          `json:"severity"`
	Locations []struct {
		Path string `json:"path"`
		Line int    `json:"line"`
	} `json:"locations"`
	RawInput  json.RawMessage `json:"rawInput"`
	RawOutput json.RawMessage `json:"rawOutput"`
	Mode      string          `json:"currentModeId"`
	Used      *int            `json:"used"`
	Size      int             `json:"size"`
	Entries   []object        `json:"entries"`
	Summary   []object        `json:"summary"`
	Options   []object        `json:"configOptions"`
	Commands  []object        `json:"availableCommands"`
}

// updates returns those of a session so far, in order.
func (c *client) updates(session string) (all []update) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.received {
		if u, ok := updateIn(m, session); ok {
			all = append(all, u)
		}
	}
	return all
}

func updateIn(m message, session string) (u update, ok bool) {
	var p struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	if m.Method != "session/update" || json.Unmarshal(m.Params, &p) != nil || p.SessionID != session {
		return u, false
	}
	return u, json.Unmarshal(p.Update, &u) == nil
}

// heard waits for a matching update of a session.
func (c *client) awaitUpdate(session, what string, fits func(u update) bool) (found update) {
	c.t.Helper()
	c.wait(what, func(m message) bool {
		u, ok := updateIn(m, session)
		if ok && fits(u) {
			found = u
			return true
		}
		return false
	})
	return found
}

// words returns the joined texts of the chunks of one kind.
func words(all []update, kind string) string {
	var b strings.Builder
	for _, u := range all {
		if u.Kind == kind {
			var block struct {
				Text string `json:"text"`
			}
			if json.Unmarshal(u.Content, &block) == nil {
				b.WriteString(block.Text)
			}
		}
	}
	return b.String()
}

// content is one part of a tool call's output.
type content struct {
	Type    string  `json:"type"`
	Path    string  `json:"path"`
	OldText *string `json:"oldText"`
	NewText string  `json:"newText"`
	Content struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Data string `json:"data"`
	} `json:"content"`
}

func contents(t *testing.T, raw json.RawMessage) (all []content) {
	t.Helper()
	if raw != nil {
		require.NoError(t, json.Unmarshal(raw, &all))
	}
	return all
}
