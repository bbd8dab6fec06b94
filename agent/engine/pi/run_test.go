package pi

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

func TestAPromptIsAnswered(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	out := e.Run(t.Context(), engine.Input{Text: "hi", Images: []provider.Block{{Type: "image", Data: "AA==", MimeType: "image/png"}}})
	require.NoError(t, out.Err)
	require.Equal(t, "stop", out.StopReason)
	require.Equal(t, "answer", out.Message.PlainText())
	require.Equal(t, 5, out.Usage.Output)
	require.Empty(t, out.Unanswered)
	require.Equal(t, []string{"user", "assistant"}, h.roles())
	sent := f.commands("prompt")[0]
	require.Equal(t, "hi", sent.message())
	require.Equal(t, []any{map[string]any{"type": "image", "data": "AA==", "mimeType": "image/png"}}, sent["images"])

	again := e.Run(t.Context(), engine.Input{Text: "again"})
	require.Equal(t, 5, again.Usage.Output, "the usage is that of the run")
}

func TestPromptsThatAreNotSent(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	e := f.open(newHost(t))
	for _, text := range []string{"", " \n", "/xcsh-ls-reload {}"} {
		out := e.Run(t.Context(), engine.Input{Text: text})
		require.Error(t, out.Err, "%q", text)
		require.Equal(t, text, out.Unanswered[0].PlainText())
	}
	require.Empty(t, f.commands("prompt"))
}

// A prompt that pi refuses is returned, with a way to log in where that is the reason.
// Proves: EF-10
func TestARefusedPromptIsReturned(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	e := f.open(newHost(t))
	f.on(func(c fakeCommand) bool {
		if c.typ() == "prompt" {
			f.no(c, "No API key found for the selected model.\n\nUse /login to log in.")
		}
		return c.typ() == "prompt"
	})
	out := e.Run(t.Context(), engine.Input{Text: "hi"})
	require.EqualError(t, out.Err, "pi is not logged in: No API key found for the selected model.")
	var failure *fault.Error
	require.ErrorAs(t, out.Err, &failure)
	require.Equal(t, "login", failure.Data["class"])
	require.Equal(t, loginCommand, out.Rejection.Actions[0].Command)
	require.Equal(t, "error", out.StopReason)
	require.Len(t, out.Unanswered, 1)
	require.Equal(t, "hi", out.Unanswered[0].PlainText())
}

func TestAFailedAnswerIsAFailureOfTheService(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	e := f.open(newHost(t))
	f.on(func(c fakeCommand) bool {
		if c.typ() != "prompt" {
			return false
		}
		f.ok(c, object{"disposition": "started"})
		f.send(object{"type": "agent_start"})
		f.message(object{"role": "user", "content": "hi"})
		m := f.assistant("", "error")
		m["errorMessage"] = `429 {"type":"error"}`
		f.message(m)
		f.send(object{"type": "agent_settled"})
		return true
	})
	out := e.Run(t.Context(), engine.Input{Text: "hi"})
	var cause *provider.Error
	require.ErrorAs(t, out.Err, &cause)
	require.Equal(t, provider.RateLimit, cause.Class)
	require.Empty(t, out.Unanswered)
}

// A command of an extension ends the run without an answer; a change of session is reported.
// Proves: EF-32
func TestACommandOfAnExtension(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	elsewhere := false
	f.on(func(c fakeCommand) bool {
		switch c.typ() {
		case "prompt":
			f.ui("n", "notify", object{"message": "\x1b[1mdone\x1b[0m \x07"})
			f.message(object{"role": "custom", "content": "note"})
			f.ok(c, object{"disposition": "handled"})
		case "get_state":
			s := f.state()
			if elsewhere {
				s["sessionFile"] = "/other/s.jsonl"
			}
			f.ok(c, s)
		default:
			return false
		}
		return true
	})
	out := e.Run(t.Context(), engine.Input{Text: "/do it"})
	require.NoError(t, out.Err)
	require.Equal(t, "stop", out.StopReason)
	require.Nil(t, out.Message)
	require.Empty(t, out.Unanswered)
	require.True(t, has(h.all(), "notice", "done \\\\u0007"), "%q", h.all())
	require.Empty(t, h.roles(), "pi writes a custom message with the first prompt")

	elsewhere = true
	require.NoError(t, e.Run(t.Context(), engine.Input{Text: "/go"}).Err)
	require.True(t, has(h.all(), "left /other/s.jsonl"))
	require.True(t, fault.Is(e.Run(t.Context(), engine.Input{Text: "hi"}).Err, fault.Stale))
}

