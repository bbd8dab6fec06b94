package main

import (
	"cmp"
	"io"
	"os"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// retryNote shows the retries of a request. On a terminal it is a single line that is rewritten in place
// and disappears when the request succeeds; elsewhere it is one line per retry.
type retryNote struct {
	lines    io.Writer // for complete lines, escaped
	terminal io.Writer // unescaped, for control characters; nil if it is not a terminal
	width    int       // in cells; 0 if unknown: then the usual one is assumed

	retry event.RetryStart // the pending one
	cells int              // of the note on the terminal; 0: none is shown
}

// newRetryNote returns the note for standard error.
func newRetryNote(lines io.Writer) retryNote {
	n := retryNote{lines: lines}
	if s := screenOf(os.Stderr); s.terminal && os.Getenv("TERM") != "dumb" {
		n.terminal, n.width = os.Stderr, s.width
	}
	return n
}

// event updates the note. It must be called before anything that the event prints.
func (n *retryNote) event(e event.Event) {
	switch e := e.(type) {
	case event.RetryStart:
		n.retry = e
		n.show()
	case event.TurnStart: // the request is sent again
		if n.cells > 0 {
			n.retry.DelayMs = 0
			n.show()
		}
	case event.TurnEnd, event.MessageStart, event.MessageEnd: // also of an attempt that fails
	default:
		n.clear()
	}
}

// show replaces the note.
func (n *retryNote) show() {
	text := visible.Line(n.retry.Text())
	if n.terminal == nil {
		_, _ = io.WriteString(n.lines, text+"\n") // without standard error, there is nowhere to report it
		return
	}
	const usual = 80
	text = displaywidth.TruncateString(text, max(cmp.Or(n.width, usual)-1, 1), "…") // the last column would wrap
	n.clear()
	n.cells = displaywidth.String(text)
	_, _ = io.WriteString(n.terminal, text)
}

// clear removes the note. It writes over it, because not every terminal knows a sequence for that.
func (n *retryNote) clear() {
	if n.cells > 0 {
		_, _ = io.WriteString(n.terminal, "\r"+strings.Repeat(" ", n.cells)+"\r")
		n.cells = 0
	}
}
