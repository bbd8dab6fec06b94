package textdoc

import (
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// Encoding is the unit in which the client counts characters within a line.
type Encoding = protocol.PositionEncodingKind

// The encodings.
const (
	UTF8  = protocol.PositionEncodingKindUTF8
	UTF16 = protocol.PositionEncodingKindUTF16
	UTF32 = protocol.PositionEncodingKindUTF32
)

// Position is a line and a column of a text, from 0. Its fields are wider than the protocol's,
// because clients send huge numbers for "the end".
type Position struct {
	Line      int64 `json:"line"`
	Character int64 `json:"character"`
}

// Range is a part of a text. End is exclusive.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// OffsetAt returns the byte offset of a position in text. Lines end with \n, \r\n or \r. As the
// protocol requires, a column beyond the line means the end of the line. A line beyond the text
// means the end of the text, and a position inside a character means its start, so the result is
// always a valid offset.
func OffsetAt(text string, pos Position, enc Encoding) int {
	start := 0
	for range pos.Line {
		end := lineEnd(text[start:])
		if start+end == len(text) {
			return len(text)
		}
		start += end + lineBreak(text[start+end:])
	}
	line := text[start : start+lineEnd(text[start:])]
	return start + columnOffset(line, pos.Character, enc)
}

// PositionAt is the inverse of [OffsetAt]. An offset inside a character or between \r and \n means
// the start of that character or line break.
func PositionAt(text string, offset int, enc Encoding) Position {
	offset = min(max(offset, 0), len(text))
	line, start := int64(0), 0
	for {
		end := start + lineEnd(text[start:])
		next := end + lineBreak(text[end:])
		if offset < next || end == len(text) {
			return Position{line, columnOf(text[start:min(end, offset)], text[start:end], enc)}
		}
		line, start = line+1, next
	}
}

// lineEnd returns the length of the first line of text without its line break. It searches windows
// of doubling size, so that its cost is linear in the length of the line for either line break.
func lineEnd(text string) int {
	for from, size := 0, 256; ; size *= 2 {
		to := min(from+size, len(text))
		window := text[from:to]
		if i := strings.IndexByte(window, '\n'); i >= 0 {
			window = window[:i]
		}
		if i := strings.IndexByte(window, '\r'); i >= 0 {
			return from + i
		}
		if from+len(window) < to || to == len(text) {
			return from + len(window)
		}
		from = to
	}
}

// lineBreak returns the length of the line break that text starts with.
func lineBreak(text string) int {
	switch {
	case strings.HasPrefix(text, "\r\n"):
		return 2
	case text == "":
		return 0
	default:
		return 1
	}
}

// columnOffset returns the byte offset of the column-th unit of a line.
func columnOffset(line string, column int64, enc Encoding) int {
	units := int64(0)
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		units += unitsOf(r, size, enc)
		if units > column {
			return i
		}
		i += size
	}
	return len(line)
}

// columnOf returns the number of units in prefix, the beginning of line. It ignores a character that
// prefix cuts off.
func columnOf(prefix, line string, enc Encoding) int64 {
	units := int64(0)
	for i := 0; i < len(prefix); {
		r, size := utf8.DecodeRuneInString(line[i:])
		if i+size > len(prefix) {
			break
		}
		units += unitsOf(r, size, enc)
		i += size
	}
	return units
}

func unitsOf(r rune, size int, enc Encoding) int64 {
	switch {
	case enc == UTF8:
		return int64(size)
	case enc == UTF32 || r < 0x10000:
		return 1
	default:
		return 2
	}
}

// ChooseEncoding picks one of the encodings that a client offers: UTF-8, because texts are stored in
// it, then UTF-32, which has no surrogate pairs. UTF-16 is the default, which all clients support.
func ChooseEncoding(offered []string) Encoding {
	for _, want := range []Encoding{UTF8, UTF32} {
		for _, o := range offered {
			if strings.EqualFold(o, string(want)) {
				return want
			}
		}
	}
	return UTF16
}
