package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// models are two models that play a script: p/m thinks, p/plain does not.
type models struct {
	providertest.Scripted
	window int
	key    error
}

func (m *models) All(context.Context) []provider.Info {
	var list []provider.Info
	for _, id := range []string{"m", "plain"} {
		model, _ := m.Find(context.Background(), provider.Ref{Provider: "p", ID: id})
		list = append(list, provider.Info{Model: model, Available: true})
	}
	return list
}

func (m *models) Find(_ context.Context, ref provider.Ref) (provider.Model, bool) {
	model := provider.Model{Provider: ref.Provider, ID: ref.ID, API: provider.Scripted, ContextWindow: m.window, Reasoning: ref.ID == "m"}
	return model, ref.Provider == "p" && (ref.ID == "m" || ref.ID == "plain")
}

func (m *models) Service(provider.Model) (provider.Provider, error) { return &m.Scripted, nil }

func (m *models) Key(context.Context, provider.Model) (string, error) { return "secret", m.key }

func (m *models) CheckKey(provider.Model) error { return m.key }

func (*models) Sources(context.Context) []provider.Source { return nil }

// withModel makes m the default model of sessions.
func withModel(m *models) option {
	return func(c *agent.Config) { c.Models, c.Defaults.Model = m, "p/m" }
}

func scripted(replies ...providertest.Reply) *models {
	m := &models{}
	m.Script("m", replies...)
	return m
}

// asking prompts beside the test. The channel is closed without a turn if that fails.
func promptInBackground(t *testing.T, s *agent.Session, text string) <-chan agent.Turn {
	t.Helper()
	done := make(chan agent.Turn, 1)
	go func() {
		defer close(done)
		turn, err := s.Prompt(t.Context(), agent.Input{Text: text})
		if assert.NoError(t, err) {
			done <- turn
		}
	}()
	return done
}

func prompt(t *testing.T, s *agent.Session, text string) agent.Turn {
	t.Helper()
	turn, err := s.Prompt(t.Context(), agent.Input{Text: text})
	require.NoError(t, err)
	return turn
}

// lines returns the types, and roles of messages, of the entries in the session's file.
func lines(t *testing.T, fs afero.Fs, s *agent.Session) []string {
	t.Helper()
	content, err := afero.ReadFile(fs, s.File())
	require.NoError(t, err)
	var out []string
	for line := range strings.Lines(string(content)) {
		typ, _ := rawjson.GetString([]byte(line), "type")
		if role, ok := rawjson.GetString([]byte(line), "message", "role"); ok {
			typ = role
		}
		out = append(out, typ)
	}
	return out
}

// runEvents returns the events of runs so far.
func (w *world) runEvents() []agent.RunEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []agent.RunEvent
	for _, e := range w.events {
		if e, ok := e.(agent.RunEvent); ok {
			out = append(out, e)
		}
	}
	return out
}

// eventsOf returns the events of one type.
func eventsOf[E event.Event](w *world) (events []E) {
	for _, run := range w.runEvents() {
		if e, ok := run.Event.(E); ok {
			events = append(events, e)
		}
	}
	return events
}

// isEvent returns the event of type E that e carries, if it does.
func isEvent[E event.Event](e agent.Event) (found E, ok bool) {
	if run, isRun := e.(agent.RunEvent); isRun {
		found, ok = run.Event.(E)
	}
	return found, ok
}

// isText returns the piece of the model's text that e carries, if it does.
func isText(e agent.Event) (delta string, ok bool) {
	piece, ok := isEvent[event.MessageUpdate](e)
	return piece.Update.Delta, ok && piece.Update.Type == event.TextDelta
}

// Proves: X-024, X-204 (with the first prompt, so that opening writes nothing)
func TestPromptIsAnsweredAndKept(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	w := newWorld(t, fs, withModel(scripted(providertest.Reply{Text: "Hello."})))
	s := w.live(t, "/w")
	turn := prompt(t, s, "hi")
	assert.Equal(t, provider.StopEnd, turn.StopReason)
	text, _ := rawjson.GetString(rawjson.Get(turn.Message, "content")[1:], "text")
	assert.Equal(t, "Hello.", text)
	assert.Equal(t, []string{"session", "model_change", "thinking_level_change", "user", "assistant"}, lines(t, fs, s))
	prompt(t, s, "again")
	assert.Len(t, lines(t, fs, s), 7, "settings are recorded once")
	got := state(t, s)
	assert.Equal(t, &agent.Model{Provider: "p", ID: "m"}, got.Model)
	assert.Equal(t, "medium", got.ThinkingLevel)
	assert.False(t, got.IsStreaming)
	assert.Equal(t, 4, got.MessageCount)
}

