//go:build peers

package differential

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// installedPi is the usual place of pi, which its system prompt names three times.
const installedPi = "/usr/lib/node_modules/@earendil-works/pi-coding-agent"

// bytesPerToken converts the length of a request, as services roughly do for English and code.
const bytesPerToken = 4

// plansCost is what the tools todo and task may cost in a request, in tokens. They are the same in all requests of a conversation, so
// that a cache has them.
const plansCost = 800

// TestTenTurnsCostNoMoreInputThanPi runs the same scripted conversation of ten turns in the built
// program and in pi, with the same service, and compares the tokens that the service reads. The tools todo and task,
// which pi does not have, are turned off but for one row.
func TestTenTurnsCostNoMoreInputThanPi(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "xcsh-ls")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/xcsh-ls").CombinedOutput()
	require.NoError(t, err, "%s", out)
	table := []string{"| Service | Program | Requests | Bytes sent | Input tokens | not in the previous request |", "|---|---|---|---|---|---|"}
	for _, c := range []struct {
		name   string
		api    provider.API
		compat object
		grep   bool // searches use the tool grep, which pi has only on request
		plans  bool // with the tools todo and task, which pi does not have
	}{
		{name: "Anthropic Messages", api: provider.AnthropicMessages},
		{name: "the same, strict tools", api: provider.AnthropicMessages, compat: object{"supportsStrictTools": true}},
		{name: "the same, with grep", api: provider.AnthropicMessages, grep: true},
		{name: "the same, with todo and task", api: provider.AnthropicMessages, plans: true},
		{name: "Chat Completions", api: provider.OpenAICompletions},
		{name: "Responses", api: provider.OpenAIResponses},
		{name: "the same, strict tools", api: provider.OpenAIResponses, compat: object{"supportsStrictMode": true}},
	} {
		ours, pis := newTalk(t, c.api, c.compat, c.grep, !c.plans), newTalk(t, c.api, c.compat, c.grep, !c.plans)
		ours.runOurs(program)
		pis.runPi(c.grep)
		a, b := ours.cost(), pis.cost()
		table = append(table, a.row(c.name, "xcsh-ls"), b.row("", "pi"))
		assert.Equal(t, a.requests, b.requests, "%s: both had the same conversation", c.name)
		more := 0
		if c.plans {
			more = plansCost
		}
		assert.LessOrEqual(t, a.tokens, b.tokens+more*a.requests, "%s: input tokens", c.name)
		assert.LessOrEqual(t, a.fresh, b.fresh+more, "%s: tokens that no cache can have", c.name)
	}
	t.Log("\n" + strings.Join(table, "\n"))
}

// talk is one run of the conversation: a service with the script, a home and a project.
type talk struct {
	*providertest.Server
	t          *testing.T
	home, work string
}

// turns are the prompts, each with the model's answers.
var turns = []struct {
	prompt  string
	answers []providertest.Reply
}{
	{"What does this project do?", answers(call("read", object{"path": "README.md"}), "It counts words.")},
	{"Where are words split?", answers(call("bash", object{"command": "grep -n Fields *.go"}), "In words.go.")},
	{"Show me that file.", answers(call("read", object{"path": "words.go"}), "It splits at spaces.")},
	{"Which files have tests?", answers(call("bash", object{"command": "ls"}), "words_test.go has.")},
	{"Rename Count to Words.", answers(call("edit", object{"path": "words.go", "edits": []any{
		object{"oldText": "func Count(", "newText": "func Words("},
	}}), call("read", object{"path": "words.go", "offset": 1, "limit": 5}), "Count is now Words.")},
	{"Is anything still using the old name?", answers(call("bash", object{"command": "grep -rn Count ."}), "The test uses it.")},
	{"Update it.", answers(call("read", object{"path": "words_test.go"}), call("edit", object{"path": "words_test.go", "edits": []any{
		object{"oldText": "Count(", "newText": "Words("},
	}}), "The test uses Words.")},
	{"Does it still work?", answers(call("bash", object{"command": "echo ok"}), "The tests pass.")},
	{"Add a changelog.", answers(call("write", object{"path": "CHANGES.md", "content": "# Changes\n\n- Count is now called Words.\n"}), "CHANGES.md describes the change.")},
	{"Thank you.", answers("You are welcome.")},
}

