//go:build unix

package attack

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

const (
	// stressEnv is the duration of the stress test, for example 10m. If XCSH_LS names a program that was
	// built with -race, the test detects races.
	stressEnv = "XCSH_STRESS"

	// stressShort is the default duration.
	stressShort = 4 * time.Second

	// stressMemory is the program's memory limit, in MiB: a multiple of the bound of its output, because
	// of the race detector.
	stressMemory = 900

	// toEnd is the time that a server has to answer all open requests and to exit.
	toEnd = 45 * time.Second
)

// TestStress sends prompts, aborts, cancellations, session changes and invalid messages to servers over
// one home directory, pauses reading, and ends the servers in every way. Each request must be answered,
// no lock may remain, the sessions must stay readable and memory must be bounded.
func TestStress(t *testing.T) {
	length, seed := stressShort, uint64(1)
	if s := os.Getenv(stressEnv); s != "" {
		var err error
		length, err = time.ParseDuration(s)
		require.NoError(t, err)
		seed = uint64(time.Now().UnixNano())
	}
	t.Log("seed", seed)
	v := newVictim(t)
	v.write(v.path("a.txt"), strings.Repeat("a line of text\n", 2000))
	require.NoError(t, syscall.Mkfifo(v.path("fifo"), 0o600))
	r := rand.New(rand.NewPCG(seed, 0))
	most, rounds, sent := 0, 0, 0
	for end := time.Now().Add(length); time.Now().Before(end); rounds++ {
		h := v.hammer(r)
		h.round(80 + r.IntN(150))
		most, sent = max(most, h.memory()), sent+len(h.methods)
		h.finish()
		v.sound()
	}
	t.Logf("%d rounds, %d requests, at most %d MiB", rounds, sent, most)
	require.Less(t, most, stressMemory)
}

// hammer is an editor that misbehaves.
type hammer struct {
	*unreading
	r      *rand.Rand
	stderr bytes.Buffer

	begun   time.Time
	methods []string // of the requests, by id
	sending sync.Mutex

	mu     sync.Mutex
	open   map[int]bool  // requests without an answer; guarded by mu, like all below
	paused chan struct{} // closed when reading resumes; nil while reading
	news   chan struct{} // closed and replaced with every response
	err    error         // why reading ended
}

func (v *victim) hammer(r *rand.Rand) *hammer {
	v.t.Helper()
	v.Script("m", replies(r)...)
	h := &hammer{r: r, begun: time.Now(), open: map[int]bool{}, news: make(chan struct{})}
	cmd := v.command("--continue", "--approval", "yolo", "--model", "fake/m")
	cmd.Stderr = &h.stderr
	in, err := cmd.StdinPipe()
	require.NoError(v.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(v.t, err)
	require.NoError(v.t, cmd.Start())
	h.unreading = &unreading{v, cmd, in, bufio.NewReader(out)}
	go h.read()
	h.request("initialize", fmt.Sprintf(`{"processId":null,"rootUri":null,"capabilities":{"window":{"workDoneProgress":true},`+
		`"workspace":{"configuration":true,"applyEdit":true}},"workspaceFolders":[{"uri":%q,"name":"w"}]}`, lsptest.URI(v.work)))
	h.answered()
	h.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	return h
}

// replies returns answers of a model that calls tools of every kind. The last one ends a turn.
func replies(r *rand.Rand) (list []providertest.Reply) {
	calls := []func() []providertest.Call{
		func() []providertest.Call { return bash("echo hello; seq 1 5000") },
		func() []providertest.Call { return bash("sleep 30 & sleep 30") },
		func() []providertest.Call { return call("read", map[string]any{"path": "a.txt"}) },
		func() []providertest.Call { return call("read", map[string]any{"path": "fifo"}) },
		func() []providertest.Call { return call("read", map[string]any{"path": "/proc/kmsg"}) },
		func() []providertest.Call { return call("grep", map[string]any{"pattern": "line"}) },
		func() []providertest.Call {
			return call("write", map[string]any{"path": fmt.Sprintf("new%d.txt", r.IntN(9)), "content": "x\n"})
		},
	}
	for range r.IntN(12) {
		reply := providertest.Reply{Text: strings.Repeat("word ", r.IntN(3000)), Chunk: 64}
		if r.IntN(3) > 0 {
			reply.ToolCalls = calls[r.IntN(len(calls))]()
		}
		list = append(list, reply)
	}
	return append(list, providertest.Reply{Text: "Done."})
}

// request sends a request.
func (h *hammer) request(method, params string) {
	id := len(h.methods)
	h.methods = append(h.methods, method)
	h.mu.Lock()
	h.open[id] = true
	h.mu.Unlock()
	h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
}

func (h *hammer) command(name, args string) {
	h.request("workspace/executeCommand", fmt.Sprintf(`{"command":%q,"arguments":[%s]}`, name, args))
}

// round performs n random actions.
func (h *hammer) round(n int) {
	rubbish := []string{
		`hello`, `[]`, `{}`, `{"jsonrpc":"2.0","id":{},"method":"x"}`, `{"jsonrpc":"2.0","id":1.5,"method":"x"}`, `{"jsonrpc":"2.0","method":"made/up"}`,
		`{"jsonrpc":"2.0","id":424242,"result":null}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}`,
	}
	for range n {
		switch h.r.IntN(14) {
		case 0, 1:
			h.command("xcsh.prompt", `{"text":"go","streamingBehavior":"followUp"}`)
		case 2:
			h.send(`{"jsonrpc":"2.0","method":"xcsh/prompt","params":{"text":"go","streamingBehavior":"steer"}}`)
		case 3:
			h.command("xcsh.abort", `{}`)
		case 4:
			h.send(`{"jsonrpc":"2.0","method":"xcsh/abort","params":{}}`)
		case 5:
			h.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, h.r.IntN(len(h.methods))))
		case 6:
			h.command([]string{"xcsh.new", "xcsh.continue", "xcsh.fork"}[h.r.IntN(3)], `{}`)
		case 7:
			h.send(rubbish[h.r.IntN(len(rubbish))])
		case 8:
			h.pause()
		case 9:
			h.resume()
		case 10:
			h.command("xcsh.models", `{}`)
		case 11:
			h.command("xcsh.setThinking", `{}`) // a question that is never answered
		default:
			h.command([]string{"xcsh.state", "xcsh.snapshot", "xcsh.list", "xcsh.tree"}[h.r.IntN(4)], `{}`)
		}
	}
}

