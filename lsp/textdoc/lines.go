package textdoc

import (
	"sort"
	"strings"
)

// Lines is a table of the lines of a text, which makes converting many offsets of a large text fast.
type Lines struct {
	text   string
	starts []int
	enc    Encoding
}

// NewLines returns the table of a text.
func NewLines(text string, enc Encoding) *Lines {
	l := &Lines{text: text, starts: []int{0}, enc: enc}
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

// Line returns the line that the byte at offset is on.
func (l *Lines) Line(offset int64) int {
	return sort.Search(len(l.starts), func(i int) bool { return int64(l.starts[i]) > offset }) - 1
}

// Position is [PositionAt].
func (l *Lines) Position(offset int64) Position {
	line := l.Line(offset)
	rest := l.text[l.starts[line]:]
	end := int(offset) - l.starts[line]
	return Position{int64(line), columnOf(rest[:end], rest[:min(len(rest), end+4)], l.enc)}
}

// Begin returns the beginning of the line that offset is on.
func (l *Lines) Begin(offset int64) Position { return Position{Line: int64(l.Line(offset))} }

// Whole returns the range of the lines that hold the bytes between two offsets, including their line
// ends. It scans no line but the last one of the text.
func (l *Lines) Whole(from, to int64) Range {
	last := l.Line(max(from, to-1))
	end := Position{Line: int64(last) + 1}
	if last+1 == len(l.starts) {
		end = l.Position(int64(len(l.text)))
	}
	return Range{l.Begin(from), end}
}

// OffsetAt is [OffsetAt] in the text and encoding of the table.
func (l *Lines) OffsetAt(pos Position) int64 { return int64(OffsetAt(l.text, pos, l.enc)) }
