package library

import (
	"bytes"
	"strings"
)

// rawWord is a text that the JSON of any string containing a word also contains, so that a
// file without it need not be decoded: the longest part of the word that every program
// writes unescaped. It is empty if there is no such part; then any file may hold the word.
//
// Letters, digits and the like could be written as \u escapes too. No program does that,
// and a text written that way is not found.
type rawWord struct {
	text string // folded; letters are found in either case
	rare int    // the index of its rarest byte
}

// escapable are the ASCII characters that one JSON writer or another escapes: those that
// must be, those of HTML, and the slash.
const escapable = "\"\\/<>&'+=`\x7f"

// byRarity are the characters of text, code and JSON, the rarest first. A character that
// is missing here is rarer still.
const byRarity = "~^%@|#!?;$*ZQXJKVWYGBUPHFMDLCNORIATES[]{}()qzxj_vkw.,-ygpbmhlcfd9876543210unrsioaet:"

func rawWordOf(folded string) rawWord {
	plain := func(r rune) bool { return r > ' ' && r < 0x7F && !strings.ContainsRune(escapable, r) }
	var w rawWord
	for part := range strings.FieldsFuncSeq(folded, func(r rune) bool { return !plain(r) }) {
		if len(part) > len(w.text) {
			w.text = part
		}
	}
	rarest := len(byRarity)
	for i := range len(w.text) {
		if rank := strings.IndexByte(byRarity, w.text[i]); rank < rarest {
			rarest, w.rare = rank, i
		}
	}
	return w
}

// in reports whether b contains the word, with letters in either case. It looks for the
// word's rarest byte and compares around it.
func (w *rawWord) in(b []byte) bool {
	lower := w.text[w.rare]
	upper := lower
	if 'a' <= lower && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	// A hit must leave room for the rest of the word on either side.
	at, end := w.rare, len(b)-(len(w.text)-1-w.rare)
	if at >= end {
		return false
	}
	nextLower, nextUpper := next(b, lower, at, end), end
	if upper != lower {
		nextUpper = next(b, upper, at, end)
	}
	for {
		at = min(nextLower, nextUpper)
		if at == end {
			return false
		}
		if w.at(b[at-w.rare:]) {
			return true
		}
		if at == nextLower {
			nextLower = next(b, lower, at+1, end)
		} else {
			nextUpper = next(b, upper, at+1, end)
		}
	}
}

// next returns where c is next in b[from:end], or end.
func next(b []byte, c byte, from, end int) int {
	if i := bytes.IndexByte(b[from:end], c); i >= 0 {
		return from + i
	}
	return end
}

// at reports whether b, which is long enough, begins with the word.
func (w *rawWord) at(b []byte) bool {
	for i := range len(w.text) {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != w.text[i] {
			return false
		}
	}
	return true
}
