//go:build peers

package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/acp"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// model is a model service with the Messages API of Anthropic. The newest prompt says what it answers: [[tool:NAME {json}]] calls a tool,
// [[slow]] pauses between words, and otherwise it repeats the last text.
type model struct {
	*httptest.Server
	mu   sync.Mutex
	last []string // the last text of each request; guarded by mu
	n    int
}

var toolPattern = regexp.MustCompile(`(?s)\[\[tool:(\w+) (\{.*?\})\]\]`)

func newModel(t *testing.T) *model {
	m := &model{}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() { m.CloseClientConnections(); m.Close() })
	return m
}

// texts returns the texts of content, and whether it is the result of a tool.
func texts(raw json.RawMessage) (text string, result bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, false
	}
	var parts []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		if p.Type == "tool_result" {
			inner, _ := texts(p.Content)
			text, result = text+inner, true
		}
		text += p.Text
	}
	return text, result
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if strings.HasSuffix(r.URL.Path, "/count_tokens") {
		_, _ = fmt.Fprint(w, `{"input_tokens":10}`)
		return
	}
	var q struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []json.RawMessage `json:"tools"`
	}
	if r.Method != http.MethodPost || json.Unmarshal(body, &q) != nil {
		_, _ = fmt.Fprint(w, `{"data":[]}`)
		return
	}
	prompt, last, results := "", "", 0
	for _, msg := range q.Messages {
		text, result := texts(msg.Content)
		if msg.Role != "user" {
			continue
		}
		last = text
		switch {
		case result:
			results++
		case strings.Contains(text, "[["):
			prompt, results = text, 0
		}
	}
	m.mu.Lock()
	m.last = append(m.last, last)
	m.n++
	id := m.n
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(name, data string) {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
		w.(http.Flusher).Flush()
	}
	send("message_start", fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}}`, id))
	send("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	call := toolPattern.FindStringSubmatch(prompt)
	text := "Echo: " + last
	if call != nil && results == 0 && len(q.Tools) > 0 {
		text = "Calling."
	} else {
		call = nil
	}
	for _, word := range strings.SplitAfter(text, " ") {
		b, _ := json.Marshal(word)
		send("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+string(b)+`}}`)
		if strings.Contains(prompt, "[[slow]]") {
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
				return
			}
		}
	}
	send("content_block_stop", `{"type":"content_block_stop","index":0}`)
	stop := "end_turn"
	if call != nil {
		stop = "tool_use"
		args, _ := json.Marshal(call[2])
		send("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_%d","name":%q,"input":{}}}`, id, call[1]))
		send("content_block_delta", `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":`+string(args)+`}}`)
		send("content_block_stop", `{"type":"content_block_stop","index":1}`)
	}
	send("message_delta", `{"type":"message_delta","delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":5}}`)
	send("message_stop", `{"type":"message_stop"}`)
}

// seen returns the last text that the model was sent.
func (m *model) seen() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last[len(m.last)-1]
}

// saw reports whether the model was sent a text. Agents send requests of their own, too.
func (m *model) saw(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.last, func(s string) bool { return strings.Contains(s, text) })
}

// real is an engine with a real program.
type real struct {
	*testing.T
	e       *acp.Engine
	host    *host
	place   engine.Place
	program engine.Program
	env     []string

	reported int // messages of the file; used under the engine's own lock
}

func installed(t *testing.T, variable string, parts ...string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join(append([]string{"..", "..", "..", "bench", "peers", "node_modules"}, parts...)...)
	}
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed; run bench/peers/install.sh or set %s", path, variable)
	}
	return path
}

func newReal(t *testing.T, p engine.Program, env ...string) *real {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := &real{T: t, program: p, host: newHost(afero.NewOsFs())}
	r.place = engine.Place{Cwd: filepath.Join(dir, "project"), Dir: filepath.Join(dir, "sessions"), Permit: true}
	require.NoError(t, os.MkdirAll(r.place.Cwd, 0o700))
	require.NoError(t, os.MkdirAll(r.place.Dir, 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "home"), 0o700))
	r.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "TERM=dumb"}, env...)
	return r
}

func (r *real) home() string { return filepath.Join(filepath.Dir(r.place.Cwd), "home") }

func (r *real) open() engine.Opened {
	r.Helper()
	r.e = acp.New(r.program, acp.Options{Env: r.env})
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Minute)
	defer cancel()
	o, err := r.e.Open(ctx, r.place, r.host)
	require.NoError(r, err)
	r.Cleanup(func() { _ = r.e.Close(context.Background()) })
	return o
}

