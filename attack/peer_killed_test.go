package attack

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// Each of these acknowledgements is followed by SIGKILL at a moment when the prompt is only in the
// journal, or only in memory.
func TestKilledAfterAnAcknowledgement(t *testing.T) {
	t.Parallel()
	const one, two = "prompt-1-end", "prompt-2-end"
	image := []any{lsptest.Fields{"mimeType": "image/png", "data": "iVBORw0KGgo="}}
	for _, c := range []struct {
		name    string
		options lsptest.Fields
		prepare func(v *victim)
		prompt  lsptest.Fields
		then    func(v *victim, ed *lsptest.Editor)
		want    []string
	}{
		{name: "before the answer", want: []string{one}},
		{name: "steering", want: []string{one, two}, then: func(v *victim, ed *lsptest.Editor) {
			v.exec(ed, "xcsh.steer", lsptest.Fields{"text": two})
		}},
		{name: "following up", want: []string{one, two}, then: func(v *victim, ed *lsptest.Editor) {
			v.exec(ed, "xcsh.followUp", lsptest.Fields{"text": two})
		}},
		{name: "queued with a prompt", want: []string{one, two}, then: func(v *victim, ed *lsptest.Editor) {
			v.exec(ed, "xcsh.prompt", lsptest.Fields{"text": two, "streamingBehavior": "followUp"})
		}},
		{name: "queued and kept out of the history", want: []string{two}, then: func(v *victim, ed *lsptest.Editor) {
			v.exec(ed, "xcsh.steer", lsptest.Fields{"text": " " + two})
		}},
		{name: "stopped", want: []string{one}, then: func(v *victim, ed *lsptest.Editor) { v.exec(ed, "xcsh.abort", nil) }},
		{name: "left for a new session", want: []string{one}, then: func(v *victim, ed *lsptest.Editor) { v.exec(ed, "xcsh.new", lsptest.Fields{"onRunning": "stop"}) }},
		{name: "kept out of the history", want: []string{one}, prompt: lsptest.Fields{"text": " " + one}},
		{name: "with an image", want: []string{one, "iVBORw0KGgo="}, prompt: lsptest.Fields{"text": one, "images": image}},
		{name: "the history is off", want: []string{one}, options: lsptest.Fields{"history": lsptest.Fields{"enabled": false}}},
		{name: "the journal cannot be written", want: []string{one}, prepare: func(v *victim) {
			v.write(filepath.Join(v.agentDir(), "xcsh-ls", "unanswered"), "a file")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			v.Script("m", providertest.Reply{Text: "late", Before: t.Context().Done()})
			if c.prepare != nil {
				c.prepare(v)
			}
			if c.prompt == nil {
				c.prompt = lsptest.Fields{"text": one}
			}
			ed := v.edit(c.options)
			ed.BeginExec("xcsh.prompt", c.prompt)
			for !slices.Contains(acknowledged(ed, nil), one) {
				ed.WaitNotification("xcsh/event")
			}
			if c.then != nil {
				c.then(v, ed)
			}
			ed.Interrupt()
			ed.Wait()
			found := v.sessions() + strings.Join(v.offers(v.edit(nil)), "\n")
			for _, text := range c.want {
				require.Contains(t, found, text)
			}
		})
	}
}

// exec runs a command that must succeed.
func (v *victim) exec(ed *lsptest.Editor, command string, args any) json.RawMessage {
	v.t.Helper()
	result, failure := ed.Exec(command, args)
	require.Nil(v.t, failure, command)
	return result
}

// A prompt of the shell command survives, too.
func TestKilledRun(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.Script("m", providertest.Reply{Text: "late", Before: t.Context().Done()})
	cmd := v.command("run", "--json", "--model", "fake/m", "prompt-1-end")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	for lines := bufio.NewScanner(out); ; {
		require.True(t, lines.Scan(), "the prompt was never acknowledged")
		if strings.HasPrefix(lines.Text(), `{"type":"message_end"`) {
			break
		}
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	require.Contains(t, v.sessions()+strings.Join(v.offers(v.edit(nil)), "\n"), "prompt-1-end")
}

// A client of the Agent Client Protocol is offered the prompts that an earlier server did not answer.
func TestKilledAgent(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.Script("m", providertest.Reply{Text: "late", Before: t.Context().Done()})
	cmd, lines := v.agent()
	v.agentAsks(cmd, 2, "session/prompt", map[string]any{
		"sessionId": v.newConversation(cmd, lines), "prompt": []any{map[string]any{"type": "text", "text": "prompt-1-end"}},
	})
	for len(v.Requests()) == 0 {
		<-time.After(time.Millisecond)
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed

	cmd, lines = v.agent()
	v.newConversation(cmd, lines)
	for !strings.Contains(lines.Text(), "prompt-1-end") {
		require.True(t, lines.Scan(), "the prompt was not offered")
	}
	require.Contains(t, lines.Text(), "was not answered")
}

// agentProcess is a running agent and its standard input.
type agentProcess struct {
	*exec.Cmd
	in io.WriteCloser
}

// agent starts the program as an agent of the Agent Client Protocol.
func (v *victim) agent() (*agentProcess, *bufio.Scanner) {
	v.t.Helper()
	cmd := v.command("acp", "--model", "fake/m")
	in, err := cmd.StdinPipe()
	require.NoError(v.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(v.t, err)
	require.NoError(v.t, cmd.Start())
	v.t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	return &agentProcess{cmd, in}, lines
}

func (v *victim) agentAsks(p *agentProcess, id int, method string, params any) {
	v.t.Helper()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	require.NoError(v.t, err)
	_, err = p.in.Write(append(line, '\n'))
	require.NoError(v.t, err)
}

// newConversation opens a session and returns its id.
func (v *victim) newConversation(p *agentProcess, lines *bufio.Scanner) (id string) {
	v.t.Helper()
	v.agentAsks(p, 0, "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	v.agentAsks(p, 1, "session/new", map[string]any{"cwd": v.work, "mcpServers": []any{}})
	for id == "" {
		require.True(v.t, lines.Scan(), "no session was opened")
		var answer struct {
			Result struct {
				SessionID string `json:"sessionId"`
			} `json:"result"`
		}
		require.NoError(v.t, json.Unmarshal(lines.Bytes(), &answer))
		id = answer.Result.SessionID
	}
	return id
}
