package lsp

import (
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// encoding is the unit in which the client counts characters within a line.
type encoding = protocol.PositionEncodingKind

const (
	utf8Units  = protocol.PositionEncodingKindUTF8
	utf16Units = protocol.PositionEncodingKindUTF16
	utf32Units = protocol.PositionEncodingKindUTF32
)

// position is a place in a text. Its fields are wider than the protocol's, because
// clients write huge numbers for "the end".
type position struct {
	Line      int64 `json:"line"`
	Character int64 `json:"character"`
}

// textRange is a stretch of a text; End is not part of it.
type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// offsetAt returns the byte offset of a position in text. Lines end with \n, \r\n
// or \r. As the protocol wants it, a character beyond the line counts as its end; a
// line beyond the text counts as the end of the text, and a position inside a
// character as its start. The result is therefore always usable.
func offsetAt(text string, pos position, enc encoding) int {
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

// positionAt is the inverse of [offsetAt]. An offset inside a character or
// between \r and \n counts as the start of that character or line break.
func positionAt(text string, offset int, enc encoding) position {
	offset = min(max(offset, 0), len(text))
	line, start := int64(0), 0
	for {
		end := start + lineEnd(text[start:])
		next := end + lineBreak(text[end:])
		if offset < next || end == len(text) {
			return position{line, columnOf(text[start:min(end, offset)], text[start:end], enc)}
		}
		line, start = line+1, next
	}
}

// lineEnd returns the length of the first line of text without its line break. It looks at
// windows that double, so that it costs what the line is long, whichever break it has.
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
func columnOffset(line string, column int64, enc encoding) int {
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

// columnOf returns how many units the characters of line take that lie wholly
// within its beginning prefix.
func columnOf(prefix, line string, enc encoding) int64 {
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

func unitsOf(r rune, size int, enc encoding) int64 {
	switch {
	case enc == utf8Units:
		return int64(size)
	case enc == utf32Units || r < 0x10000:
		return 1
	default:
		return 2
	}
}

// chooseEncoding picks one of the encodings a client offers: UTF-8 because texts
// are kept in it, then UTF-32, which at least has no halves of characters. UTF-16
// is what everybody speaks, and the answer to no offer.
func chooseEncoding(offered []string) encoding {
	for _, want := range []encoding{utf8Units, utf32Units} {
		for _, o := range offered {
			if strings.EqualFold(o, string(want)) {
				return want
			}
		}
	}
	return utf16Units
}