// P-002: everything that counts is in the file.
// Proves, O-059
func TestStateSurvivesARestart(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	m := scripted(providertest.Reply{Text: "Hello."})
	m.Script("plain", providertest.Reply{Text: "Hi."})
	w := newWorld(t, fs, withModel(m))
	s := w.live(t, "/w")
	prompt(t, s, "hi")
	_, err := s.SetThinking(t.Context(), provider.High)
	require.NoError(t, err)
	before := state(t, s)
	require.NoError(t, w.Close(t.Context()))

	w = newWorld(t, fs, withModel(m), func(c *agent.Config) { c.Defaults = agent.Defaults{Model: "p/plain", Thinking: "low"} })
	s = w.live(t, "/w")
	_, err = s.Switch(t.Context(), *before.File)
	require.NoError(t, err)
	assert.Equal(t, before, state(t, s))
	prompt(t, s, "again")
	reqs := m.Requests()
	assert.Equal(t, "m", reqs[len(reqs)-1].Model.ID)
	assert.Equal(t, provider.High, reqs[len(reqs)-1].Thinking)
	assert.Len(t, reqs[len(reqs)-1].Messages, 3)
}

func TestNothingHappensWithoutAModel(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]option{
		"none chosen":  func(c *agent.Config) { c.Models = scripted() },
		"none at all":  func(*agent.Config) {},
		"unknown one":  func(c *agent.Config) { c.Models, c.Defaults.Model = scripted(), "p/other" },
		"without keys": withModel(&models{key: fault.New(fault.Provider, "No API key for p.")}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			w := newWorld(t, fs, o)
			s := w.live(t, "/w")
			_, err := s.Prompt(t.Context(), agent.Input{Text: "hi"})
			require.True(t, fault.Is(err, fault.Provider), "%v", err)
			assert.Equal(t, 0, state(t, s).MessageCount, "a refused prompt is not recorded")
			exists, err := afero.Exists(fs, s.File())
			require.NoError(t, err)
			assert.False(t, exists)
		})
	}
}

// P-006, P-007: each message is on disk before its event is sent.
// Proves: P-006, P-007
func TestMessagesAreOnDiskBeforeTheyAreSeen(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	m := scripted(providertest.Reply{ToolCalls: []providertest.Call{{Name: "look"}}}, providertest.Reply{Text: "Done."})
	w := newWorld(t, fs, withModel(m), withTools(lookTool()))
	s := w.live(t, "/w")
	path := s.File()
	var sizes []int
	w.Subscribe(func(e agent.Event) {
		end, ok := isEvent[event.MessageEnd](e)
		if !ok {
			return
		}
		content, _ := afero.ReadFile(fs, path)
		assert.Contains(t, string(content), `"id":"`+end.EntryID+`"`)
		sizes = append(sizes, strings.Count(string(content), "\n"))
	})
	prompt(t, s, "hi")
	assert.Equal(t, []int{4, 5, 6, 7}, sizes)
}

func withTools(tools ...tool.Tool) option {
	return func(c *agent.Config) { c.Tools = tools }
}

// lookTool returns a tool that only reads.
func lookTool() tool.Tool {
	return tool.Tool{Tool: provider.Tool{Name: "look"}, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		return tool.TextResult("seen"), nil
	}}
}

