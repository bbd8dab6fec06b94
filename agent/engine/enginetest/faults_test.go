package enginetest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
)

// strict is a configuration with short limits.
func strict(c *child.Config) {
	c.MaxLine, c.WriteLimit, c.InputGrace, c.TermGrace = 4<<20, 200*time.Millisecond, 100*time.Millisecond, 100*time.Millisecond
}

// A double that does not end is killed.
func TestDoublesThatStay(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"ignore-input-end;ignore-term", "stop-at-start"} {
		h := hostWith(t, newPlace(t), enginetest.Pi(t, fault), strict)
		require.NoError(t, h.Close(t.Context()))
		if h.Exit().Signal != "terminated" { // it was ended before it ignored the signal
			require.Equal(t, killed, h.Exit(), fault)
		}
	}
}

func TestDoublesThatBreakALimit(t *testing.T) {
	t.Parallel()
	h := hostWith(t, newPlace(t), enginetest.Pi(t, "not-reading"), strict)
	_ = h.Write(t.Context(), []byte(strings.Repeat(" ", 1<<20))) // it is not read
	require.ErrorIs(t, h.Exit().Err, child.ErrNotReading)

	h = hostWith(t, newPlace(t), enginetest.Pi(t), strict)
	h.prompt("[[fault:endless]]")
	for range h.Lines() { // to their end
	}
	require.ErrorIs(t, h.Exit().Err, child.ErrTooLong)

	h = hostWith(t, newPlace(t), enginetest.Pi(t), strict)
	h.prompt("[[fault:not-reading]][[say:hi]]")
	h.event("agent_settled")
	_ = h.Write(t.Context(), []byte(strings.Repeat(" ", 1<<20))) // as above, from the next line on
	_ = h.Write(t.Context(), []byte(strings.Repeat(" ", 1<<20))) // as above
	require.ErrorIs(t, h.Exit().Err, child.ErrNotReading)
}

// An abort that is never answered, in a run that goes on.
func TestADeafDoubleAnswersOthers(t *testing.T) {
	t.Parallel()
	h := host(t, enginetest.Pi(t, "deaf"))
	h.prompt("[[hang]]")
	h.send(`{"id":"a","type":"abort"}`)
	require.Contains(t, string(h.call(`{"type":"get_state"}`)), `"isStreaming":true`)
	require.False(t, slices.ContainsFunc(h.seen, func(l line) bool { return l.ID == "a" }))
}

func TestFaultsOfTheBridge(t *testing.T) {
	t.Parallel()
	program, args := bridged(t, enginetest.Pi(t, "unpermitted"))
	h := host(t, program, args...)
	h.prompt(`[[tool:bash {"command":"echo ran"}]]`)
	require.Empty(t, h.bridge(nil))
	require.Contains(t, h.results()[0], "ran")

	program, args = bridged(t, enginetest.Pi(t, "no-bridge"))
	h = host(t, program, args...)
	h.run("[[say:hi]]")
	require.False(t, slices.ContainsFunc(h.seen, func(l line) bool { return l.StatusKey == mark }))

	program, args = bridged(t, enginetest.Pi(t, "silent-reload"))
	h = host(t, program, args...)
	h.prompt(`/xcsh-ls-reload {"n":1}`)
	h.response("p")
	require.False(t, slices.ContainsFunc(h.seen, func(l line) bool { return strings.Contains(l.StatusText, "reload") }))

	program, args = bridged(t, enginetest.Pi(t, "bridge-fails"))
	h = host(t, program, args...)
	require.Equal(t, child.Exit{Code: 1}, h.Exit())
	require.Contains(t, h.Stderr(), args[1])
}

func TestFaultsThatOnlyDelay(t *testing.T) {
	t.Parallel()
	began := time.Now()
	h := host(t, enginetest.Pi(t, "slow-start:300"))
	h.call(`{"type":"get_state"}`)
	require.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)

	h.prompt("[[fault:no-settled]][[say:hi]]")
	h.event("agent_end")
	for strings.Contains(string(h.call(`{"type":"get_state"}`)), `"isStreaming":true`) { // the run ends now
	}
	require.NotContains(t, h.kinds(), "agent_settled")
	h.run("[[say:again]]")

	h.run(`[[fault:stderr:some\nwords]][[say:x]]`)
	require.NoError(t, h.Close(t.Context()))
	require.Equal(t, "some\nwords", h.Stderr())
}
