package acp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const ended = `{"stopReason":"end_turn"}`

// roles returns the recorded messages, shortened.
func (h *host) roles(t *testing.T) (out []string) {
	t.Helper()
	for _, raw := range h.messages() {
		m, err := provider.DecodeMessage([]byte(raw))
		require.NoError(t, err)
		line := m.Role + " " + m.PlainText()
		for _, b := range m.Content {
			if b.Type == provider.TypeToolCall {
				line += fmt.Sprintf(" %s(%s)", b.ID, b.Arguments)
			}
		}
		if m.ToolCallID != "" {
			line += " of " + m.ToolCallID
		}
		if m.StopReason != "" {
			line += " /" + m.StopReason
		}
		out = append(out, line)
	}
	return out
}

func TestFollowUpsAreSentAfterTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		require.True(t, fault.Is(w.e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "x"}), fault.Stale))
		r := w.prompt("one")
		require.NoError(t, w.e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "two"}))
		require.NoError(t, w.e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "three"}))
		busy := w.start("not sent")
		out := <-busy.out
		require.True(t, fault.Is(out.Err, fault.Busy))
		require.Len(t, out.Unanswered, 1)
		w.agent.say("a", "1")
		synctest.Wait()
		require.Empty(t, w.agent.got, "a second prompt is not sent to an agent that answers")
		w.agent.answer(r.m, ended)
		second := w.agent.expect("session/prompt")
		require.Contains(t, string(second.Params), `"two"`)
		w.agent.say("b", "2")
		w.agent.answer(second, ended)
		third := w.agent.expect("session/prompt")
		w.agent.answer(third, `{"stopReason":"max_tokens"}`)
		out = <-r.out
		require.Equal(t, "length", out.StopReason)
		require.Empty(t, out.Unanswered)
		require.Equal(t, []string{"user one", "assistant 1 /stop", "user two", "assistant 2 /stop", "user three"}, w.host.roles(t))
		require.Equal(t, [][]string{{"two"}, {"two", "three"}, {"three"}, {}}, w.host.queued)
	})
}

func TestQueuedMessagesAreReturnedAfterAnAbort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		r := w.prompt("one")
		w.agent.say("a", "1")
		require.NoError(t, w.e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "two"}))
		r.cancel()
		w.agent.expect("session/cancel")
		w.agent.answer(r.m, `{"stopReason":"cancelled"}`)
		out := <-r.out
		require.Equal(t, "aborted", out.StopReason)
		require.Len(t, out.Unanswered, 1)
		require.Equal(t, "two", out.Unanswered[0].PlainText())
		require.Equal(t, []string{"user one", "assistant 1 /aborted"}, w.host.roles(t))
	})
}

func TestSteering(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		require.True(t, w.e.Can().Steer)
		require.True(t, fault.Is(w.e.Queue(t.Context(), loop.Steering, engine.Input{Text: "x"}), fault.Stale))
		r := w.prompt("one")
		w.agent.say("a", "1")
		steer := func(text, outcome string) error {
			done := make(chan error)
			go func() { done <- w.e.Queue(t.Context(), loop.Steering, engine.Input{Text: text}) }()
			m := w.agent.expect("_session/steering")
			require.JSONEq(t, `{"sessionId":"`+session+`","prompt":[{"type":"text","text":"`+text+`"}],"_meta":{"steering":{"idleBehavior":"promptRequired"}}}`, string(m.Params))
			w.agent.answer(m, `{"outcome":"`+outcome+`"}`)
			return <-done
		}
		require.NoError(t, steer("left", "injected"))
		w.agent.say("b", "2")
		require.NoError(t, steer("later", "promptRequired"))
		w.agent.answer(r.m, ended)
		w.agent.answer(w.agent.expect("session/prompt"), ended)
		require.Equal(t, "stop", (<-r.out).StopReason)
		require.Equal(t, []string{"user one", "assistant 1 /stop", "user left", "assistant 2 /stop", "user later"}, w.host.roles(t))
	})
}

