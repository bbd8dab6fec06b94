package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Masked is a passage with little more than its first and last characters: ab…yz.
func Masked(passage string) string {
	passage = Printable(passage, len(passage))
	r := []rune(passage)
	shown := 2
	switch {
	case len(r) < 8:
		shown = 0
	case len(r) < 12:
		shown = 1
	}
	return string(r[:shown]) + "…" + string(r[len(r)-shown:])
}

// Before is the text before finding i on its line: at most 24 characters, and no part of
// other findings.
func Before(text string, found []Finding, i int) string {
	const most = 24
	from := found[i].From
	start := max(0, from-4*most)
	for j, f := range found {
		if j != i && f.To <= from {
			start = max(start, f.To)
		}
	}
	s := text[start:from]
	s = s[strings.LastIndexByte(s, '\n')+1:]
	for utf8.RuneCountInString(s) > most {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return strings.TrimLeft(Printable(s, most), " ")
}

// Printable returns s without its unprintable characters, at most n characters of it.
func Printable(s string, n int) string {
	var out strings.Builder
	for _, r := range s {
		if n == 0 {
			break
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = '·'
		}
		out.WriteRune(r)
		n--
	}
	return out.String()
}
