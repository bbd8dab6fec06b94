package agent

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// mergeFor is how long pieces of a text are collected before they are shown as one event:
// short enough to look like typing, long enough not to flood an editor.
const mergeFor = 40 * time.Millisecond

// emitter publishes the events of one session's runs. Neighbouring pieces of one text are
// merged, nothing is dropped, and the order stays. It is safe for concurrent use.
type emitter struct {
	sessionID string
	publish   func(loop.Event)
	last      func() (seq uint64) // number of the session's newest event

	mu      sync.Mutex
	held    *loop.Event // a piece of text that is not shown yet; guarded by mu, like all below
	text    []byte      // its text so far
	timer   *time.Timer
	partial *partial       // the answer that is being written, nil when there is none
	tools   []ToolActivity // the tool calls of the turn
	retry   *Retry         // nil while none is waited for
}

// partial is an answer that is being written.
type partial struct {
	message provider.Message // without its content
	blocks  []partialBlock
}

// partialBlock collects a text in a buffer, because adding to a string for every piece
// would take quadratic time.
type partialBlock struct {
	block provider.Block
	text  []byte
}

// ToolActivity is a tool call of the turn that is running.
type ToolActivity struct {
	ToolCallID    string          `json:"toolCallId"`
	ToolName      string          `json:"toolName"`
	Args          json.RawMessage `json:"args,omitempty"`
	PartialResult json.RawMessage `json:"partialResult,omitempty"`
	Ended         bool            `json:"ended,omitempty" jsonschema:"The call is over, and partialResult is its result."`
	IsError       bool            `json:"isError,omitempty"`
}

// Retry is a request that failed and is about to be made again.
type Retry struct {
	Attempt      int            `json:"attempt"`
	MaxAttempts  int            `json:"maxAttempts"`
	DelayMs      int64          `json:"delayMs" jsonschema:"How long after the failure."`
	Reason       provider.Class `json:"reason,omitempty"`
	ErrorMessage string         `json:"errorMessage,omitempty"`
}

// emit shows an event, sooner or later.
func (e *emitter) emit(ev loop.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.follow(ev)
	if ev.Type == loop.MessageDelta && ev.Update.Delta != "" {
		e.hold(ev)
		return
	}
	e.release()
	e.publish(ev)
}

// hold collects a piece of text. It needs mu, like all below.
func (e *emitter) hold(ev loop.Event) {
	if e.held != nil && e.held.Update.Type == ev.Update.Type && e.held.Update.ContentIndex == ev.Update.ContentIndex {
		e.text = append(e.text, ev.Update.Delta...)
		return
	}
	e.release()
	update := *ev.Update
	ev.Update = &update
	e.held, e.text = &ev, append(e.text[:0], update.Delta...)
	e.timer = time.AfterFunc(mergeFor, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.release()
	})
}

// release shows what was collected.
func (e *emitter) release() {
	if e.held == nil {
		return
	}
	e.timer.Stop()
	ev := *e.held
	ev.Update.Delta = string(e.text)
	e.held = nil
	e.publish(ev)
}

// follow keeps what a client that joins now must be told.
func (e *emitter) follow(ev loop.Event) {
	switch ev.Type {
	case loop.MessageStart:
		if m, err := provider.DecodeMessage(ev.Message); err == nil && m.Role == provider.RoleAssistant {
			m.Content = nil
			e.partial = &partial{message: m}
		}
	case loop.MessageDelta:
		e.partial.extend(ev.Update)
	case loop.MessageEnd, loop.AgentEnd:
		e.partial = nil
	case loop.ToolStart:
		e.tools = append(e.tools, ToolActivity{ToolCallID: ev.ToolCallID, ToolName: ev.ToolName, Args: ev.Args})
	case loop.ToolUpdate:
		e.progress(ev)
	case loop.ToolEnd:
		e.progress(ev)
	case loop.TurnEnd:
		e.tools = nil
	case loop.RetryStart:
		e.retry = &Retry{ev.Attempt, ev.MaxAttempts, ev.DelayMs, ev.Reason, ev.ErrorMessage}
	}
	if ev.Type == loop.MessageStart || ev.Type == loop.RetryEnd || ev.Type == loop.AgentEnd {
		e.retry = nil
	}
}

func (e *emitter) progress(ev loop.Event) {
	for i := range e.tools {
		t := &e.tools[i]
		switch {
		case t.ToolCallID != ev.ToolCallID:
		case ev.Type == loop.ToolEnd:
			t.PartialResult, t.Ended, t.IsError = ev.Result, true, ev.IsError
		default:
			t.PartialResult = ev.PartialResult
		}
	}
}

// extend adds a piece to the answer.
func (p *partial) extend(u *loop.Update) {
	if p == nil {
		return
	}
	for len(p.blocks) <= u.ContentIndex {
		p.blocks = append(p.blocks, partialBlock{})
	}
	b := &p.blocks[u.ContentIndex]
	switch u.Type {
	case "text_delta":
		b.block.Type, b.text = provider.TypeText, append(b.text, u.Delta...)
	case "thinking_delta":
		b.block.Type, b.text = provider.TypeThinking, append(b.text, u.Delta...)
	case "toolcall_start":
		b.block = provider.Block{Type: provider.TypeToolCall, ID: u.ToolCallID, Name: u.ToolName}
	default:
		if u.Block != nil {
			b.block, b.text = *u.Block, nil
		}
	}
}

// encode is the answer as far as it came, nil when none is being written.
func (p *partial) encode() json.RawMessage {
	if p == nil {
		return nil
	}
	m := p.message
	for _, b := range p.blocks {
		switch {
		case b.block.Type == "":
			continue // a block that has nothing yet
		case b.text != nil && b.block.Type == provider.TypeThinking:
			b.block.Thinking = string(b.text)
		case b.text != nil:
			b.block.Text = string(b.text)
		}
		m.Content = append(m.Content, b.block)
	}
	return m.Encode()
}

// standing is what goes on in a session at one moment: everything up to event seq, and
// nothing behind it.
type standing struct {
	seq     uint64
	partial json.RawMessage
	tools   []ToolActivity
	retry   *Retry
}

// now shows what was held back and returns how things stand then.
func (e *emitter) now() standing {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.release()
	return standing{seq: e.last(), partial: e.partial.encode(), tools: slices.Clone(e.tools), retry: e.retry}
}
