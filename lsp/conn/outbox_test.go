package conn

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

// When it is full, the outbox keeps the newest event of each session, in order.
func TestOutboxIsBounded(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	o := newOutbox()
	event := func(session string, seq int) {
		params := append([]byte(fmt.Sprint(seq)), bytes.Repeat([]byte("x"), 1<<20)...)
		o.put(Notification{Method: "xcsh/event", Params: params, Session: session})
	}
	for i := range 200 {
		event("a", i)
		event("b", i)
		o.put(Notification{Method: "window/showMessage", Params: make([]byte, 1<<10)})
	}
	require.LessOrEqual(t, o.size, maxOutbox+4<<20)
	last := map[string]int{}
	for {
		n, ok := o.take()
		if !ok {
			break
		}
		if n.Session == "" {
			continue
		}
		var seq int
		_, err := fmt.Sscanf(string(n.Params[:min(3, len(n.Params))]), "%d", &seq)
		require.NoError(t, err)
		require.GreaterOrEqual(t, seq, last[n.Session])
		last[n.Session] = seq
	}
	require.Equal(t, map[string]int{"a": 199, "b": 199}, last)
	require.Zero(t, o.size)
}

// CaughtUp waits while too many notifications are unread, in the outbox or in the output.
func TestNotificationsThatAreNotReadArePaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := &stream{output: &output{wake: make(chan struct{}, 1)}, broken: make(chan struct{}), stopped: make(chan struct{})}
		c := &Conn{log: zap.NewNop(), outbox: newOutbox(), stream: st}
		for range maxUnread>>20 + 2 {
			c.outbox.put(Notification{Method: "xcsh/event", Params: make([]byte, 1<<20), Session: "s"})
		}
		var returned atomic.Int64
		wait := func(ctx context.Context) {
			c.CaughtUp(ctx)
			returned.Add(1)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go wait(ctx)
		go wait(t.Context())
		synctest.Wait()
		require.Zero(t, returned.Load())
		cancel()
		synctest.Wait()
		require.EqualValues(t, 1, returned.Load(), "the one that was cancelled")
		c.outbox.take()
		synctest.Wait()
		require.EqualValues(t, 1, returned.Load())
		c.outbox.take()
		synctest.Wait()
		require.EqualValues(t, 2, returned.Load())
	})
}

// take is next for an outbox that was never opened.
func (o *outbox) take() (Notification, bool) {
	o.mu.Lock()
	o.opened = true
	o.mu.Unlock()
	return o.next()
}