// Proves: O-031
func TestPromptWhileATurnRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		fs := afero.NewMemMapFs()
		w := newWorld(t, fs, withModel(scripted(
			providertest.Reply{Text: "a long answer", Hold: hold}, providertest.Reply{Text: "steered"}, providertest.Reply{Text: "followed"},
		)))
		s := w.live(t, "/w")
		done := promptInBackground(t, s, "hi")
		synctest.Wait()
		assert.True(t, state(t, s).IsStreaming)

		_, err := s.Prompt(t.Context(), agent.Input{Text: "too"})
		require.True(t, fault.Is(err, fault.Busy))
		assert.Contains(t, err.Error(), "'steer' or 'followUp'")
		_, err = s.Prompt(t.Context(), agent.Input{Text: "too", Queue: "now"})
		require.True(t, fault.Is(err, fault.InvalidArgument))

		turn, err := s.Prompt(t.Context(), agent.Input{Text: "later", Queue: "followUp"})
		require.NoError(t, err)
		assert.True(t, turn.Queued)
		n, err := s.Enqueue(agent.Input{Text: "left", Queue: "steer"})
		require.NoError(t, err)
		assert.Equal(t, 2, n)
		assert.Equal(t, agent.Queued{Steering: 1, FollowUp: 1}, state(t, s).Queued)
		snap, err := s.Snapshot(t.Context())
		require.NoError(t, err)
		assert.Equal(t, agent.Queues{Steering: []string{"left"}, FollowUp: []string{"later"}}, snap.Queues)
		assert.Contains(t, string(snap.Partial), `"a long `)

		for _, refused := range []func() error{
			func() error { _, err := s.Fork(t.Context()); return err },
			func() error { _, err := s.Branch(t.Context(), "", agent.BranchOptions{}); return err },
			func() error { _, err := s.Compact(t.Context(), ""); return err },
			func() error { _, err := s.Trash(t.Context()); return err },
		} {
			assert.True(t, fault.Is(refused(), fault.Busy))
		}
		close(hold)
		last := <-done
		assert.Contains(t, string(last.Message), "followed")
		assert.Equal(t, []string{
			"session", "model_change", "thinking_level_change", "user", "assistant", "user", "assistant", "user", "assistant",
		}, lines(t, fs, s))
		_, err = s.Enqueue(agent.Input{Text: "too late", Queue: "steer"})
		require.True(t, fault.Is(err, fault.Stale), "a message that would never be answered is refused")
		require.NoError(t, w.Close(t.Context()))
	})
}

// Proves: X-196, O-056
func TestAbortReturnsQueuedPrompts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		w := newWorld(t, fs, withModel(scripted(providertest.Reply{Text: "a long answer", Hold: make(chan struct{})}, providertest.Reply{Text: "ok"})))
		s := w.live(t, "/w")
		done := promptInBackground(t, s, "hi")
		synctest.Wait()
		_, err := s.Enqueue(agent.Input{Text: "later", Queue: "followUp"})
		require.NoError(t, err)
		aborted, unanswered, err := s.Abort(t.Context())
		require.NoError(t, err)
		assert.True(t, aborted)
		assert.Equal(t, []string{"later"}, unanswered)
		assert.Equal(t, provider.StopAborted, (<-done).StopReason)
		assert.False(t, state(t, s).IsStreaming)
		content, err := afero.ReadFile(fs, s.File())
		require.NoError(t, err)
		assert.Contains(t, string(content), `"stopReason":"aborted"`, "the answer is kept as far as it came")

		aborted, _, err = s.Abort(t.Context())
		require.NoError(t, err)
		assert.False(t, aborted)
		prompt(t, s, "again")
		require.NoError(t, w.Close(t.Context()))
	})
}

// P-012: a prompt that was withdrawn before any answer leaves nothing behind.
// Proves: P-012
func TestACancelledPromptLeavesNoFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		w := newWorld(t, fs, withModel(scripted(providertest.Reply{Text: "x", Before: make(chan struct{})})), withJournal(t, fs))
		s := w.live(t, "/w")
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := s.Prompt(ctx, agent.Input{Text: "hi"})
			failed <- err
		}()
		synctest.Wait()
		cancel()
		require.True(t, fault.Is(<-failed, fault.Cancelled))
		exists, err := afero.Exists(fs, s.File())
		require.NoError(t, err)
		assert.False(t, exists)
		require.NoError(t, w.Close(t.Context()))
	})
}