func TestAnAgentWithoutSteering(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "gemini")
		o := w.opening()
		w.agent.answer(w.agent.expect("initialize"), `{"protocolVersion":1}`)
		w.agent.answer(w.agent.expect("session/new"), `{"sessionId":"`+session+`"}`)
		require.NoError(t, (<-o).err)
		r := w.prompt("one")
		err := w.e.Queue(t.Context(), loop.Steering, engine.Input{Text: "x"})
		require.True(t, fault.Is(err, fault.Denied))
		require.EqualError(t, err, "gemini cannot be steered. Wait, or stop it first.")
		w.agent.answer(r.m, ended)
		<-r.out
		out := w.e.Run(t.Context(), engine.Input{Text: "x", Images: []provider.Block{{Type: "image"}}})
		require.EqualError(t, out.Err, "gemini takes no images.")
		require.Len(t, out.Unanswered, 1)
		_, err = w.e.Models(t.Context())
		require.EqualError(t, err, "gemini chooses its model itself.")
		_, err = w.e.SetThinking(t.Context(), "high")
		require.True(t, fault.Is(err, fault.Denied))
		_, err = w.e.Compact(t.Context(), "")
		require.EqualError(t, err, "gemini cannot compact its conversation.")
		_, err = w.e.Move(t.Context(), "e", engine.Summary{})
		require.EqualError(t, err, "gemini cannot go back. Fork the session instead.")
		require.True(t, fault.Is(w.e.Annotate(t.Context(), engine.Annotation{Title: "x"}), fault.Denied))
		_, err = w.e.Bash(t.Context(), "ls", false, nil)
		require.True(t, fault.Is(err, fault.Denied))
	})
}

// Row 17: an agent that does not answer a cancellation is ended after 10 s.
func TestAnAgentThatDoesNotStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		r := w.prompt("one")
		w.agent.say("a", "1")
		r.cancel()
		w.agent.expect("session/cancel")
		pass(9 * time.Second)
		synctest.Wait()
		require.Empty(t, r.out)
		start := time.Now()
		out := <-r.out
		require.InDelta(t, 1, time.Since(start).Seconds(), 0.1)
		require.Equal(t, "aborted", out.StopReason)
		require.NoError(t, out.Err)
		<-w.e.Done()
		require.EqualError(t, w.e.Err(), "claude was ended: it did not stop when it was asked to.")
		require.Error(t, w.e.Run(t.Context(), engine.Input{Text: "x"}).Err)
		require.Equal(t, []string{"user one", "assistant 1 /aborted"}, w.host.roles(t))
	})
}

// Row 40: a prompt that is refused before anything happened is not in the conversation; afterwards it is.
func TestRefusedPrompts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before string
		code   int
		class  string
		want   []string
	}{
		"without a login": {"", -32000, "auth", nil},
		"at once":         {"", -32603, "engine", nil},
		"after a chunk":   {"x", -32603, "engine", []string{"user one", "assistant x /error"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := ready(t, "claude")
				r := w.prompt("one")
				if tc.before != "" {
					w.agent.say("a", tc.before)
				}
				w.agent.refuse(r.m, tc.code, "Not now\x1b[2J")
				out := <-r.out
				require.Equal(t, "error", out.StopReason)
				require.Contains(t, out.Err.Error(), `Not now\u001b[2J`)
				var f *fault.Error
				require.ErrorAs(t, out.Err, &f)
				require.Equal(t, tc.class, f.Data["class"])
				require.Equal(t, tc.want, w.host.roles(t))
				require.Len(t, out.Unanswered, map[bool]int{true: 1}[tc.want == nil])
			})
		})
	}
}

// An agent that is silent for long works on the prompt.
func TestASilentAgentHasAccepted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		r := w.prompt("one")
		pass(4 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"user one"}, w.host.roles(t))
		w.agent.refuse(r.m, -32603, "no")
		out := <-r.out
		require.Empty(t, out.Unanswered)
		require.Equal(t, []string{"user one", "assistant  /error"}, w.host.roles(t))
	})
}

// Rows 18 and 19.
func TestAnAgentThatDies(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"claude": {"user one", "assistant 1 c({\"a\":1}) /toolUse", "toolResult The call was not finished. of c", "assistant  /error"},
		"omp":    {"user one", "assistant 1 c({\"a\":1}) /toolUse"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, name)
				require.NoError(t, w.fs.MkdirAll("/sessions", 0o777))
				f, err := w.fs.Create("/sessions/2026_" + session + ".jsonl")
				require.NoError(t, err)
				require.NoError(t, f.Close())
				w.openNew()
				r := w.prompt("one")
				w.agent.say("a", "1")
				w.agent.update(`{"sessionUpdate":"tool_call","toolCallId":"c","name":"Bash","kind":"execute","status":"pending","rawInput":{"a":1}}`)
				pass(time.Second)
				require.NoError(t, w.e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "two"}))
				w.agent.die(child.Exit{Code: 1}, "first line\nError: out of \x07 memory\n")
				out := <-r.out
				require.Equal(t, "error", out.StopReason)
				require.EqualError(t, out.Err, name+` exited with code 1: Error: out of \u0007 memory.`)
				require.Len(t, out.Unanswered, 1, "the queued message; the prompt is in the conversation")
				require.Equal(t, want, w.host.roles(t))
				<-w.e.Done()
				require.Equal(t, out.Err, w.e.Err())
			})
		})
	}
}