func call(name string, args object) providertest.Call {
	return providertest.Call{Name: name, Args: args}
}

func answers(parts ...any) (replies []providertest.Reply) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			replies = append(replies, providertest.Reply{Text: p})
		case providertest.Call:
			replies = append(replies, providertest.Reply{ToolCalls: []providertest.Call{p}})
		}
	}
	return replies
}

// searched replaces a command that searches by a call of grep.
func searched(command providertest.Call) []providertest.Call {
	line, _ := command.Args.(object)["command"].(string)
	switch line {
	case "grep -n Fields *.go":
		return []providertest.Call{call("grep", object{"pattern": "Fields", "glob": "*.go"})}
	case "grep -rn Count .":
		return []providertest.Call{call("grep", object{"pattern": "Count"})}
	}
	return []providertest.Call{command}
}

func newTalk(t *testing.T, api provider.API, compat object, grep, alike bool) *talk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &talk{t: t, Server: providertest.New(t), home: filepath.Join(dir, "home"), work: filepath.Join(dir, "words")}
	for _, turn := range turns {
		for _, a := range turn.answers {
			if grep && len(a.ToolCalls) > 0 && a.ToolCalls[0].Name == "bash" {
				a.ToolCalls = searched(a.ToolCalls[0])
			}
			w.Script("m", a)
		}
	}
	model := object{"id": "m", "name": "m", "reasoning": false, "input": []string{"text"}, "contextWindow": 200_000, "maxTokens": 8192}
	if compat != nil {
		model["compat"] = compat
	}
	models, err := json.Marshal(object{"providers": object{"fake": object{"baseUrl": w.URL(api), "api": api, "apiKey": "k", "models": []any{model}}}})
	require.NoError(t, err)
	w.write(filepath.Join(w.home, ".xcsh", "agent", "models.json"), string(models))
	if alike {
		w.write(filepath.Join(w.home, ".xcsh", "agent", "config.yml"), "todo: {enabled: false}\ntask: {enabled: false}\n")
	}
	w.write(filepath.Join(w.home, ".pi", "agent", "models.json"), string(models))
	w.write(filepath.Join(w.home, ".pi", "agent", "settings.json"), `{"enableInstallTelemetry":false}`)
	w.write(filepath.Join(w.work, "README.md"), "# words\n\nCounts the words of a text.\n")
	w.write(filepath.Join(w.work, "AGENTS.md"), "Keep functions short. Run the tests before you finish.\n")
	w.write(filepath.Join(w.work, "words.go"), "package words\n\nimport \"strings\"\n\nfunc Count(s string) int { return len(strings.Fields(s)) }\n")
	w.write(filepath.Join(w.work, "words_test.go"), "package words\n\nimport \"testing\"\n\nfunc TestWords(t *testing.T) {\n\tif Count(\"a b\") != 2 {\n\t\tt.Fail()\n\t}\n}\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = w.work, append(os.Environ(), "HOME="+w.home)
		require.NoError(t, cmd.Run())
	}
	return w
}

func (w *talk) write(path, text string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
}

// child is a program that exchanges lines of JSON.
type child struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	err strings.Builder
}

func (w *talk) start(name string, args ...string) *child {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), name, args...)
	cmd.Dir = w.work
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "SHELL=/bin/bash", "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "XCSH_LS_NO_DETECT=1", "TERM=dumb"}
	c := &child{t: w.t}
	in, err := cmd.StdinPipe()
	require.NoError(w.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(w.t, err)
	cmd.Stderr = &c.err
	require.NoError(w.t, cmd.Start())
	c.in, c.out = in, bufio.NewReader(out)
	w.t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // the conversation is over
	})
	return c
}

func (c *child) send(v object) {
	c.t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(c.t, err)
	_, err = c.in.Write(append(raw, '\n'))
	require.NoError(c.t, err)
}

// until reads lines up to one that satisfies is, and returns it.
func (c *child) until(is func(object) bool) object {
	c.t.Helper()
	for {
		line, err := c.out.ReadBytes('\n')
		require.NoError(c.t, err, "%s", c.err.String())
		var m object
		if json.Unmarshal(line, &m) == nil && is(m) {
			return m
		}
	}
}

