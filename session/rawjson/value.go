package rawjson

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is the first byte of a value, which tells its type: '{', '[', '"', 't',
// 'f', 'n' or '0' for every number. It is 0 for no value.
func Kind(v []byte) byte {
	v = v[skipSpace(v, 0):]
	if len(v) == 0 {
		return 0
	}
	if v[0] == '-' || isDigit(v[0]) {
		return '0'
	}
	return v[0]
}

// Members calls f with the raw key (quotes included) and value of each member of
// the object v, in order, until f returns false. It does nothing when v is not an object.
func Members(v []byte, f func(key, val []byte) bool) {
	eachMember(v, func(m member) bool { return f(v[m.key:m.keyEnd], v[m.val:m.valEnd]) })
}

// Elements calls f with each element of the array v, in order, until f returns false.
func Elements(v []byte, f func(val []byte) bool) {
	i := skipSpace(v, 0)
	if i >= len(v) || v[i] != '[' {
		return
	}
	for i++; ; {
		i = skipSpace(v, i)
		if i >= len(v) || v[i] == ']' {
			return
		}
		end := skipValue(v, i)
		if !f(v[i:end]) {
			return
		}
		if i = skipSpace(v, end); i >= len(v) || v[i] != ',' {
			return
		}
		i++
	}
}

// Get returns the value found by following path through objects, or nil. Of
// duplicate keys the last one counts. The result aliases v.
func Get(v []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		eachMember(v, func(m member) bool {
			if keyIs(v[m.key:m.keyEnd], name) {
				found = v[m.val:m.valEnd]
			}
			return true
		})
		if found == nil {
			return nil
		}
		v = found
	}
	return v
}

// GetString is [Get] followed by [String].
func GetString(v []byte, path ...string) (string, bool) { return String(Get(v, path...)) }

// String decodes the JSON string v. Lone surrogates and invalid UTF-8 become
// U+FFFD. ok is false when v is not a string.
func String(v []byte) (s string, ok bool) {
	v = v[skipSpace(v, 0):]
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	end := skipValue(v, 0)
	body := v[1:max(1, end-1)]
	if bytes.IndexByte(body, '\\') < 0 && utf8.Valid(body) {
		return string(body), true
	}
	return string(unescape(body)), true
}

func unescape(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case c == '\\':
			r, n := unescapeRune(body[i:])
			out = utf8.AppendRune(out, r)
			i += n
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(body[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	return out
}

func unescapeRune(b []byte) (rune, int) {
	if len(b) < 2 {
		return utf8.RuneError, len(b)
	}
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hex4(b[2:])
		if utf16.IsSurrogate(r) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if pair := utf16.DecodeRune(r, hex4(b[8:])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		if r < 0 || utf16.IsSurrogate(r) {
			r = utf8.RuneError
		}
		return r, min(6, len(b))
	}
	return rune(b[1]), 2
}

func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}

// Float decodes the JSON number v. ok is false when v is not a number.
func Float(v []byte) (f float64, ok bool) {
	if Kind(v) != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(bytes.TrimSpace(v)), 64)
	return f, err == nil
}

// Truthy reports whether JavaScript would take v as true: anything but absent,
// null, false, zero and the empty string.
func Truthy(v []byte) bool {
	switch Kind(v) {
	case 0, 'n', 'f':
		return false
	case '"':
		s, _ := String(v)
		return s != ""
	case '0':
		f, ok := Float(v)
		return !ok || f != 0
	}
	return true
}

type member struct{ key, keyEnd, val, valEnd int }

func eachMember(v []byte, f func(member) bool) {
	i := skipSpace(v, 0)
	if i >= len(v) || v[i] != '{' {
		return
	}
	for i++; ; i++ {
		i = skipSpace(v, i)
		if i >= len(v) || v[i] != '"' {
			return
		}
		m := member{key: i, keyEnd: skipValue(v, i)}
		i = skipSpace(v, m.keyEnd)
		if i >= len(v) || v[i] != ':' {
			return
		}
		m.val = skipSpace(v, i+1)
		m.valEnd = skipValue(v, m.val)
		if m.valEnd == m.val || !f(m) {
			return
		}
		if i = skipSpace(v, m.valEnd); i >= len(v) || v[i] != ',' {
			return
		}
	}
}

// keyIs compares a raw key with name; escapes in keys are legal but rare.
func keyIs(key []byte, name string) bool {
	if len(key) < 2 {
		return false
	}
	if body := key[1 : len(key)-1]; bytes.IndexByte(body, '\\') < 0 {
		return string(body) == name
	}
	s, _ := String(key)
	return s == name
}

// skipValue returns the end of the valid value that starts at v[i].
func skipValue(v []byte, i int) int {
	if i >= len(v) {
		return i
	}
	switch v[i] {
	case '"':
		return skipString(v, i)
	case '{', '[':
		depth := 0
		for i < len(v) {
			switch v[i] {
			case '"':
				i = skipString(v, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(v)
	}
	for i < len(v) {
		switch v[i] {
		case ',', '}', ']', ' ', '\n', '\r', '\t':
			return i
		}
		i++
	}
	return i
}

func skipString(v []byte, i int) int {
	for i++; i < len(v); {
		i = plainEnd(v, i)
		if i >= len(v) {
			return len(v)
		}
		switch v[i] {
		case '"':
			return i + 1
		case '\\':
			i += 2
		default:
			i++
		}
	}
	return len(v)
}
