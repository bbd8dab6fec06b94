//go:build unix

// Package mcptest is a server of the Model Context Protocol for tests, with faults. It is the test program itself: its TestMain calls
// [Main].
package mcptest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The variables that make the test program a server.
const (
	probeName = "MCP_PROBE"       // how it starts: "ok", or a fault
	logName   = "MCP_PROBE_LOG"   // a file that gets its messages
	GateName  = "MCP_PROBE_GATE"  // an address that is connected to, and read to its end, before it answers
	ToolsName = "MCP_PROBE_TOOLS" // the number of further tools

	ResourceName = "MCP_PROBE_RESOURCE" // the scheme of its resources, "probe" if it is not set
)

// Main makes the process the server, if it was started as one. It returns otherwise.
func Main() {
	if how := os.Getenv(probeName); how != "" {
		newProbe().run(how)
		os.Exit(0)
	}
}

// Dot is the PNG image of the tool "picture".
const Dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// probe is a server with faults. It is written without the SDK, so that it can break its rules.
type probe struct {
	mu      sync.Mutex
	tools   []map[string]any
	waiting map[string]chan json.RawMessage // answers to own requests, by id
	next    int
	log     *os.File
}

// probeMessage is a message in either direction.
type probeMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func object(members string, required ...string) json.RawMessage {
	r, _ := json.Marshal(append([]string{}, required...))
	return json.RawMessage(`{"type":"object","properties":{` + members + `},"required":` + string(r) + `}`)
}

func newProbe() *probe {
	p := &probe{waiting: map[string]chan json.RawMessage{}}
	if path := os.Getenv(logName); path != "" {
		p.log, _ = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}
	p.tools = []map[string]any{
		{"name": "echo", "description": "Echoes text", "inputSchema": object(`"text":{"type":"string"}`, "text"), "annotations": map[string]any{"readOnlyHint": true}},
		{"name": "Add.Numbers-2", "description": "Adds", "inputSchema": object(`"a":{"type":"number"},"b":{"type":"number"}`, "a", "b")},
	}
	for _, name := range []string{
		"picture", "links", "fail", "error", "structured", "empty", "progress", "hang", "die", "rubbish", "flood", "noise", "big", "fork", "environment",
		"elicit", "roots", "sample", "grow", "shrink", "unknown", "alone", "twice",
	} {
		p.tools = append(p.tools, map[string]any{"name": name, "description": "Tool " + name, "inputSchema": object(`"n":{"type":"integer"}`)})
	}
	var more int
	_, _ = fmt.Sscan(os.Getenv(ToolsName), &more)
	for i := range more {
		p.tools = append(p.tools, map[string]any{"name": fmt.Sprintf("more_%03d", i), "description": "Counts sheep of the kind " + fmt.Sprint(i), "inputSchema": object("")})
	}
	return p
}

func (p *probe) note(direction string, m any) {
	if p.log != nil {
		line, _ := json.Marshal(map[string]any{"dir": direction, "m": m})
		_, _ = p.log.Write(append(line, '\n'))
	}
}

func (p *probe) send(m any) {
	line, _ := json.Marshal(m)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note("out", m)
	_, _ = os.Stdout.Write(append(line, '\n'))
}

func (p *probe) answer(id json.RawMessage, result any) {
	p.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

// ask sends a request to the client and returns the result or the error.
func (p *probe) ask(method string, params any) json.RawMessage {
	p.mu.Lock()
	p.next++
	id := fmt.Sprintf("s%d", p.next)
	answer := make(chan json.RawMessage, 1)
	p.waiting[id] = answer
	p.mu.Unlock()
	p.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return <-answer
}

// ShownEnv begins the names of the variables that the record of a start has.
const ShownEnv = "SHOWN_"

func shownEnv() map[string]string {
	shown := map[string]string{}
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, ShownEnv) {
			shown[name] = value
		}
	}
	return shown
}

func (p *probe) run(how string) {
	p.note("start", map[string]any{"pid": os.Getpid(), "args": os.Args[1:], "env": shownEnv()})
	switch how {
	case "die":
		fmt.Fprintln(os.Stderr, "one\nTOKEN is "+os.Getenv("MY_TOKEN")+"\nError: no database")
		os.Exit(2)
	case "rubbish":
		for {
			fmt.Println("this is not a message")
		}
	case "greeting":
		fmt.Println("Server listening\n\n[1, 2]\n{\"no\": \"message\"}\n{broken")
	case "hang":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	if address := os.Getenv(GateName); address != "" {
		if c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address); err == nil {
			_, _ = io.Copy(io.Discard, c)
		}
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m probeMessage
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		p.note("in", json.RawMessage(bytes.TrimSpace(line)))
		if m.Method == "" {
			var id string
			_ = json.Unmarshal(m.ID, &id)
			p.mu.Lock()
			answer := p.waiting[id]
			p.mu.Unlock()
			if answer != nil {
				answer <- append(append(json.RawMessage{}, m.Result...), m.Error...)
			}
			continue
		}
		if m.Method == "tools/call" {
			go p.call(m)
			continue
		}
		p.handle(how, m)
	}
}

