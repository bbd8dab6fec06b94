//go:build peers

package differential

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/gemini"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/openai"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

var turnAPIs = []provider.API{
	provider.AnthropicMessages, provider.OpenAICompletions, provider.OpenAIResponses, provider.GoogleGenerativeAI,
}

// service is a service on loopback that speaks one wire format, with the models m and plain.
type service struct {
	*providertest.Server
	provider.Provider
	api provider.API
}

func (s service) All(context.Context) []provider.Info { return nil }

func (s service) Find(_ context.Context, ref provider.Ref) (provider.Model, bool) {
	m := s.Model(s.api, ref.ID)
	m.Reasoning = ref.ID == "m"
	return m, ref.Provider == "fake"
}

func (s service) Service(provider.Model) (provider.Provider, error)   { return s.Provider, nil }
func (s service) Key(context.Context, provider.Model) (string, error) { return "", nil }

func (service) CheckKey(provider.Model) error { return nil }

func (service) Sources(context.Context) []provider.Source { return nil }

func newService(t *testing.T, api provider.API) service {
	t.Helper()
	s := service{Server: providertest.New(t), api: api}
	switch api {
	case provider.AnthropicMessages:
		s.Provider = anthropic.New(guard.Options{})
	case provider.OpenAICompletions:
		s.Provider = openai.NewCompletions(guard.Options{})
	case provider.GoogleGenerativeAI:
		s.Provider = gemini.New(guard.Options{})
	default:
		s.Provider = openai.NewResponses(guard.Options{})
	}
	return s
}

// resumed returns a live session that continues a conversation of pi's.
func (w *world) resumed(s service) (*agent.Manager, *agent.Session) {
	w.t.Helper()
	m := w.pi.open("create", cwd, w.dir)
	require.NoError(w.t, w.pi.call(m, nil, "appendMessage", object{"role": "user", "content": "first", "timestamp": 1767225600000}))
	require.NoError(w.t, w.pi.call(m, nil, "appendMessage", object{
		"role": "assistant", "content": []any{object{"type": "text", "text": "yes"}}, "api": "anthropic-messages", "provider": "fake", "model": "m",
		"usage": usage(), "stopReason": "stop", "timestamp": 1767225600001,
	}))
	manager, live := w.live(s)
	_, err := live.Switch(w.t.Context(), w.pi.file(m))
	require.NoError(w.t, err)
	return manager, live
}

// live is a new session of the project that uses a service, and has further tools if there are any.
func (w *world) live(s service, tools ...tool.Tool) (*agent.Manager, *agent.Session) {
	w.t.Helper()
	look := tool.Tool{
		Tool: provider.Tool{Name: "look", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
		Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
			r := tool.TextResult("seen <it> & \"that\" 😀\u2028 ")
			r.Details = json.RawMessage(`{"a":[1,2.50,null]}`)
			return r, nil
		},
	}
	cfg := agent.Config{
		Storage:  agent.Storage{Store: w.kit.Store, Finder: w.kit.Finder},
		Requests: agent.Requests{Models: s, Defaults: agent.Defaults{Model: "fake/m"}, Compaction: compaction.Settings{KeepRecent: 4}},
		Toolbox:  agent.Toolbox{Tools: append(tools, look), Workspace: tool.Local{Fs: w.kit.Finder.Fs}},
	}
	cfg.Retry.Base, cfg.Approval = time.Nanosecond, approval.Yolo
	manager := agent.NewManager(cfg)
	live, err := manager.Session(w.t.Context(), cwd)
	require.NoError(w.t, err)
	return manager, live
}

