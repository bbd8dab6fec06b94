package main

import (
	"cmp"
	"io"
	"os"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// usualWidth is assumed for a terminal of unknown width.
const usualWidth = 80

// statusLine is a line on a terminal that is rewritten in place and disappears.
type statusLine struct {
	terminal io.Writer // unescaped, for control characters; nil if there is none
	width    int       // in cells; 0 if unknown: then the usual one is assumed

	cells int // of the shown text; 0: none is shown
}

// stderrLine returns a line on standard error, without a terminal if that is none.
func stderrLine() statusLine { return lineOn(os.Stderr) }

func lineOn(f *os.File) (l statusLine) {
	if s := screenOf(f); s.terminal && os.Getenv("TERM") != "dumb" {
		l.terminal, l.width = f, s.width
	}
	return l
}

// room returns the number of cells that a text can have. The last column would wrap.
func (l *statusLine) room() int { return max(cmp.Or(l.width, usualWidth)-1, 1) }

// show replaces the text, which must be escaped.
func (l *statusLine) show(text string) {
	text = displaywidth.TruncateString(text, l.room(), ellipsis)
	erase := l.erased()
	l.cells = displaywidth.String(text)
	_, _ = io.WriteString(l.terminal, erase+text) // at once, so that it doesn't flicker; there is nowhere to report an error
}

// clear removes the text.
func (l *statusLine) clear() {
	if l.cells > 0 {
		_, _ = io.WriteString(l.terminal, l.erased())
		l.cells = 0
	}
}

// erased returns what removes the text. It writes over it, because not every terminal knows a sequence for that.
func (l *statusLine) erased() string {
	if l.cells == 0 {
		return ""
	}
	return "\r" + strings.Repeat(" ", l.cells) + "\r"
}
