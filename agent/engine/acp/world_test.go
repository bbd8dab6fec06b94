package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/acp"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	cwd     = "/home/dev/project"
	session = "01a202ba-36cd-748d-9923-13843f78e802"
)

// agent is a program in memory, played by a test.
type agent struct {
	t     *testing.T
	in    chan []byte
	lines chan []byte
	got   chan wire.Envelope
	done  chan struct{}
	ended chan struct{} // it was closed, or ended by itself
	once  sync.Once

	exit   child.Exit
	stderr string
	config child.Config
}

func newAgent(t *testing.T) *agent {
	a := &agent{
		t: t, in: make(chan []byte), lines: make(chan []byte), got: make(chan wire.Envelope, 10_000), done: make(chan struct{}), ended: make(chan struct{}),
	}
	go a.pump()
	return a
}

// pump passes on lines until the agent has ended.
func (a *agent) pump() {
	defer close(a.done)
	defer close(a.lines)
	for {
		select {
		case line := <-a.in:
			select {
			case a.lines <- line:
			case <-a.ended:
				return
			}
		case <-a.ended:
			return
		}
	}
}

func (a *agent) Lines() <-chan []byte  { return a.lines }
func (a *agent) Done() <-chan struct{} { return a.done }
func (a *agent) Exit() child.Exit      { return a.exit }
func (a *agent) Stderr() string        { return a.stderr }

func (a *agent) Write(_ context.Context, line []byte) error {
	select {
	case <-a.done:
		return child.ErrEnded
	default:
	}
	m, _, wrong := wire.Parse(line)
	if wrong != nil || bytes.IndexByte(line, '\n') >= 0 {
		a.t.Errorf("no message: %.200s", line)
	}
	a.got <- m
	return nil
}

func (a *agent) Close(context.Context) error {
	a.once.Do(func() { close(a.ended) })
	<-a.done
	return nil
}

// die ends the agent by itself.
func (a *agent) die(e child.Exit, stderr string) {
	a.exit, a.stderr = e, stderr
	_ = a.Close(context.Background())
}

// raw sends a line.
func (a *agent) raw(line string) {
	select {
	case a.in <- []byte(line):
	case <-a.ended:
	}
}

func (a *agent) send(m any) {
	b, err := json.Marshal(m)
	require.NoError(a.t, err)
	a.raw(string(b))
}

// update sends an update of the session.
func (a *agent) update(u string) { a.updateOf(session, u) }

func (a *agent) updateOf(id, u string) {
	a.raw(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + id + `","update":` + u + `}}`)
}

// say sends a piece of an answer.
func (a *agent) say(id, text string) {
	b, _ := json.Marshal(text)
	a.update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","messageId":%q,"content":{"type":"text","text":%s}}`, id, b))
}

// expect waits for a message of the engine.
func (a *agent) expect(method string) wire.Envelope {
	a.t.Helper()
	select {
	case m := <-a.got:
		require.Equal(a.t, method, m.Method, "%s %s", m.Params, m.Result)
		return m
	case <-time.After(time.Hour): // of the bubble
		require.Fail(a.t, "nothing was sent", method)
		panic("unreachable")
	}
}

func (a *agent) answer(m wire.Envelope, result string) {
	a.raw(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

func (a *agent) refuse(m wire.Envelope, code int, message string) {
	a.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": code, "message": message}})
}

// ask sends a request and returns the engine's answer.
func (a *agent) ask(method, params string) wire.Envelope {
	a.t.Helper()
	a.request(method, params)
	return a.expect("")
}

func (a *agent) request(method, params string) {
	a.raw(`{"jsonrpc":"2.0","id":"q","method":"` + method + `","params":` + params + `}`)
}

const (
	greeted = `{"protocolVersion":1,"agentInfo":{"name":"x","version":"1.2.3"},"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true},"mcpCapabilities":{"http":true},` +
		`"sessionCapabilities":{"resume":{}}},"_meta":{"steering":{"supported":true}}}`
	begun = `{"sessionId":"` + session + `","modes":{"currentModeId":"default","availableModes":[{"id":"default","name":"Manual"},{"id":"acceptEdits","name":"Accept edits"}]},` +
		`"configOptions":[{"id":"model","category":"model","type":"select","currentValue":"opus","options":[{"value":"opus","name":"Opus"},{"group":"g","name":"More","options":[{"value":"haiku","name":"Haiku"}]}]},` +
		`{"id":"effort","category":"thought_level","type":"select","currentValue":"default","options":[{"value":"default","name":"Default"},{"value":"high","name":"High"}]}]}`
)

// host is a session in memory that notes everything that is reported.
type host struct {
	mu      sync.Mutex
	story   []string
	events  []event.Event
	asked   []engine.Call
	queued  [][]string
	open    map[string]string // documents of the editor
	unsaved []string
	shown   map[string]string // the content that was permitted, by call
	files   afero.Fs

	permit  func(ctx context.Context, c engine.Call) error
	message func(m json.RawMessage)
}

func newHost(fs afero.Fs) *host {
	return &host{open: map[string]string{}, shown: map[string]string{}, files: fs}
}

func (h *host) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.story = append(h.story, fmt.Sprintf(format, args...))
}

func (h *host) Emit(e event.Event) {
	raw, _ := json.Marshal(e)
	h.mu.Lock()
	h.events = append(h.events, e)
	h.mu.Unlock()
	h.note("%s", raw)
}

func (h *host) Message(_ context.Context, m json.RawMessage) {
	h.note("recorded %s", m)
	if h.message != nil {
		h.message(m)
	}
}
func (h *host) Leaf(id string)   { h.note("leaf %s", id) }
func (h *host) Left(path string) { h.note("left %s", path) }

func (h *host) Permit(ctx context.Context, c engine.Call) error {
	h.mu.Lock()
	h.asked = append(h.asked, c)
	h.mu.Unlock()
	line := fmt.Sprintf("permit? %s %s %v %s %s", c.ID, c.Tool, c.Effect, c.Path, c.Args)
	if c.Apply != nil {
		b, err := c.Apply(h.file(c.Path))
		line += fmt.Sprintf(" => %q %v", b, err)
		h.mu.Lock()
		h.shown[c.ID+c.Path] = string(b)
		h.mu.Unlock()
	}
	h.note("%s", line)
	if h.permit != nil {
		return h.permit(ctx, c)
	}
	return nil
}

func (h *host) file(path string) tool.File {
	h.mu.Lock()
	defer h.mu.Unlock()
	if text, ok := h.open[path]; ok {
		return tool.File{Content: []byte(text), Exists: true, Open: true}
	}
	b, err := afero.ReadFile(h.files, path)
	return tool.File{Content: b, Exists: err == nil}
}

func (h *host) Read(_ context.Context, path string) (string, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, ok := h.open[path]
	return text, ok, nil
}

func (h *host) Write(_ context.Context, id, path, text string) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if shown, ok := h.shown[id+path]; !ok {
		return false, fault.New(fault.Denied, "This write was not permitted.")
	} else if shown != text {
		return false, fault.New(fault.Stale, "This is not what was shown.")
	}
	if _, ok := h.open[path]; !ok {
		return false, nil
	}
	h.open[path] = text
	return true, nil
}

