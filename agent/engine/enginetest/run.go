package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// most of retries, and the first delay, as in settings for tests.
const (
	mostRetries = 3
	firstDelay  = 20 * time.Millisecond
)

// turns is the state of a run.
type turns struct {
	*double
	ctx      context.Context //nolint:containedctx // it is the run
	messages []json.RawMessage
	attempt  int // retries so far
	last     outcome
}

// outcome is how an answer ended.
type outcome struct {
	reason string // stop, toolUse, aborted, error
	words  string // of an error
	retry  bool
	calls  []toolCall
	entry  entry
	faults faults
}

// answer is a run, from the first prompt to agent_settled.
func (d *double) answer(ctx context.Context, r *run, text string, images []json.RawMessage) {
	defer close(r.done)
	t := &turns{double: d, ctx: ctx}
	d.leafChanged()
	t.startTurns()
	if d.kin == nil {
		t.addSystem()
	}
	t.addUser(text, images)
	if text, ok := t.nextQueued(true); ok { // queued while no run was active
		t.addQueued(text)
	}
	for more := true; more; more = d.kin != nil && !t.last.faults.is("keeps-queue") && t.nextRun() {
		for t.turn() {
		}
		if t.last.reason == "aborted" && d.kin != nil {
			t.ctx = context.Background() // the abort is over
		}
	}
	d.settle(t)
}

// settle ends a run.
func (d *double) settle(t *turns) {
	d.mu.Lock()
	for _, record := range d.late {
		_, _ = d.session.append("message", "message", record) // a full disk shows in the file
	}
	d.late, d.run = nil, nil
	d.mu.Unlock()
	d.leafChanged()
	if d.kin == nil && !t.last.faults.is("no-settled") {
		d.event("agent_settled", "aborted", t.last.reason == "aborted")
	}
}

func (t *turns) startTurns() {
	t.event("agent_start")
	t.event("turn_start")
}

// record publishes a message and appends it: first the event, then the entry.
func (t *turns) record(message json.RawMessage, started bool) entry {
	if !started {
		t.event("message_start", "message", message)
	}
	t.event("message_end", "message", message)
	t.messages = append(t.messages, message)
	t.mu.Lock()
	defer t.mu.Unlock()
	e, err := t.session.append("message", "message", message)
	if err != nil {
		t.event("extension_error", "extensionPath", "double", "event", "append", "error", err.Error())
	}
	return e
}

// addSystem records the system prompt of a branch that has none.
func (t *turns) addSystem() {
	t.mu.Lock()
	has := slices.ContainsFunc(t.session.branch(t.session.leaf), func(e entry) bool { return e.role == "system" })
	t.mu.Unlock()
	if has {
		return
	}
	t.record(object("role", "system", "content", "", "sections", object("preamble", "You are a double.", "tools", "<tools>\n- read\n- bash\n- edit\n- write\n</tools>"),
		"toolsDelta", object("added", []string{"read", "bash", "edit", "write"}), "timestamp", time.Now().UnixMilli()), false)
}

func (t *turns) addUser(text string, images []json.RawMessage) {
	content := []json.RawMessage{object("type", "text", "text", text)}
	content = append(content, images...)
	t.record(object("role", "user", "content", array(content), "timestamp", time.Now().UnixMilli()), false)
}

// turn is one answer with its tool calls. It reports whether another one follows.
func (t *turns) turn() (more bool) {
	t.last = t.stream()
	if t.last.words == "" && t.attempt > 0 && t.last.reason != "aborted" {
		t.event("auto_retry_end", "success", true, "attempt", t.attempt)
		t.attempt = 0
	}
	assistant := t.last.entry.message
	var results []json.RawMessage
	for _, done := range t.prepare(t.last.calls) {
		results = append(results, done())
	}
	t.leafChanged()
	t.event("turn_end", "message", assistant, "toolResults", array(results))
	switch {
	case t.last.reason == "error" || t.last.reason == "aborted":
		return t.retry()
	case t.ctx.Err() != nil:
		t.abortedTurn()
		t.endAgent(false)
		return false
	}
	return t.goOn(len(results) > 0)
}

// goOn begins the next turn, if there is one.
func (t *turns) goOn(called bool) bool {
	text, queued := t.nextQueued(called || t.kin != nil)
	if !queued && !called {
		t.endAgent(false)
		return false
	}
	t.event("turn_start")
	if queued {
		t.addQueued(text)
	}
	return true
}

