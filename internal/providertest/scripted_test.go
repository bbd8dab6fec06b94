package providertest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

func TestScripted(t *testing.T) {
	t.Parallel()
	var p providertest.Scripted
	p.Script("m", providertest.Reply{
		Thinking: "hm", Redacted: "sealed", Text: "Reading the file.", ToolCalls: []providertest.Call{{Name: "read", Args: map[string]any{"path": "x"}}},
	}, providertest.Reply{Text: "No", Stop: provider.StopError})
	req := provider.Request{Model: provider.Model{ID: "m"}, Key: "secret"}
	o := providertest.Collect(t, p.Stream(t.Context(), req))
	require.Nil(t, o.Err)
	require.Len(t, o.Message.Content, 4)
	require.Equal(t, "Reading the file.", o.Message.PlainText())
	require.Equal(t, provider.StopToolUse, o.Message.StopReason)
	require.Equal(t, 170, o.Message.Usage.TotalTokens)
	require.Equal(t, provider.Refused, providertest.Collect(t, p.Stream(t.Context(), req)).Err.Class)
	require.Len(t, p.Requests(), 2)
	require.Empty(t, p.Requests()[0].Key)
	req.Model.ID = "other"
	require.Equal(t, provider.InvalidRequest, providertest.Collect(t, p.Stream(t.Context(), req)).Err.Class)
}

func TestScriptedFaults(t *testing.T) {
	t.Parallel()
	for _, f := range providertest.Faults {
		var p providertest.Scripted
		p.Script("m", providertest.Reply{
			Thinking: "hm", Text: "0123456789abcdef", Chunk: 4, ToolCalls: []providertest.Call{{Name: "read", Args: map[string]any{"path": "x"}}},
			Fault: f, RetryAfter: "2.5",
		})
		o := providertest.Collect(t, p.Stream(t.Context(), provider.Request{Model: provider.Model{ID: "m"}}))
		require.NotNil(t, o.Err, "%v", f)
		require.Equal(t, f.Class(), o.Err.Class, "%v", f)
		require.Equal(t, 2500*time.Millisecond, o.Err.RetryAfter)
	}
}

func TestScriptedWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p providertest.Scripted
		gate := make(chan struct{})
		p.Script("m", providertest.Reply{Text: "0123456789abcdef", Hold: gate}, providertest.Reply{Text: "x", Before: make(chan struct{})})
		req := provider.Request{Model: provider.Model{ID: "m"}}
		time.AfterFunc(time.Hour, func() { close(gate) })
		began := time.Now()
		o := providertest.Collect(t, p.Stream(t.Context(), req))
		require.Nil(t, o.Err)
		require.Equal(t, time.Hour, time.Since(began))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		o = providertest.Collect(t, p.Stream(ctx, req))
		require.Equal(t, provider.Aborted, o.Err.Class)
		require.Equal(t, time.Hour+time.Minute, time.Since(began))
	})
}

// A reader that leaves does not wait for the rest of the stream.
func TestScriptedEndsWithItsReader(t *testing.T) {
	t.Parallel()
	var p providertest.Scripted
	p.Script("m", providertest.Reply{Text: "0123456789abcdef", Chunk: 4, Hold: make(chan struct{})})
	for e := range p.Stream(t.Context(), provider.Request{Model: provider.Model{ID: "m"}}) {
		if e.Kind == provider.TextDelta {
			break
		}
	}
}
