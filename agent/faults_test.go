package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/bedrock"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/gemini"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/openai"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/leaktest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// clients are the clients of each wire format.
var clients = map[provider.API]func(guard.Options) provider.Provider{
	provider.AnthropicMessages: func(o guard.Options) provider.Provider { return anthropic.New(o) },
	provider.OpenAICompletions: func(o guard.Options) provider.Provider { return openai.NewCompletions(o) },
	provider.OpenAIResponses:   func(o guard.Options) provider.Provider { return openai.NewResponses(o) },

	provider.BedrockConverse:    func(o guard.Options) provider.Provider { return bedrock.New(o, os.Getenv) },
	provider.GoogleGenerativeAI: func(o guard.Options) provider.Provider { return gemini.New(o) },
}

// service is the one model of a service on loopback, with a clock of the test's own for its
// silence.
type service struct {
	*providertest.Server
	provider.Provider
	api       provider.API
	transport *http.Transport

	mu      sync.Mutex
	silence func() // called after too long a silence; guarded by mu
}

func newService(t *testing.T, api provider.API) *service {
	t.Helper()
	s := &service{Server: providertest.New(t), api: api, transport: &http.Transport{}}
	s.Provider = clients[api](guard.Options{Transport: s.transport, Idle: time.Minute, AfterFunc: s.afterFunc, Now: beforeStore})
	t.Cleanup(s.transport.CloseIdleConnections)
	return s
}

func (s *service) afterFunc(_ time.Duration, f func()) guard.Timer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silence = f
	return noTimer{}
}

// beSilent fires the idle timeout of the newest request.
func (s *service) beSilent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silence()
}

// beforeStore is a moment before that of the store, so that compactions are newer than answers.
func beforeStore() time.Time { return time.Date(2026, 2, 3, 4, 5, 5, 0, time.UTC) }

type noTimer struct{}

func (noTimer) Reset(time.Duration) bool { return true }
func (noTimer) Stop() bool               { return true }

func (s *service) All(context.Context) []provider.Info { return nil }

func (s *service) Find(_ context.Context, ref provider.Ref) (provider.Model, bool) {
	return s.Model(s.api, "m"), ref == provider.Ref{Provider: "fake", ID: "m"}
}

func (s *service) Service(provider.Model) (provider.Provider, error) { return s.Provider, nil }

func (s *service) Key(context.Context, provider.Model) (string, error) { return "the-secret-key", nil }

func (*service) CheckKey(provider.Model) error { return nil }

func (*service) Sources(context.Context) []provider.Source { return nil }

func withService(s *service) option {
	return func(c *agent.Config) {
		c.Models, c.Defaults.Model, c.Retry.Base = s, "fake/m", time.Nanosecond
	}
}

// faulty is a reply that has a place for every fault.
func faulty(f providertest.Fault) providertest.Reply {
	return providertest.Reply{
		Thinking: "hm", Text: "I am about to look at it.", Fault: f,
		ToolCalls: []providertest.Call{{Name: "look", Args: map[string]string{"path": "somewhere"}}},
	}
}

// answeredText returns the least text that precedes the fault of a reply.
func answeredText(f providertest.Fault) string {
	switch f {
	case providertest.LimitedWithin, providertest.Cut, providertest.EndsEarly, providertest.Stall, providertest.BadJSON:
		return "I am abo"
	case providertest.EndsInCall, providertest.CutInCall:
		return "I am about to look at it."
	default:
		return ""
	}
}

// times is how often a request with this fault is made.
func times(f providertest.Fault) int {
	switch {
	case f.Class() == provider.Overloaded:
		return 7
	case (&provider.Error{Class: f.Class()}).Retryable():
		return 4
	}
	return 1
}

// forEachFault runs a test per wire format and fault.
func forEachFault(t *testing.T, faults []providertest.Fault, test func(t *testing.T, api provider.API, f providertest.Fault)) {
	t.Helper()
	for api := range clients {
		for _, f := range faults {
			t.Run(fmt.Sprintf("%s/%s", api, f), func(t *testing.T) {
				t.Parallel()
				test(t, api, f)
			})
		}
	}
}

// scene is a session with a service behind it.
type scene struct {
	*world
	*service
	live *agent.Session
	ran  *atomic.Int32 // how often the tool ran
}