// Proves: X-195, X-196 (a change stops the turn and returns its queue), O-054
func TestSwitchStopsTheTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		other := put(t, fs, "a", "0123456789abcdef", "/w")
		w := newWorld(t, fs, withModel(scripted(providertest.Reply{Text: "a long answer", Hold: make(chan struct{})})))
		s := w.live(t, "/w")
		first := s.File()
		done := promptInBackground(t, s, "hi")
		synctest.Wait()
		out, err := s.Switch(t.Context(), other)
		require.NoError(t, err)
		assert.True(t, out.Changed)
		assert.Equal(t, provider.StopAborted, (<-done).StopReason)
		content, err := afero.ReadFile(fs, first)
		require.NoError(t, err)
		assert.Contains(t, string(content), `"stopReason":"aborted"`, "the answer stays on its branch")
		content, err = afero.ReadFile(fs, other)
		require.NoError(t, err)
		assert.NotContains(t, string(content), "long answer")
		require.NoError(t, w.Close(t.Context()))
	})
}

// Events are numbered without gaps, and neighbouring pieces of a text come as one.
func TestEventsAreNumberedAndMerged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := strings.Repeat("many words ", 10_000)
		w := newWorld(t, afero.NewMemMapFs(), withModel(scripted(providertest.Reply{Thinking: "hm", Text: text, Chunk: 1})))
		s := w.live(t, "/w")
		prompt(t, s, "hi")
		var got strings.Builder
		deltas := 0
		for i, e := range w.events {
			switch e := e.(type) {
			case agent.RunEvent:
				assert.EqualValues(t, i+1, e.Seq)
				if delta, ok := isText(e); ok {
					deltas++
					got.WriteString(delta)
				}
			case agent.SessionChanged:
				assert.EqualValues(t, i+1, e.Seq)
			case agent.SessionsChanged:
				w.events = slices.Delete(w.events, i, i+1)
			}
		}
		assert.Equal(t, text, got.String())
		assert.Less(t, deltas, 30, "no time passes here, so that hardly anything is sent before the end")
		require.NoError(t, w.Close(t.Context()))
	})
}

// Proves, P-008, P-009, P-015, P-016
func TestModelAndThinkingLevel(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	m := scripted(providertest.Reply{Text: "Hello."})
	m.Script("plain", providertest.Reply{Text: "Hi."})
	w := newWorld(t, fs, withModel(m))
	s := w.live(t, "/w")
	prompt(t, s, "hi")
	before := state(t, s)

	choice, err := s.SetThinking(t.Context(), provider.High)
	require.NoError(t, err)
	assert.Equal(t, provider.High, choice.Thinking)
	n := len(lines(t, fs, s))
	_, err = s.SetThinking(t.Context(), provider.High)
	require.NoError(t, err)
	assert.Len(t, lines(t, fs, s), n, "P-009: the same level again is no change")

	choice, err = s.SetModel(t.Context(), provider.Ref{Provider: "p", ID: "plain"}, "")
	require.NoError(t, err)
	assert.Equal(t, provider.Off, choice.Thinking, "P-016: the level is fitted to the model")
	got := lines(t, fs, s)
	assert.Equal(t, []string{"thinking_level_change", "model_change", "thinking_level_change"}, got[len(got)-3:])
	after := state(t, s)
	assert.Equal(t, before.MessageCount, after.MessageCount, "P-015: history stays")
	assert.Equal(t, "plain", after.Model.ID)
	prompt(t, s, "again")
	reqs := m.Requests()
	assert.Equal(t, "plain", reqs[len(reqs)-1].Model.ID)

	_, err = s.SetModel(t.Context(), provider.Ref{Provider: "x", ID: "y"}, "")
	require.True(t, fault.Is(err, fault.NotFound))
}

// P-017: a session whose model is unavailable continues with the default model, and reports that.
// Proves: X-202, O-058, P-017
func TestModelThatIsGone(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	content = append(content, `{"type":"model_change","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-01-01T00:00:00Z","model":"gone/model"}`+"\n"...)
	require.NoError(t, afero.WriteFile(fs, path, content, 0o600))
	w := newWorld(t, fs, withModel(scripted(providertest.Reply{Text: "Hello."})))
	s := w.live(t, "/w")
	_, err = s.Switch(t.Context(), path)
	require.NoError(t, err)
	prompt(t, s, "hi")
	var notices []string
	for _, e := range eventsOf[event.Notice](w) {
		notices = append(notices, e.Text)
	}
	assert.Equal(t, []string{"Could not restore model gone/model. Using p/m."}, notices)
}

