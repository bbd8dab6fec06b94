package providertest

import (
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Outcome is the result of a stream.
type Outcome struct {
	Events  []provider.Event
	Message provider.Message // of the last event
	Err     *provider.Error  // nil when the answer is complete
	Note    string           // of the last event
}

// Text returns the texts that the events added, in order.
func (o Outcome) Text() string {
	var b strings.Builder
	for _, e := range o.Events {
		if e.Kind == provider.TextDelta {
			b.WriteString(e.Delta)
		}
	}
	return b.String()
}

// Collect reads a stream to its end and fails the test where it breaks a promise of
// package provider.
func Collect(tb testing.TB, stream iter.Seq[provider.Event]) Outcome {
	tb.Helper()
	return CollectWith(tb, stream, func(provider.Event) {})
}

// CollectWith is [Collect] that passes each event to see when it arrives.
func CollectWith(tb testing.TB, stream iter.Seq[provider.Event], see func(provider.Event)) Outcome {
	tb.Helper()
	var o Outcome
	c := contract{tb: tb, blocks: map[int]*seen{}}
	var snapshots []string
	for e := range stream {
		c.check(e, len(o.Events) == 0)
		o.Events = append(o.Events, e)
		snapshots = append(snapshots, snapshot(tb, e))
		see(e)
	}
	require.NotEmpty(tb, o.Events, "a stream without events")
	last := o.Events[len(o.Events)-1]
	require.True(tb, c.ended, "a stream without Done or Failed")
	for i, e := range o.Events {
		require.Equal(tb, snapshots[i], snapshot(tb, e), "event %d changed after it was delivered", i)
	}
	o.Message, o.Err, o.Note = *last.Message, last.Err, last.Note
	c.whole(o)
	return o
}

func snapshot(tb testing.TB, e provider.Event) string {
	raw, err := json.Marshal(e)
	require.NoError(tb, err)
	return string(raw)
}

// contract follows a stream.
type contract struct {
	tb     testing.TB
	blocks map[int]*seen
	ended  bool
}

// seen is the observed state of a block.
type seen struct {
	kind   provider.Kind // of its deltas
	pieces strings.Builder
	call   bool
	end    *provider.Block
}

func (c *contract) check(e provider.Event, first bool) {
	c.tb.Helper()
	require.False(c.tb, c.ended, "an event behind the last one")
	require.Equal(c.tb, first, e.Kind == provider.Start, "Start is the first event and no other")
	switch e.Kind {
	case provider.Start:
		require.NotNil(c.tb, e.Message)
	case provider.Done, provider.Failed:
		c.ended = true
		require.NotNil(c.tb, e.Message)
		require.Equal(c.tb, e.Kind == provider.Failed, e.Err != nil)
	case provider.ToolCallStart:
		require.NotNil(c.tb, e.Block)
		require.NotEmpty(c.tb, e.Block.Name)
		require.NotContains(c.tb, c.blocks, e.Index)
		c.blocks[e.Index] = &seen{kind: provider.ToolCallDelta, call: true}
	case provider.BlockEnd:
		require.NotNil(c.tb, e.Block)
		b := c.block(e)
		require.Nil(c.tb, b.end, "a block ended twice")
		require.Equal(c.tb, b.call, e.Block.Type == provider.TypeToolCall)
		b.end = e.Block
	default:
		require.NotEmpty(c.tb, e.Delta)
		b := c.block(e)
		require.Nil(c.tb, b.end, "a piece of a block that ended")
		require.Equal(c.tb, b.kind, e.Kind)
		b.pieces.WriteString(e.Delta)
	}
}

func (c *contract) block(e provider.Event) *seen {
	b := c.blocks[e.Index]
	if b == nil {
		require.NotEqual(c.tb, provider.ToolCallDelta, e.Kind, "arguments before the call")
		b = &seen{kind: e.Kind}
		c.blocks[e.Index] = b
	}
	return b
}

// whole checks the message against its events.
func (c *contract) whole(o Outcome) {
	c.tb.Helper()
	m := o.Message
	require.Equal(c.tb, provider.RoleAssistant, m.Role)
	require.NotNil(c.tb, m.Usage)
	if o.Err != nil {
		require.NotEmpty(c.tb, o.Err.Class)
		require.Equal(c.tb, o.Err.Error(), m.ErrorMessage)
		aborted := o.Err.Class == provider.Aborted
		require.Equal(c.tb, map[bool]string{true: provider.StopAborted, false: provider.StopError}[aborted], m.StopReason)
	} else {
		require.Contains(c.tb, []string{provider.StopEnd, provider.StopLength, provider.StopToolUse}, m.StopReason)
	}
	for i, b := range m.Content {
		s := c.blocks[i]
		if s == nil {
			require.NotEqual(c.tb, provider.TypeToolCall, b.Type)
			continue
		}
		if s.end == nil {
			require.NotNil(c.tb, o.Err, "a complete answer with a block that did not end")
		} else {
			require.Equal(c.tb, *s.end, b)
		}
		switch b.Type {
		case provider.TypeText:
			require.Equal(c.tb, s.pieces.String(), b.Text)
		case provider.TypeThinking:
			require.Equal(c.tb, s.pieces.String(), b.Thinking)
		case provider.TypeToolCall:
			require.True(c.tb, json.Valid(b.Arguments))
			if b.ArgumentsError == "" && strings.TrimSpace(s.pieces.String()) != "" {
				require.JSONEq(c.tb, s.pieces.String(), string(b.Arguments))
			}
		}
	}
	for i := range c.blocks {
		require.Less(c.tb, i, len(m.Content), "a block that is not in the message")
	}
}
