package pi

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
)

// fakePi plays pi in memory.
type fakePi struct {
	t    *testing.T
	mark string // of the bridge, from the environment
	cmd  command

	mute   bool // no report of the bridge
	fork   bool // it is omp: its settings are in a file
	stderr string

	lines chan []byte
	ended chan struct{}
	once  sync.Once
	x     exit

	busy    atomic.Bool // what get_state says
	sending sync.Mutex  // held while lines is used

	mu      sync.Mutex
	handler func(c fakeCommand) bool // guarded by mu; see on
	written []fakeCommand            // guarded by mu
}

// on replaces what handles commands: handle reports whether it has answered one.
func (f *fakePi) on(handle func(c fakeCommand) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handler = handle
}

// fakeCommand is a line of the engine.
type fakeCommand map[string]any

func (c fakeCommand) typ() string     { s, _ := c["type"].(string); return s }
func (c fakeCommand) message() string { s, _ := c["message"].(string); return s }

func newFake(t *testing.T) *fakePi {
	return &fakePi{t: t, lines: make(chan []byte, 100_000), ended: make(chan struct{})}
}

func (f *fakePi) Lines() <-chan []byte { return f.lines }
func (f *fakePi) Stderr() string       { return f.stderr }

func (f *fakePi) Exit() exit {
	<-f.ended
	return f.x
}

func (f *fakePi) Close(context.Context) error {
	f.exit(exit{})
	return nil
}

func (f *fakePi) exit(x exit) {
	f.sending.Lock()
	defer f.sending.Unlock()
	f.once.Do(func() {
		f.x = x
		close(f.ended)
		close(f.lines)
	})
}

func (f *fakePi) Write(_ context.Context, line []byte) error {
	select {
	case <-f.ended:
		return errors.New("it has ended")
	default:
	}
	var c fakeCommand
	if json.Unmarshal(line, &c) != nil || c == nil {
		f.t.Errorf("the engine wrote %s", line)
		return nil
	}
	f.mu.Lock()
	f.written = append(f.written, c)
	handle := f.handler
	f.mu.Unlock()
	if handle == nil || !handle(c) {
		f.answer(c)
	}
	return nil
}

// answer answers a command as an idle pi does.
func (f *fakePi) answer(c fakeCommand) {
	switch c.typ() {
	case "extension_ui_response":
	case "get_state":
		f.ok(c, f.state())
	case "prompt":
		f.ok(c, object{"disposition": "started"})
		f.turn(c.message(), "answer")
	case "clear_queue":
		f.ok(c, object{"steering": []string{}, "followUp": []string{}})
	default:
		f.ok(c, object{})
	}
}

func (f *fakePi) file() string {
	for i, a := range f.cmd.Args {
		if a == "--session" {
			return f.cmd.Args[i+1]
		}
	}
	return filepath.Join(f.dir(), "2026_"+fakeID+".jsonl")
}

func (f *fakePi) dir() string {
	for i, a := range f.cmd.Args {
		if a == "--session-dir" {
			return f.cmd.Args[i+1]
		}
	}
	return ""
}

const fakeID = "01a202b1-f0b4-74f1-a829-bdc95815a193"

func (f *fakePi) state() object {
	return object{
		"model": object{"provider": "fake", "id": "m"}, "thinkingLevel": "medium", "sessionFile": f.file(), "sessionId": fakeID,
		"isStreaming": f.busy.Load(),
	}
}

// turn sends the events of a prompt and its answer.
func (f *fakePi) turn(prompt, answer string) {
	f.send(object{"type": "agent_start"})
	f.message(object{"role": "user", "content": prompt, "timestamp": 1})
	f.message(f.assistant(answer, "stop"))
	f.send(object{"type": "agent_settled", "aborted": false})
}

