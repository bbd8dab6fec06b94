// Package answer builds the message of an answer while it comes in, and tells of every
// step as package provider promises: one Start first, one Done or Failed last, events that
// nothing changes afterwards, and nothing more once the reader has left.
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
	// Facts about the answer. They are seen in Start if they are known by then, and in the
	// last event. What the tokens cost follows from the model.
	ResponseID string
	Usage      provider.Usage
	StopReason string // "": stop or toolUse, as the content says

	model   provider.Model
	began   time.Time
	blocks  []*block
	yield   func(provider.Event) bool
	started bool
	left    bool
}

// block is a content block and the pieces of it that came so far. Adding to a string
// instead would copy everything that came before with every piece.
type block struct {
	provider.Block
	pieces bytes.Buffer
	ended  bool
}

// New returns an empty answer of m that tells yield of its steps. began is the message's
// timestamp.
func New(m provider.Model, began time.Time, yield func(provider.Event) bool) *Answer {
	return &Answer{model: m, began: began, yield: yield}
}

// Left reports whether the reader wants no more.
func (a *Answer) Left() bool { return a.left }

func (a *Answer) tell(e provider.Event) {
	if !a.left {
		a.left = !a.yield(e)
	}
}

// Start tells that the service accepted the request. Only the first call counts.
func (a *Answer) Start() {
	if !a.started {
		a.started = true
		a.tell(provider.Event{Kind: provider.Start, Message: a.message("")})
	}
}

// Open begins a block and returns its index. What b already holds of text, thinking or
// arguments counts as its first piece.
func (a *Answer) Open(b provider.Block) int {
	a.Start()
	first := b.Text + b.Thinking + string(b.Arguments)
	b.Text, b.Thinking, b.Arguments = "", "", nil
	index := len(a.blocks)
	a.blocks = append(a.blocks, &block{Block: b})
	if b.Type == provider.TypeToolCall {
		a.tell(provider.Event{Kind: provider.ToolCallStart, Index: index, Block: &b})
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
	a.tell(provider.Event{Kind: kind, Index: index, Delta: delta})
}

// Sign adds to what has to go back to the service with the thinking of the block.
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
	a.tell(provider.Event{Kind: provider.BlockEnd, Index: index, Block: &done})
}

// EndAll completes every block that was not yet, in order.
func (a *Answer) EndAll() {
	for i := range a.blocks {
		a.End(i)
	}
}

// Done tells that the answer is complete.
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
	a.tell(provider.Event{Kind: provider.Done, Message: a.message(a.StopReason)})
}

// Fail tells that the answer will not be completed. What came so far is in the message.
func (a *Answer) Fail(err *provider.Error) {
	a.Start()
	stop := provider.StopError
	if err.Class == provider.Aborted {
		stop = provider.StopAborted
	}
	m := a.message(stop)
	m.ErrorMessage = err.Error()
	a.tell(provider.Event{Kind: provider.Failed, Message: m, Err: err})
}

// message is a copy of the answer as far as it came.
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

// whole is the block with the pieces put together.
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

// arguments returns what a model wrote as a JSON object. Nothing at all is one without
// members. Anything else is not repaired, because a tool would then run with what nobody
// wrote; the problem holds the text instead, for the model to see.
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