// runOurs has the conversation in the program, over the Agent Client Protocol.
func (w *talk) runOurs(program string) {
	w.t.Helper()
	c, n := w.start(program, "acp", "--model", "fake/m", "--approval", "yolo"), 0
	ask := func(method string, params object) object {
		n++
		c.send(object{"jsonrpc": "2.0", "id": n, "method": method, "params": params})
		m := c.until(func(m object) bool { return m["id"] == float64(n) && m["method"] == nil })
		require.Nil(w.t, m["error"], "%s", method)
		result, _ := m["result"].(object)
		return result
	}
	ask("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
	id := ask("session/new", object{"cwd": w.work, "mcpServers": []any{}})["sessionId"]
	for _, turn := range turns {
		ask("session/prompt", object{"sessionId": id, "prompt": []any{object{"type": "text", "text": turn.prompt}}})
	}
}

// runPi has the conversation in pi, over its own protocol.
func (w *talk) runPi(grep bool) {
	w.t.Helper()
	cli := filepath.Join(orInstalled("XCSH_PI", "@earendil-works/pi-coding-agent"), "dist", "bundle", "cli.js")
	cli, err := filepath.Abs(cli)
	require.NoError(w.t, err)
	node, err := exec.LookPath(nodeJS())
	require.NoError(w.t, err)
	node, err = filepath.Abs(node)
	require.NoError(w.t, err)
	args := []string{cli, "--mode", "rpc", "--model", "fake/m"}
	if grep {
		args = append(args, "--tools", "read,bash,edit,write,grep")
	}
	c := w.start(node, args...)
	for i, turn := range turns {
		c.send(object{"id": fmt.Sprint(i), "type": "prompt", "message": turn.prompt})
		c.until(func(m object) bool {
			require.NotEqual(w.t, false, m["success"], "%v", m)
			return m["type"] == "agent_settled"
		})
	}
}

// cost is what a conversation cost.
type cost struct {
	requests, bytes int
	tokens          int // of all requests
	fresh           int // of those, the ones behind the common beginning with the request before
}

func (w *talk) cost() (c cost) {
	w.t.Helper()
	previous := ""
	for _, r := range w.Requests() {
		require.NotEmpty(w.t, r.Messages, "the service refused a request: %s", r.Body)
		now := canonical(w.t, r)
		same := 0
		for same < min(len(previous), len(now)) && previous[same] == now[same] {
			same++
		}
		c.requests++
		c.bytes += len(r.Body)
		c.tokens += len(now) / bytesPerToken
		c.fresh += (len(now) - same) / bytesPerToken
		previous = now
	}
	return c
}

// canonical is the content of a request in the order in which services read it, without the framing
// of the format.
func canonical(t *testing.T, r providertest.Request) string {
	t.Helper()
	var b strings.Builder
	for _, one := range r.Tools {
		b.WriteString(one.Name + "\n" + one.Description + "\n" + string(one.Parameters) + "\n")
	}
	pi, err := filepath.Abs(orInstalled("XCSH_PI", "@earendil-works/pi-coding-agent"))
	require.NoError(t, err)
	b.WriteString(strings.ReplaceAll(r.System, pi, installedPi) + "\n")
	for _, m := range r.Messages {
		b.WriteString(m.Role + "\n")
		for _, p := range m.Content {
			b.WriteString(p.Text + p.Thinking + p.Name + string(p.Arguments) + "\n")
		}
	}
	return b.String()
}

func (c cost) row(service, program string) string {
	return fmt.Sprintf("| %s | %s | %d | %d | %d | %d |", service, program, c.requests, c.bytes, c.tokens, c.fresh)
}

// Later requests of one conversation begin like the earlier ones, so that a service's cache has all but
// the newest messages.
func TestTheBeginningOfAConversationStaysTheSame(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "xcsh-ls")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/xcsh-ls").CombinedOutput()
	require.NoError(t, err, "%s", out)
	w := newTalk(t, provider.AnthropicMessages, nil, true, false)
	w.runOurs(program)
	var all []string
	for _, r := range w.Requests() {
		all = append(all, canonical(t, r))
	}
	require.True(t, slices.IsSortedFunc(all, func(a, b string) int { return len(a) - len(b) }))
	for i, one := range all[1:] {
		require.True(t, strings.HasPrefix(one, all[i]), "request %d", i+1)
	}
}
