package acp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

const (
	// settleWithin is how long an answer with complete tool calls is kept open for further calls: agents do not say that an
	// answer is complete, and some say only at its end that a tool runs.
	settleWithin = 150 * time.Millisecond

	// maxText bounds the text of an answer, in bytes.
	maxText = 16 << 20
)

// bounds are the limits for the stored parts of an agent's messages.
type bounds struct {
	text  int // of an answer, in bytes
	calls int // of a prompt; further ones are not shown
	kept  int // arguments, changes and images of the calls of a prompt, in bytes
}

const leftOut = "\n\n[The rest was left out.]"

// api is the API of messages that an agent of the protocol made. No service has it, so that their thinking becomes text if another
// engine continues the session.
const api provider.API = "agent-client-protocol"

// turn is one prompt of an agent. Its methods need serial.
type turn struct {
	e      *Engine
	ctx    context.Context //nolint:containedctx // of the run, for what the updates of the agent cause
	prompt provider.Message
	silent bool   // a command whose answer is not part of the conversation
	text   string // of a silent turn

	said    bool // the prompt is in the conversation
	answer  *answer
	calls   map[string]*call // by the agent's ids, the newest
	pending []*call          // that have not ended, in order
	count   int              // of calls
	kept    int              // bytes of arguments and outputs that are kept
	spent   float64          // by the session before, in US dollars
	counted *provider.Usage  // of the turn; nil until it has ended

	last    *provider.Message // the last answer
	raw     json.RawMessage   // last, encoded; nil after its turn_end
	results []json.RawMessage // since then
}

// answer is a message of the model that is not complete.
type answer struct {
	id     string // of the agent, may be empty
	blocks []provider.Block
	text   []byte // of the last block, until it ends
	calls  []*call
	size   int
	timer  *time.Timer // see settleWithin; nil if it does not run
}

// accept makes the prompt part of the conversation, because the agent works on it.
func (t *turn) accept() {
	if t.said {
		return
	}
	t.said = true
	if t.silent {
		return
	}
	t.e.host.Emit(event.TurnStart{})
	t.record(t.prompt.Encode(), true)
}

// record publishes a message, and its start unless that was published. What a native agent did not write before it ended is
// not part of the conversation.
func (t *turn) record(raw json.RawMessage, start bool) {
	if t.e.kind.native && t.e.link.isOver() {
		return
	}
	if start {
		t.e.host.Emit(event.MessageStart{Message: raw})
	}
	t.e.host.Message(t.ctx, raw)
}

// steered adds a message that the user sent during the turn.
func (t *turn) steered(m provider.Message) {
	t.accept()
	t.close(provider.StopEnd, "")
	t.record(m.Encode(), true)
}

// chunk adds a piece of text to the answer. Another id, or a tool call before it, begins a new one.
func (t *turn) chunk(text, id string, thinking bool) {
	t.accept()
	if t.silent {
		if len(t.text) < t.e.bounds.text {
			t.text += cut(text, t.e.bounds.text-len(t.text))
		}
		return
	}
	if a := t.answer; a != nil && (len(a.calls) > 0 || id != "" && a.id != "" && a.id != id) {
		t.close("", "")
	}
	if text == "" {
		return
	}
	a := t.opened(id)
	most := t.e.bounds.text
	if a.size >= most {
		return
	}
	if a.size += len(text); a.size >= most {
		text = cut(text, most-(a.size-len(text))) + leftOut
	}
	kind, delta := provider.TypeText, event.TextDelta
	if thinking {
		kind, delta = provider.TypeThinking, event.ThinkingDelta
	}
	n := len(a.blocks)
	if n == 0 || a.blocks[n-1].Type != kind {
		t.closeBlock()
		a.blocks = append(a.blocks, provider.Block{Type: kind})
		n++
	}
	a.text = append(a.text, text...)
	t.e.host.Emit(event.MessageUpdate{Update: event.Update{Type: delta, ContentIndex: n - 1, Delta: text}})
}

