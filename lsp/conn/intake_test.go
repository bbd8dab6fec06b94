package conn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
)

// Messages overtake others only while the client does not read. An abort notification is taken again
// in order.
func TestIntakeOrder(t *testing.T) {
	t.Parallel()
	in := func(name string, l lane) *incoming { return &incoming{body: []byte(name), lane: l} }
	fill := func() *intake {
		q := newIntake(nil, nil)
		for _, m := range []*incoming{in("a", inOrder), in("abort", again), in("b", inOrder), in("stop", stops), in("cancel", quiet), in("c", inOrder)} {
			q.add(m)
		}
		q.add(&incoming{body: []byte("d"), id: jsonrpc2.NewNumberID(4), call: true})
		require.Len(t, q.cancel(jsonrpc2.NewNumberID(4)), 1)
		require.Empty(t, q.cancel(jsonrpc2.NewNumberID(4)))
		q.end()
		return q
	}
	drain := func(q *intake, unread int) (all string) {
		for {
			body, ok := q.take(unread)
			if !ok {
				return all
			}
			all += string(body) + " "
		}
	}
	q := fill()
	assert.Equal(t, "a abort b stop cancel c ", drain(q, 0), "a client that reads")
	assert.Zero(t, q.size)
	<-q.taken

	q = fill()
	assert.Equal(t, "abort stop cancel ", drain(q, maxUnread+1), "one that does not")
	assert.Equal(t, "a abort b c ", drain(q, maxUnread), "and then does")
	assert.Zero(t, q.size)
	<-q.taken
}

func TestIntakeLimitsOvertakingRequests(t *testing.T) {
	t.Parallel()
	q := newIntake(nil, nil)
	for range maxPassed + 10 {
		q.add(&incoming{body: []byte("x"), lane: stops})
	}
	n := 0
	for ; ; n++ {
		if _, ok := q.take(maxUnread + 1); !ok {
			break
		}
	}
	require.Equal(t, maxPassed, n)
}

// The protocol forbids two requests with the same id. A cancellation of the id drops both, and both
// must be answered.
func TestCancelDropsAllHeldRequestsWithTheID(t *testing.T) {
	t.Parallel()
	q := newIntake(nil, nil)
	id := jsonrpc2.NewNumberID(7)
	for _, body := range []string{"one", "two", "three"} {
		q.add(&incoming{body: []byte(body), id: id, call: true})
	}
	body, ok := q.take(0)
	require.True(t, ok)
	require.Equal(t, "one", string(body))
	require.Len(t, q.cancel(id), 2, "the first is being handled")
	_, ok = q.take(0)
	require.False(t, ok)
	require.Zero(t, q.size)
	require.Empty(t, q.byID)
}
