package rawjson

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Kind is the first byte of a value, which determines its type: '{', '[', '"', 't', 'f', 'n' or '0'
// for every number. It is 0 for no value.
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

// GetEach fills values with the members of v that names list, nil where it has none. It is
// [Get] of all of them in one pass. values must be as long as names.
func GetEach(v []byte, names []string, values [][]byte) {
	clear(values)
	getEach(v, skipSpace(v, 0), names, values)
}

func getEach(v []byte, i int, names []string, values [][]byte) (end int) {
	return walkObject(v, i, func(m member) int {
		end := skipValue(v, m.val)
		for i, name := range names {
			if keyIs(v[m.key:m.keyEnd], name) {
				values[i] = v[m.val:end]
			}
		}
		return end
	})
}

// Pick returns the member outer of v when that is an object, else nil, and fills values with
// the members of it that names list, as [GetEach] does. v is walked once.
func Pick(v []byte, outer string, names []string, values [][]byte) (object []byte) {
	clear(values)
	walkObject(v, skipSpace(v, 0), func(m member) int {
		if !keyIs(v[m.key:m.keyEnd], outer) {
			return skipValue(v, m.val)
		}
		object = nil
		clear(values)
		if Kind(v[m.val:]) != '{' {
			return skipValue(v, m.val)
		}
		end := getEach(v, m.val, names, values)
		object = v[m.val:end]
		return end
	})
	return object
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

// StringIn is [String] of a string without white space around it, and without an allocation: the result shares the memory
// of v, or that of buf, which grows as needed. It is valid as long as neither is written.
func StringIn(v []byte, buf *[]byte) (s string, ok bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	body := v[1 : len(v)-1]
	if bytes.IndexByte(body, '\\') >= 0 || !utf8.Valid(body) {
		*buf = appendUnescaped(slices.Grow((*buf)[:0], len(body)), body)
		body = *buf
	}
	return unsafe.String(unsafe.SliceData(body), len(body)), true
}

// StringPrefix is the first n UTF-16 units of [String](v). It decodes little more.
func StringPrefix(v []byte, n int) (s string, ok bool) {
	// A unit takes six bytes at most. A character or pair that the cut splits is behind the n-th
	// unit.
	cut := 6 * (n + 2)
	v = v[skipSpace(v, 0):]
	if len(v) > cut && v[0] == '"' && v[cut-1] != '"' && skipString(v[:cut], 0) == cut {
		return UTF16Prefix(string(unescape(v[1:cut])), n), true
	}
	s, ok = String(v)
	return UTF16Prefix(s, n), ok
}

func unescape(body []byte) []byte { return appendUnescaped(make([]byte, 0, len(body)), body) }

func appendUnescaped(out, body []byte) []byte {
	if utf8.Valid(body) {
		return appendValid(out, body)
	}
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

// appendValid is appendUnescaped for valid UTF-8: all between two escapes is copied.
func appendValid(out, body []byte) []byte {
	for {
		n := bytes.IndexByte(body, '\\')
		if n < 0 {
			return append(out, body...)
		}
		out = append(out, body[:n]...)
		r, size := unescapeRune(body[n:])
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
		} else {
			out = utf8.AppendRune(out, r)
		}
		body = body[n+size:]
	}
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
	walkObject(v, skipSpace(v, 0), func(m member) (end int) {
		if m.valEnd = skipValue(v, m.val); m.valEnd == m.val || !f(m) {
			return m.val
		}
		return m.valEnd
	})
}

// walkObject calls value at the value of each member of the object at v[i]; value returns
// where that ends, or where it begins to stop. It returns the end of the object.
func walkObject(v []byte, i int, value func(m member) (end int)) int {
	if i >= len(v) || v[i] != '{' {
		return i
	}
	for i++; ; i++ {
		i = skipSpace(v, i)
		if i < len(v) && v[i] == '}' {
			return i + 1
		}
		if i >= len(v) || v[i] != '"' {
			return i
		}
		m := member{key: i, keyEnd: skipValue(v, i)}
		i = skipSpace(v, m.keyEnd)
		if i >= len(v) || v[i] != ':' {
			return i
		}
		m.val = skipSpace(v, i+1)
		if i = value(m); i == m.val {
			return i
		}
		if i = skipSpace(v, i); i >= len(v) || v[i] != ',' {
			break
		}
	}
	if i < len(v) && v[i] == '}' {
		i++
	}
	return i
}

// keyIs compares a raw key with name, which is ASCII as all names of the format are. Escapes in
// keys are legal but rare, and make a key longer than its value.
func keyIs(key []byte, name string) bool {
	if len(key) < 2 {
		return false
	}
	body := key[1 : len(key)-1]
	same := string(body) == name
	if !same && (len(body) <= len(name) || name != "" && body[0] != name[0] && body[0] != '\\') {
		return false
	}
	if bytes.IndexByte(body, '\\') < 0 {
		return same
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

// skipString looks for the quote that ends the string rather than at every byte: a quote after an
// odd number of backslashes is escaped. Each backslash is counted once.
func skipString(v []byte, i int) int {
	for i++; i < len(v); {
		n := bytes.IndexByte(v[i:], '"')
		if n < 0 {
			return len(v)
		}
		quote := i + n
		escape := quote
		for escape > i && v[escape-1] == '\\' {
			escape--
		}
		i = quote + 1
		if (quote-escape)%2 == 0 {
			return i
		}
	}
	return len(v)
}
