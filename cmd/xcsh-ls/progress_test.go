package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testClock is a clock that the test moves.
type testClock struct {
	time    time.Time
	pending func()
	due     time.Duration
}

func (c *testClock) clock() clock {
	return clock{func() time.Time { return c.time }, func(d time.Duration, f func()) func() bool {
		c.due, c.pending = d, f
		return func() bool {
			stopped := c.pending != nil
			c.pending = nil
			return stopped
		}
	}}
}

// pass moves the clock, and calls the function that is due.
func (c *testClock) pass(d time.Duration) {
	c.time = c.time.Add(d)
	if c.due -= d; c.due <= 0 && c.pending != nil {
		f := c.pending
		c.pending = nil
		f()
	}
}

// seen returns the text that a terminal shows in its line.
func seen(written string) (text string) {
	var cells []rune
	at := 0
	for _, r := range written {
		if r == '\r' {
			at = 0
			continue
		}
		if at == len(cells) {
			cells = append(cells, r)
		} else {
			cells[at] = r
		}
		at++
	}
	return strings.TrimRight(string(cells), " ")
}

func TestABarAppearsAfterAWhile(t *testing.T) {
	t.Parallel()
	var terminal strings.Builder
	c := testClock{time: time.Unix(1, 0)}
	b := newBar("Exporting", false, statusLine{terminal: &terminal}, c.clock())
	c.pass(barDelay - 1)
	b.count(1, 4)
	require.Empty(t, terminal.String(), "it may end soon")
	c.pass(1)
	assert.Equal(t, "Exporting  [######------------------]  25%", seen(terminal.String()))
	b.count(2, 4)
	assert.Contains(t, seen(terminal.String()), " 25%", "it was just drawn")
	c.pass(barInterval)
	b.count(3, 4)
	assert.Equal(t, "Exporting  [##################------]  75%", seen(terminal.String()))
	c.pass(barInterval)
	b.count(5, 4)
	assert.Equal(t, "Exporting  [########################] 100%", seen(terminal.String()))
	b.End("done")
	assert.Empty(t, seen(terminal.String()))
	assert.True(t, strings.HasSuffix(terminal.String(), "\r"), "the next text begins at the left")
	before := terminal.Len()
	c.pass(time.Hour)
	b.count(1, 4)
	b.End("")
	assert.Equal(t, before, terminal.Len(), "it does not come back")
}

func TestAShortOperationShowsNothing(t *testing.T) {
	t.Parallel()
	var terminal strings.Builder
	c := testClock{time: time.Unix(1, 0)}
	b := newBar("Exporting", false, statusLine{terminal: &terminal}, c.clock())
	b.count(1, 2)
	b.End("")
	c.pass(time.Hour)
	assert.Empty(t, terminal.String())
}

// Without a total, the bar is a count. Names of files can't control the terminal, and the line never wraps.
func TestABarFitsTheTerminal(t *testing.T) {
	t.Parallel()
	var terminal strings.Builder
	c := testClock{time: time.Unix(1, 0)}
	b := newBar("Searching", false, statusLine{terminal: &terminal, width: 30}, c.clock())
	c.pass(barDelay)
	assert.Equal(t, "Searching", seen(terminal.String()), "even before the first report")
	c.pass(barInterval)
	b.files(1200)
	assert.Equal(t, "Searching  1200 files", seen(terminal.String()))
	c.pass(barInterval)
	b.Report("a\x1b[2J\r\n.jsonl", -1)
	assert.Equal(t, `Searching  a\u001b[2J\r\n.js…`, seen(terminal.String()))
	b.End("")
	assert.Empty(t, seen(terminal.String()))
}

// Without a terminal, or with --json, there is no timer and no text.
func TestABarNeedsATerminal(t *testing.T) {
	t.Parallel()
	var terminal strings.Builder
	for quiet, line := range map[bool]statusLine{false: {}, true: {terminal: &terminal}} {
		c := testClock{time: time.Unix(1, 0)}
		b := newBar("Exporting", quiet, line, c.clock())
		require.Nil(t, c.pending)
		b.appear()
		c.pass(time.Hour)
		b.count(1, 2)
		b.End("")
	}
	require.Empty(t, terminal.String())
}

// A number of bytes without their total is shown without a bar.
func TestABarOfBytes(t *testing.T) {
	t.Parallel()
	var terminal strings.Builder
	c := testClock{time: time.Unix(1, 0)}
	b := newBar("Pulling", false, statusLine{terminal: &terminal}, c.clock())
	b.bytes(100, 0)
	c.pass(barDelay)
	assert.Equal(t, "Pulling  100 bytes", seen(terminal.String()))
	c.pass(barInterval)
	b.bytes(1<<20, 4<<20)
	assert.Equal(t, "Pulling  [######------------------]  25%  4.0 MiB", seen(terminal.String()))
	c.pass(barInterval)
	b.bytes(5<<20, 4<<20)
	assert.Equal(t, "Pulling  [########################] 100%  4.0 MiB", seen(terminal.String()), "it grew meanwhile")
	b.End("")
	assert.Empty(t, seen(terminal.String()))
}

// The first output ends the bar, so that a terminal which shows both has no bar in the text.
func TestOutputEndsABar(t *testing.T) {
	t.Parallel()
	var terminal strings.Builder
	c := testClock{time: time.Unix(1, 0)}
	b := newBar("Exporting", false, statusLine{terminal: &terminal}, c.clock())
	c.pass(barDelay)
	b.count(1, 2)
	require.NotEmpty(t, seen(terminal.String()))
	_, err := endingBar{&terminal, b}.Write([]byte("text"))
	require.NoError(t, err)
	require.Equal(t, "text", seen(terminal.String()))
	c.pass(time.Hour)
	b.count(2, 2)
	require.Equal(t, "text", seen(terminal.String()))
}
