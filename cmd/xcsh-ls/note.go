package main

import (
	"io"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// retryNote shows the retries of a request. On a terminal it is a single line that is rewritten in place
// and disappears when the request succeeds; elsewhere it is one line per retry.
type retryNote struct {
	lines io.Writer  // for complete lines, escaped
	line  statusLine // on the terminal, if there is one

	retry event.RetryStart // the pending one
}

// newRetryNote returns the note for standard error.
func newRetryNote(lines io.Writer) retryNote {
	return retryNote{lines: lines, line: stderrLine()}
}

// event updates the note. It must be called before anything that the event prints.
func (n *retryNote) event(e event.Event) {
	switch e := e.(type) {
	case event.RetryStart:
		n.retry = e
		n.show()
	case event.TurnStart: // the request is sent again
		if n.line.cells > 0 {
			n.retry.DelayMs = 0
			n.show()
		}
	case event.TurnEnd, event.MessageStart, event.MessageEnd: // also of an attempt that fails
	default:
		n.line.clear()
	}
}

// show replaces the note.
func (n *retryNote) show() {
	text := visible.Line(n.retry.Text())
	if n.line.terminal == nil {
		_, _ = io.WriteString(n.lines, text+"\n") // without standard error, there is nowhere to report it
		return
	}
	n.line.show(text)
}