func TestCustomMessagesWaitForTheFirstPrompt(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	f.message(object{"role": "custom", "content": "note"})
	require.NoError(t, e.Run(t.Context(), engine.Input{Text: "hi"}).Err)
	require.Equal(t, []string{"custom", "user", "assistant"}, h.roles())
}

// A command of an extension may begin a run by itself.
func TestACommandThatAsksTheModel(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	e := f.open(newHost(t))
	f.on(func(c fakeCommand) bool {
		switch c.typ() {
		case "prompt":
			f.ok(c, object{"disposition": "handled"})
			f.send(object{"type": "agent_start"})
		case "get_state":
			s := f.state()
			s["isStreaming"] = true
			f.ok(c, s)
			f.message(object{"role": "user", "content": "x"})
			f.message(f.assistant("from the command", "stop"))
			f.send(object{"type": "agent_settled"})
		default:
			return false
		}
		return true
	})
	out := e.Run(t.Context(), engine.Input{Text: "/ask"})
	require.NoError(t, out.Err)
	require.Equal(t, "from the command", out.Message.PlainText())
}

// pi is in a run of its own when the prompt comes: the end of that run is not the end of ours.
func TestARunThatAnExtensionHasBegun(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	f.send(object{"type": "agent_start"})
	f.send(object{"type": "turn_start"})
	h.wait("turn_start")
	require.True(t, fault.Is(e.Reread(t.Context()), fault.Busy))
	f.on(func(c fakeCommand) bool {
		if c.typ() == "prompt" {
			f.message(f.assistant("theirs", "stop"))
			f.send(object{"type": "agent_settled"})
			f.ok(c, object{"disposition": "started"})
			f.turn(c.message(), "ours")
		}
		return c.typ() == "prompt"
	})
	out := e.Run(t.Context(), engine.Input{Text: "hi"})
	require.Equal(t, "ours", out.Message.PlainText())
}

// hold makes the fake begin a run that only abort ends.
func (f *fakePi) hold() {
	f.on(func(c fakeCommand) bool {
		switch c.typ() {
		case "prompt":
			f.ok(c, object{"disposition": "started"})
			f.send(object{"type": "agent_start"})
			f.message(object{"role": "user", "content": c.message()})
		case "abort":
			f.message(f.assistant("par", "aborted"))
			f.send(object{"type": "agent_settled", "aborted": true})
			f.ok(c, object{})
		case "clear_queue":
			f.ok(c, object{"steering": []string{"s"}, "followUp": []string{"f"}})
		default:
			return false
		}
		return true
	})
}

func (f *fakePi) start(e *Engine, h *testHost, text string) (cancel func(), out <-chan loop.Outcome) {
	ctx, stop := context.WithCancel(f.t.Context())
	ch := make(chan loop.Outcome, 1)
	go func() { ch <- e.Run(ctx, engine.Input{Text: text}) }()
	h.wait(`message {"content":"`+text, `"role":"user"`)
	return stop, ch
}

func TestAnAbortReturnsWhatIsQueued(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	f.hold()
	cancel, done := f.start(e, h, "hi")
	require.True(t, fault.Is(e.Run(t.Context(), engine.Input{Text: "two"}).Err, fault.Busy))
	require.True(t, fault.Is(e.Reread(t.Context()), fault.Busy))
	require.NoError(t, e.Queue(t.Context(), loop.Steering, engine.Input{Text: "s"}))
	require.NoError(t, e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "f"}))
	require.Len(t, f.commands("steer"), 1)
	require.Len(t, f.commands("follow_up"), 1)
	cancel()
	out := <-done
	require.Equal(t, "aborted", out.StopReason)
	require.NoError(t, out.Err)
	require.Len(t, out.Unanswered, 2)
	require.Equal(t, "s", out.Unanswered[0].PlainText())
	require.Equal(t, "f", out.Unanswered[1].PlainText())
	require.True(t, fault.Is(e.Queue(t.Context(), loop.Steering, engine.Input{Text: "x"}), fault.Stale))
	require.Len(t, f.commands("steer"), 1, "nothing is queued for later")
	require.Len(t, f.commands("abort"), 1)
}