// changer is a tool that changes something, and counts how often.
func changer(n *int) tool.Tool {
	return tool.Tool{
		Tool: provider.Tool{Name: "change"}, Changes: true,
		Preview: func(context.Context, tool.Env, json.RawMessage) (tool.Preview, error) {
			return tool.Preview{Title: "Change it", Diff: "-a\n+b\n"}, nil
		},
		Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
			*n++
			return tool.TextResult("changed"), nil
		},
	}
}

func TestChangesNeedPermission(t *testing.T) {
	t.Parallel()
	for _, decision := range []approval.Decision{approval.Once, approval.Deny} {
		synctest.Test(t, func(t *testing.T) {
			changed := 0
			fs := afero.NewMemMapFs()
			w := newWorld(t, fs, withModel(scripted(
				providertest.Reply{ToolCalls: []providertest.Call{{Name: "change"}}}, providertest.Reply{Text: "Done."},
			)), withTools(changer(&changed)))
			s := w.live(t, "/w")
			done := promptInBackground(t, s, "hi")
			synctest.Wait()
			snap, err := s.Snapshot(t.Context())
			require.NoError(t, err)
			require.Len(t, snap.Approvals, 1, "a later client sees it")
			assert.Equal(t, "Change it", snap.Approvals[0].Preview.Title)
			assert.Equal(t, "-a\n+b\n", snap.Approvals[0].Preview.Diff)
			assert.Zero(t, changed)
			require.NoError(t, s.Approve(snap.Approvals[0].ID, decision))
			require.Error(t, s.Approve(snap.Approvals[0].ID, decision))
			<-done
			content, err := afero.ReadFile(fs, s.File())
			require.NoError(t, err)
			if decision == approval.Once {
				assert.Equal(t, 1, changed)
			} else {
				assert.Zero(t, changed)
				assert.Contains(t, string(content), "denied this")
			}
			require.NoError(t, w.Close(t.Context()))
		})
	}
}

// Proves: X-027 (writing), P-010
func TestCompaction(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	m := scripted(
		providertest.Reply{Text: strings.Repeat("old words ", 200)}, providertest.Reply{Text: "new words"},
		providertest.Reply{Text: "SUMMARY"}, providertest.Reply{Text: "after"},
	)
	w := newWorld(t, fs, withModel(m), func(c *agent.Config) { c.Compaction = compaction.Settings{KeepRecent: 4} })
	s := w.live(t, "/w")
	prompt(t, s, "first")
	prompt(t, s, "second")
	result, err := s.Compact(t.Context(), "the tests")
	require.NoError(t, err)
	assert.Contains(t, result.Summary, "SUMMARY")
	assert.Positive(t, result.TokensBefore)
	got := lines(t, fs, s)
	assert.Equal(t, "compaction", got[len(got)-1])
	asked := m.Requests()[2]
	assert.Contains(t, asked.Messages[0].PlainText(), "Additional focus: the tests")
	assert.Contains(t, asked.Messages[0].PlainText(), "[User]: first")
	assert.Empty(t, asked.Tools)

	_, err = s.Compact(t.Context(), "")
	require.True(t, fault.Is(err, fault.InvalidArgument))
	assert.Equal(t, "Already compacted", err.Error())
	prompt(t, s, "third")
	sent := m.Requests()[3].Messages
	assert.Contains(t, sent[0].PlainText(), "SUMMARY")
	assert.NotContains(t, fmt.Sprint(sent), "old words")
}

