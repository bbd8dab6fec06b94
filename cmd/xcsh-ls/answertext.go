package main

import (
	"bytes"
	"io"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
)

// answerText prints the text of the answers. A service can break off an answer, which is then requested again: on a
// terminal, where text is printed as it arrives, the next attempt continues the text if it begins alike. Elsewhere, where a
// program may read it, only the text of an answer that is not requested again is printed. The zero value prints nowhere.
type answerText struct {
	out  io.Writer
	live bool // text is printed as it arrives

	text  []byte // of the current attempt
	shown []byte // what an attempt that failed has printed, as far as the current one repeats it; nil otherwise
	open  bool   // the last line has no newline yet

	retrying bool // the answer was requested again and has not ended
}

// event prints what an event leads to. It must be called before anything else that the event prints.
func (a *answerText) event(e event.Event) {
	switch e := e.(type) {
	case event.MessageUpdate:
		if e.Update.Type == event.TextDelta {
			a.add(e.Update.Delta)
		}
	case event.MessageEnd: // it may be requested again
		a.endLine()
		a.retrying = false
	case event.TurnEnd:
	case event.RetryStart:
		a.again()
	default:
		if !a.retrying {
			a.end()
		}
	}
}

// add prints a piece of the current attempt.
func (a *answerText) add(piece string) {
	a.text = append(a.text, piece...)
	switch {
	case !a.live:
	case a.shown == nil:
		a.print([]byte(piece))
	case bytes.HasPrefix(a.shown, a.text):
	case bytes.HasPrefix(a.text, a.shown):
		a.print(a.text[bytes.LastIndexByte(a.shown, '\n')+1:]) // the broken line once more
		a.shown = nil
	default:
		a.print(a.text)
		a.shown = nil
	}
}

// again begins another attempt.
func (a *answerText) again() {
	if a.live && a.shown == nil && len(a.text) > 0 {
		a.shown = a.text
	}
	a.text, a.retrying = nil, true
}

// end completes the current answer.
func (a *answerText) end() {
	if len(a.text) > 0 && (!a.live || a.shown != nil && !bytes.Equal(a.shown, a.text)) {
		a.print(a.text)
	}
	a.endLine()
	a.text, a.shown, a.retrying = nil, nil, false
}

func (a *answerText) print(text []byte) {
	if len(text) > 0 {
		_, _ = a.out.Write(text) // output handles the error
		a.open = text[len(text)-1] != '\n'
	}
}

func (a *answerText) endLine() {
	if a.open {
		a.open = false
		_, _ = io.WriteString(a.out, "\n") // as in print
	}
}