func (r *real) run(text string) outcome {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Minute)
	defer cancel()
	r.host.notes()
	out := r.e.Run(ctx, engine.Input{Text: text})
	require.NoError(r, out.Err)
	require.Equal(r, "stop", out.StopReason)
	return outcome{out}
}

func (r *real) close() {
	r.Helper()
	require.NoError(r, r.e.Close(context.Background()))
	<-r.e.Done()
	require.NoError(r, r.e.Err())
}

func (r *real) path(name string) string { return filepath.Join(r.place.Cwd, name) }

func ompProgram(t *testing.T, m *model, r *real) {
	agent := filepath.Join(r.home(), ".omp", "agent")
	require.NoError(t, os.MkdirAll(agent, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(agent, "models.json"), []byte(`{"providers":{"mock":{"baseUrl":"`+m.URL+`","apiKey":"k","api":"anthropic-messages","models":[`+
		`{"id":"mock-large","name":"mock-large","reasoning":true,"input":["text","image"],"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":200000,"maxTokens":8192}]}}}`), 0o600))
}

func TestRealOmp(t *testing.T) {
	arch := map[string]string{"amd64": "x64", "arm64": "aarch64"}[runtime.GOARCH]
	bun := installed(t, "XCSH_BUN", "@oven", "bun-"+runtime.GOOS+"-"+arch, "bin", "bun")
	cli := installed(t, "XCSH_OMP", "@oh-my-pi", "pi-coding-agent", "dist", "cli.js")
	m := newModel(t)
	r := newReal(t, engine.Program{Name: "omp", Path: bun, Args: []string{cli, "--model", "mock/mock-large"}}, "PI_NO_TITLE=1")
	ompProgram(t, m, r)

	// A session that would not be found again is refused. omp names the directory by the folder.
	r.e = acp.New(r.program, acp.Options{Env: r.env})
	_, err := r.e.Open(t.Context(), r.place, r.host)
	require.ErrorContains(t, err, "keeps its session elsewhere")
	dirs, err := filepath.Glob(filepath.Join(r.home(), ".omp", "agent", "sessions", "*"))
	require.NoError(t, err)
	require.Len(t, dirs, 1)
	r.place.Dir = dirs[0]

	opened := r.open()
	r.host.message = func(m json.RawMessage) { r.await(opened.File, m) }
	require.Equal(t, "mock/mock-large", opened.Model.String())
	require.FileExists(t, opened.File)

	// An open document is read as the editor has it, and changed there.
	r.host.open[r.path("open.txt")] = "unsaved\n"
	require.NoError(t, os.WriteFile(r.path("open.txt"), []byte("on disk\n"), 0o600))
	r.run(`[[tool:read {"path":"open.txt"}]]`)
	require.Contains(t, m.seen(), "unsaved")
	r.run(`[[tool:write {"path":"open.txt","content":"by the model\n"}]]`)
	require.Equal(t, "by the model\n", r.host.open[r.path("open.txt")])
	require.Len(t, r.host.asked, 1)
	require.Equal(t, engine.Changes, r.host.asked[0].Effect)
	disk, err := os.ReadFile(r.path("open.txt"))
	require.NoError(t, err)
	require.Equal(t, "on disk\n", string(disk))

	r.run(`[[tool:write {"path":"new.txt","content":"new\n"}]]`)
	require.FileExists(t, r.path("new.txt"))
	r.run(`[[tool:bash {"command":"echo hi > made.txt"}]]`)
	require.FileExists(t, r.path("made.txt"))
	require.Equal(t, "bash", r.host.asked[2].Tool)
	r.host.permit = func(context.Context, engine.Call) error { return errNo }
	r.run(`[[tool:bash {"command":"echo hi > made2.txt"}]]`)
	require.NoFileExists(t, r.path("made2.txt"))
	r.run(`[[tool:write {"path":"new.txt","content":"again\n"}]]`)
	disk, err = os.ReadFile(r.path("new.txt"))
	require.NoError(t, err)
	require.Equal(t, "new\n", string(disk))
	r.host.permit = nil

	// Cancelled, then continued.
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(3*time.Second, cancel)
	out := r.e.Run(ctx, engine.Input{Text: "[[slow]] one two three four five six seven eight nine ten"})
	require.Equal(t, "aborted", out.StopReason)
	r.run("again")
	_, err = r.e.Compact(t.Context(), "")
	require.Error(t, err, "it is too small")
	require.NoError(t, r.e.Reread(t.Context()))
	r.run("after reading again")
	r.close()

	// The same session in a new process.
	r.place.File, r.place.ID = opened.File, idOf(t, opened.File)
	r.host.message = nil
	r.host.notes()
	again := r.open()
	require.Equal(t, opened.File, again.File)
	require.Empty(t, r.host.notes())
	before, err := os.ReadFile(opened.File)
	require.NoError(t, err)
	r.run("and again")
	after, err := os.ReadFile(opened.File)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(after), string(before)))
	t.Logf("what omp writes: %s", summary(t, after))
	r.close()
}

