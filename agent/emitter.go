package agent

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// mergeFor is how long pieces of a text are collected before they are shown as one event:
// short enough to look like typing, long enough not to flood an editor.
const mergeFor = 40 * time.Millisecond

// emitter publishes the events of one session's runs. The first piece of a text is published at once, because the user waits
// for it; adjacent later ones are merged. No event is dropped, and the order is kept. It is safe for concurrent use.
type emitter struct {
	sessionID string
	publish   func(event.Event)
	last      func() (seq uint64) // number of the session's newest event

	mu      sync.Mutex
	writing textKey              // the text that the newest event is a piece of; guarded by mu, like all below
	held    *event.MessageUpdate // a piece of text that is not published yet
	text    []byte               // its text so far
	timer   *time.Timer
	partial *partial       // the answer that is being written, nil if there is none
	tools   []ToolActivity // the tool calls of the turn
	retry   *Retry         // nil unless a failed request is being repeated
	due     time.Time      // when its delay ends
	title   string         // of the session, as clients know it
}

// textKey identifies a text of an answer; the zero value is none.
type textKey struct {
	typ   event.UpdateType
	index int
}

// partial is an incomplete answer.
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
	Ended         bool            `json:"ended,omitempty" jsonschema:"The call has ended; partialResult is its result."`
	IsError       bool            `json:"isError,omitempty"`
}

// Retry is a failed request that is being repeated. It ends when the answer begins.
type Retry struct {
	Attempt      int            `json:"attempt"`
	MaxAttempts  int            `json:"maxAttempts"`
	DelayMs      int64          `json:"delayMs" jsonschema:"Rest of the delay, in milliseconds; 0 if the request was sent again."`
	Reason       provider.Class `json:"reason,omitempty"`
	ErrorMessage string         `json:"errorMessage,omitempty"`
}

// emit publishes an event. A further piece of a text may be delayed by mergeFor.
func (e *emitter) emit(ev event.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.followLocked(ev)
	if update, ok := ev.(event.MessageUpdate); ok && update.Update.Delta != "" {
		e.holdLocked(update)
		return
	}
	e.releaseLocked()
	e.writing = textKey{}
	e.publish(ev)
}

// holdLocked holds a piece of text, to merge it with the next ones, unless it is the first.
func (e *emitter) holdLocked(ev event.MessageUpdate) {
	key := textKey{ev.Update.Type, ev.Update.ContentIndex}
	if key != e.writing {
		e.releaseLocked()
		e.writing = key
		e.publish(ev)
		return
	}
	if e.held != nil {
		e.text = append(e.text, ev.Update.Delta...)
		return
	}
	e.held, e.text = &ev, append(e.text[:0], ev.Update.Delta...)
	e.timer = time.AfterFunc(mergeFor, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.releaseLocked()
	})
}

// releaseLocked publishes the held text.
func (e *emitter) releaseLocked() {
	if e.held == nil {
		return
	}
	e.timer.Stop()
	ev := *e.held
	ev.Update.Delta = string(e.text)
	e.held = nil
	e.publish(ev)
}

// followLocked maintains the state that a client needs when it connects during a run.
func (e *emitter) followLocked(ev event.Event) {
	switch ev := ev.(type) {
	case event.MessageStart: // also of an attempt that fails
		if m, err := provider.DecodeMessage(ev.Message); err == nil && m.Role == provider.RoleAssistant {
			m.Content = nil
			e.partial = &partial{message: m}
		}
	case event.MessageUpdate:
		e.retry = nil
		e.partial.extend(ev.Update)
	case event.MessageEnd:
		e.partial = nil
	case event.AgentEnd:
		e.partial, e.retry = nil, nil
	case event.ToolStart:
		e.tools = append(e.tools, ToolActivity{ToolCallID: ev.ToolCallID, ToolName: ev.ToolName, Args: ev.Args})
	case event.ToolUpdate:
		e.progressLocked(ev.ToolCallID, func(t *ToolActivity) { t.PartialResult = ev.PartialResult })
	case event.ToolEnd:
		e.progressLocked(ev.ToolCallID, func(t *ToolActivity) { t.PartialResult, t.Ended, t.IsError = ev.Result, true, ev.IsError })
	case event.TurnEnd:
		e.tools = nil
	case event.RetryStart:
		e.retry = &Retry{ev.Attempt, ev.MaxAttempts, ev.DelayMs, ev.Reason, ev.ErrorMessage}
		e.due = time.Now().Add(time.Duration(ev.DelayMs) * time.Millisecond)
	case event.RetryEnd:
		e.retry = nil
	}
}

func (e *emitter) progressLocked(toolCallID string, update func(*ToolActivity)) {
	for i := range e.tools {
		if t := &e.tools[i]; t.ToolCallID == toolCallID {
			update(t)
		}
	}
}

// extend adds a piece to the answer.
func (p *partial) extend(u event.Update) {
	if p == nil {
		return
	}
	for len(p.blocks) <= u.ContentIndex {
		p.blocks = append(p.blocks, partialBlock{})
	}
	b := &p.blocks[u.ContentIndex]
	switch u.Type {
	case event.TextDelta:
		b.block.Type, b.text = provider.TypeText, append(b.text, u.Delta...)
	case event.ThinkingDelta:
		b.block.Type, b.text = provider.TypeThinking, append(b.text, u.Delta...)
	case event.ToolCallStart:
		b.block = provider.Block{Type: provider.TypeToolCall, ID: u.ToolCallID, Name: u.ToolName}
	default:
		if u.Block != nil {
			b.block, b.text = *u.Block, nil
		}
	}
}

// encode returns the answer received so far, nil if none is being written.
func (p *partial) encode() json.RawMessage {
	if p == nil {
		return nil
	}
	m := p.message
	for _, b := range p.blocks {
		switch {
		case b.block.Type == "":
			continue // a block without content so far
		case b.text != nil && b.block.Type == provider.TypeThinking:
			b.block.Thinking = string(b.text)
		case b.text != nil:
			b.block.Text = string(b.text)
		}
		m.Content = append(m.Content, b.block)
	}
	return m.Encode()
}

// standing is the state of a run at one moment: everything up to event seq, and nothing after it.
type standing struct {
	seq     uint64
	partial json.RawMessage
	tools   []ToolActivity
	retry   *Retry
}

// now publishes the held text and returns the state of the run.
func (e *emitter) now() standing {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.releaseLocked()
	return standing{seq: e.last(), partial: e.partial.encode(), tools: slices.Clone(e.tools), retry: e.retryLocked()}
}

// retryLocked returns the retry with the rest of its delay.
func (e *emitter) retryLocked() *Retry {
	if e.retry == nil {
		return nil
	}
	r := *e.retry
	r.DelayMs = max(0, time.Until(e.due).Milliseconds())
	return &r
}
