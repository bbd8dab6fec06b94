package acp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

const (
	// cancelWithin is how long an agent may take to end a cancelled turn. It is ended afterwards.
	cancelWithin = 10 * time.Second

	// lateWithin is how long updates are expected after the end of a turn.
	lateWithin = 200 * time.Millisecond

	// acceptWithin is how long an agent that reports nothing may take to refuse a prompt.
	acceptWithin = 3 * time.Second

	// quietFor is how long an agent may send nothing in a turn, without a tool that runs or a question that waits, until the user
	// learns of it. It may still be at work.
	quietFor = 10 * time.Minute

	// maxWaiting bounds the messages that wait for the end of a turn.
	maxWaiting = 1000
)

// compactCommand is the command that compacts a conversation, of agents that have one.
const compactCommand = "compact"

// run is a prompt and the messages that are queued behind it.
type run struct {
	waiting []engine.Input // until the answer ends; guarded by mu of the engine, like over
	over    bool           // it takes no more messages
}

// verdict is how a prompt ended.
type verdict struct {
	stop  string
	err   error
	usage provider.Usage
}

// Run implements [engine.Engine].
func (e *Engine) Run(ctx context.Context, in engine.Input) loop.Outcome {
	r, err := e.begin()
	if err != nil {
		return loop.Outcome{StopReason: provider.StopError, Err: err, Unanswered: []provider.Message{e.message(in)}}
	}
	var out loop.Outcome
	for {
		t, v := e.prompt(ctx, in)
		out.StopReason, out.Err = v.stop, v.err
		add(&out.Usage, v.usage)
		if t.last != nil {
			out.Message = t.last
		}
		if !t.said {
			out.Unanswered = append(out.Unanswered, t.prompt)
		}
		next, ok := e.next(r, v.stop == provider.StopEnd || v.stop == provider.StopLength)
		if !ok {
			break
		}
		in = next
	}
	for _, in := range r.waiting {
		out.Unanswered = append(out.Unanswered, e.message(in))
	}
	if len(r.waiting) > 0 {
		e.host.Queued(nil, nil)
	}
	return out
}

// begin makes a run the current one.
func (e *Engine) begin() (*run, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.done:
		return nil, e.fault("%s has ended.", e.program.Name)
	default:
	}
	if e.run != nil {
		return nil, fault.New(fault.Busy, "%s is answering another prompt.", e.program.Name)
	}
	e.run = &run{}
	return e.run, nil
}

// next returns the next message of the queue. ok is false if there is none, or the run does not continue; then it is over.
func (e *Engine) next(r *run, proceed bool) (in engine.Input, ok bool) {
	e.mu.Lock()
	if !proceed || len(r.waiting) == 0 {
		r.over, e.run = true, nil
		e.mu.Unlock()
		return in, false
	}
	in = r.waiting[0]
	r.waiting = r.waiting[1:]
	left := textsOf(r.waiting)
	e.mu.Unlock()
	e.host.Queued(nil, left)
	return in, true
}

func textsOf(waiting []engine.Input) []string {
	texts := make([]string, len(waiting))
	for i, in := range waiting {
		texts[i] = in.Text
	}
	return texts
}

func (e *Engine) message(in engine.Input) provider.Message {
	m := provider.Message{Role: provider.RoleUser, Content: []provider.Block{}, Timestamp: e.now().UnixMilli()}
	if in.Text != "" {
		m.Content = append(m.Content, provider.Text(in.Text))
	}
	m.Content = append(m.Content, in.Images...)
	return m
}

func add(sum *provider.Usage, u provider.Usage) {
	sum.Input += u.Input
	sum.Output += u.Output
	sum.CacheRead += u.CacheRead
	sum.CacheWrite += u.CacheWrite
	sum.TotalTokens += u.TotalTokens
	sum.Cost.Total += u.Cost.Total
}

// prompt sends one prompt and returns when the agent has answered it.
func (e *Engine) prompt(ctx context.Context, in engine.Input) (*turn, verdict) {
	t := e.newTurn(ctx, in)
	if err := e.refuses(ctx, in); err != nil {
		return t, verdict{stop: provider.StopError, err: err}
	}
	if ctx.Err() != nil {
		return t, verdict{stop: provider.StopAborted}
	}
	e.setTurn(t)
	accepted := time.AfterFunc(acceptWithin, func() {
		e.serial.Lock()
		defer e.serial.Unlock()
		if e.turn == t {
			t.accept()
		}
	})
	v := e.send(ctx, t, in)
	accepted.Stop()
	e.serial.Lock()
	defer e.serial.Unlock()
	e.turn = nil
	failure := ""
	if v.err != nil {
		failure = v.err.Error()
	}
	if v.err == nil && v.stop != provider.StopAborted {
		t.accept() // also by an agent that had nothing to say
	}
	t.counted = &v.usage
	t.finish(v.stop, failure)
	if t.last != nil && t.last.Usage != nil {
		v.usage.Cost.Total += t.last.Usage.Cost.Total
	}
	return t, v
}

func (e *Engine) newTurn(ctx context.Context, in engine.Input) *turn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &turn{e: e, ctx: ctx, prompt: e.message(in), calls: map[string]*call{}, spent: e.spent}
}