// finish ends the server in one of the ways in which servers end.
func (h *hammer) finish() {
	t := h.t
	t.Helper()
	var way string
	switch h.r.IntN(4) {
	case 0, 1:
		way = "shutdown"
		h.resume()
		h.request("shutdown", "null")
		h.answered()
		h.send(`{"jsonrpc":"2.0","method":"exit"}`)
	case 2:
		way = "a signal"
		require.NoError(t, h.cmd.Process.Signal([]os.Signal{syscall.SIGHUP, syscall.SIGTERM}[h.r.IntN(2)]))
	case 3:
		way = "the end of the input"
		require.NoError(t, h.in.Close())
	}
	require.Eventually(t, func() bool { return gone(h.cmd.Process.Pid) }, toEnd, 10*time.Millisecond, "the server does not end")
	h.resume()
	h.gone()
	_ = h.cmd.Wait() // its state shows how it ended
	require.NotContains(t, h.stderr.String(), "DATA RACE")
	require.NotContains(t, h.stderr.String(), "panic")
	require.Empty(t, h.locks(), "%s after %s, %s:\n%s", h.cmd.ProcessState, time.Since(h.begun), way, h.stderr.String())
}

// sound requires that every line of the sessions is complete and valid JSON.
func (v *victim) sound() {
	v.t.Helper()
	files, err := filepath.Glob(filepath.Join(v.agentDir(), "sessions", "*", "*.jsonl"))
	require.NoError(v.t, err)
	for _, file := range files {
		content := v.read(file)
		require.True(v.t, strings.HasSuffix(content, "\n"), file)
		ids := map[string]bool{}
		for line := range strings.Lines(content) {
			var e struct {
				ID       string  `json:"id"`
				ParentID *string `json:"parentId"`
			}
			require.NoError(v.t, json.Unmarshal([]byte(line), &e), "%s: %s", file, line)
			require.False(v.t, e.ParentID != nil && !ids[*e.ParentID], "%s: a parent that is not there: %s", file, line)
			ids[e.ID] = true
		}
	}
}

// read reads the server's messages and answers some of its requests.
func (h *hammer) read() {
	for n := 0; ; n++ {
		h.mu.Lock()
		paused := h.paused
		h.mu.Unlock()
		if paused != nil {
			<-paused
		}
		err := h.message(n%2 == 0)
		h.mu.Lock()
		h.err = err
		close(h.news)
		h.news = make(chan struct{})
		h.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (h *hammer) message(answer bool) error {
	header, err := textproto.NewReader(h.out).ReadMIMEHeader()
	if err != nil {
		return err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(h.out, body); err != nil {
		return err
	}
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return err
	}
	id, idErr := strconv.Atoi(string(m.ID))
	switch {
	case m.Method != "" && idErr == nil && answer:
		go h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":null}`, id)) // reading must not block
	case m.Method == "" && idErr == nil:
		h.mu.Lock()
		delete(h.open, id)
		h.mu.Unlock()
	}
	return nil
}

// send sends a complete message.
func (h *hammer) send(body string) {
	h.sending.Lock()
	defer h.sending.Unlock()
	h.unreading.send(body)
}

func (h *hammer) pause() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.paused == nil {
		h.paused = make(chan struct{})
		// Reading resumes soon; otherwise sending would block forever.
		time.AfterFunc(500*time.Millisecond, h.resume)
	}
}

func (h *hammer) resume() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.paused != nil {
		close(h.paused)
		h.paused = nil
	}
}

// answered waits until all requests have been answered.
func (h *hammer) answered() {
	h.t.Helper()
	h.until("an answer", func() bool { return len(h.open) == 0 })
}

// gone waits until all output has been read.
func (h *hammer) gone() {
	h.t.Helper()
	h.until("the end", func() bool { return h.err != nil })
}

func (h *hammer) until(what string, done func() bool) {
	h.t.Helper()
	late := time.NewTimer(toEnd)
	defer late.Stop()
	for {
		h.mu.Lock()
		over, news, err := done(), h.news, h.err
		h.mu.Unlock()
		if over {
			return
		}
		require.NoError(h.t, err, "the server ended before %s", what)
		select {
		case <-news:
		case <-late.C:
			var methods []string
			h.mu.Lock()
			for id := range h.open {
				methods = append(methods, fmt.Sprint(id, " ", h.methods[id]))
			}
			h.mu.Unlock()
			require.Fail(h.t, "the server did not send "+what, "open: %v\n%s", methods, h.stderr.String())
		}
	}
}
