package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// copies keeps what a session file holds at moments of a turn: what a killed server leaves.
type copies struct {
	fs   afero.Fs
	mu   sync.Mutex
	path func() string
	at   map[string][]byte // by the name of the moment; guarded by mu
}

func (c *copies) take(moment string) {
	content, err := afero.ReadFile(c.fs, c.path())
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.at[moment] = content
	}
}

// batch is the tools of three calls that change something, with a reading one among them.
func batch(c *copies) []tool.Tool {
	var tools []tool.Tool
	for _, name := range []string{"first", "look", "second", "third"} {
		tools = append(tools, tool.Tool{Tool: provider.Tool{Name: name}, Changes: name != "look", Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
			c.take("during " + name)
			return tool.TextResult("result of " + name), nil
		}})
	}
	return tools
}

func batchCalls() (calls []providertest.Call) {
	for _, name := range []string{"first", "look", "second", "third"} {
		calls = append(calls, providertest.Call{Name: name, ID: "call-" + name})
	}
	return calls
}

func yolo(c *agent.Config) { c.Approval = approval.Yolo }

// A server that is killed during a batch of calls has recorded each result that was known, and the
// start of the call that was running. The model learns what it cannot know.
func TestKilledDuringABatchOfTools(t *testing.T) {
	t.Parallel()
	const unknown, never = "outcome is unknown", "was not run"
	fs := afero.NewMemMapFs()
	left := &copies{fs: fs, at: map[string][]byte{}}
	m := scripted(providertest.Reply{Text: "Hello.", ToolCalls: batchCalls()}, providertest.Reply{Text: "Done."})
	w := newWorld(t, fs, withModel(m), withTools(batch(left)...), yolo)
	live := w.live(t, "/w")
	left.path = live.File
	prompt(t, live, "hi")

	for moment, want := range map[string]map[string]string{
		"during first":  {"first": unknown, "look": never, "second": never, "third": never},
		"during second": {"first": "result of first", "look": "result of look", "second": unknown, "third": never},
		"during third":  {"first": "result of first", "look": "result of look", "second": "result of second", "third": unknown},
	} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, left.at, moment)
			fs := afero.NewMemMapFs()
			require.NoError(t, afero.WriteFile(fs, live.File(), left.at[moment], 0o600))
			m := scripted(providertest.Reply{Text: "I see."})
			next := newWorld(t, fs, withModel(m), withTools(batch(&copies{})...), yolo).live(t, "/w")
			_, err := next.Switch(t.Context(), live.File())
			require.NoError(t, err)
			prompt(t, next, "continue")

			got := map[string]string{}
			for _, msg := range m.Requests()[0].Messages {
				if msg.Role == provider.RoleToolResult {
					got[msg.ToolName] = msg.PlainText()
				}
			}
			for name, text := range want {
				assert.Contains(t, got[name], text, name)
			}
			after, err := afero.ReadFile(fs, live.File())
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(after), string(left.at[moment])), "nothing that was recorded changes")
			assert.Equal(t, 4, strings.Count(string(after), `"role":"toolResult"`), "one result for each call, also for the terminal")
		})
	}
}

// A call of another program may still be running, and has its result recorded by that program.
func TestCallsOfOtherProgramsAreLeftAlone(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "foreign", "11111111-1111-4111-8111-111111111111", "/w")
	file, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	call := `{"type":"message","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-02-03T04:05:06.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{}}],"api":"x","provider":"p","model":"m","stopReason":"toolUse","timestamp":1}}`
	require.NoError(t, afero.WriteFile(fs, path, append(file, call+"\n"...), 0o600))
	m := scripted(providertest.Reply{Text: "I see."})
	live := newWorld(t, fs, withModel(m)).live(t, "/w")
	_, err = live.Switch(t.Context(), path)
	require.NoError(t, err)
	prompt(t, live, "continue")
	after, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	assert.NotContains(t, string(after), "toolResult")
}

// A full disk does not stop a turn: the start of a call is then known in memory only.
func TestStartsThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	broken := false
	fs := &st.FaultFs{Fs: afero.NewMemMapFs(), At: 1, Mode: st.Dead, On: func(string, string) bool { return broken }}
	ran := 0
	change := tool.Tool{Tool: provider.Tool{Name: "change"}, Changes: true, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		ran++
		return tool.TextResult(fmt.Sprint("change ", ran)), nil
	}}
	m := scripted(providertest.Reply{Text: "one"}, providertest.Reply{ToolCalls: []providertest.Call{{Name: "change"}}}, providertest.Reply{Text: "Done."})
	live := newWorld(t, fs, withModel(m), withTools(change), yolo).live(t, "/w")
	prompt(t, live, "hi")
	broken = true
	turn := prompt(t, live, "change it")
	assert.Equal(t, provider.StopEnd, turn.StopReason)
	assert.Equal(t, 1, ran)
}
