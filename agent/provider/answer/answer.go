// Package answer builds the message of an answer while it comes in, and sends an event for every
// step as package provider promises: one Start first, one Done or Failed last, events that nothing
// changes afterwards, and nothing more once the reader has left.
package answer

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Answer is an answer that is coming in. It is used by one goroutine.
type Answer struct {
	// Facts about the answer. They are in Start if they are known by then, and in the last event.
	// The cost of the tokens follows from the model.
	ResponseID string
	Usage      provider.Usage
	StopReason string // "": stop or toolUse, as the content says
	Note       string // for the user, about an answer that is complete; "": none

	model   provider.Model
	began   time.Time
	blocks  []*block
	yield   func(provider.Event) bool
	started bool
	stopped bool
}

// block is a content block and the pieces of it received so far. Adding to a string instead would
// copy all previous pieces with every new one.
type block struct {
	provider.Block
	pieces bytes.Buffer
	ended  bool
}

// New returns an empty answer of m that sends its events to yield. began is the message's
// timestamp.
func New(m provider.Model, began time.Time, yield func(provider.Event) bool) *Answer {
	return &Answer{model: m, began: began, yield: yield}
}

// Stopped reports whether the reader has stopped reading.
func (a *Answer) Stopped() bool { return a.stopped }

func (a *Answer) emit(e provider.Event) {
	if !a.stopped {
		a.stopped = !a.yield(e)
	}
}

// Start reports that the service accepted the request. Only the first call counts.
func (a *Answer) Start() {
	if !a.started {
		a.started = true
		a.emit(provider.Event{Kind: provider.Start, Message: a.message("")})
	}
}

// Open begins a block and returns its index. The text, thinking or arguments that b already holds
// count as its first piece.
func (a *Answer) Open(b provider.Block) int {
	a.Start()
	first := b.Text + b.Thinking + string(b.Arguments)
	b.Text, b.Thinking, b.Arguments = "", "", nil
	index := len(a.blocks)
	a.blocks = append(a.blocks, &block{Block: b})
	if b.Type == provider.TypeToolCall {
		a.emit(provider.Event{Kind: provider.ToolCallStart, Index: index, Block: &b})
	}
	a.Add(index, first)
	return index
}

// Add adds a piece to the block, unless it has ended.
func (a *Answer) Add(index int, delta string) {
	b := a.blocks[index]
	if delta == "" || b.ended {
		return
	}
	b.pieces.WriteString(delta)
	kind := provider.TextDelta
	switch b.Type {
	case provider.TypeThinking:
		kind = provider.ThinkingDelta
	case provider.TypeToolCall:
		kind = provider.ToolCallDelta
	}
	a.emit(provider.Event{Kind: kind, Index: index, Delta: delta})
}

// StoppedFor completes an answer that the service ended for a reason that is not known here. The
// user is notified, because the answer may not be what was expected.
func (a *Answer) StoppedFor(reason string) {
	a.Note = fmt.Sprintf("The service ended the answer for an unknown reason: %q.", reason)
}

// Sign appends to the signature that the service gets back with the thinking of the block.
func (a *Answer) Sign(index int, signature string) { a.blocks[index].ThinkingSignature += signature }

// Edit gives access to the block's own fields until it ends. Text, thinking and arguments
// are not among them.
func (a *Answer) Edit(index int) *provider.Block { return &a.blocks[index].Block }

// Length is how many bytes of text, thinking or arguments the block has so far.
func (a *Answer) Length(index int) int { return a.blocks[index].pieces.Len() }

// End completes the block. Ending it again does nothing.
func (a *Answer) End(index int) {
	b := a.blocks[index]
	if b.ended {
		return
	}
	b.ended = true
	b.Block = b.whole()
	done := b.Block
	a.emit(provider.Event{Kind: provider.BlockEnd, Index: index, Block: &done})
}

// EndAll completes every block that was not yet, in order.
func (a *Answer) EndAll() {
	for i := range a.blocks {
		a.End(i)
	}
}

// Done reports that the answer is complete.
func (a *Answer) Done() {
	a.Start()
	a.EndAll()
	calls := slices.ContainsFunc(a.blocks, func(b *block) bool { return b.Type == provider.TypeToolCall })
	// Services disagree on the reason of an answer with calls, and calls wait to be run.
	switch stop := a.StopReason; {
	case calls && (stop == "" || stop == provider.StopEnd):
		a.StopReason = provider.StopToolUse
	case !calls && (stop == "" || stop == provider.StopToolUse):
		a.StopReason = provider.StopEnd
	}
	a.emit(provider.Event{Kind: provider.Done, Message: a.message(a.StopReason), Note: a.Note})
}

// Fail reports that the answer will not be completed. The message holds the answer received so far.
func (a *Answer) Fail(err *provider.Error) {
	a.Start()
	stop := provider.StopError
	if err.Class == provider.Aborted {
		stop = provider.StopAborted
	}
	m := a.message(stop)
	m.ErrorMessage = err.Error()
	a.emit(provider.Event{Kind: provider.Failed, Message: m, Err: err})
}

// message is a copy of the answer received so far.
func (a *Answer) message(stop string) *provider.Message {
	u := a.Usage
	u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
	u.Cost, _ = a.model.Price(u)
	m := &provider.Message{
		Role: provider.RoleAssistant, Content: []provider.Block{},
		API: a.model.API, Provider: a.model.Provider, Model: a.model.ID, ResponseID: a.ResponseID,
		Usage: &u, StopReason: stop, Timestamp: a.began.UnixMilli(),
	}
	for _, b := range a.blocks {
		if b.ended {
			m.Content = append(m.Content, b.Block)
			continue
		}
		part := b.whole()
		if part.Type == provider.TypeToolCall {
			part.Arguments, part.ArgumentsError = []byte("{}"), "the answer ended inside the arguments"
		}
		m.Content = append(m.Content, part)
	}
	return m
}

// whole returns the block with all its pieces.
func (b *block) whole() provider.Block {
	w := b.Block
	switch w.Type {
	case provider.TypeText:
		w.Text = b.pieces.String()
	case provider.TypeThinking:
		w.Thinking = b.pieces.String()
	case provider.TypeToolCall:
		w.Arguments, w.ArgumentsError = arguments(b.pieces.Bytes())
	}
	return w
}

// arguments returns the arguments of a model's call as a JSON object. An empty text is an object
// without members. Anything else is not repaired, because a tool would then run with arguments that
// the model did not write; problem holds the text instead, for the model to see.
func arguments(raw []byte) (object []byte, problem string) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return []byte("{}"), ""
	}
	v := jsontext.Value(bytes.ToValidUTF8(raw, []byte("\uFFFD")))
	if v.Kind() == '{' && v.IsValid() {
		return bytes.Clone(v), ""
	}
	const most = 500
	shown := string(v)
	if len(shown) > most {
		shown = string(bytes.ToValidUTF8(v[:most], nil)) + "…"
	}
	return []byte("{}"), fmt.Sprintf("the arguments are not a JSON object: %s", shown)
}