func scheme() string { return cmp.Or(os.Getenv(ResourceName), "probe") }

func (p *probe) handle(how string, m probeMessage) {
	switch m.Method {
	case "initialize":
		if how == "refuse" {
			p.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32000, "message": "no licence for " + os.Getenv("MY_TOKEN")}})
			return
		}
		p.answer(m.ID, map[string]any{
			"protocolVersion": "2025-06-18", "serverInfo": map[string]any{"name": "probe", "version": "1.2.3"}, "instructions": "Call echo first.\x1b[31m",
			"capabilities": map[string]any{"tools": map[string]any{"listChanged": true}, "resources": map[string]any{}, "prompts": map[string]any{}},
		})
	case "tools/list":
		p.mu.Lock()
		tools := append([]map[string]any{}, p.tools...)
		p.mu.Unlock()
		p.answer(m.ID, map[string]any{"tools": tools})
	case "resources/list":
		p.answer(m.ID, map[string]any{"resources": []any{map[string]any{"uri": scheme() + "://doc/1", "name": "doc 1", "mimeType": "text/plain"}}, "nextCursor": "more"})
	case "resources/templates/list":
		p.answer(m.ID, map[string]any{"resourceTemplates": []any{map[string]any{"uriTemplate": scheme() + "://doc/{n}", "name": "docs"}}})
	case "resources/read":
		var q struct {
			URI string `json:"uri"`
		}
		_ = json.Unmarshal(m.Params, &q)
		p.answer(m.ID, map[string]any{"contents": []any{map[string]any{"uri": q.URI, "mimeType": "text/plain", "text": "contents of " + q.URI}}})
	case "prompts/list":
		p.answer(m.ID, map[string]any{"prompts": []any{map[string]any{
			"name": "greet", "description": "Greets", "arguments": []any{map[string]any{"name": "who", "required": true}, map[string]any{"name": "how"}},
		}}})
	case "prompts/get":
		var q struct {
			Arguments map[string]string `json:"arguments"`
		}
		_ = json.Unmarshal(m.Params, &q)
		p.answer(m.ID, map[string]any{"messages": []any{
			map[string]any{"role": "user", "content": map[string]any{"type": "text", "text": "Greet " + q.Arguments["who"] + " " + q.Arguments["how"]}},
			map[string]any{"role": "assistant", "content": map[string]any{"type": "text", "text": "Gladly."}},
		}})
	default:
		if len(m.ID) > 0 {
			p.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "Method not found"}})
		}
	}
}

func text(s string) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": s}}}
}

