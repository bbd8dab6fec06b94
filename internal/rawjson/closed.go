package rawjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Closed makes a value of the beginning of one: it leaves out the last member or element if that is
// incomplete, except for the text of a string, and closes all brackets. It is null if that leaves nothing.
func Closed(beginning []byte) []byte {
	c := closer{b: beginning}
	for c.i < len(beginning) && c.step() {
	}
	if c.good == 0 {
		return []byte("null")
	}
	out := append(bytes.Clone(beginning[:c.good]), c.quote...)
	for ; c.open.depth > 0; c.open.close() {
		out = append(out, c.open.closer())
	}
	return out
}

// closer finds the last place at which a value can be closed. No bracket opens or closes after it.
type closer struct {
	b       []byte
	i       int
	open    nesting
	wantKey bool

	good  int    // the place
	quote string // what to write there before the brackets
}

// step consumes a token. It returns false where nothing more can be used.
func (c *closer) step() bool {
	switch b := c.b[c.i]; b {
	case ' ', '\t', '\n', '\r', ':':
		c.i++
		return true
	case ',':
		c.i++
		c.wantKey = c.open.inObject()
		return true
	case '{', '[':
		c.open.open(b == '{')
		c.wantKey = b == '{'
		c.i++
	case '}', ']':
		if c.open.depth == 0 || b != c.open.closer() {
			return false
		}
		c.open.close()
		c.i++
	case '"':
		return c.string()
	default:
		n := bytes.IndexAny(c.b[c.i:], ",]} \t\n\r")
		if n < 1 {
			return false
		}
		c.i += n
	}
	c.good = c.i
	return c.open.depth > 0
}

// string consumes a string, or the beginning of one that is a value.
func (c *closer) string() bool {
	key := c.wantKey
	c.wantKey = false
	end, closed := textEnd(c.b, c.i+1)
	switch {
	case closed:
		if c.i = end + 1; !key {
			c.good = c.i
		}
		return c.open.depth > 0
	case !key:
		c.good, c.quote = end, `"`
	}
	return false
}

// textEnd returns the end of the string whose text begins at b[from]. If it is not closed, that is the
// end of its last whole character.
func textEnd(b []byte, from int) (end int, closed bool) {
	half := -1 // where the first half of a surrogate pair begins that the text ends with
	for i := from; ; {
		if i = plainEnd(b, i); i == len(b) {
			break
		}
		if b[i] == '"' {
			return i, true
		}
		n, st := escape(b[i:])
		if b[i] != '\\' || st != Complete {
			b = b[:i]
			break
		}
		if r := rune(0); n == 6 {
			if r = hex4(b[i+2:]); utf16.IsSurrogate(r) && r < 0xDC00 {
				half = i
			}
		}
		i += n
	}
	if half >= from && half+6 == len(b) {
		return half, false
	}
	for i := len(b) - 1; i >= max(from, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i, false
			}
			break
		}
	}
	return len(b), false
}