func (e *Engine) setTurn(t *turn) {
	e.serial.Lock()
	defer e.serial.Unlock()
	e.turn = t
}

// refuses fails for a prompt that must not be sent.
func (e *Engine) refuses(ctx context.Context, in engine.Input) error {
	e.mu.Lock()
	reads, images := e.reads || e.can.Files, e.can.Images
	e.mu.Unlock()
	if len(in.Images) > 0 && !images {
		return fault.New(fault.Denied, "%s takes no images.", e.program.Name).With("field", "images")
	}
	desk, ok := e.host.(engine.Desk)
	if reads || !ok {
		return nil
	}
	unsaved := desk.Unsaved(ctx)
	if i := slices.IndexFunc(unsaved, func(path string) bool { return e.inside(path) }); i >= 0 {
		return fault.New(fault.Denied, "%s has unsaved changes; save it first. %s reads files from disk.", e.shown(unsaved[i]), e.program.Name).With("path", unsaved[i])
	}
	return nil
}

func (e *Engine) inside(path string) bool {
	rel, err := filepath.Rel(e.place.Cwd, path)
	return err == nil && filepath.IsLocal(rel)
}

// send sends a prompt and waits for the end of its turn.
func (e *Engine) send(ctx context.Context, t *turn, in engine.Input) verdict {
	id, answered := e.link.conn.Send(wire.MethodPrompt, wire.PromptParams{SessionID: e.sessionID(), Prompt: contentOf(in)})
	defer e.link.conn.Forget(id)
	var m wire.Envelope
	var cancelled <-chan time.Time
	quiet := time.NewTimer(quietFor)
	defer quiet.Stop()
	stopped := ctx.Done()
	for m.ID == nil {
		select {
		case m = <-answered:
		case <-stopped:
			stopped = nil
			e.link.out.put(wire.Notification(wire.MethodCancel, wire.SessionParams{SessionID: e.sessionID()}))
			cancelled = time.After(cancelWithin)
		case <-cancelled:
			e.log.Warn("the agent did not end a cancelled turn")
			e.fail(e.fault("%s was ended: it did not stop when it was asked to.", e.program.Name))
			cancelled = nil
		case <-quiet.C:
			if rest := e.quietUntil(t); rest > 0 {
				quiet.Reset(rest)
			} else {
				e.host.Emit(event.Notice{Text: fmt.Sprintf("%s has sent nothing for %d minutes. Stop it if it hangs.", e.program.Name, int(quietFor.Minutes()))})
			}
		case <-e.link.over:
			return e.died(ctx)
		}
	}
	v := e.verdict(ctx, m)
	e.serial.Lock()
	said := t.said
	e.serial.Unlock()
	if m.Error != nil && !said {
		return v // refused: nothing follows
	}
	select {
	case <-time.After(lateWithin):
	case <-e.link.over:
	}
	return v
}

// quietUntil returns the time until the agent will have been quiet for too long, if it sends nothing.
func (e *Engine) quietUntil(t *turn) time.Duration {
	e.serial.Lock()
	works := len(t.pending) > 0
	e.serial.Unlock()
	if works || e.link.asked.Load() > 0 {
		return quietFor
	}
	return quietFor - time.Since(time.Unix(0, e.link.heard.Load()))
}

// died is how a prompt ended with its agent.
func (e *Engine) died(ctx context.Context) verdict {
	<-e.done
	if ctx.Err() != nil {
		return verdict{stop: provider.StopAborted}
	}
	return verdict{stop: provider.StopError, err: e.ended()}
}

// verdict is how a prompt ended, by the answer of the agent.
func (e *Engine) verdict(ctx context.Context, m wire.Envelope) verdict {
	if m.Error != nil {
		if ctx.Err() != nil {
			return verdict{stop: provider.StopAborted}
		}
		return verdict{stop: provider.StopError, err: e.explain(wire.MethodPrompt, m.Error)}
	}
	var r struct {
		Stop  string `json:"stopReason"`
		Usage struct {
			Input      float64 `json:"inputTokens"`
			Output     float64 `json:"outputTokens"`
			CacheRead  float64 `json:"cachedReadTokens"`
			CacheWrite float64 `json:"cachedWriteTokens"`
			Total      float64 `json:"totalTokens"`
		} `json:"usage"`
	}
	lenient(m.Result, &r)
	v := verdict{stop: provider.StopEnd, usage: provider.Usage{
		Input: bounded(r.Usage.Input), Output: bounded(r.Usage.Output), CacheRead: bounded(r.Usage.CacheRead),
		CacheWrite: bounded(r.Usage.CacheWrite), TotalTokens: bounded(r.Usage.Total),
	}}
	switch r.Stop {
	case wire.StopLength, wire.StopLimit:
		v.stop = provider.StopLength
	case wire.StopCancelled:
		v.stop = provider.StopAborted
	case wire.StopRefusal:
		// An answer that failed is not shown to another model, and a refused prompt is not part of the agent's next turn.
		v.stop, v.err = provider.StopError, &provider.Error{Class: provider.Refused, Message: e.program.Name + " refused to answer."}
	}
	if ctx.Err() != nil {
		v.stop, v.err = provider.StopAborted, nil
	}
	return v
}