// Row 41.
// Proves: EF-41
func TestLateChunks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		r := w.prompt("one")
		w.agent.say("a", "begin")
		w.agent.answer(r.m, ended)
		w.agent.updateOf("other", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"of another session"}}`)
		pass(150 * time.Millisecond)
		w.agent.say("a", ", end")
		out := <-r.out
		w.agent.say("a", ", too late")
		synctest.Wait()
		require.Equal(t, "begin, end", out.Message.PlainText())
		require.Equal(t, []string{"user one", "assistant begin, end /stop"}, w.host.roles(t))
	})
}

func TestStopReasons(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"end_turn": "stop", "max_tokens": "length", "max_turn_requests": "length", "cancelled": "aborted", "refusal": "error", "odd": "stop",
	} {
		synctest.Test(t, func(t *testing.T) {
			w := ready(t, "claude")
			r := w.prompt("one")
			w.agent.say("a", "1")
			w.agent.answer(r.m, `{"stopReason":"`+answer+`","usage":{"inputTokens":5,"outputTokens":1e30,"totalTokens":"x"}}`)
			out := <-r.out
			require.Equal(t, want, out.StopReason)
			require.Equal(t, want == "error", out.Err != nil)
			require.Equal(t, 5, out.Usage.Input)
			require.Equal(t, int(1e9), out.Usage.Output)
			require.Equal(t, []string{"user one", "assistant 1 /" + want}, w.host.roles(t))
		})
	}
}

// A document with unsaved changes is not read from disk without a word.
func TestUnsavedDocuments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		w.host.unsaved = []string{"/elsewhere/x.go", cwd + "/cmd/main.go"}
		out := w.e.Run(t.Context(), engine.Input{Text: "one"})
		require.EqualError(t, out.Err, "cmd/main.go has unsaved changes; save it first. claude reads files from disk.")
		require.True(t, fault.Is(out.Err, fault.Denied))
		require.Len(t, out.Unanswered, 1)
		require.Empty(t, w.agent.got)
		require.Empty(t, w.host.messages())
		// An agent that reads through the editor sees unsaved text.
		m := w.agent.ask("fs/read_text_file", `{"sessionId":"`+session+`","path":"`+cwd+`/none"}`)
		require.Equal(t, -32002, m.Error.Code)
		r := w.prompt("two")
		w.agent.answer(r.m, ended)
		require.NoError(t, (<-r.out).Err)
		require.True(t, w.e.Can().Files)
	})
}

func TestCallsOfOneAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		r := w.prompt("one")
		call := func(id, more string) {
			w.agent.update(`{"sessionUpdate":"tool_call","toolCallId":"` + id + `","name":"Read","kind":"read","status":"pending"` + more + `}`)
		}
		change := func(id, more string) {
			w.agent.update(`{"sessionUpdate":"tool_call_update","toolCallId":"` + id + `"` + more + `}`)
		}
		w.agent.say("a", "Two calls.")
		call("1", `,"rawInput":{}`)
		change("1", `,"rawInput":{"n":1}`)
		pass(100 * time.Millisecond)
		call("2", ``)
		pass(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"user one"}, w.host.roles(t), "the arguments of the second are not known")
		change("2", `,"rawInput":"text"`)
		pass(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"user one", `assistant Two calls. 1({"n":1}) 2({"input":"text"}) /toolUse`}, w.host.roles(t))
		change("2", `,"status":"in_progress","rawOutput":"so far"`)
		change("2", `,"status":"completed","rawOutput":"two"`)
		change("2", `,"status":"failed","rawOutput":"late"`)
		// The id is used again, while the first one runs.
		call("2", `,"rawInput":{"n":3}`)
		change("2", `,"status":"failed","content":[{"type":"content","content":{"type":"text","text":"three"}},{"type":"content","content":{"type":"image","data":"aGk=","mimeType":"image/png"}}]`)
		change("1", `,"status":"completed","rawOutput":{"content":[{"type":"text","text":"one"}]}`)
		change("unknown", `,"title":"x"`)
		w.agent.say("b", "Done.")
		w.agent.answer(r.m, ended)
		<-r.out
		require.Equal(t, []string{
			"user one", `assistant Two calls. 1({"n":1}) 2({"input":"text"}) /toolUse`, "toolResult two of 2",
			`assistant  2#2({"n":3}) /toolUse`, "toolResult three of 2#2", "toolResult one of 1",
			"assistant  unknown({}) /toolUse", "assistant Done. /stop", "toolResult The call was not finished. of unknown",
		}, w.host.roles(t))
	})
}