// A refusal that arrives before the abort would let pi ask the model once more.
func TestAnAbortIsSentBeforeTheAnswersThatItCauses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, h := newFake(t), newHost(t)
		h.permit = func(ctx context.Context, _ engine.Call) error {
			<-ctx.Done()
			return ctx.Err()
		}
		e := f.engineOf(Options{})
		_, err := e.Open(t.Context(), engine.Place{Cwd: dir, Dir: dir, ID: fakeID, Permit: true}, h)
		require.NoError(t, err)
		defer func() { require.NoError(t, e.Close(t.Context())) }()
		f.on(func(c fakeCommand) bool {
			switch c.typ() {
			case "prompt":
				f.ok(c, object{"disposition": "started"})
				f.send(object{"type": "agent_start"})
				f.question("q", object{"op": "permit", "toolCallId": "c", "tool": "bash", "own": true, "args": object{"command": "touch made"}})
				f.ui("d", "confirm", object{"title": "Sure?"})
			case "clear_queue":
				go func() {
					synctest.Wait() // answers that don't wait for the abort have been sent
					f.ok(c, object{"steering": []string{}, "followUp": []string{}})
				}()
			case "abort":
				f.send(object{"type": "agent_settled", "aborted": true})
			default:
				return false
			}
			return true
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		require.Equal(t, "aborted", e.Run(ctx, engine.Input{Text: "hi"}).StopReason)
		synctest.Wait()
		var order []string
		for _, c := range f.written {
			if typ := c.typ(); typ == "abort" || typ == "extension_ui_response" {
				order = append(order, typ)
			}
		}
		require.Equal(t, []string{"abort", "extension_ui_response", "extension_ui_response"}, order)
	})
}

// A message that pi takes after the end of the run would be answered with the next prompt.
func TestAMessageThatComesTooLateIsRefused(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	f.on(func(c fakeCommand) bool {
		switch c.typ() {
		case "prompt":
			f.ok(c, object{"disposition": "started"})
			f.send(object{"type": "agent_start"})
			f.message(object{"role": "user", "content": c.message()})
		case "steer":
			f.send(object{"type": "agent_settled"})
			f.ok(c, object{"disposition": "queued"})
		case "clear_queue":
			f.ok(c, object{"steering": []string{"late"}, "followUp": []string{}})
		default:
			return false
		}
		return true
	})
	_, done := f.start(e, h, "hi")
	require.True(t, fault.Is(e.Queue(t.Context(), loop.Steering, engine.Input{Text: "late"}), fault.Stale))
	require.Empty(t, (<-done).Unanswered)
}

// Proves: EF-17
func TestAPiThatDoesNotStopIsEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, h := newFake(t), newHost(t)
		e := f.engineOf(Options{})
		_, err := e.Open(t.Context(), engine.Place{Cwd: dir, Dir: dir, ID: fakeID, Permit: true}, h)
		require.NoError(t, err)
		f.busy.Store(true)
		f.on(func(c fakeCommand) bool {
			if c.typ() == "prompt" {
				f.ok(c, object{"disposition": "started"})
				f.send(object{"type": "agent_start"})
			}
			return c.typ() == "prompt" || c.typ() == "abort"
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		began := time.Now()
		out := e.Run(ctx, engine.Input{Text: "hi"})
		require.Equal(t, time.Minute+abortLimit, time.Since(began))
		require.Equal(t, "aborted", out.StopReason)
		require.Equal(t, "hi", out.Unanswered[0].PlainText(), "it is not in the conversation")
		<-e.Done()
		require.EqualError(t, e.Err(), "pi did not stop, so it was ended.")
	})
}

// Proves: EF-16
func TestAQuietRunIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, h := newFake(t), newHost(t)
		e := f.engineOf(Options{})
		_, err := e.Open(t.Context(), engine.Place{Cwd: dir, Dir: dir, ID: fakeID}, h)
		require.NoError(t, err)
		f.hold()
		f.busy.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		out := make(chan loop.Outcome, 1)
		go func() { out <- e.Run(ctx, engine.Input{Text: "hi"}) }()
		<-time.After(quietLimit + quietLimit/2)
		synctest.Wait()
		require.True(t, has(h.all(), "pi has sent nothing for ten minutes"))
		cancel()
		require.Equal(t, "aborted", (<-out).StopReason)

		// The end of a run may be lost.
		f.busy.Store(false)
		require.Equal(t, "stop", e.Run(t.Context(), engine.Input{Text: "more"}).StopReason)
		require.NoError(t, e.Close(t.Context()))
	})
}

