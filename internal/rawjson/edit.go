package rawjson

import (
	"slices"
	"unicode/utf8"
)

// Set returns a copy of the object obj in which key has the value val. An existing
// member keeps its place; a new one is added at the end, as JavaScript does.
func Set(obj []byte, key string, val []byte) []byte {
	at, last := member{val: -1}, member{valEnd: -1}
	eachMember(obj, func(m member) bool {
		if keyIs(obj[m.key:m.keyEnd], key) {
			at = m
		}
		last = m
		return true
	})
	if at.val >= 0 {
		return slices.Concat(obj[:at.val], val, obj[at.valEnd:])
	}
	name := append(Quote(key), ':')
	if last.valEnd < 0 {
		open := skipSpace(obj, 0) + 1
		return slices.Concat(obj[:open], name, val, obj[open:])
	}
	return slices.Concat(obj[:last.valEnd], []byte{','}, name, val, obj[last.valEnd:])
}

// SetString is [Set] with a string value.
func SetString(obj []byte, key, val string) []byte { return Set(obj, key, Quote(val)) }

// Delete returns a copy of the object obj without any member called key.
func Delete(obj []byte, key string) []byte {
	out := slices.Clone(obj)
	for {
		at, prevEnd := member{val: -1}, -1
		next := -1
		eachMember(out, func(m member) bool {
			if at.val >= 0 {
				next = m.key
				return false
			}
			if keyIs(out[m.key:m.keyEnd], key) {
				at = m
				return true
			}
			prevEnd = m.valEnd
			return true
		})
		switch {
		case at.val < 0:
			return out
		case next >= 0: // take the comma after it
			out = slices.Delete(out, at.key, next)
		case prevEnd >= 0: // take the comma before it
			out = slices.Delete(out, prevEnd, at.valEnd)
		default:
			out = slices.Delete(out, at.key, at.valEnd)
		}
	}
}

// Quote encodes s as a JSON string the way JSON.stringify does: only quotes,
// backslashes and control characters are escaped. Invalid UTF-8 becomes U+FFFD.
func Quote(s string) []byte { return AppendQuote(make([]byte, 0, len(s)+2), s) }

// AppendQuote appends [Quote](s) to dst.
func AppendQuote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && verbatim[s[i]] {
			i++
		}
		dst = append(dst, s[from:i]...)
		if i == len(s) {
			break
		}
		if s[i] < utf8.RuneSelf {
			dst = appendEscape(dst, s[i])
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return append(dst, '"')
}

// verbatim are the bytes that stand for themselves in a string, whatever is around them.
var verbatim = func() (is [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// appendEscape appends a byte of ASCII that is not verbatim.
func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
}

// Object builds a JSON object member by member, in the order of the calls.
// The zero value is an empty object.
type Object struct{ buf []byte }

// Raw adds a member; a nil value adds nothing, as JSON.stringify omits undefined.
func (o *Object) Raw(key string, val []byte) *Object {
	if val == nil {
		return o
	}
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
	o.buf = append(AppendQuote(o.buf, key), ':')
	o.buf = append(o.buf, val...)
	return o
}

// String adds a string member.
func (o *Object) String(key, val string) *Object { return o.Raw(key, Quote(val)) }

// Bytes returns the object. The builder must not be used afterwards.
func (o *Object) Bytes() []byte {
	if len(o.buf) == 0 {
		return []byte("{}")
	}
	return append(o.buf, '}')
}

// Array joins raw values into a JSON array.
func Array(vals [][]byte) []byte {
	out := []byte{'['}
	for i, v := range vals {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// UTF16Len is the length of s in UTF-16 code units, which is the length of a string in JavaScript.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// UTF16Prefix returns the longest prefix of s that has at most n UTF-16 code units
// and does not split a character.
func UTF16Prefix(s string, n int) string {
	for i, r := range s {
		if n--; r > 0xFFFF {
			n--
		}
		if n < 0 {
			return s[:i]
		}
	}
	return s
}