func newScene(t *testing.T, api provider.API, options ...option) scene {
	t.Helper()
	s := scene{service: newService(t, api), ran: new(atomic.Int32)}
	look := lookTool()
	look.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	look.Run = func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		s.ran.Add(1)
		return tool.TextResult("seen"), nil
	}
	s.world = newWorld(t, afero.NewMemMapFs(), append([]option{withService(s.service), withTools(look)}, options...)...)
	s.live = s.world.live(t, "/w")
	return s
}

// fallSilent makes the service exceed its idle timeout whenever all that it sends of a faulty reply was shown: the first piece is shown
// before the second one has arrived.
func (s scene) fallSilent() {
	s.Subscribe(func(e agent.Event) {
		if delta, _ := isText(e); strings.HasPrefix(delta, "ut to lo") {
			s.beSilent()
		}
	})
}

// recorded are the messages in the session's file, which must be without a fault.
func (s scene) recorded(t *testing.T) (messages []provider.Message) {
	t.Helper()
	doc, err := session.NewStore(session.StoreConfig{Fs: s.fs}).Load(s.live.File())
	require.NoError(t, err)
	require.Empty(t, doc.Problems())
	for i := range doc.Len() {
		e, err := doc.Entry(i)
		require.NoError(t, err)
		if e.Role() == "" {
			continue
		}
		m, err := provider.DecodeMessage(e.Message())
		require.NoError(t, err)
		messages = append(messages, m)
	}
	require.NoError(t, doc.Close())
	return messages
}

// Every fault of every format ends the turn in the same way: it is retried, visibly, if a retry
// makes sense; it is recorded with the partial answer; and it is reported in one sentence with its
// class.
func TestEveryFaultOfEveryFormat(t *testing.T) {
	t.Parallel()
	forEachFault(t, providertest.Faults, func(t *testing.T, api provider.API, f providertest.Fault) {
		s := newScene(t, api)
		for range times(f) {
			s.Script("m", faulty(f))
		}
		s.Script("m", providertest.Reply{Text: "Fine."})
		if f == providertest.Stall {
			s.fallSilent()
		}
		turn, err := s.live.Prompt(t.Context(), agent.Input{Text: "hi"})

		failure := new(fault.Error)
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, fault.Provider, failure.Kind)
		assert.Equal(t, string(f.Class()), failure.Data["class"])
		assert.Equal(t, provider.StopError, turn.StopReason)
		assert.NotContains(t, failure.Message, "\n")
		if f == providertest.TooLong {
			assert.Contains(t, failure.Message, "too long for m")
		} else {
			assert.Contains(t, failure.Message, "fake", "the message names the service")
		}
		assert.NotContains(t, failure.Message, "the-secret-key")
		if f == providertest.RateLimited {
			assert.Equal(t, 429, failure.Data["status"])
		}

		assert.Len(t, s.Requests(), times(f))
		starts, ends := eventsOf[event.RetryStart](s.world), eventsOf[event.RetryEnd](s.world)
		assert.Len(t, starts, times(f)-1)
		for i, e := range starts {
			assert.Equal(t, i+1, e.Attempt)
			assert.Equal(t, times(f)-1, e.MaxAttempts)
			assert.Equal(t, f.Class(), e.Reason)
			assert.NotEmpty(t, e.ErrorMessage)
		}
		if len(starts) > 0 {
			require.Len(t, ends, 1)
			assert.False(t, ends[0].Success)
		}
		events := s.runEvents()
		assert.Equal(t, event.AgentEnd{StopReason: provider.StopError, ErrorMessage: failure.Message, Unanswered: []string{}}, events[len(events)-1].Event)
		assert.Len(t, eventsOf[event.MessageStart](s.world), len(eventsOf[event.MessageEnd](s.world)))
		assert.Len(t, eventsOf[event.TurnStart](s.world), len(eventsOf[event.TurnEnd](s.world)))
		assert.Zero(t, s.ran.Load(), "a call of an answer that did not end is not run")

		messages := s.recorded(t)
		require.Len(t, messages, 1+times(f))
		for _, m := range messages[1:] {
			assert.Equal(t, provider.StopError, m.StopReason)
			assert.NotEmpty(t, m.ErrorMessage)
			assert.True(t, strings.HasPrefix(m.PlainText(), answeredText(f)), "%q", m.PlainText())
			assert.Equal(t, f == providertest.Stall || answeredText(f) != "", m.PlainText() != "")
			assert.Equal(t, "fake/m", m.Provider+"/"+m.Model)
		}
		assert.Equal(t, failure.Message, messages[len(messages)-1].ErrorMessage, "the events match the recorded messages")

		// The conversation continues without the failed answer.
		assert.Equal(t, provider.StopEnd, prompt(t, s.live, "again").StopReason)
		reqs := s.Requests()
		for _, m := range reqs[len(reqs)-1].Messages {
			assert.Equal(t, provider.RoleUser, m.Role)
		}
		require.NoError(t, s.Close(t.Context()))
	})
}

