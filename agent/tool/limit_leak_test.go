package tool_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// counting is a context that counts the callbacks registered for its end.
type counting struct {
	context.Context //nolint:containedctx // it is one
	done            chan struct{}
	waiting         *atomic.Int64
}

func (c counting) Done() <-chan struct{} { return c.done }

func (c counting) AfterFunc(func()) (stop func() bool) {
	c.waiting.Add(1)
	return func() bool {
		c.waiting.Add(-1)
		return true
	}
}

// A turn keeps no state of a finished call.
func TestCallReleasesItsContext(t *testing.T) {
	t.Parallel()
	ctx := counting{t.Context(), make(chan struct{}), new(atomic.Int64)}
	call := tool.Tool{Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		return tool.TextResult("x"), nil
	}}
	_, err := call.RunWithin(ctx, tool.Env{}, nil)
	require.NoError(t, err)
	require.Zero(t, ctx.waiting.Load())
}
