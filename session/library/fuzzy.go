package library

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// joinFields joins the fields that are not empty with a space.
func joinFields(fields ...string) string {
	return strings.Join(slices.DeleteFunc(fields, func(s string) bool { return s == "" }), " ")
}

// units is a text as UTF-16 units. ASCII text, which is most of it, stays as it is.
type units struct {
	ascii string
	wide  []uint16 // used when not nil
}

func lowered(s string) units { return unitsOf(strings.ToLower(s)) }

func unitsOf(s string) units {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return units{wide: utf16.Encode([]rune(s))}
		}
	}
	return units{ascii: s}
}

func (u units) len() int {
	if u.wide != nil {
		return len(u.wide)
	}
	return len(u.ascii)
}

func (u units) at(i int) uint16 {
	if u.wide != nil {
		return u.wide[i]
	}
	return uint16(u.ascii[i])
}

// index returns where unit c is next, from position i on, or -1.
func (u units) index(c uint16, i int) int {
	n := -1
	switch {
	case u.wide != nil:
		n = slices.Index(u.wide[i:], c)
	case c < utf8.RuneSelf:
		n = strings.IndexByte(u.ascii[i:], byte(c))
	}
	if n < 0 {
		return -1
	}
	return i + n
}

func (u units) score(word units) (score float64, ok bool) {
	f := fuzzy{word: word, last: -1}
	f.walk(u)
	if !f.fits() {
		return 0, false
	}
	return f.score, true
}

// fuzzy measures how well a word fits a text that is read once, in parts. Each unit of the
// word matches its first occurrence.
type fuzzy struct {
	word    units
	matched int // units of word
	run     int
	last    int // position of the last one matched; -1: none
	walked  int // units of the text
	before  uint16
	score   float64
}

func (f *fuzzy) fits() bool { return f.matched == f.word.len() }

func (f *fuzzy) walk(part units) {
	for from := 0; !f.fits(); f.matched++ {
		at := part.index(f.word.at(f.matched), from)
		if at < 0 {
			break
		}
		before := f.before
		if at > 0 {
			before = part.at(at - 1)
		}
		f.take(f.walked+at, before)
		from = at + 1
	}
	if n := part.len(); n > 0 {
		f.walked += n
		f.before = part.at(n - 1)
	}
}

// take counts a unit at position i of the text, after the unit before.
func (f *fuzzy) take(i int, before uint16) {
	if f.last == i-1 {
		f.run++
		f.score -= float64(5 * f.run)
	} else {
		f.run = 0
		if f.last >= 0 {
			f.score += float64(2 * (i - f.last - 1))
		}
	}
	if i == 0 || startsWord(before) {
		f.score -= 10
	}
	f.score += float64(float64(i) * 0.1) // the conversion keeps it from being fused with the sum
	f.last = i
}

// startsWord reports whether a word starts after unit c.
func startsWord(c uint16) bool {
	switch c {
	case '-', '_', '.', '/', ' ', '\t', '\n', '\v', '\f', '\r', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return c >= 0x2000 && c <= 0x200A
}
