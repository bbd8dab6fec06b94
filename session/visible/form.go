package visible

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// form is how characters are escaped.
type form struct {
	lines   bool       // line feeds, tabs and CRLF are kept
	special [256]uint8 // not 0 for the bytes that scanner.decide must examine
	escape  func(dst []byte, r rune, raw byte) []byte
}

var (
	textForm = newForm(true, escapeText)
	lineForm = newForm(false, escapeLine)
	jsonForm = newForm(true, escapeJSON)
)

func newForm(lines bool, escape func([]byte, rune, byte) []byte) *form {
	f := &form{lines: lines, escape: escape}
	for c := range f.special {
		ordinary := 0x20 <= c && c < 0x7F || lines && (c == '\n' || c == '\t')
		if !ordinary {
			f.special[c] = 1
		}
	}
	return f
}

// escapeText writes \u001b, \U000e0041, or \x9b for the byte raw, which is not UTF-8.
func escapeText(dst []byte, r rune, raw byte) []byte {
	switch {
	case r == utf8.RuneError:
		return hex(append(dst, `\x`...), uint64(raw), 2)
	case r > 0xFFFF:
		return hex(append(dst, `\U`...), uint64(r), 8)
	}
	return hex(append(dst, `\u`...), uint64(r), 4)
}

// escapeLine is escapeText, but with short forms for characters that are common in
// ordinary text.
func escapeLine(dst []byte, r rune, raw byte) []byte {
	switch r {
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return escapeText(dst, r, raw)
}

// escapeJSON writes the equivalent JSON. A carriage return occurs between values only, where
// it is white space. A byte that is not UTF-8 becomes U+FFFD, as in decoders.
func escapeJSON(dst []byte, r rune, _ byte) []byte {
	switch {
	case r == '\r':
		return append(dst, ' ')
	case r > 0xFFFF:
		high, low := utf16.EncodeRune(r)
		dst = hex(append(dst, `\u`...), uint64(high), 4)
		return hex(append(dst, `\u`...), uint64(low), 4)
	}
	return hex(append(dst, `\u`...), uint64(r), 4)
}

// hex appends n with at least that many digits.
func hex(dst []byte, n uint64, digits int) []byte {
	var b [16]byte
	s := strconv.AppendUint(b[:0], n, 16)
	for range digits - len(s) {
		dst = append(dst, '0')
	}
	return append(dst, s...)
}
