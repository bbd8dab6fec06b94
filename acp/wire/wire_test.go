package wire_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
)

var (
	errSilent = errors.New("silent")
	errGone   = errors.New("gone")
)

// peer is the other side of a connection.
type peer struct {
	*wire.Conn
	sent chan wire.Outgoing
}

func newPeer() *peer {
	p := &peer{sent: make(chan wire.Outgoing, 10)}
	p.Conn = wire.NewConn(wire.Options{
		Put: func(m wire.Outgoing) { p.sent <- m },
		Limit: func(method string) time.Duration {
			if method == "patient" {
				return 0
			}
			return time.Minute
		},
		Silent: errSilent, Gone: errGone,
	})
	return p
}

// call sends a request in the background.
func (p *peer) call(ctx context.Context, method string) <-chan error {
	done := make(chan error, 1)
	go func() {
		var result json.RawMessage
		err := p.Call(ctx, method, nil, &result)
		if err == nil && string(result) != `"yes"` {
			err = errors.New("another answer")
		}
		done <- err
	}()
	return done
}

func TestCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPeer()
		a, b := p.call(t.Context(), "a"), p.call(t.Context(), "patient")
		first, second := <-p.sent, <-p.sent
		require.NotEqual(t, string(first.ID), string(second.ID))
		require.False(t, p.Answered(wire.Envelope{ID: json.RawMessage("77"), Result: json.RawMessage("1")}))
		for _, m := range []wire.Outgoing{second, first} {
			answer := wire.Envelope{ID: append(m.ID, ' '), Result: json.RawMessage(`"yes"`)}
			if m.Method == "a" {
				answer = wire.Envelope{ID: m.ID, Error: &wire.Error{Code: -1, Message: "no"}}
			}
			require.True(t, p.Answered(answer))
			require.False(t, p.Answered(answer), "a second answer")
		}
		require.EqualError(t, <-a, "no")
		require.NoError(t, <-b)
	})
}

func TestCallsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPeer()
		start := time.Now()
		silent := p.call(t.Context(), "a")
		request := <-p.sent
		require.ErrorIs(t, <-silent, errSilent)
		require.Equal(t, time.Minute, time.Since(start))
		require.Equal(t, wire.MethodCancelCall, (<-p.sent).Method)
		require.False(t, p.Answered(wire.Envelope{ID: request.ID, Result: json.RawMessage("1")}), "it is too late")

		ctx, cancel := context.WithCancel(t.Context())
		cancelled := p.call(ctx, "patient")
		<-p.sent
		<-time.After(24 * time.Hour)
		cancel()
		require.ErrorIs(t, <-cancelled, context.Canceled)
		<-p.sent
		require.ErrorIs(t, <-p.call(ctx, "patient"), context.Canceled)
		require.Empty(t, p.sent, "nothing is sent for a context that has ended")

		gone := p.call(t.Context(), "patient")
		<-p.sent
		p.Close()
		require.ErrorIs(t, <-gone, errGone)
	})
}

// Memory does not grow with a line that is too long, and the line after it is read.
func TestLongLines(t *testing.T) {
	t.Parallel()
	r := bufio.NewReader(strings.NewReader(strings.Repeat("x", 1<<20) + "\n next \r\n"))
	_, err := wire.ReadLine(r, 1000)
	require.ErrorIs(t, err, wire.ErrTooLong)
	line, err := wire.ReadLine(r, 1000)
	require.NoError(t, err)
	require.Equal(t, "next", string(line))
	_, err = wire.ReadLine(r, 1000)
	require.ErrorIs(t, err, io.EOF)
}

func TestEncodingIsOneLineOfUTF8(t *testing.T) {
	t.Parallel()
	b, err := wire.Encode(wire.Notification("x", map[string]any{"a": "1\n\u2028<", "raw": json.RawMessage("\"\xff\"")}))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(b), "\n"))
	require.Contains(t, string(b), "\uFFFD")
	require.Contains(t, string(b), "<")
	block, err := json.Marshal(wire.TextBlock(""))
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"text","text":""}`, string(block))
}