// await waits until the session file has the message that was reported, as a host does.
func (r *real) await(file string, reported json.RawMessage) {
	for range 200 {
		raw, err := os.ReadFile(file)
		require.NoError(r, err)
		n := 0
		for line := range strings.Lines(string(raw)) {
			var e struct {
				Type    string
				Message json.RawMessage
			}
			if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &e) != nil || e.Type != "message" {
				continue
			}
			if n++; n > r.reported && engine.Resembles(e.Message, reported) {
				r.reported = n
				return
			}
		}
		pass(10 * time.Millisecond)
	}
	r.Errorf("not in the file: %s", reported)
}

// idOf returns the id in the header of a session file.
func idOf(t *testing.T, path string) string {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		var h struct{ Type, ID string }
		if json.Unmarshal([]byte(line), &h) == nil && h.Type == "session" {
			return h.ID
		}
	}
	t.Fatal("no header in " + path)
	return ""
}

func summary(t *testing.T, raw []byte) string {
	var out []string
	for line := range strings.Lines(string(raw)) {
		var e struct {
			Type    string
			Message struct{ Role, StopReason string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		out = append(out, strings.Trim(e.Type+":"+e.Message.Role+"/"+e.Message.StopReason, ":/"))
	}
	return strings.Join(out, " ")
}

func TestRealClaude(t *testing.T) {
	dir := installed(t, "XCSH_CLAUDE_ACP", "@agentclientprotocol", "claude-agent-acp")
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	node := installed(t, "XCSH_NODE", "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	m := newModel(t)
	r := newReal(t, engine.Program{Name: "claude", Path: node, Args: []string{filepath.Join(dir, "dist", "index.js")}},
		"ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=k", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	opened := r.open()
	require.NotEmpty(t, opened.Session)
	require.NotEmpty(t, opened.Login)
	require.True(t, r.e.Can().Permission)

	r.run(`[[tool:Write {"file_path":"` + r.path("new.txt") + `","content":"hello"}]]`)
	require.FileExists(t, r.path("new.txt"))
	require.Len(t, r.host.asked, 1)
	asked := r.host.asked[0]
	require.Equal(t, []any{"write", engine.Changes, r.path("new.txt")}, []any{asked.Tool, asked.Effect, asked.Path})
	r.run(`[[tool:Edit {"file_path":"` + r.path("new.txt") + `","old_string":"ell","new_string":"ELL"}]]`)
	require.Len(t, r.host.asked, 2)
	b, err := os.ReadFile(r.path("new.txt"))
	require.NoError(t, err)
	require.Equal(t, string(b), r.host.shown[r.host.asked[1].ID+r.path("new.txt")], "what was shown is what was written")

	r.host.permit = func(context.Context, engine.Call) error { return errNo }
	r.run(`[[tool:Bash {"command":"touch made.txt","description":"x"}]]`)
	require.NoFileExists(t, r.path("made.txt"))
	require.Equal(t, "bash", r.host.asked[2].Tool)
	r.host.permit = nil

	r.host.unsaved = []string{r.path("new.txt")}
	out := r.e.Run(t.Context(), engine.Input{Text: "x"})
	require.True(t, fault.Is(out.Err, fault.Denied))
	r.host.unsaved = nil

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(3*time.Second, cancel)
	out = r.e.Run(ctx, engine.Input{Text: "[[slow]] one two three four five six seven eight nine ten"})
	require.Equal(t, "aborted", out.StopReason)
	r.run("[[]] second prompt")
	require.True(t, m.saw("second prompt"))
	r.close()

	r.place.Session = opened.Session
	again := r.open()
	require.Equal(t, opened.Session, again.Session)
	require.Empty(t, again.Notices)
	r.run("[[]] third prompt")
	r.close()

	r.place.Session = "00000000-0000-4000-8000-000000000000"
	lost := r.open()
	require.Len(t, lost.Notices, 1)
	require.NotEqual(t, r.place.Session, lost.Session)
	r.close()
}
