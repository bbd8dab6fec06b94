//go:build peers

package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// A process that is killed leaves the file of a turn up to any byte. pi reads each of these files as
// xcsh-ls does: at the end of every line and in the middle of every line of a turn with three calls, and
// after xcsh-ls has continued the session.
func TestPiReadsTheFileOfAKilledTurn(t *testing.T) {
	run(t, 1, func(w *world) {
		file, whole := w.batch()
		ends := []int{}
		for at, line := 0, []byte(nil); at < len(whole); at += len(line) {
			line = whole[at : at+bytes.IndexByte(whole[at:], '\n')+1]
			ends = append(ends, at+len(line)/2, at+len(line))
		}
		for _, end := range ends {
			if bytes.IndexByte(whole[:end], '\n') < 0 {
				continue // without a header it is no session
			}
			require.NoError(t, os.WriteFile(file, whole[:end], 0o600))
			w.requireSame(file, []any{})
			w.resume(file)
			w.requireSame(file, []any{})
			w.clear()
		}
		t.Logf("%d files", len(ends))
	})
}

// batch returns the file of a turn with three calls, of which two change something.
func (w *world) batch() (file string, content []byte) {
	w.t.Helper()
	s := newService(w.t, provider.AnthropicMessages)
	s.Script("m", providertest.Reply{Thinking: "hm", Text: "I run.", ToolCalls: []providertest.Call{
		{Name: "change", ID: "c1"}, {Name: "look", ID: "c2"}, {Name: "change", ID: "c3"},
	}}, providertest.Reply{Text: "Done."})
	m := w.pi.open("create", cwd, w.dir) // a session of pi, whose rules for models differ from those of xcsh
	require.NoError(w.t, w.pi.call(m, nil, "appendMessage", object{"role": "user", "content": "zero", "timestamp": 1767225600000}))
	require.NoError(w.t, w.pi.call(m, nil, "appendMessage", object{
		"role": "assistant", "content": []any{object{"type": "text", "text": "yes"}}, "api": "anthropic-messages", "provider": "fake", "model": "m",
		"usage": usage(), "stopReason": "stop", "timestamp": 1767225600001,
	}))
	file = w.pi.file(m)
	manager, live := w.withTools(s)
	_, err := live.Switch(w.t.Context(), file)
	require.NoError(w.t, err)
	_, err = live.Prompt(w.t.Context(), agent.Input{Text: "first"})
	require.NoError(w.t, err)
	require.NoError(w.t, manager.Close(w.t.Context()))
	content = w.read(file)
	require.Equal(w.t, 2, bytes.Count(content, []byte("xcsh-ls.toolStart")))
	return file, content
}

// resume continues a session with one more turn.
func (w *world) resume(file string) {
	w.t.Helper()
	s := newService(w.t, provider.AnthropicMessages)
	s.Script("m", providertest.Reply{Text: "Going on."})
	manager, live := w.withTools(s)
	_, err := live.Switch(w.t.Context(), file)
	require.NoError(w.t, err)
	_, err = live.Prompt(w.t.Context(), agent.Input{Text: "second"})
	require.NoError(w.t, err)
	require.NoError(w.t, manager.Close(w.t.Context()))
}

func (w *world) withTools(s service) (*agent.Manager, *agent.Session) {
	w.t.Helper()
	var tools []tool.Tool
	for _, name := range []string{"look", "change"} {
		tools = append(tools, tool.Tool{
			Tool:    provider.Tool{Name: name, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
			Changes: name == "change",
			Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
				return tool.TextResult("result of " + name), nil
			},
		})
	}
	cfg := agent.Config{
		Storage:  agent.Storage{Store: w.kit.Store, Finder: w.kit.Finder},
		Requests: agent.Requests{Models: s, Defaults: agent.Defaults{Model: "fake/m"}},
		Toolbox:  agent.Toolbox{Tools: tools},
	}
	cfg.Approval = approval.Yolo
	manager := agent.NewManager(cfg)
	live, err := manager.Session(w.t.Context(), cwd)
	require.NoError(w.t, err)
	return manager, live
}
