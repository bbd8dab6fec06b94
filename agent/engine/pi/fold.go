package pi

import (
	"errors"
	"sort"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// folded returns a text without the differences that pi ignores when it looks for a text that is not there
// literally: compatible characters, space at the ends of lines, and the forms of quotes, dashes and spaces.
func folded(s string) string {
	if !norm.NFKC.IsNormalString(s) {
		s = norm.NFKC.String(s)
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRightFunc(l, isJSSpace)
	}
	return strings.Map(plainRune, strings.Join(lines, "\n"))
}

// isJSSpace reports whether JavaScript's trimEnd removes a character.
func isJSSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', 0x2028, 0x2029, 0xFEFF:
		return true
	}
	return unicode.Is(unicode.Zs, r)
}

func plainRune(r rune) rune {
	switch {
	case r >= 0x2018 && r <= 0x201B:
		return '\''
	case r >= 0x201C && r <= 0x201F:
		return '"'
	case r >= 0x2010 && r <= 0x2015, r == 0x2212:
		return '-'
	case r == 0xA0, r >= 0x2002 && r <= 0x200A, r == 0x202F, r == 0x205F, r == 0x3000:
		return ' '
	}
	return r
}

// wholeLines converts spans of a folded text into spans of whole lines of the text itself, so that other lines keep
// their differences.
func wholeLines(text, base string, spans []span) ([]span, error) {
	lines, folds := lineSpans(text), lineSpans(base)
	if len(lines) != len(folds) {
		return nil, errors.New("the text cannot be compared line by line")
	}
	var groups []lineGroup
	for _, s := range spans {
		first, last, ok := linesOf(folds, s)
		if !ok {
			return nil, errors.New("the text to replace is outside of the lines")
		}
		if n := len(groups); n > 0 && first <= groups[n-1].last {
			g := &groups[n-1]
			g.last = max(g.last, last)
			g.spans = append(g.spans, s)
			continue
		}
		groups = append(groups, lineGroup{first, last, []span{s}})
	}
	var whole []span
	for _, g := range groups {
		from, to := folds[g.first].from, folds[g.last].to
		for i := range g.spans {
			g.spans[i].from -= from
			g.spans[i].to -= from
		}
		whole = append(whole, span{lines[g.first].from, lines[g.last].to, splice(base[from:to], g.spans), g.spans[0].edit})
	}
	return whole, nil
}

// lineGroup is lines that replacements touch.
type lineGroup struct {
	first, last int
	spans       []span
}

// lineSpans returns the lines of a text with their ends.
func lineSpans(text string) (lines []span) {
	at := 0
	for l := range strings.Lines(text) {
		lines = append(lines, span{from: at, to: at + len(l)})
		at += len(l)
	}
	return lines
}

// linesOf returns the first and the last line that a span touches.
func linesOf(lines []span, s span) (first, last int, ok bool) {
	first = sort.Search(len(lines), func(i int) bool { return lines[i].to > s.from })
	last = sort.Search(len(lines), func(i int) bool { return lines[i].to >= s.to })
	return first, max(first, last), max(first, last) < len(lines)
}