func (e *Engine) sessionID() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.session
}

// contentOf is a prompt as the protocol has it.
func contentOf(in engine.Input) []wire.ContentBlock {
	blocks := []wire.ContentBlock{}
	if in.Text != "" || len(in.Images) == 0 {
		blocks = append(blocks, wire.TextBlock(in.Text))
	}
	for _, b := range in.Images {
		blocks = append(blocks, wire.ContentBlock{Type: "image", Data: b.Data, MimeType: b.MimeType})
	}
	return blocks
}

// Queue implements [engine.Engine]. A message for after the answer is kept here: an agent that gets a second prompt may cancel the
// first.
func (e *Engine) Queue(ctx context.Context, when loop.When, in engine.Input) error {
	if when == loop.Steering {
		return e.steer(ctx, in)
	}
	return e.follow(in)
}

func (e *Engine) follow(in engine.Input) error {
	e.mu.Lock()
	r := e.run
	if r == nil || r.over {
		e.mu.Unlock()
		return fault.New(fault.Stale, "No turn is running.")
	}
	if len(r.waiting) >= maxWaiting {
		e.mu.Unlock()
		return fault.New(fault.Limit, "Too many messages are queued.").With("limit", "queue")
	}
	if len(in.Images) > 0 && !e.can.Images {
		e.mu.Unlock()
		return e.denied("%s takes no images.", e.program.Name)
	}
	r.waiting = append(r.waiting, in)
	left := textsOf(r.waiting)
	e.mu.Unlock()
	e.host.Queued(nil, left)
	return nil
}

// steer sends a message into the running turn.
func (e *Engine) steer(ctx context.Context, in engine.Input) error {
	e.mu.Lock()
	running, can, session := e.run != nil && !e.run.over, e.can.Steer, e.session
	e.mu.Unlock()
	switch {
	case !running:
		return fault.New(fault.Stale, "No turn is running.")
	case !can:
		return e.denied("%s cannot be steered. Wait, or stop it first.", e.program.Name)
	}
	raw, err := e.link.call(ctx, methodSteering, map[string]any{
		"sessionId": session, "prompt": contentOf(in),
		"_meta": map[string]any{"steering": map[string]string{"idleBehavior": "promptRequired"}},
	})
	if err != nil {
		return err
	}
	if outcome, _ := rawjson.GetString(raw, "outcome"); outcome == "promptRequired" {
		return e.follow(in) // the turn has just ended there
	}
	e.serial.Lock()
	defer e.serial.Unlock()
	if t := e.turn; t != nil {
		t.steered(e.message(in))
	}
	return nil
}

// Compact implements [engine.Engine]: it sends the agent's own command, whose answer is not part of the conversation.
func (e *Engine) Compact(ctx context.Context, instructions string) (engine.Compaction, error) {
	if !e.Can().Compact {
		return engine.Compaction{}, e.denied("%s cannot compact its conversation.", e.program.Name)
	}
	r, err := e.begin()
	if err != nil {
		return engine.Compaction{}, err
	}
	defer e.next(r, false)
	in := engine.Input{Text: strings.TrimSpace("/" + compactCommand + " " + instructions)}
	e.mu.Lock()
	before := e.used
	e.mu.Unlock()
	t := e.newTurn(ctx, in)
	t.silent = true
	e.setTurn(t)
	v := e.send(ctx, t, in)
	e.setTurn(nil)
	switch {
	case v.stop == provider.StopAborted:
		return engine.Compaction{}, fault.New(fault.Cancelled, "The compaction was cancelled.")
	case v.err != nil:
		return engine.Compaction{}, v.err
	case failedText(t.text):
		return engine.Compaction{}, e.fault("%s: %s", e.program.Name, sentence(t.text)).With("class", "compaction")
	}
	return engine.Compaction{Summary: t.text, TokensBefore: before}, nil
}

// failedText reports whether an agent says that it could not compact: there is no other sign of it.
func failedText(s string) bool {
	s = strings.ToLower(cut(s, maxName))
	return strings.Contains(s, "failed") || strings.Contains(s, "nothing to compact") || strings.Contains(s, "not enough messages")
}

// Reread implements [engine.Engine]: it closes the session of a native agent, and opens it again.
func (e *Engine) Reread(ctx context.Context) error {
	if !e.kind.native {
		return nil // the agent's own record has not changed
	}
	r, err := e.begin()
	if err != nil {
		return err
	}
	defer e.next(r, false)
	id := e.sessionID()
	if _, err := e.link.call(ctx, wire.MethodClose, wire.SessionParams{SessionID: id}); err != nil {
		return err
	}
	raw, err := e.link.call(ctx, wire.MethodResume, map[string]any{"sessionId": id, "cwd": e.place.Cwd, "mcpServers": []any{}})
	if err != nil {
		e.fail(e.fault("%s was ended: it could not read its session again.", e.program.Name))
		return err
	}
	e.begun(raw)
	return nil
}