func (h *host) Ask(context.Context, event.Question) engine.Answer {
	return engine.Answer{Cancelled: true}
}

func (h *host) Queued(_, follow []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queued = append(h.queued, follow)
}

func (h *host) Unsaved(context.Context) []string { return h.unsaved }

// notes returns the notes, and clears them.
func (h *host) notes() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := strings.Join(h.story, "\n")
	h.story = nil
	return s
}

// messages returns the recorded messages as lines.
func (h *host) messages() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, line := range h.story {
		if m, ok := strings.CutPrefix(line, "recorded "); ok {
			out = append(out, m)
		}
	}
	return out
}

// world is an engine with an agent in memory.
type world struct {
	*testing.T
	agent *agent
	host  *host
	seat  engine.Host // wraps host; nil if nothing does
	fs    afero.Fs
	e     *acp.Engine
	place engine.Place
}

func newWorld(t *testing.T, name string) *world {
	return newWorldOf(t, engine.Program{Name: name, Path: "/bin/agent", Protocol: engine.ACP})
}

func newWorldOf(t *testing.T, p engine.Program) *world {
	fs := afero.NewMemMapFs()
	require.NoError(t, fs.MkdirAll(cwd, 0o777))
	w := &world{T: t, agent: newAgent(t), host: newHost(fs), fs: fs, place: engine.Place{Cwd: cwd, Dir: "/sessions", Permit: true}}
	w.e = acp.New(p, acp.Options{
		Fs: fs, Now: func() time.Time { return time.UnixMilli(1_700_000_000_000) },
		Start: func(_ context.Context, c child.Config) (acp.Process, error) {
			w.agent.config = c
			return w.agent, nil
		},
	})
	t.Cleanup(func() { _ = w.e.Close(context.Background()) })
	return w
}

type openResult struct {
	engine.Opened
	err error
}

// opening opens the engine in the background.
func (w *world) opening() <-chan openResult {
	ch := make(chan openResult, 1)
	seat := w.seat
	if seat == nil {
		seat = w.host
	}
	go func() {
		o, err := w.e.Open(w.Context(), w.place, seat)
		ch <- openResult{o, err}
	}()
	return ch
}

// ready opens the engine on a new session.
func ready(t *testing.T, name string) *world {
	t.Helper()
	w := newWorld(t, name)
	w.openNew()
	return w
}

func (w *world) openNew() engine.Opened {
	w.Helper()
	o := w.opening()
	w.agent.answer(w.agent.expect("initialize"), greeted)
	w.agent.answer(w.agent.expect("session/new"), begun)
	r := <-o
	require.NoError(w, r.err)
	w.host.notes()
	return r.Opened
}

// running is a run in the background.
type running struct {
	out    chan outcome
	cancel context.CancelFunc
	m      wire.Envelope // the prompt
}

// prompt begins a run.
func (w *world) prompt(text string) *running {
	w.Helper()
	r := w.start(text)
	r.m = w.agent.expect("session/prompt")
	return r
}

func (w *world) start(text string) *running {
	ctx, cancel := context.WithCancel(w.Context())
	r := &running{out: make(chan outcome, 1), cancel: cancel}
	go func() { r.out <- outcome{w.e.Run(ctx, engine.Input{Text: text})} }()
	return r
}

var errNo = errors.New("no")

// pass lets time pass. In a bubble it takes none.
func pass(d time.Duration) { <-time.After(d) }