// call answers one call of a tool. It has a goroutine of its own.
func (p *probe) call(m probeMessage) {
	var q struct {
		Name      string `json:"name"`
		Arguments struct {
			Text string  `json:"text"`
			A, B float64 `json:",omitempty"`
			N    int     `json:"n"`
		} `json:"arguments"`
		Meta struct {
			Token any `json:"progressToken"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &q)
	a := q.Arguments
	switch q.Name {
	case "echo":
		p.answer(m.ID, text("echo: "+a.Text))
	case "Add.Numbers-2":
		sum := map[string]any{"sum": a.A + a.B}
		raw, _ := json.Marshal(sum)
		r := text(string(raw))
		r["structuredContent"] = sum
		p.answer(m.ID, r)
	case "picture":
		p.answer(m.ID, map[string]any{"content": []any{
			map[string]any{"type": "text", "text": "a dot"},
			map[string]any{"type": "image", "data": Dot, "mimeType": "image/png"},
			map[string]any{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
		}})
	case "links":
		p.answer(m.ID, map[string]any{"content": []any{
			map[string]any{"type": "resource_link", "uri": "probe://doc/1", "name": "doc 1", "description": "a document", "mimeType": "text/plain", "size": 1234},
			map[string]any{"type": "resource", "resource": map[string]any{"uri": "probe://doc/2", "mimeType": "text/plain", "text": "embedded text"}},
			map[string]any{"type": "resource", "resource": map[string]any{"uri": "probe://bin/3.dat", "mimeType": "application/octet-stream", "blob": "AAEC"}},
		}})
	case "fail":
		r := text("it went wrong")
		r["isError"] = true
		p.answer(m.ID, r)
	case "error":
		p.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32000, "message": "the token " + os.Getenv("MY_TOKEN") + " is wrong"}})
	case "structured":
		p.answer(m.ID, map[string]any{"content": []any{}, "structuredContent": map[string]any{"sum": 3}})
	case "empty":
		p.answer(m.ID, map[string]any{"content": []any{}})
	case "unknown":
		p.answer(m.ID, map[string]any{"content": []any{map[string]any{"type": "hologram"}}})
	case "progress":
		for i := range 3 {
			p.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{"progressToken": q.Meta.Token, "progress": i + 1, "total": 3, "message": fmt.Sprintf("step %d", i+1)}})
		}
		p.ask("roots/list", map[string]any{}) // the client has seen the progress before it answers
		p.answer(m.ID, text("done"))
	case "hang":
		select {} // the client gives up
	case "die":
		fmt.Fprintln(os.Stderr, "panic: index out of range "+os.Getenv("MY_TOKEN"))
		os.Exit(3)
	case "rubbish":
		fmt.Println("log: working\n[]\nnull\n{}")
		p.answer(m.ID, text("after rubbish"))
	case "noise": // without end
		for {
			fmt.Println("noise")
		}
	case "flood":
		for i := range 20_000 {
			fmt.Fprintln(os.Stderr, "warning", i, strings.Repeat("-", 200))
		}
		p.answer(m.ID, text("after the flood"))
	case "big":
		p.answer(m.ID, text(strings.Repeat("x", a.N)))
	case "fork":
		p.answer(m.ID, text(p.fork()))
	case "environment":
		p.answer(m.ID, text(strings.Join(os.Environ(), "\n")))
	case "elicit":
		p.answer(m.ID, text(string(p.ask("elicitation/create", map[string]any{"message": "Which colour?", "requestedSchema": object(`"colour":{"type":"string","enum":["red","blue"]}`, "colour")}))))
	case "sample":
		p.answer(m.ID, text(string(p.ask("sampling/createMessage", map[string]any{"messages": []any{}, "maxTokens": 1}))))
	case "roots":
		p.answer(m.ID, text(string(p.ask("roots/list", map[string]any{}))))
	case "grow", "shrink":
		p.mu.Lock()
		if q.Name == "grow" {
			p.tools = append(p.tools, map[string]any{"name": "grown", "description": "new", "inputSchema": object("")})
		} else {
			p.tools = p.tools[1:]
		}
		p.mu.Unlock()
		for range 3 {
			p.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
		}
		p.answer(m.ID, text("changed"))
	case "twice":
		p.answer(m.ID, text("first"))
		p.answer(m.ID, text("second"))
	default:
		p.answer(m.ID, text("called "+q.Name))
	}
}

// fork starts processes that outlive the server, and returns their ids.
func (p *probe) fork() string {
	out, _ := exec.CommandContext(context.Background(), "sh", "-c", `sleep 1000 >/dev/null 2>&1 & echo $!
		setsid sh -c 'echo $$; trap "" TERM HUP; exec sleep 1000 >/dev/null 2>&1' &`).CombinedOutput()
	return string(out)
}

// Server is how the server is started.
type Server struct {
	Command string
	Env     []string
	Log     string // a file that gets its messages
}

// Start returns how the server is started. how is "ok" or a fault.
func Start(t testing.TB, how string, env ...string) Server {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	log := t.TempDir() + "/log"
	return Server{self, append([]string{probeName + "=" + how, logName + "=" + log}, env...), log}
}

// Entry returns the definition of the server in a file of a program.
func (s Server) Entry() map[string]any {
	env := map[string]string{}
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	return map[string]any{"command": s.Command, "env": env}
}

// Record is a line of the log.
type Record struct {
	Dir string `json:"dir"` // in, out or start
	M   struct {
		Pid    int             `json:"pid"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		ID     json.RawMessage `json:"id"`

		Args []string          `json:"args"` // of a start
		Env  map[string]string `json:"env"`  // of a start: the variables that begin with [ShownEnv]
	} `json:"m"`
}

// Records returns the messages so far.
func (s Server) Records(t testing.TB) (all []Record) {
	t.Helper()
	f, err := os.Open(s.Log)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return all
		}
		var r Record
		require.NoError(t, json.Unmarshal(line, &r))
		all = append(all, r)
	}
}

// Received reports whether the server has received a message of a method.
func (s Server) Received(t testing.TB, method string) bool {
	for _, r := range s.Records(t) {
		if r.Dir == "in" && r.M.Method == method {
			return true
		}
	}
	return false
}

// Starts returns the ids of the processes that the server had.
func (s Server) Starts(t testing.TB) (pids []int) {
	for _, r := range s.Records(t) {
		if r.Dir == "start" {
			pids = append(pids, r.M.Pid)
		}
	}
	return pids
}

// Gone requires the end of processes.
func Gone(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, time.Minute, time.Millisecond, "the process %d lives on", pid)
	}
}