// A plan becomes the task list of the session.
func TestPlan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		r := w.prompt("one")
		plan := `{"sessionUpdate":"plan","entries":[{"content":"Look","status":"completed"},{"content":"Write","status":"odd"},{"content":""},5]}`
		w.agent.update(plan)
		w.agent.update(plan)
		w.agent.say("a", "x")
		w.agent.update(`{"sessionUpdate":"plan","entries":[]}`)
		w.agent.answer(r.m, ended)
		<-r.out
		var details []string
		for _, raw := range w.host.messages() {
			m, err := provider.DecodeMessage([]byte(raw))
			require.NoError(t, err)
			if m.Role == provider.RoleToolResult {
				require.Equal(t, "todo_write", m.ToolName)
				details = append(details, string(m.Details))
			}
		}
		require.Equal(t, []string{
			`{"phases":[{"name":"Plan","tasks":[{"content":"Look","status":"completed"},{"content":"Write","status":"pending"}]}]}`,
			`{"phases":[{"name":"Plan","tasks":[]}]}`,
		}, details)
	})
}

// The context of a run ends before its prompt is sent.
func TestAnAbortBeforeThePrompt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		out := w.e.Run(ctx, engine.Input{Text: "one"})
		require.Equal(t, "aborted", out.StopReason)
		require.Len(t, out.Unanswered, 1)
		synctest.Wait()
		require.Empty(t, w.agent.got)
	})
}

func TestCompact(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		require.False(t, w.e.Can().Compact)
		w.agent.update(`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"compact","description":"x"},{"name":"","description":"y"},{"name":"z\u0007"}]}`)
		w.agent.update(`{"sessionUpdate":"usage_update","used":900,"size":1000}`)
		synctest.Wait()
		require.True(t, w.e.Can().Compact)
		commands, err := w.e.Commands(t.Context())
		require.NoError(t, err)
		require.Equal(t, []engine.Command{{Name: "compact", Description: "x"}, {Name: `z\u0007`}}, commands)
		for text, failure := range map[string]string{"Shorter now.": "", "Compaction failed: Nothing to compact": "claude: Compaction failed: Nothing to compact."} {
			type result struct {
				c   engine.Compaction
				err error
			}
			done := make(chan result)
			go func() {
				c, err := w.e.Compact(t.Context(), "the tests")
				done <- result{c, err}
			}()
			m := w.agent.expect("session/prompt")
			require.Contains(t, string(m.Params), `"/compact the tests"`)
			_, err := w.e.Compact(t.Context(), "")
			require.True(t, fault.Is(err, fault.Busy))
			w.agent.say("a", text)
			w.agent.update(`{"sessionUpdate":"tool_call","toolCallId":"c"}`)
			w.agent.answer(m, ended)
			r := <-done
			if failure != "" {
				require.EqualError(t, r.err, failure)
				continue
			}
			require.NoError(t, r.err)
			require.Equal(t, engine.Compaction{Summary: text, TokensBefore: 900}, r.c)
		}
		require.Empty(t, strings.TrimSpace(w.host.notes()), "a compaction is no message")
	})
}

// Row 16: an agent that sends nothing is not ended.
// Proves: EF-16
func TestAQuietAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ready(t, "claude")
		r := w.prompt("one")
		pass(5 * time.Minute)
		w.agent.say("a", "x")
		pass(9 * time.Minute)
		require.NotContains(t, w.host.notes(), "notice")
		pass(2 * time.Minute)
		require.Equal(t, `{"type":"notice","text":"claude has sent nothing for 10 minutes. Stop it if it hangs."}`, w.host.notes())
		w.agent.update(`{"sessionUpdate":"tool_call","toolCallId":"c","status":"in_progress"}`)
		pass(time.Hour)
		require.NotContains(t, w.host.notes(), "notice", "a tool may take its time")
		w.agent.answer(r.m, ended)
		require.Equal(t, "stop", (<-r.out).StopReason)
	})
}