// A conversation that has outgrown the window is compacted automatically; one that a service
// refuses is compacted and sent again, once.
func TestAutomaticCompaction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		window  int
		replies []providertest.Reply
		reason  string
	}{
		"threshold": {150, []providertest.Reply{{Text: strings.Repeat("words ", 100), Usage: provider.Usage{Input: 400, TotalTokens: 400}}, {Text: "SUMMARY"}}, "threshold"},
		"overflow":  {100_000, []providertest.Reply{{Text: "one"}, {Text: "two"}, {Fault: providertest.TooLong}, {Text: "SUMMARY"}, {Text: "three"}}, "overflow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := scripted(c.replies...)
			m.window = c.window
			fs := afero.NewMemMapFs()
			w := newWorld(t, fs, withModel(m), func(cfg *agent.Config) { cfg.Compaction = compaction.Settings{Reserve: 10, KeepRecent: 2} })
			s := w.live(t, "/w")
			for i := range (len(c.replies) + 1) / 2 {
				prompt(t, s, fmt.Sprint("prompt ", i))
			}
			var events []string
			for _, run := range w.runEvents() {
				switch e := run.Event.(type) {
				case event.CompactionStart:
					events = append(events, "start "+e.Reason)
				case event.CompactionEnd:
					events = append(events, "end "+e.Reason)
				}
			}
			assert.Equal(t, []string{"start " + c.reason, "end " + c.reason}, events)
			assert.Contains(t, lines(t, fs, s), "compaction")
		})
	}
}

// With concurrent requests of several users, files stay valid and every prompt is answered,
// returned or refused.
func TestPromptSteerAbortSwitchForkRace(t *testing.T) {
	t.Parallel()
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	for round := range rounds {
		fs := afero.NewMemMapFs()
		other := put(t, fs, "a", "0123456789abcdef", "/w")
		w := newWorld(t, fs, withModel(scripted(
			providertest.Reply{Text: "some words", ToolCalls: []providertest.Call{{Name: "look"}}}, providertest.Reply{Text: "Done."},
			providertest.Reply{Text: "More."},
		)), withTools(lookTool()))
		s := w.live(t, "/w")
		var all sync.WaitGroup
		for _, f := range []func(){
			func() { _, _ = s.Prompt(t.Context(), agent.Input{Text: "one", Queue: "steer"}) },
			func() { _, _ = s.Prompt(t.Context(), agent.Input{Text: "two", Queue: "followUp"}) },
			func() { _, _ = s.Enqueue(agent.Input{Text: "three", Queue: "steer"}) },
			func() { _, _, _ = s.Abort(t.Context()) },
			func() { _, _ = s.Switch(t.Context(), other) },
			func() { _, _ = s.Fork(t.Context()) },
			func() { _, _ = s.New(t.Context(), session.NewOptions{}) },
			func() { _, _ = s.Snapshot(t.Context()) },
			func() { _, _ = s.SetThinking(t.Context(), provider.High) },
		} {
			all.Go(f)
		}
		all.Wait()
		require.NoError(t, w.Close(t.Context()))
		checkFiles(t, fs, round)
		seqs := map[string]uint64{}
		for _, e := range w.events {
			switch e := e.(type) {
			case agent.RunEvent:
				require.Equal(t, seqs[e.SessionID]+1, e.Seq)
				seqs[e.SessionID] = e.Seq
			case agent.SessionChanged:
				require.Equal(t, seqs[e.SessionID]+1, e.Seq)
				seqs[e.SessionID] = e.Seq
			}
		}
	}
}

// checkFiles requires that every session file is whole, with one result for every tool call.
func checkFiles(t *testing.T, fs afero.Fs, round int) {
	t.Helper()
	require.NoError(t, afero.Walk(fs, root+"/sessions", func(path string, info os.FileInfo, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		doc, err := session.NewStore(session.StoreConfig{Fs: fs}).Load(path)
		require.NoError(t, err)
		require.Empty(t, doc.Problems(), "round %d: %s", round, path)
		calls, results := 0, 0
		for i := range doc.Len() {
			e, err := doc.Entry(i)
			require.NoError(t, err)
			switch m := e.Message(); e.Role() {
			case "assistant":
				decoded, err := provider.DecodeMessage(m)
				require.NoError(t, err)
				if decoded.StopReason == provider.StopToolUse {
					calls += len(decoded.ToolCalls())
				}
			case "toolResult":
				results++
			}
		}
		require.Equal(t, calls, results, "round %d: %s", round, path)
		return doc.Close()
	}))
}

