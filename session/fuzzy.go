package session

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// FuzzyScore rates how well query, one word, fits text: its characters must occur in
// text in order, case aside. The lower the score the better; runs and starts of words
// lower it, gaps and late positions raise it. Positions are UTF-16 units. ok is false
// when query does not fit. The empty query fits everything with score 0.
func FuzzyScore(query, text string) (score float64, ok bool) {
	return lowered(text).score(lowered(query))
}

// FuzzyFilter returns the items whose text every word of query fits, the best first;
// items that are equally good stay in order. A blank query changes nothing.
func FuzzyFilter[T any](query string, items []T, text func(T) string) []T {
	words := strings.Fields(query)
	if len(words) == 0 {
		return items
	}
	return rank(items, func(item T) (int, float64, bool) {
		score, ok := scoreWords(words, lowered(text(item)))
		return 0, score, ok
	})
}

// Search returns the sessions that every word of query fits, looking at id, title,
// working directory, first message, everything said, and path. A blank query changes
// nothing.
//
// Differs: the sessions are those that the originals find, in a better order. Over a
// long conversation almost any word fits letter by letter, so sessions that hold the
// words as such go first, and first of all those that hold them elsewhere than in the
// conversation. The originals' score orders the sessions of each kind.
func Search(query string, infos []Info) []Info {
	words := strings.Fields(query)
	if len(words) == 0 {
		return infos
	}
	lower := make([]string, len(words))
	for i, w := range words {
		lower[i] = strings.ToLower(w)
	}
	return rank(infos, func(i Info) (int, float64, bool) {
		text := strings.ToLower(joinFields(i.ID, i.Title, i.Cwd, i.FirstMessage, i.AllText, i.Path))
		score, ok := scoreWords(words, unitsOf(text))
		if !ok {
			return 0, 0, false
		}
		brief := strings.ToLower(strings.Join([]string{i.ID, i.Title, i.Cwd, i.FirstMessage, i.Path}, "\n"))
		switch {
		case containsAll(brief, lower):
			return 0, score, true
		case containsAll(text, lower):
			return 1, score, true
		}
		return 2, score, true
	})
}

// joinFields joins the fields that are not empty with a space.
func joinFields(fields ...string) string {
	return strings.Join(slices.DeleteFunc(fields, func(s string) bool { return s == "" }), " ")
}

func containsAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// rank keeps the items that fit and sorts them by tier, then by score.
func rank[T any](items []T, rate func(T) (tier int, score float64, ok bool)) []T {
	type rated struct {
		item  T
		tier  int
		score float64
	}
	kept := make([]rated, 0, len(items))
	for _, item := range items {
		if tier, score, ok := rate(item); ok {
			kept = append(kept, rated{item, tier, score})
		}
	}
	slices.SortStableFunc(kept, func(a, b rated) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.score, b.score))
	})
	out := make([]T, len(kept))
	for i, r := range kept {
		out[i] = r.item
	}
	return out
}

func scoreWords(words []string, text units) (total float64, ok bool) {
	for _, w := range words {
		score, ok := text.score(lowered(w))
		if !ok {
			return 0, false
		}
		total += score
	}
	return total, true
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

// score walks over the text once and takes the first place for each unit of the word.
func (u units) score(word units) (score float64, ok bool) {
	if word.len() > u.len() {
		return 0, false
	}
	matched, run, last := 0, 0, -1
	for i := 0; i < u.len() && matched < word.len(); i++ {
		if u.at(i) != word.at(matched) {
			continue
		}
		if last == i-1 {
			run++
			score -= float64(5 * run)
		} else {
			run = 0
			if last >= 0 {
				score += float64(2 * (i - last - 1))
			}
		}
		if i == 0 || startsWord(u.at(i-1)) {
			score -= 10
		}
		score += float64(float64(i) * 0.1) // the conversion keeps it from being fused with the sum
		last = i
		matched++
	}
	return score, matched == word.len()
}

// startsWord reports whether a word starts after unit c.
func startsWord(c uint16) bool {
	switch c {
	case '-', '_', '.', '/', ' ', '\t', '\n', '\v', '\f', '\r', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return c >= 0x2000 && c <= 0x200A
}
