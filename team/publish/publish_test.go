package publish_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

func TestLinesArriveOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 30))
	first := m.sent()
	m.add(lines("a", 30, 40))
	require.Equal(t, first, m.sent())
	m.add(line("a", 40)[:10])
	require.Zero(t, m.flush())
	require.Equal(t, lines("a", 0, 40), w.body(t, first), "a torn line waits for its end")
	m.add(line("a", 40)[10:])
	require.Equal(t, first, m.sent())
	require.Len(t, w.sessions(t), 1)
	require.Equal(t, publish.Sent, m.p.State(path).Phase)
}
