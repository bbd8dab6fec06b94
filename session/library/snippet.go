package library

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// How a session fits a query, in the JSON of [Info].
const (
	exactMatch = "exact" // it contains every word
	fuzzyMatch = "fuzzy" // it contains something similar to a word
)

// Snippet is a text that shows why a session fits a query.
type Snippet struct {
	Text   string   `json:"text" jsonschema:"The text around the matches, on one line."`
	Ranges [][2]int `json:"ranges" jsonschema:"The matches: the start and the end of each, in UTF-16 units, in order."`
}

// Lengths of a snippet in bytes, around its first match.
const (
	snippetBefore = 40
	snippetAfter  = 160
)

// maxRanges is the most matches that a snippet marks.
const maxRanges = 50

// span is a part of a text in bytes.
type span struct{ from, to int }

// snippetOf returns the part of a text around its first match of words, which are folded by [narrow]; nil if there is none.
func snippetOf(text string, words []string) *Snippet {
	folded := narrow(text)
	at := -1
	for _, w := range words {
		if i := strings.Index(folded, w); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	part := cutAround(text, at)
	var found []span
	folded = narrow(part)
	for _, w := range words {
		for from := 0; len(found) < maxRanges; {
			i := strings.Index(folded[from:], w)
			if i < 0 {
				break
			}
			found = append(found, span{from + i, from + i + len(w)})
			from += i + len(w)
		}
	}
	return &Snippet{Text: part, Ranges: inUnits(part, found)}
}

// similarSnippet returns the part of a text in which the letters of a word are close together; nil if they are not.
func similarSnippet(text, word string) *Snippet {
	folded := narrow(text)
	at, _, ok := closest(folded, word)
	if !ok {
		return nil
	}
	part := cutAround(text, at)
	_, letters, ok := closest(narrow(part), word)
	if !ok {
		return nil
	}
	return &Snippet{Text: part, Ranges: inUnits(part, letters)}
}

// cutAround returns the part of a text around a place, on one line.
func cutAround(text string, at int) string {
	from, to := max(0, at-snippetBefore), min(len(text), at+snippetAfter)
	if from > 0 { // not in the middle of a word
		if i := strings.IndexFunc(text[from:at], unicode.IsSpace); i >= 0 {
			from += i
		}
	}
	for from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	part := session.CleanTitle(text[from:to])
	if from > 0 {
		part = "…" + part
	}
	if to < len(text) {
		part += "…"
	}
	return part
}

// inUnits returns spans in order and without overlaps, in UTF-16 units.
func inUnits(text string, spans []span) [][2]int {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	ranges := [][2]int{}
	units, at := 0, 0
	to := func(place int) int {
		for ; at < place; at++ {
			if utf8.RuneStart(text[at]) {
				r, _ := utf8.DecodeRuneInString(text[at:])
				units += max(1, utf16.RuneLen(r))
			}
		}
		return units
	}
	end := 0
	for _, s := range spans {
		if s.to <= end {
			continue
		}
		from := to(max(s.from, end))
		next := [2]int{from, to(s.to)}
		if n := len(ranges); n > 0 && ranges[n-1][1] == next[0] {
			ranges[n-1][1] = next[1]
		} else {
			ranges = append(ranges, next)
		}
		end = s.to
	}
	return ranges
}

// narrow is strings.ToLower for letters whose lower case takes as many bytes, so that places stay the same.
func narrow(s string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
			return l
		}
		return r
	}, s)
}

// Lengths of words, in letters, that similar texts are found for. Almost anything is similar to a shorter word.
const (
	minSimilar = 3
	maxSimilar = 32
)

// closest returns the first place where the letters of a word come in order within twice its length, and the letters. Both
// texts are in lower case.
func closest(text, word string) (at int, letters []span, ok bool) {
	wanted := []rune(word)
	if len(wanted) < minSimilar || len(wanted) > maxSimilar {
		return 0, nil, false
	}
	for at = 0; ; {
		i := strings.IndexRune(text[at:], wanted[0])
		if i < 0 {
			return 0, nil, false
		}
		at += i
		if letters = lettersFrom(text, at, wanted); letters != nil {
			letters = tightened(text, letters, wanted)
			return letters[0].from, letters, true
		}
		at += utf8.RuneLen(wanted[0])
	}
}

// lettersFrom returns the places of the wanted letters from a place on, nil if they are not within twice their number.
func lettersFrom(text string, at int, wanted []rune) []span {
	letters := make([]span, 0, len(wanted))
	n := 0
	for i, r := range text[at:] {
		if n++; n > 2*len(wanted) {
			return nil
		}
		if r == wanted[len(letters)] {
			letters = append(letters, span{at + i, at + i + utf8.RuneLen(r)})
			if len(letters) == len(wanted) {
				return letters
			}
		}
	}
	return nil
}

// tightened returns the places of the same letters that are nearest to the last one.
func tightened(text string, letters []span, wanted []rune) []span {
	at := letters[len(letters)-1].from
	for n := len(wanted) - 2; n >= 0; n-- {
		at = strings.LastIndex(text[:at], string(wanted[n]))
		letters[n] = span{at, at + utf8.RuneLen(wanted[n])}
	}
	return letters
}
