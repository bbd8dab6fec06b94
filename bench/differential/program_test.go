//go:build peers

package differential

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// program is how one of the terminal programs is run as a whole, controlled over standard input and
// output.
type program struct {
	name    string
	command func(t *testing.T) []string
	resume  string // the option that opens a session file
	settled string // the event at the end of a turn
	ready   string // the event before the first request; "" for none
}

var piProgram = program{
	name: "pi", resume: "--session", settled: "agent_settled",
	command: func(t *testing.T) []string {
		return []string{nodeJS(), requireInstalled(t, orInstalled("XCSH_PI", "@earendil-works/pi-coding-agent"), "dist", "bundle", "cli.js"), "--mode", "rpc"}
	},
}

var ompProgram = program{
	name: "omp", resume: "--resume", settled: "agent_end", ready: "ready",
	command: func(t *testing.T) []string {
		arch := map[string]string{"amd64": "x64", "arm64": "aarch64"}[runtime.GOARCH]
		bun := orInstalled("XCSH_BUN", "@oven", "bun-"+runtime.GOOS+"-"+arch, "bin", "bun")
		if _, err := os.Stat(bun); err != nil {
			skip(t, "bun is not installed; run bench/peers/install.sh engines")
		}
		cli := orInstalled("XCSH_OMP", "@oh-my-pi", "pi-coding-agent")
		if _, err := os.Stat(cli); err != nil {
			skip(t, "omp is not installed; run bench/peers/install.sh engines")
		}
		return []string{bun, requireInstalled(t, cli, "dist", "cli.js"), "--mode", "rpc-ui", "--model", "fake/theirs"}
	},
}

// skip skips a test for which a program is missing, except where XCSH_REQUIRE_PEERS says that all are there.
func skip(t *testing.T, why string) {
	t.Helper()
	require.Empty(t, os.Getenv("XCSH_REQUIRE_PEERS"), why)
	t.Skip(why)
}

func requireInstalled(t *testing.T, parts ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(parts...))
	require.NoError(t, err)
	require.FileExists(t, path, "it is not installed; run bench/peers/install.sh")
	return path
}

// process is a running program.
type process struct {
	t       *testing.T
	program program
	cmd     *exec.Cmd
	in      io.WriteCloser
	errors  bytes.Buffer
	calls   int
	file    string // of its session

	mu    sync.Mutex
	lines []processLine     // that no call has taken yet; guarded by mu
	said  []json.RawMessage // the messages at whose end it was; guarded by mu
	more  chan struct{}     // closed and replaced with every line; guarded by mu
	ended bool              // guarded by mu
}

type processLine struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Success bool            `json:"success"`
	Error   json.RawMessage `json:"error"`
	Data    json.RawMessage `json:"data"`
	Message json.RawMessage `json:"message"`
}

// startProgram runs a program in the folder dir, for the user whose home directory is home, with the
// models of the service. file is the session to open; "" is a new one.
func startProgram(t *testing.T, p program, s service, home, dir, file string) *process {
	t.Helper()
	agentDir := filepath.Join(home, "."+p.name, "agent")
	require.NoError(t, os.MkdirAll(agentDir, 0o700))
	models, err := json.Marshal(object{"providers": object{"fake": object{
		"baseUrl": s.URL(provider.AnthropicMessages), "apiKey": "k", "api": "anthropic-messages",
		"models": []any{object{
			"id": "theirs", "name": "theirs", "reasoning": false, "input": []string{"text"}, "contextWindow": 200000, "maxTokens": 8192,
			"cost": object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
		}},
	}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(agentDir, "models.json"), models, 0o600))
	settings := `{"defaultProvider":"fake","defaultModel":"theirs","enableInstallTelemetry":false}`
	require.NoError(t, os.WriteFile(filepath.Join(agentDir, "settings.json"), []byte(settings), 0o600))

	args := p.command(t)
	if strings.ContainsRune(args[0], filepath.Separator) {
		args[0], err = filepath.Abs(args[0])
		require.NoError(t, err)
	}
	if file != "" {
		args = append(args, p.resume, file)
	}
	c := &process{t: t, program: p, more: make(chan struct{})}
	c.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), args[0], args[1:]...)
	c.cmd.Dir, c.cmd.Stderr = dir, &c.errors
	c.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=dumb", "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_NO_TITLE=1",
	}
	c.in, err = c.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	go c.read(out)
	t.Cleanup(c.stop)
	if p.ready != "" {
		c.wait(p.ready, func(l processLine) bool { return l.Type == p.ready })
	}
	var state struct{ SessionFile string }
	require.NoError(t, json.Unmarshal(c.call("get_state", nil), &state))
	c.file = state.SessionFile
	return c
}

// stop ends the program as the end of its input does.
func (c *process) stop() {
	_ = c.in.Close()
	ended := make(chan struct{})
	go func() { _ = c.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = c.cmd.Process.Kill()
		<-ended
	}
}

func (c *process) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		raw, err := lines.ReadBytes('\n')
		var l processLine
		known := json.Unmarshal(raw, &l) == nil
		c.mu.Lock()
		if known {
			c.lines = append(c.lines, l)
		}
		if known && l.Type == "message_end" {
			c.said = append(c.said, l.Message)
		}
		c.ended = err != nil
		close(c.more)
		c.more = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// wait takes the first line that fits, and drops those before it.
func (c *process) wait(what string, fits func(processLine) bool) processLine {
	c.t.Helper()
	deadline := time.After(time.Minute)
	for {
		c.mu.Lock()
		for i, l := range c.lines {
			if fits(l) {
				c.lines = c.lines[i+1:]
				c.mu.Unlock()
				return l
			}
		}
		more, ended := c.more, c.ended
		c.mu.Unlock()
		if ended {
			require.FailNow(c.t, c.program.name+" ended before "+what)
		}
		select {
		case <-more:
		case <-deadline:
			require.FailNow(c.t, c.program.name+" did not send "+what)
		}
	}
}

// call sends a request and returns the data of its response.
func (c *process) call(typ string, members object) json.RawMessage {
	c.t.Helper()
	c.calls++
	id := fmt.Sprintf("r%d", c.calls)
	request := object{"id": id, "type": typ}
	maps.Copy(request, members)
	line, err := json.Marshal(request)
	require.NoError(c.t, err)
	_, err = c.in.Write(append(line, '\n'))
	require.NoError(c.t, err)
	l := c.wait("a response to "+typ, func(l processLine) bool { return l.Type == "response" && l.ID == id })
	require.True(c.t, l.Success, "%s: %s", typ, l.Error)
	return l.Data
}

// takeSaid returns the messages that ended since the last call.
func (c *process) takeSaid() (said []json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said, c.said = c.said, nil
	return said
}

// prompt runs one turn and waits until the answer is in the file.
func (c *process) prompt(text, answer string) {
	c.t.Helper()
	c.call("prompt", object{"message": text})
	c.wait("the end of the turn", func(l processLine) bool { return l.Type == c.program.settled })
	require.Eventually(c.t, func() bool { // omp writes a moment later
		content, err := os.ReadFile(c.file)
		return err == nil && strings.Contains(string(content), answer) && bytes.HasSuffix(content, []byte("\n"))
	}, 20*time.Second, 20*time.Millisecond)
}