func TestBranchSummaryByTheModel(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	m := scripted(providertest.Reply{Text: "one"}, providertest.Reply{Text: "two"}, providertest.Reply{Text: "WHAT WAS TRIED"})
	w := newWorld(t, fs, withModel(m))
	s := w.live(t, "/w")
	prompt(t, s, "first")
	back := *state(t, s).LeafID
	prompt(t, s, "second")
	_, err := s.Branch(t.Context(), back, agent.BranchOptions{Summarize: true, Instructions: "the tests"})
	require.NoError(t, err)
	asked := m.Requests()[2].Messages[0].PlainText()
	assert.Contains(t, asked, "[User]: second")
	assert.NotContains(t, asked, "first", "entries that stay on the branch are not summarized")
	assert.Contains(t, asked, "Additional focus: the tests")
	snap, err := s.Snapshot(t.Context())
	require.NoError(t, err)
	last := string(snap.Messages[len(snap.Messages)-1].Message)
	assert.Contains(t, last, "branchSummary")
	assert.Contains(t, last, "WHAT WAS TRIED")

	before := state(t, s)
	m2 := scripted(providertest.Reply{Fault: providertest.BadKey})
	w2 := newWorld(t, fs, withModel(m2))
	s2 := w2.live(t, "/w")
	_, err = s2.Switch(t.Context(), *before.File)
	require.NoError(t, err)
	before = state(t, s2)
	_, err = s2.Branch(t.Context(), "", agent.BranchOptions{Summarize: true})
	require.True(t, fault.Is(err, fault.Provider), "%v", err)
	assert.Equal(t, before, state(t, s2), "without a summary nothing moves")
}

// The model's plan is that of the current branch, whichever that is.
// Proves: X-209
func TestTodosAreThoseOfTheBranch(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	entry := func(id, parent, phases, failed string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:00Z","message":{"role":"toolResult","toolCallId":"c",`+
			`"toolName":"todo_write","content":[],"details":{"phases":%s},"isError":%s,"timestamp":1}}`+"\n", id, parent, phases, failed)
	}
	content = append(content, entry("dddddddd", "cccccccc", `["one"]`, "false")+entry("eeeeeeee", "dddddddd", `["two"]`, "false")+
		entry("ffffffff", "eeeeeeee", `["failed"]`, "true")...)
	require.NoError(t, afero.WriteFile(fs, path, content, 0o600))
	w := newWorld(t, fs)
	s := w.live(t, "/w")
	_, err = s.Switch(t.Context(), path)
	require.NoError(t, err)
	snap, err := s.Snapshot(t.Context())
	require.NoError(t, err)
	assert.JSONEq(t, `["two"]`, string(snap.Todos), "the newest that succeeded")
	_, err = s.Branch(t.Context(), "dddddddd", agent.BranchOptions{})
	require.NoError(t, err)
	snap, err = s.Snapshot(t.Context())
	require.NoError(t, err)
	assert.JSONEq(t, `["one"]`, string(snap.Todos))
}

// A user's command is recorded, shown to the model with the next prompt, and never between a tool
// call and its result.
func TestBash(t *testing.T) {
	t.Parallel()
	shell := tool.NewShell(tool.Options{})
	release := make(chan struct{})
	m := scripted(
		providertest.Reply{ToolCalls: []providertest.Call{{Name: "wait"}}}, providertest.Reply{Text: "Done."}, providertest.Reply{Text: "I see."},
	)
	entered := make(chan struct{})
	wait := tool.Tool{Tool: provider.Tool{Name: "wait"}, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		close(entered)
		<-release
		return tool.TextResult("waited"), nil
	}}
	fs := afero.NewMemMapFs()
	w := newWorld(t, fs, withModel(m), withTools(wait), func(c *agent.Config) { c.Shell = &shell })
	s := w.live(t, t.TempDir())
	done := promptInBackground(t, s, "hi")
	<-entered
	message, err := s.Bash(t.Context(), "echo from the shell; exit 3", false)
	require.NoError(t, err)
	code, _ := rawjson.Float(rawjson.Get(message, "exitCode"))
	assert.InDelta(t, 3, code, 0)
	_, err = s.Bash(t.Context(), "echo secret", true)
	require.NoError(t, err)
	close(release)
	<-done
	assert.Equal(t, []string{
		"session", "model_change", "thinking_level_change", "user", "assistant", "toolResult", "assistant", "bashExecution", "bashExecution",
	}, lines(t, fs, s))
	prompt(t, s, "and now?")
	reqs := m.Requests()
	sent := fmt.Sprint(reqs[len(reqs)-1].Messages)
	assert.Contains(t, sent, "from the shell")
	assert.Contains(t, sent, "Command exited with code 3")
	assert.NotContains(t, sent, "secret")
}

