package session

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// text applies the rules for strings: an image's URL goes to a blob, a signature that is
// too long becomes empty (its provider rejects half a signature), any other over-long text
// ends with the notice.
func (p *preparer) text(s extent, at place) {
	if at.key == roleImageURL && p.imageURL(s, at) {
		return
	}
	if s.to-s.from-2 <= p.lim.text { // a unit takes at least a byte
		return
	}
	body := inside(p.line[s.from:s.to])
	cut, over := cutText(body, p.lim.text, p.lim.text-len(truncationNotice))
	switch {
	case !over:
	case at.key == roleSignature:
		p.replace(s.from+1, s.to-1, nil)
	default:
		p.replace(s.from+1+cut, s.to-1, inside(rawjson.Quote(truncationNotice)))
	}
}

// cutText reports whether the escaped text is longer than limit units, and if so the length
// in bytes of its first keep units, one fewer if the last one would be half of a character.
func cutText(body []byte, limit, keep int) (cut int, over bool) {
	units := 0
	for i := 0; i < len(body); {
		size, width := 1, 1
		if c := body[i]; c == '\\' || c >= utf8.RuneSelf { // a call for each letter would be slow
			size, width = character(body[i:])
		}
		i += size
		if units += width; units <= keep {
			cut = i
		}
		if units > limit {
			return cut, true
		}
	}
	return len(body), false
}

// longer reports whether the escaped text has more than limit units.
func longer(body []byte, limit int) bool {
	if len(body) <= limit {
		return false
	}
	_, over := cutText(body, limit, 0)
	return over
}

// character returns how many bytes of an escaped text the first character takes and
// how many UTF-16 units it is. A pair of surrogate escapes is one character; a lone
// surrogate and a byte that is not UTF-8 are one unit.
func character(b []byte) (size, units int) {
	switch {
	case b[0] >= utf8.RuneSelf:
		r, n := utf8.DecodeRune(b)
		if r > 0xFFFF {
			return n, 2
		}
		return n, 1
	case b[0] != '\\':
		return 1, 1
	case len(b) < 6 || b[1] != 'u':
		return min(2, len(b)), 1
	case len(b) >= 12 && surrogate(b, "89abAB") && surrogate(b[6:], "cdefCDEF"):
		return 12, 2
	}
	return 6, 1
}

// surrogate reports whether b begins with the escape \udXyy, X being one of half.
func surrogate(b []byte, half string) bool {
	return b[0] == '\\' && b[1] == 'u' && b[2]|0x20 == 'd' && strings.IndexByte(half, b[3]) >= 0
}

// newlines counts the newlines of an escaped text.
func newlines(body []byte) (n int) {
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 || i+1 == len(body) {
			return n
		}
		switch body = body[i:]; {
		case body[1] == 'n', len(body) >= 6 && bytes.EqualFold(body[1:6], []byte("u000a")):
			n++
		}
		body = body[2:]
	}
}
