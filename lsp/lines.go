package lsp

import (
	"sort"
	"strings"
)

// lines knows where the lines of a text begin, so that many places in a large one can be told
// to the client.
type lines struct {
	text   string
	starts []int
	enc    encoding
}

func newLines(text string, enc encoding) *lines {
	l := &lines{text: text, starts: []int{0}, enc: enc}
	returns := strings.IndexByte(text, '\r') >= 0
	for at := 0; ; {
		var end int
		if returns {
			end = lineEnd(text[at:])
		} else if end = strings.IndexByte(text[at:], '\n'); end < 0 {
			end = len(text) - at
		}
		if at+end == len(text) {
			return l
		}
		at += end + lineBreak(text[at+end:])
		l.starts = append(l.starts, at)
	}
}

// line returns the line that the byte at offset is on.
func (l *lines) line(offset int64) int {
	return sort.Search(len(l.starts), func(i int) bool { return int64(l.starts[i]) > offset }) - 1
}

// position is [positionAt].
func (l *lines) position(offset int64) position {
	line := l.line(offset)
	rest := l.text[l.starts[line]:]
	end := int(offset) - l.starts[line]
	return position{int64(line), columnOf(rest[:end], rest[:min(len(rest), end+4)], l.enc)}
}

// begin is the beginning of the line that offset is on.
func (l *lines) begin(offset int64) position { return position{Line: int64(l.line(offset))} }

// whole is the range of the lines that hold the bytes from from to to, line ends included. No
// line is counted through for it, unless it is the last.
func (l *lines) whole(from, to int64) textRange {
	last := l.line(max(from, to-1))
	end := position{Line: int64(last) + 1}
	if last+1 == len(l.starts) {
		end = l.position(int64(len(l.text)))
	}
	return textRange{l.begin(from), end}
}