func TestAPiThatEndsInARun(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	f.hold()
	f.stderr = "Killed"
	_, done := f.start(e, h, "hi")
	f.send(object{"type": "queue_update", "steering": []string{"later"}, "followUp": []string{}})
	h.wait("queued later")
	f.ui("d", "input", object{"title": "Name?"})
	h.wait("ask", "Name?")
	f.exit(exit{code: -1, signal: "killed"})
	out := <-done
	require.EqualError(t, out.Err, "pi ended unexpectedly (signal: killed).")
	require.Equal(t, "error", out.StopReason)
	require.Equal(t, "later", out.Unanswered[0].PlainText())
	require.Len(t, out.Unanswered, 1, "the prompt is in the conversation")
	<-e.Done()
	require.Equal(t, out.Err, e.Err())
	var failure *fault.Error
	require.ErrorAs(t, e.Err(), &failure)
	require.Equal(t, "Killed", failure.Data["details"])
	require.True(t, has(h.all(), "gone Name?"), "its questions are taken back")
}

// What pi has sent before it is ended does not make a success of a run that it has garbled.
func TestARunThatEndsAfterGarbage(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	e := f.open(newHost(t))
	f.on(func(c fakeCommand) bool {
		if c.typ() != "prompt" {
			return false
		}
		var lines []string
		for range maxGarbage {
			lines = append(lines, "Warning: no JSON")
		}
		f.ok(c, object{"disposition": "started"})
		f.all(append(lines, `{"type":"agent_start"}`, `{"type":"agent_settled"}`))
		return true
	})
	out := e.Run(t.Context(), engine.Input{Text: "hi"})
	require.ErrorContains(t, out.Err, "100 lines in a row could not be read")
	require.Equal(t, "error", out.StopReason)
	<-e.Done()
}

// Neither a message that waits for the file nor a user who thinks keeps answers from pi.
func TestAnswersReachPiWhileTheHostWaits(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	permitted, asked, messages := make(chan struct{}), make(chan struct{}), 0
	h.permit = func(context.Context, engine.Call) error {
		close(permitted)
		<-asked
		return nil
	}
	h.ask = func(context.Context, event.Question) engine.Answer {
		close(asked)
		return engine.Answer{Value: "typed"}
	}
	h.message = func(json.RawMessage) {
		if messages++; messages == 1 {
			<-asked // a message waits for the permission, and that for the answer to a dialog
		}
	}
	e := f.open(h)
	f.on(func(c fakeCommand) bool {
		switch {
		case c.typ() == "prompt":
			f.send(object{"type": "agent_start"})
			f.ok(c, object{"disposition": "started"})
			f.message(object{"role": "user", "content": c.message()})
			f.question("q", object{"op": "permit", "toolCallId": "c", "tool": "bash", "args": object{}})
		case c.typ() == "extension_ui_response" && c["id"] == "q":
			f.message(f.assistant("ok", "stop"))
			f.send(object{"type": "agent_settled"})
		default:
			return false
		}
		return true
	})
	go func() {
		<-permitted
		if _, err := e.Models(context.Background()); err != nil {
			t.Error(err)
		}
		f.ui("d", "input", object{"title": "Name?"})
	}()
	require.NoError(t, e.Run(t.Context(), engine.Input{Text: "hi"}).Err)
	// The answer to the dialog may be written when the run has ended.
	require.Eventually(t, func() bool { return len(f.commands("extension_ui_response")) == 2 }, testLimit, time.Millisecond)
	answers := f.commands("extension_ui_response")
	for _, a := range answers {
		require.Contains(t, []any{`{"allow":true}`, "typed"}, a["value"])
	}
}

