package paging

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// needle finds the messages that can't hold a searched text by their JSON, without decoding it: a part of the text that has
// no other form in JSON than itself, with letters in either case, or \u escapes.
type needle struct {
	part  string // "" if the text has no such part
	pivot int    // the byte of it that is likely to be the rarest
}

// needleOf returns the needle of a text in the form of [searchable].
func needleOf(wanted string) (n needle) {
	for _, part := range strings.FieldsFunc(wanted, func(r rune) bool { return !hasOneForm(r) }) {
		if len(part) > len(n.part) {
			n.part = part
		}
	}
	for i := range n.part {
		if rarity(n.part[i]) > rarity(n.part[n.pivot]) {
			n.pivot = i
		}
	}
	return n
}

// hasOneForm reports whether JSON has one form of a character, but for the case of an ASCII letter and for \u escapes.
func hasOneForm(r rune) bool {
	switch {
	case r == '"', r == '\\', r == '/', r < ' ', r == utf8.RuneError, unicode.IsSpace(r):
		return false
	case r < utf8.RuneSelf:
		return r != 0x7f
	}
	return unicode.SimpleFold(r) == r && unicode.ToLower(r) == r && unicode.ToUpper(r) == r && unicode.ToTitle(r) == r
}

// rarity orders bytes by how rare they are in messages, roughly.
func rarity(c byte) int {
	const letters = "etaoinsrhldcumfpgwybvkxjqz" // the most frequent first
	if i := strings.IndexByte(letters, c); i >= 0 {
		return i + 1
	}
	if c >= '0' && c <= '9' || c >= utf8.RuneSelf {
		return len(letters) / 2
	}
	return 0
}

// mayBeIn reports whether the JSON of a message may hold the text. It is false only if it doesn't.
func (n needle) mayBeIn(m []byte) bool { return n.part == "" || n.in(m) || escapes(m) }

// in reports whether m has the part, with letters in either case.
func (n needle) in(m []byte) bool {
	end := len(m) - len(n.part) + n.pivot + 1 // where the pivot can't be any more
	if end <= n.pivot {
		return false
	}
	lower := n.part[n.pivot]
	one, other := occurrences{m[:end], lower, n.pivot}, occurrences{m[:end], byte(unicode.ToUpper(rune(lower))), n.pivot}
	if lower >= utf8.RuneSelf || other.of == lower {
		other.at = end
	}
	one.next()
	other.next()
	for one.at < end || other.at < end {
		c := &one
		if other.at < one.at {
			c = &other
		}
		if n.at(m[c.at-n.pivot:]) {
			return true
		}
		c.at++
		c.next()
	}
	return false
}

// at reports whether m begins with the part.
func (n needle) at(m []byte) bool {
	for i := range len(n.part) {
		c := m[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != n.part[i] {
			return false
		}
	}
	return true
}

// occurrences goes from one occurrence of a byte to the next.
type occurrences struct {
	in []byte
	of byte
	at int
}

// next moves to the first occurrence from here on, or to the end.
func (c *occurrences) next() {
	if c.at >= len(c.in) {
		return
	}
	if i := bytes.IndexByte(c.in[c.at:], c.of); i >= 0 {
		c.at += i
	} else {
		c.at = len(c.in)
	}
}

// escapes reports whether m has a \u escape that may stand for a character of a needle. Terminal programs write many of
// control characters, which it doesn't count.
func escapes(m []byte) bool {
	for {
		i := bytes.Index(m, []byte(`\u`))
		if i < 0 {
			return false
		}
		if m = m[i+2:]; !bytes.HasPrefix(m, []byte("000")) && !bytes.HasPrefix(m, []byte("001")) {
			return true
		}
	}
}
