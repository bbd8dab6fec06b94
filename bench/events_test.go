package bench_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/bench"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// oneModel is fake/m, with any client.
type oneModel struct {
	provider.Provider
	model provider.Model
}

func (o oneModel) All(context.Context) []provider.Info { return nil }

func (o oneModel) Find(_ context.Context, ref provider.Ref) (provider.Model, bool) {
	return o.model, ref == o.model.Ref()
}

func (o oneModel) Service(provider.Model) (provider.Provider, error)   { return o.Provider, nil }
func (o oneModel) Key(context.Context, provider.Model) (string, error) { return "", nil }

func (oneModel) CheckKey(provider.Model) error { return nil }

func (oneModel) Sources(context.Context) []provider.Source { return nil }

// answering is a model that answers with the text in pieces of one character: by a script, or
// over HTTP.
func answering(tb testing.TB, text string, wire bool) oneModel {
	tb.Helper()
	reply := providertest.Reply{Text: text, Chunk: 1}
	if !wire {
		scripted := new(providertest.Scripted)
		scripted.Script("m", reply)
		return oneModel{scripted, provider.Model{Provider: "fake", ID: "m", API: provider.Scripted}}
	}
	server := providertest.New(tb)
	server.Script("m", reply)
	return oneModel{anthropic.New(guard.Options{}), server.Model(provider.AnthropicMessages, "m")}
}

// stage is an editor and a server whose manager the test can access.
type stage struct {
	*lsptest.Editor
	manager *agent.Manager
	work    string
	ended   chan time.Time // the end of each turn, as reported by the session

	mu   sync.Mutex
	peak uint64 // of the heap; guarded by mu
}

func newStage(tb testing.TB, m oneModel) *stage {
	tb.Helper()
	home := tb.TempDir()
	kit := bench.New(home, home)
	s := &stage{work: filepath.Join(home, "work"), ended: make(chan time.Time, 1)}
	s.manager = agent.NewManager(agent.Config{
		Storage:  agent.Storage{Store: kit.Store, Finder: kit.Finder},
		Requests: agent.Requests{Models: m, Defaults: agent.Defaults{Model: "fake/m"}},
	})
	s.manager.Subscribe(func(e agent.Event) {
		s.weigh()
		if run, ok := e.(agent.RunEvent); ok && run.Event.Type() == (event.AgentEnd{}).Type() {
			s.ended <- time.Now()
		}
	})
	s.Editor = lsptest.Start(tb, lsp.Options{
		Version: "bench", Commands: commands.Default,
		Open: func(context.Context, lsp.Settings, lsp.Client) (lsp.Backend, error) {
			return lsp.Backend{Sessions: s.manager, Store: kit.Store, Finder: kit.Finder, Fs: kit.Finder.Fs}, nil
		},
	})
	s.Initialize(lsptest.Fields{"workspaceFolders": []any{lsptest.Fields{"uri": lsptest.URI(s.work), "name": "w"}}})
	_, failure := s.Exec("xcsh.state", nil)
	require.Nil(tb, failure)
	return s
}

// weigh records the size of the heap, garbage included.
func (s *stage) weigh() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peak = max(s.peak, m.HeapAlloc)
}

// retained is the size of the heap without garbage.
func retained() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// delivered counts the events of a turn that the editor received.
type delivered struct {
	events, bytes int
	text          string
}

// delivered requires that no event is missing.
func (s *stage) delivered(tb testing.TB) (d delivered) {
	tb.Helper()
	var text strings.Builder
	next := uint64(1)
	for _, m := range s.Messages() {
		if m.Method != lsp.MethodEvent && m.Method != lsp.MethodSessionChanged {
			continue
		}
		var p struct {
			Seq   uint64
			Event struct{ AssistantMessageEvent event.Update }
		}
		require.NoError(tb, json.Unmarshal(m.Params, &p))
		require.Equal(tb, next, p.Seq)
		next++
		if m.Method != lsp.MethodEvent {
			continue
		}
		d.events++
		d.bytes += len(m.Params)
		if u := p.Event.AssistantMessageEvent; u.Type == event.TextDelta {
			text.WriteString(u.Delta)
		}
	}
	d.text = text.String()
	return d
}

// turn makes the model answer and returns the time that the session needed, and the memory that the
// server kept for the client. A stalled client reads nothing until the turn is over.
func (s *stage) turn(tb testing.TB, stalled bool) (took time.Duration, kept int64) {
	tb.Helper()
	before := retained()
	if stalled {
		s.Pause()
	}
	began := time.Now()
	prompt := s.BeginExec("xcsh.prompt", lsptest.Fields{"text": "hello"})
	took = (<-s.ended).Sub(began)
	if stalled {
		kept = retained() - before
		s.Resume()
	}
	_, failure := prompt.Wait()
	require.Nil(tb, failure)
	return took, kept
}

// Every client receives every piece of an answer. The turn does not wait for a stalled client, and
// the server keeps little memory for it.
func TestStalledClientReceivesAllEvents(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789", 500)
	for name, stalled := range map[string]bool{"reading": false, "stalled": true} {
		for how, wire := range map[string]bool{"scripted": false, "over HTTP": true} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, answering(t, text, wire))
				s.turn(t, stalled)
				d := s.delivered(t)
				require.Equal(t, text, d.text, "nothing is lost")
				require.Less(t, d.events, len(text)/2, "pieces are merged")
			})
		}
	}
}

// BenchmarkEvents sends 100,000 pieces of an answer from a model to a client.
func BenchmarkEvents(b *testing.B) {
	text := strings.Repeat("0123456789", 10_000)
	for _, wire := range []bool{false, true} {
		for _, stalled := range []bool{false, true} {
			name := map[bool]string{false: "scripted", true: "http"}[wire] + "/" + map[bool]string{false: "reading", true: "stalled"}[stalled]
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				var took time.Duration
				var kept, events, bytes, peak float64
				for range b.N {
					s := newStage(b, answering(b, text, wire))
					t, k := s.turn(b, stalled)
					d := s.delivered(b)
					require.Equal(b, text, d.text)
					took += t
					kept, events, bytes, peak = kept+float64(k), events+float64(d.events), bytes+float64(d.bytes), peak+float64(s.peak)
				}
				n := float64(b.N)
				b.ReportMetric(took.Seconds()*1e3/n, "turn-ms")
				b.ReportMetric(events/n, "events")
				b.ReportMetric(bytes/n, "event-B")
				b.ReportMetric(peak/n, "peak-B")
				if stalled {
					b.ReportMetric(kept/n, "kept-B")
				}
			})
		}
	}
}

// BenchmarkEventsUnread measures the worst case: 100,000 events that are not merged, as in
// long turns of many tools, for a client that hangs.
func BenchmarkEventsUnread(b *testing.B) {
	const events = 100_000
	var kept float64
	for range b.N {
		s := newStage(b, answering(b, "x", false))
		live := s.manager.Live(s.work)
		before := retained()
		s.Pause()
		for range events {
			live.Report(event.ToolUpdate{ToolCallID: "toolu_0001", ToolName: "bash", PartialResult: []byte(`"a line of output"`)})
		}
		kept += float64(retained() - before)
		s.Resume()
		_, failure := s.Exec("xcsh.state", nil)
		require.Nil(b, failure)
		require.Equal(b, events, s.delivered(b).events)
	}
	b.ReportMetric(kept/float64(b.N)/events, "kept-B/event")
}