// Queued messages are changed and removed in their places. The model gets the new words with the attachments; what was sent
// cannot be changed any more.
func TestQueuedMessagesAreEdited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs, hold := afero.NewMemMapFs(), make(chan struct{})
		w := newWorld(t, fs, withModel(scripted(
			providertest.Reply{Text: "a long answer", Hold: hold}, providertest.Reply{Text: "steered"}, providertest.Reply{Text: "followed"},
		)), withJournal(t, fs))
		s := w.live(t, "/w")
		_, err := s.EditQueued(agent.QueuedMessage{Queue: "steer"}, agent.Input{})
		require.True(t, fault.Is(err, fault.Stale))
		done := promptInBackground(t, s, "hi")
		synctest.Wait()
		const other = "<file path=\"b.go\">\npackage b\n</file>\n\n"
		const file = "<file path=\"a.go\">\npackage a\n</file>\n\n"
		for _, in := range []agent.Input{
			{Text: "first", Queue: "followUp"}, {Text: "second", Attached: file, Queue: "followUp"}, {Text: "now", Queue: "steer"}, {Text: "third", Queue: "followUp"},
		} {
			_, err := s.Enqueue(in)
			require.NoError(t, err)
		}
		n, err := s.EditQueued(agent.QueuedMessage{Queue: "followUp", Index: 1, Text: file + "second"}, agent.Input{Text: "2nd", Attached: other})
		require.NoError(t, err)
		assert.Equal(t, 4, n)
		n, err = s.EditQueued(agent.QueuedMessage{Queue: "followUp", Index: 0, Text: "first"}, agent.Input{Text: " "})
		require.NoError(t, err)
		assert.Equal(t, 3, n)
		// The list that the user saw had one more message.
		n, err = s.EditQueued(agent.QueuedMessage{Queue: "followUp", Index: 2, Text: "third"}, agent.Input{})
		require.NoError(t, err)
		assert.Equal(t, 2, n)
		snap, err := s.Snapshot(t.Context())
		require.NoError(t, err)
		assert.Equal(t, agent.Queues{Steering: []string{"now"}, FollowUp: []string{file + other + "2nd"}}, snap.Queues)

		assert.ElementsMatch(t, []string{"hi", "now", "2nd"}, kept(t, fs), "the journal has what will be sent")

		for _, q := range []agent.QueuedMessage{
			{Queue: "followUp", Index: 0, Text: "first"},
			{Queue: "steer", Index: 0, Text: file + other + "2nd"},
			{Queue: "followUp", Index: -1, Text: file + other + "2nd"},
			{Queue: "followUp", Index: 0, Text: "2nd"},
		} {
			_, err = s.EditQueued(q, agent.Input{Text: "x"})
			require.True(t, fault.Is(err, fault.Stale), "%+v", q)
		}
		_, err = s.EditQueued(agent.QueuedMessage{Queue: "later", Text: "now"}, agent.Input{Text: "x"})
		require.True(t, fault.Is(err, fault.InvalidArgument))

		close(hold)
		<-done
		assert.Empty(t, kept(t, fs))
		content, err := afero.ReadFile(fs, s.File())
		require.NoError(t, err)
		assert.Contains(t, string(content), `</file>\n\n2nd"`)
		for _, gone := range []string{"first", "second", "third"} {
			assert.NotContains(t, string(content), gone)
		}
		_, err = s.EditQueued(agent.QueuedMessage{Queue: "steer", Text: "now"}, agent.Input{Text: "too late"})
		require.True(t, fault.Is(err, fault.Stale))
		require.NoError(t, w.Close(t.Context()))
	})
}