// nextQueued takes a message from a queue. Follow-ups wait until the run would end.
func (t *turns) nextQueued(steeringOnly bool) (text string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case len(t.steering) > 0:
		text, t.steering = t.steering[0], t.steering[1:]
	case !steeringOnly && len(t.followUps) > 0:
		text, t.followUps = t.followUps[0], t.followUps[1:]
	default:
		return "", false
	}
	return text, true
}

// addQueued records a message that was queued.
func (t *turns) addQueued(text string) {
	t.mu.Lock()
	t.queueChangedLocked()
	t.mu.Unlock()
	t.addUser(text, nil)
}

// abortedTurn is the turn that pi begins after tools that were aborted.
func (t *turns) abortedTurn() {
	t.event("turn_start")
	t.last = t.finish(t.assistant(nil, "aborted", "This operation was aborted", 0), outcome{reason: "aborted"}, false)
	t.leafChanged()
	t.event("turn_end", "message", t.last.entry.message, "toolResults", array[string](nil))
}

func (t *turns) endAgent(retry bool) {
	t.leafChanged()
	t.event("agent_end", "messages", array(t.messages), "willRetry", retry)
	t.messages = nil
}

// retry begins another attempt after an error of the service that may pass, and reports whether it did.
func (t *turns) retry() bool {
	again := t.last.retry && t.attempt < mostRetries
	t.endAgent(again)
	if !again {
		if t.attempt > 0 {
			t.event("auto_retry_end", "success", false, "attempt", t.attempt, "finalError", t.last.words)
		}
		return false
	}
	delay := firstDelay << t.attempt
	t.attempt++
	t.event("auto_retry_start", "attempt", t.attempt, "maxAttempts", mostRetries, "delayMs", delay.Milliseconds(), "errorMessage", t.last.words)
	t.mu.Lock()
	e, _ := t.session.append("context_edit", "targetId", t.last.entry.id, "replacement", nil) // a full disk shows in the file
	t.mu.Unlock()
	t.event("entry_appended", "entry", e.raw)
	if !wait(t.ctx, delay) {
		t.event("auto_retry_end", "success", false, "attempt", t.attempt, "finalError", "Retry cancelled")
		t.last.reason = "aborted"
		return false
	}
	t.startTurns()
	return true
}

// wait waits, and reports whether ctx still goes on.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// plan returns what the model does next: its script, and the calls of tools that are left.
func (t *turns) plan() (s script, calls []toolCall, echo string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := 0
	for _, message := range t.session.messages() {
		text := textOf(message)
		switch role := roleOf(message); {
		case role == "user" && (strings.Contains(text, "[[") || !strings.Contains(s.source, "[[")):
			s, done, echo = parseScript(text), 0, text
		case role == "user":
			echo = text
		case role == "toolResult":
			done++
			echo = text
		}
	}
	if done < len(s.tools) {
		calls = s.tools[done : done+1]
		if s.par {
			calls = s.tools
		}
		calls = slices.Clone(calls)
		for i := range calls {
			calls[i].id = "toolu_" + newEntryID()
		}
	}
	return s, calls, echo
}

// stream is one answer of the model.
func (t *turns) stream() outcome {
	s, calls, echo := t.plan()
	began := time.Now()
	if words, retry := t.failure(s); words != "" {
		return t.finish(t.assistant(nil, "error", words, time.Since(began)), outcome{reason: "error", words: words, retry: retry}, false)
	}
	for _, f := range s.faults {
		t.commit(f)
	}
	if t.ctx.Err() == nil && s.hang {
		<-t.ctx.Done()
	}
	text := t.textFor(s, calls, echo)
	if t.ctx.Err() != nil {
		return t.finish(t.assistant(nil, "aborted", "This operation was aborted", time.Since(began)), outcome{reason: "aborted", faults: s.faults}, false)
	}
	blocks, complete := t.deltas(s, text, calls)
	out := outcome{reason: "stop", calls: calls, faults: s.faults}
	words := ""
	switch {
	case !complete:
		out.reason, out.calls, words = "aborted", nil, "This operation was aborted"
	case len(calls) > 0:
		out.reason = "toolUse"
	}
	return t.finish(t.assistant(blocks, out.reason, words, time.Since(began)), out, true)
}

