package redact

import (
	"strconv"
	"strings"
)

// unescaped is text with its escapes resolved, as they occur in nested text: JSON in a string,
// source code, the output of a logger. Any number of backslashes counts as one, so that the
// depth of nesting does not matter. Nil: there is nothing to resolve. It is built with w.
func unescaped(of *view, w *viewer) *view {
	w.reset()
	text := of.text
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '\\')
		if n < 0 {
			break
		}
		start := i + n
		i = start
		for i < len(text) && text[i] == '\\' {
			i++
		}
		c, size, ok := escape(text[i:])
		switch {
		case !ok:
			continue
		case size < 0: // a continued line
			w.same(text, start)
			i -= size
			w.drop(i)
		default:
			w.same(text, start)
			i += size
			w.put(c, i-start)
		}
	}
	if len(w.parts) == 0 && len(w.seams) == 0 {
		return nil
	}
	return w.view(of)
}

// escape decodes the escape sequence after a backslash. A negative size means that there is
// none.
func escape(s string) (c byte, size int, ok bool) {
	if s == "" {
		return 0, 0, false
	}
	switch s[0] {
	case 'n', 'r':
		return '\n', 1, true
	case 't':
		return ' ', 1, true
	case '"', '\'', '/', '`':
		return s[0], 1, true
	case 'u':
		return hexEscape(s, 5)
	case 'x':
		return hexEscape(s, 3)
	case '\n', '\r':
		size := 1
		for size < len(s) && size < 120 && strings.IndexByte(" \t\r\n", s[size]) >= 0 {
			size++
		}
		if size < len(s) && strings.IndexByte("+-", s[size]) >= 0 { // of a diff
			size++
		}
		return 0, -size, true
	}
	return 0, 0, false
}

// hexEscape decodes an ASCII character that is written with n-1 hexadecimal digits.
func hexEscape(s string, n int) (c byte, size int, ok bool) {
	if len(s) < n {
		return 0, 0, false
	}
	if !isAll(&isHex, s[1:n]) {
		return 0, 0, false
	}
	v, err := strconv.ParseUint(s[1:n], 16, 16)
	if err != nil || v >= 0x7F || v < ' ' && v != '\n' && v != '\t' && v != '\r' {
		return 0, 0, false
	}
	return byte(v), n, true
}

// urlDecoded is text with the escapes of URLs and of HTML resolved. Nil: there are none. It is built with w.
func urlDecoded(of *view, w *viewer) *view {
	w.reset()
	text := of.text
	encoded := strings.Contains(text, "://") && strings.Contains(text, "+")
	if !encoded && !hasEscape(text) {
		return nil
	}
	for i := 0; ; {
		n := strings.IndexAny(text[i:], "%&+")
		if n < 0 {
			break
		}
		i += n
		c, size, ok := byte(0), 0, false
		switch text[i] {
		case '%':
			c, size, ok = hexEscape(text[i:], 3)
		case '&':
			c, size, ok = entity(text[i:])
		default:
			w.same(text, i)
			w.put(' ', 1) // as forms have it
			i++
			continue
		}
		if !ok {
			i++
			continue
		}
		w.same(text, i)
		w.put(c, size)
		i += size
	}
	return w.view(of)
}

// hasEscape reports whether text has an escape of URLs, HTML or XML.
func hasEscape(text string) bool {
	for i := 0; ; i++ {
		n := strings.IndexByte(text[i:], '%')
		if n < 0 {
			break
		}
		i += n
		if _, _, ok := hexEscape(text[i:], 3); ok {
			return true
		}
	}
	for i := 0; ; i++ {
		n := strings.IndexByte(text[i:], '&')
		if n < 0 {
			return false
		}
		i += n
		if _, _, ok := entity(text[i:]); ok {
			return true
		}
	}
}

// entities are the characters that HTML and XML have to escape.
var entities = []struct {
	name string
	c    byte
}{
	{"&quot;", '"'},
	{"&#34;", '"'},
	{"&#x22;", '"'},
	{"&apos;", '\''},
	{"&#39;", '\''},
	{"&#x27;", '\''},
	{"&amp;", '&'},
	{"&#38;", '&'},
	{"&lt;", '<'},
	{"&gt;", '>'},
	{"&#61;", '='},
	{"&#x3D;", '='},
}

func entity(s string) (c byte, size int, ok bool) {
	for _, e := range entities {
		if strings.HasPrefix(s, e.name) {
			return e.c, len(e.name), true
		}
	}
	return 0, 0, false
}