// story contains everything that turns write: thinking, calls, failures, partial answers, other
// models and levels, a command, a name, a branch and a summary.
func (w *world) story(s service, live *agent.Session) {
	w.t.Helper()
	ctx := w.t.Context()
	call := []providertest.Call{{Name: "look", Args: map[string]any{"path": "ü<>&\u2028"}}, {Name: "look"}}
	s.Script(
		"m", providertest.Reply{Thinking: "First I look.", Text: "I look 😀.", ToolCalls: call},
		providertest.Reply{Text: "Done."},
		providertest.Reply{Text: "half of an answer", Fault: providertest.Cut},
		providertest.Reply{Text: "The whole <answer>.", Thinking: "Again."},
		providertest.Reply{Text: "too long", Stop: provider.StopLength},
		providertest.Reply{Text: "a long answer", Hold: make(chan struct{})},
		providertest.Reply{Fault: providertest.BadKey},
		providertest.Reply{Text: "SUMMARY"},
		providertest.Reply{Text: "The last one."},
	)
	s.Script("plain", providertest.Reply{Text: "I am plain.", ToolCalls: call[:1]}, providertest.Reply{Text: "Plainly."})
	say := func(text string) (agent.Turn, error) { return live.Prompt(ctx, agent.Input{Text: text}) }
	for _, text := range []string{"one", "two\u2028", "three"} {
		_, err := say(text)
		require.NoError(w.t, err)
	}
	w.abort(live)
	_, err := say("five")
	require.Error(w.t, err)
	_, err = live.SetModel(ctx, provider.Ref{Provider: "fake", ID: "plain"}, "")
	require.NoError(w.t, err)
	_, err = say("six")
	require.NoError(w.t, err)
	require.NoError(w.t, live.Rename(ctx, "A name"))
	_, err = live.SetModel(ctx, provider.Ref{Provider: "fake", ID: "m"}, "")
	require.NoError(w.t, err)
	_, err = live.SetThinking(ctx, provider.High)
	require.NoError(w.t, err)
	_, err = live.Compact(ctx, "")
	require.NoError(w.t, err)
	_, err = say("seven")
	require.NoError(w.t, err)
}

// abort stops a turn in the middle of its answer.
func (w *world) abort(live *agent.Session) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	turn, err := live.Prompt(ctx, agent.Input{Text: "four", Accepted: func() { go w.stopWhenShown(live, cancel) }})
	require.Error(w.t, err)
	require.Equal(w.t, provider.StopAborted, turn.StopReason)
}

// stopWhenShown calls stop when part of an answer has arrived.
func (w *world) stopWhenShown(live *agent.Session, stop func()) {
	for {
		snap, err := live.Snapshot(w.t.Context())
		if err != nil || strings.Contains(string(snap.Partial), `"text":"a`) {
			stop()
			return
		}
	}
}

// pi reads the output of our turns as we do, in each wire format, and can continue the session.
func TestTurns(t *testing.T) {
	t.Parallel()
	for _, api := range turnAPIs {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			run(t, 1, func(w *world) {
				s := newService(t, api)
				manager, live := w.resumed(s)
				w.story(s, live)
				file := live.File()
				require.Equal(t, w.dir, filepath.Dir(file))
				require.NoError(t, manager.Close(t.Context()))
				look := w.requireSame(file, w.all(file))
				require.Equal(t, "A name", look.Name)
				require.Equal(t, model("fake/m"), look.Context.Model)
				require.Equal(t, "high", look.Context.ThinkingLevel)

				// pi continues, and then we do.
				m := w.pi.open("open", file)
				require.NoError(t, w.pi.call(m, nil, "appendMessage", object{"role": "user", "content": "pi speaks", "timestamp": 1767225700000}))
				s.Script("m", providertest.Reply{Text: "And we."})
				manager, live = w.live(s)
				_, err := live.Switch(t.Context(), file)
				require.NoError(t, err)
				_, err = live.Prompt(t.Context(), agent.Input{Text: "eight"})
				require.NoError(t, err)
				require.NoError(t, manager.Close(t.Context()))
				w.requireSame(file, w.all(file))
				reqs := s.Requests()
				require.Contains(t, string(reqs[len(reqs)-1].Body), "pi speaks")
			})
		})
	}
}

// pi sees the same messages in a conversation that is stored in our own directory and format.
func TestTurnsInOurDirectory(t *testing.T) {
	t.Parallel()
	for _, api := range turnAPIs {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			run(t, 1, func(w *world) {
				s := newService(t, api)
				manager, live := w.live(s)
				w.story(s, live)
				file := live.File()
				require.NoError(t, manager.Close(t.Context()))
				ours, pis := w.ours(file, nil, false), w.pis(file, nil, false)
				require.Equal(t, pis.Context.Messages, ours.Context.Messages)
				require.Equal(t, pis.Context.ThinkingLevel, ours.Context.ThinkingLevel)
				require.Equal(t, pis.Leaf, ours.Leaf)
			})
		})
	}
}

// all are the ids of all entries, and nil for before the first.
func (w *world) all(file string) []any {
	w.t.Helper()
	leaves := []any{nil}
	for _, id := range w.session(file).ids() {
		leaves = append(leaves, id)
	}
	return leaves
}