// textFor returns the text of an answer, and asks the dialogs before it.
func (t *turns) textFor(s script, calls []toolCall, echo string) string {
	if len(calls) > 0 {
		return "Calling tools."
	}
	for _, a := range s.asks {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(a.fields, &fields) // it is an object
		s.say = fmt.Sprintf("Answer: %s", shown(t.ask(t.ctx, a.method, fields)))
	}
	switch {
	case s.big > 0:
		return strings.Repeat("x", s.big)
	case s.pieces > 0:
		var b strings.Builder
		for i := range s.pieces {
			fmt.Fprintf(&b, "word%05d ", i)
		}
		return b.String()
	case s.say != "":
		return s.say
	default:
		return "Echo: " + echo[:min(len(echo), 60)]
	}
}

// failure returns the error of the service, "" if it works.
func (t *turns) failure(s script) (words string, retry bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.fail == 0 || t.failures[s.source] >= s.times {
		return "", false
	}
	t.failures[s.source]++
	kind := "api_error"
	if s.fail == 529 {
		kind = "overloaded_error"
	}
	return fmt.Sprintf(`%d {"type":"error","error":{"type":"%s","message":"mock %d"}}`, s.fail, kind, s.fail), s.fail >= 500
}

// deltas streams the blocks of an answer. It reports whether it came to the end.
func (t *turns) deltas(s script, text string, calls []toolCall) (blocks []json.RawMessage, complete bool) {
	t.event("message_start", "message", t.assistant(nil, "pending", "", 0))
	if s.think {
		const thought = "Mock thinking."
		t.update("thinking_start", 0)
		t.update("thinking_delta", 0, "delta", thought)
		t.update("thinking_end", 0, "content", thought)
		blocks = append(blocks, object("type", "thinking", "thinking", thought, "thinkingSignature", "c2ln"))
	}
	at := len(blocks)
	t.update("text_start", at)
	sent, most := 0, mostOfPiece
	if s.pieces > 0 {
		most = len(text)
	}
	for word := range words(text, most) {
		if !wait(t.ctx, s.slow) {
			return append(blocks, object("type", "text", "text", text[:sent])), false
		}
		t.update("text_delta", at, "delta", word)
		sent += len(word)
	}
	t.update("text_end", at, "content", text)
	blocks = append(blocks, object("type", "text", "text", text))
	for _, call := range calls {
		at = len(blocks)
		block := object("type", "toolCall", "id", call.id, "name", call.name, "arguments", call.args)
		t.update("toolcall_start", at, "id", call.id, "toolName", call.name)
		t.update("toolcall_delta", at, "delta", string(call.args))
		t.update("toolcall_end", at, "toolCall", block)
		blocks = append(blocks, block)
	}
	return blocks, true
}

// mostOfPiece is the length of a piece of a long text.
const mostOfPiece = 4000

// words yields the words of a text with the space after them, and a text of more than most bytes in pieces.
func words(text string, most int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(text) > most {
			if !yield(text[:most]) {
				return
			}
			text = text[most:]
		}
		for _, word := range strings.SplitAfter(text, " ") {
			if word != "" && !yield(word) {
				return
			}
		}
	}
}

func (t *turns) update(kind string, index int, members ...any) {
	t.event("message_update", "usage", usage(0), "assistantMessageEvent", object(append([]any{"type", kind, "contentIndex", index}, members...)...))
}

func usage(output int) json.RawMessage {
	return object("input", 100, "output", output, "cacheRead", 0, "cacheWrite", 0, "totalTokens", 100+output, "cost", noCost(true))
}

// assistant returns a message of the model.
func (t *turns) assistant(blocks []json.RawMessage, reason, words string, took time.Duration) json.RawMessage {
	t.mu.Lock()
	model, thinking := t.models[t.model].id, t.thinking
	t.mu.Unlock()
	return object("role", "assistant", "content", array(blocks), "api", "anthropic-messages", "provider", provider, "model", model,
		"usage", usage(10), "stopReason", reason, "timestamp", time.Now().UnixMilli(), "errorMessage", orAbsent(words),
		"durationMs", took.Milliseconds(), "thinkingLevel", thinking)
}

// finish publishes and records an answer.
func (t *turns) finish(message json.RawMessage, out outcome, started bool) outcome {
	out.entry = t.record(message, started)
	return out
}