// A fault that passes is not the end of the turn.
func TestFaultsThatPass(t *testing.T) {
	t.Parallel()
	passing := slices.DeleteFunc(slices.Clone(providertest.Faults), func(f providertest.Fault) bool { return times(f) == 1 })
	forEachFault(t, passing, func(t *testing.T, api provider.API, f providertest.Fault) {
		s := newScene(t, api)
		s.Script(
			"m", faulty(f), faulty(f), providertest.Reply{Text: "Looking.", ToolCalls: []providertest.Call{{Name: "look"}}},
			faulty(f), providertest.Reply{Text: "Fine."},
		)
		if f == providertest.Stall {
			s.fallSilent()
		}
		turn := prompt(t, s.live, "hi")
		assert.Equal(t, provider.StopEnd, turn.StopReason)
		assert.Equal(t, int32(1), s.ran.Load())
		ends := eventsOf[event.RetryEnd](s.world)
		require.Len(t, ends, 2, "each answer has its own attempts")
		assert.True(t, ends[0].Success)
		assert.True(t, ends[1].Success)
		assert.Equal(t, []int{2, 1}, []int{ends[0].Attempt, ends[1].Attempt})
		var stops []string
		for _, m := range s.recorded(t) {
			stops = append(stops, m.Role+":"+m.StopReason)
		}
		assert.Equal(t, []string{
			"user:", "assistant:error", "assistant:error", "assistant:toolUse", "toolResult:", "assistant:error", "assistant:stop",
		}, stops)
		require.NoError(t, s.Close(t.Context()))
	})
}

// Stopping a turn keeps the partial answer, records the abort in the file, and closes the
// connection to the service.
// Proves: X-195
func TestAbortInEveryFormat(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, api)
			s.Script("m", providertest.Reply{Thinking: "hm", Text: "a long answer", Hold: make(chan struct{})}, providertest.Reply{Text: "Fine."})
			shown := make(chan struct{}, 100)
			s.Subscribe(func(e agent.Event) {
				if _, ok := isText(e); ok {
					shown <- struct{}{}
				}
			})
			done := make(chan agent.Turn, 1)
			go func() {
				turn, _ := s.live.Prompt(t.Context(), agent.Input{Text: "hi"}) // an abort is not an error
				done <- turn
			}()
			<-shown
			aborted, _, err := s.live.Abort(t.Context())
			require.NoError(t, err)
			assert.True(t, aborted)
			assert.Equal(t, provider.StopAborted, (<-done).StopReason)
			<-s.Requests()[0].Ended
			messages := s.recorded(t)
			require.Len(t, messages, 2)
			assert.Equal(t, provider.StopAborted, messages[1].StopReason)
			assert.NotEmpty(t, messages[1].ErrorMessage)
			assert.Equal(t, "a long a", messages[1].PlainText())
			prompt(t, s.live, "again")
			require.NoError(t, s.Close(t.Context()))
		})
	}
}