func (f *fakePi) assistant(text, stop string) object {
	return object{
		"role": "assistant", "content": []object{{"type": "text", "text": text}}, "stopReason": stop, "timestamp": 2,
		"usage": object{"input": 10, "output": 5},
	}
}

func (f *fakePi) message(m object) {
	f.send(object{"type": "message_start", "message": m})
	f.send(object{"type": "message_end", "message": m})
}

func (f *fakePi) ok(c fakeCommand, data any) {
	f.send(object{"type": "response", "id": c["id"], "command": c.typ(), "success": true, "data": data})
}

func (f *fakePi) no(c fakeCommand, sentence string) {
	f.send(object{"type": "response", "id": c["id"], "command": c.typ(), "success": false, "error": sentence})
}

func (f *fakePi) send(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		f.t.Error(err)
	}
	f.raw(string(raw))
}

func (f *fakePi) raw(line string) { f.all([]string{line}) }

// all sends lines of which none is lost if it is ended meanwhile.
func (f *fakePi) all(lines []string) {
	f.sending.Lock()
	defer f.sending.Unlock()
	select {
	case <-f.ended:
		return
	default:
	}
	for _, line := range lines {
		f.lines <- []byte(line)
	}
}

// ui sends a dialog or something to show.
func (f *fakePi) ui(id, method string, members object) {
	members["type"], members["id"], members["method"] = "extension_ui_request", id, method
	f.send(members)
}

// report sends a report of the bridge.
func (f *fakePi) report(v any) {
	raw, _ := json.Marshal(v)
	f.ui("s", "setStatus", object{"statusKey": f.mark, "statusText": string(raw)})
}

// question sends a question of the bridge.
func (f *fakePi) question(id string, v any) {
	raw, _ := json.Marshal(v)
	f.ui(id, "input", object{"title": f.mark, "placeholder": string(raw)})
}

func (f *fakePi) hello(more object) {
	hello := object{
		"op": "hello", "version": 1, "pi": "1.5.2", "reason": "startup", "permit": true, "file": f.file(), "leafId": "leaf0",
		"files": object{"read": true, "edit": true, "write": true},
		"tools": []object{{"name": "read", "own": true}, {"name": "bash", "own": true}, {"name": "edit", "own": true}},
	}
	maps.Copy(hello, more)
	f.report(hello)
}

// commands returns the commands of a type that were written.
func (f *fakePi) commands(typ string) (found []fakeCommand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.written {
		if c.typ() == typ {
			found = append(found, c)
		}
	}
	return found
}

// engineOf returns an engine that will run the fake.
func (f *fakePi) engineOf(o Options) *Engine {
	e := New(engine.Program{Name: "pi", Path: "/bin/pi", Version: "1.5.0"}, o)
	e.start = func(_ context.Context, c command) (process, error) {
		f.cmd = c
		for _, v := range c.Env {
			if setting, ok := strings.CutPrefix(v, hostVariable+"="); ok {
				var s struct{ Mark string }
				require.NoError(f.t, json.Unmarshal([]byte(setting), &s))
				f.mark = s.Mark
			}
		}
		if f.fork {
			raw, err := os.ReadFile(filepath.Join(e.bridge.dir, hostFile))
			require.NoError(f.t, err)
			var s struct{ Mark string }
			require.NoError(f.t, json.Unmarshal(raw, &s))
			f.mark = s.Mark
		}
		if !f.mute {
			f.hello(nil)
		}
		return f, nil
	}
	return e
}

func testPlace(t *testing.T) engine.Place {
	t.Helper()
	return engine.Place{Cwd: os.TempDir(), Dir: t.TempDir(), ID: fakeID, Permit: true, Files: true}
}

// open opens an engine that runs the fake.
func (f *fakePi) open(h *testHost) *Engine {
	f.t.Helper()
	e := f.engineOf(Options{})
	_, err := e.Open(f.t.Context(), testPlace(f.t), h)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { require.NoError(f.t, e.Close(context.Background())) })
	return e
}