// Denials and breaches of the gate.
// Proves: EF-30
func TestToolsNeedPermission(t *testing.T) {
	t.Parallel()
	begin := func(tool string) object {
		return object{"type": "tool_execution_start", "toolCallId": "c", "toolName": tool, "args": object{}}
	}
	end := func(failed bool) object {
		return object{"type": "tool_execution_end", "toolCallId": "c", "toolName": "x", "result": object{}, "isError": failed}
	}
	ask := object{"op": "permit", "toolCallId": "c", "tool": "bash", "own": true, "args": object{}}
	for name, c := range map[string]struct {
		play   func(f *fakePi, h *testHost)
		breach string
	}{
		"a tool that only reads": {play: func(f *fakePi, _ *testHost) { f.send(begin("read")); f.send(end(false)) }},
		"a tool that asks": {play: func(f *fakePi, h *testHost) {
			f.send(begin("bash"))
			f.question("q", ask)
			h.wait("permit bash")
			f.send(end(false))
		}},
		"a tool that another extension refuses": {play: func(f *fakePi, _ *testHost) { f.send(begin("bash")); f.send(end(true)) }},
		"a tool that runs":                      {breach: "bash", play: func(f *fakePi, _ *testHost) { f.send(begin("bash")); f.send(end(false)) }},
		"a tool that is running": {breach: "bash", play: func(f *fakePi, _ *testHost) {
			f.send(begin("bash"))
			f.send(object{"type": "tool_execution_update", "toolCallId": "c", "toolName": "bash", "partialResult": object{}})
		}},
		"a replaced tool": {breach: "grep", play: func(f *fakePi, _ *testHost) { f.send(begin("grep")); f.send(end(false)) }},
		"a tool that was denied": {breach: "bash", play: func(f *fakePi, h *testHost) {
			h.permit = func(context.Context, engine.Call) error { return errors.New("no") }
			f.on(func(c fakeCommand) bool {
				if c.typ() == "extension_ui_response" {
					f.send(end(false))
				}
				return true
			})
			f.send(begin("bash"))
			f.question("q", ask)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, h := newFake(t), newHost(t)
			e := f.open(h)
			f.hold()
			cancel, done := f.start(e, h, "hi")
			c.play(f, h)
			if c.breach != "" {
				out := <-done
				require.EqualError(t, out.Err, "pi ran "+c.breach+" without permission. An extension may have run it.")
				<-e.Done()
				return
			}
			h.wait("tool_execution_end")
			cancel()
			require.NoError(t, (<-done).Err)
			select {
			case <-e.Done():
				t.Error(e.Err())
			default:
			}
		})
	}
}

func TestTheEffectOfACall(t *testing.T) {
	t.Parallel()
	e := newFake(t).open(newHost(t))
	yes, no := true, false
	args := json.RawMessage(`{"path":"@a/../b.go","edits":[{"oldText":"a","newText":"b"}],"content":"c"}`)
	for tool, want := range map[string]engine.Effect{
		"edit": engine.Changes, "write": engine.Changes, "bash": engine.Runs, "mcp__t__poke": engine.Runs, "read": engine.Reads,
	} {
		call := e.piCall(question{Tool: tool, Own: &yes, Args: args})
		require.Equal(t, want, call.Effect, tool)
		require.Equal(t, want != engine.Runs, strings.HasSuffix(call.Path, "/b.go"), tool)
		require.Equal(t, want == engine.Changes, call.Apply != nil)
		for _, own := range []*bool{&no, nil} {
			require.Equal(t, engine.Runs, e.piCall(question{Tool: tool, Own: own, Args: args}).Effect, "the tool of another extension")
		}
	}
	require.Equal(t, engine.Runs, e.piCall(question{Tool: "edit", Own: &yes, Args: json.RawMessage(`{"path":1}`)}).Effect)
}

// A program may acknowledge a prompt and refuse it afterwards, with the same id.
// Proves: EF-40
func TestAPromptThatIsRefusedAfterwards(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	f.on(func(c fakeCommand) bool {
		if c.typ() == "prompt" {
			f.ok(c, object{})
			f.no(c, "it is busy")
		}
		return c.typ() == "prompt"
	})
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	out := e.Run(ctx, engine.Input{Text: "hi"})
	require.EqualError(t, out.Err, "pi refused: it is busy")
	require.Len(t, out.Unanswered, 1)

	f.on(func(c fakeCommand) bool {
		if c.typ() != "prompt" {
			return false
		}
		f.ok(c, object{})
		f.send(object{"type": "agent_start"})
		f.no(c, "a refusal of something else")
		f.message(object{"role": "user", "content": c.message()})
		f.message(f.assistant("answer", "stop"))
		f.send(object{"type": "agent_settled"})
		return true
	})
	require.NoError(t, e.Run(ctx, engine.Input{Text: "hi"}).Err, "it had begun")
}