// opened returns the answer, which is begun if necessary.
func (t *turn) opened(id string) *answer {
	if t.answer != nil {
		return t.answer
	}
	if t.raw != nil && len(t.pending) == 0 {
		t.end()
		t.e.host.Emit(event.TurnStart{})
	}
	t.answer = &answer{id: id}
	m := t.message(nil)
	t.e.host.Emit(event.MessageStart{Message: m.Encode()})
	return t.answer
}

// end ends the turn of the last answer.
func (t *turn) end() {
	t.e.host.Emit(event.TurnEnd{Message: t.raw, ToolResults: t.results})
	t.raw, t.results = nil, nil
}

// message is an answer.
func (t *turn) message(blocks []provider.Block) provider.Message {
	ref := t.e.choice().Model
	if ref.Provider == "" {
		ref.Provider = t.e.program.Name
	}
	if blocks == nil {
		blocks = []provider.Block{}
	}
	return provider.Message{
		Role: provider.RoleAssistant, Content: blocks, API: api, Provider: ref.Provider, Model: ref.ID, Timestamp: t.e.now().UnixMilli(),
	}
}

// closeBlock ends the last block of the answer, if it is one of text.
func (t *turn) closeBlock() {
	n := len(t.answer.blocks) - 1
	if n < 0 {
		return
	}
	u := event.Update{Type: event.TextEnd, ContentIndex: n}
	block := &t.answer.blocks[n]
	switch block.Type {
	case provider.TypeText:
		block.Text = string(t.answer.text)
	case provider.TypeThinking:
		block.Thinking = string(t.answer.text)
		u.Type = event.ThinkingEnd
	default:
		return
	}
	t.answer.text = nil
	shown := *block
	u.Block = &shown
	t.e.host.Emit(event.MessageUpdate{Update: u})
}

// close completes the answer, if there is one. stop is the reason, "" for the usual one. The tools that it calls run from now on.
func (t *turn) close(stop, failure string) {
	a := t.answer
	if a == nil {
		return
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	t.closeBlock()
	for _, c := range a.calls {
		block := &a.blocks[c.index]
		block.Arguments = c.arguments()
		shown := *block
		t.e.host.Emit(event.MessageUpdate{Update: event.Update{
			Type: event.ToolCallEnd, ContentIndex: c.index, ToolCallID: c.id, ToolName: c.name, Block: &shown,
		}})
	}
	m := t.message(a.blocks)
	m.StopReason, m.ErrorMessage = stop, failure
	if len(a.calls) > 0 {
		m.StopReason = provider.StopToolUse
	} else if stop == "" {
		m.StopReason = provider.StopEnd
	}
	m.Usage = t.usage()
	t.answer = nil
	t.last, t.raw = &m, m.Encode()
	t.record(t.raw, false)
	for _, c := range a.calls {
		c.started = true
		t.e.host.Emit(event.ToolStart{ToolCallID: c.id, ToolName: c.name, Args: c.arguments()})
	}
}

// usage is the size of the context, and the price of the turn so far.
func (t *turn) usage() *provider.Usage {
	t.e.mu.Lock()
	defer t.e.mu.Unlock()
	u := &provider.Usage{TotalTokens: t.e.used}
	if t.counted != nil { // the last message stands for all requests of the turn
		u.Input, u.Output, u.CacheRead, u.CacheWrite = t.counted.Input, t.counted.Output, t.counted.CacheRead, t.counted.CacheWrite
		t.counted = nil
	}
	if t.e.spent > t.spent {
		u.Cost.Total = t.e.spent - t.spent
		t.spent = t.e.spent
	}
	return u
}

// finish ends the turn: no more updates are expected.
func (t *turn) finish(stop, failure string) {
	if t.silent || !t.said {
		return
	}
	t.close(stop, failure)
	for _, c := range t.pending {
		t.abandon(c)
	}
	t.pending = nil
	if failure != "" && !t.e.kind.native && (t.last == nil || t.last.ErrorMessage != failure) {
		t.opened("")
		t.close(stop, failure)
	}
	t.end()
}