// The waits between attempts are real, shown before they begin, and ended by an abort.
func TestWaitsBetweenAttempts(t *testing.T) {
	t.Parallel()
	for _, f := range providertest.Faults {
		if times(f) == 1 {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			m := scripted(faulty(f), providertest.Reply{Text: "Fine."})
			w := newWorld(t, afero.NewMemMapFs(), withModel(m))
			s := w.live(t, "/w")
			began := time.Now()
			prompt(t, s, "hi")
			assert.Equal(t, 2*time.Second, time.Since(began), f)

			m.Script("plain", faulty(f))
			_, err := s.SetModel(t.Context(), provider.Ref{Provider: "p", ID: "plain"}, "")
			require.NoError(t, err)
			began = time.Now()
			done := make(chan agent.Turn)
			go func() {
				turn, _ := s.Prompt(t.Context(), agent.Input{Text: "hi"})
				done <- turn
			}()
			<-time.After(5 * time.Second) // of the bubble: in the middle of the second wait
			_, _, err = s.Abort(t.Context())
			require.NoError(t, err)
			assert.Equal(t, provider.StopAborted, (<-done).StopReason)
			assert.Equal(t, 5*time.Second, time.Since(began), f)
			require.NoError(t, w.Close(t.Context()))
		})
	}
}

// A session that ended leaves no goroutine behind, regardless of its failures. Not parallel: it
// inspects those of the whole process.
func TestNoGoroutineLeak(t *testing.T) {
	end := leaktest.Begin(t)
	for api := range clients {
		for _, f := range append([]providertest.Fault{providertest.NoFault}, providertest.Faults...) {
			t.Run(fmt.Sprintf("%s/%s", api, f), func(t *testing.T) {
				s := newScene(t, api)
				if f == providertest.Stall {
					s.fallSilent()
				}
				first := faulty(f)
				if f == providertest.NoFault {
					first.ToolCalls = nil // else the turn continues
				}
				for range times(f) {
					s.Script("m", first)
				}
				_, _ = s.live.Prompt(t.Context(), agent.Input{Text: "hi"}) // any result will do
				s.Script("m", providertest.Reply{Text: "a long answer", Hold: make(chan struct{})})
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _ = s.live.Prompt(t.Context(), agent.Input{Text: "hi"})
				}()
				require.NoError(t, s.Close(t.Context()))
				<-done
			})
		}
	}
	end()
}

// A crash between a call and its result leaves a session that can be continued: the request to the
// service has a result that reports the missing one, and the file stays unchanged.
func TestCallsWithoutAResultAreRepairedInTheRequestOnly(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			first := newService(t, api)
			first.Script("m", providertest.Reply{Text: "I look.", ToolCalls: []providertest.Call{{Name: "look"}, {Name: "look"}}}, providertest.Reply{Text: "Over."})
			crash := make(chan struct{})
			var file string
			var atCrash []byte
			w := newWorld(t, fs, withService(first), withTools(tool.Tool{Tool: provider.Tool{Name: "look", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}, Run: func(ctx context.Context, _ tool.Env, _ json.RawMessage) (tool.Result, error) {
				<-crash
				return tool.Result{}, ctx.Err()
			}}))
			s := w.live(t, "/w")
			file = s.File()
			w.Subscribe(func(e agent.Event) {
				if _, ok := isEvent[event.ToolStart](e); ok && atCrash == nil {
					atCrash, _ = afero.ReadFile(fs, file) // the content that another process would find now
					close(crash)
				}
			})
			_, _ = s.Prompt(t.Context(), agent.Input{Text: "hi"})
			require.NoError(t, w.Close(t.Context()))

			require.Contains(t, string(atCrash), "I look.")

			disk := afero.NewMemMapFs()
			require.NoError(t, disk.MkdirAll(filepath.Dir(file), 0o700))
			require.NoError(t, afero.WriteFile(disk, file, atCrash, 0o600))
			again := newService(t, api)
			again.Script("m", providertest.Reply{Text: "Going on."})
			w = newWorld(t, disk, withService(again))
			s = w.live(t, "/w")
			_, err := s.Switch(t.Context(), file)
			require.NoError(t, err)
			assert.Equal(t, provider.StopEnd, prompt(t, s, "and?").StopReason)
			content, err := afero.ReadFile(disk, file)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(content), string(atCrash)))
			for line := range strings.Lines(strings.TrimPrefix(string(content), string(atCrash))) {
				role, _ := rawjson.GetString([]byte(line), "message", "role")
				assert.NotEqual(t, provider.RoleToolResult, role, "nothing is made up in the file")
			}
			sent := again.Requests()[0].Messages
			require.Len(t, sent, 5)
			for _, m := range sent[2:4] {
				assert.Equal(t, provider.RoleToolResult, m.Role)
				assert.Equal(t, "No result provided", m.PlainText())
			}
			require.NoError(t, w.Close(t.Context()))
		})
	}
}
