package redact

import (
	"cmp"
	"slices"
	"strings"
)

// automaton finds words in a text in one pass, ignoring the case of their ASCII letters. The words must be in lower case.
//
// At most positions of a text no word begins. A sieve shows that from four bytes, without a lookup that depends on an
// earlier one: the words are in 64 groups, and each byte has a mask of the groups that allow it as the first, second,
// third or fourth byte of a word. Where a group remains, the trie of the words decides.
type automaton struct {
	sieve   [256]masks
	class   [256]uint16 // of a byte; 0: in no word
	classes int
	next    []uint32 // state*classes + class → the next state times classes; 0: no word continues so
	ends    []int32  // by state: 1 + the word that ends there; 0: none
	lengths []int
}

// masks are the groups that allow a byte, by its position in a word.
type masks struct{ first, second, third, fourth uint64 }

// hit is a word that occurs in a text.
type hit struct{ word, at, end int }

// sieved is how many bytes of a word are in the sieve.
const sieved = 4

// newAutomaton returns an automaton for words. forms are the spellings that matter of each word; nil: all.
func newAutomaton(words []string, forms [][]string) *automaton {
	a := &automaton{classes: 1}
	for _, w := range words {
		a.lengths = append(a.lengths, len(w))
		for i := range len(w) {
			if a.class[w[i]] == 0 {
				a.class[w[i]] = uint16(a.classes)
				a.classes++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		a.class[c] = a.class[c|0x20]
	}
	a.grow()
	for i, w := range words {
		a.insert(int32(i), w)
	}
	for i, state := range a.next {
		a.next[i] = state * uint32(a.classes)
	}
	a.group(words, forms)
	return a
}

// grow adds a state.
func (a *automaton) grow() uint32 {
	a.next = append(a.next, make([]uint32, a.classes)...)
	a.ends = append(a.ends, 0)
	return uint32(len(a.ends) - 1)
}

func (a *automaton) insert(word int32, w string) {
	state := uint32(0)
	for i := range len(w) {
		at := int(state)*a.classes + int(a.class[w[i]])
		if a.next[at] == 0 {
			a.next[at] = a.grow()
		}
		state = a.next[at]
	}
	a.ends[state] = word + 1
}

// group fills the sieve. Words that begin alike share a group, and groups of short words are smaller, because
// they allow every byte behind them.
func (a *automaton) group(words []string, forms [][]string) {
	order := make([]int, len(words))
	total := 0
	for i, w := range words {
		order[i] = i
		total += weight(w)
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(min(len(words[i]), sieved), min(len(words[j]), sieved)), strings.Compare(words[i], words[j]))
	})
	sum := 0
	for _, i := range order {
		bit := uint64(1) << (sum * 64 / total)
		sum += weight(words[i])
		if forms[i] == nil {
			a.allow(bit, words[i], true)
		}
		for _, form := range forms[i] {
			a.allow(bit, form, false)
		}
	}
}

// weight is how much of a group a word takes.
func weight(w string) int {
	switch len(w) {
	case 1, 2:
		return 8
	case 3:
		return 3
	}
	return 1
}

// allow adds a word to the group bit.
func (a *automaton) allow(bit uint64, w string, anyCase bool) {
	for i := range sieved {
		if i >= len(w) {
			for c := range a.sieve {
				*a.sieve[c].at(i) |= bit
			}
			continue
		}
		*a.sieve[w[i]].at(i) |= bit
		if c := w[i]; anyCase && 'a' <= c && c <= 'z' {
			*a.sieve[c-0x20].at(i) |= bit
		}
	}
}

func (m *masks) at(i int) *uint64 {
	return [sieved]*uint64{&m.first, &m.second, &m.third, &m.fourth}[i]
}

// find appends the words in text to hits, ordered by their ends, and of those with the same end the longest first.
// A word that occurs in none of its forms may be missing.
func (a *automaton) find(text string, hits []hit) []hit {
	var one, two, three uint64 // the groups that allow the latest byte, the latest two, the latest three
	for i := range len(text) {
		m := &a.sieve[text[i]]
		if three&m.fourth != 0 {
			hits = a.walk(text, i-sieved+1, hits)
		}
		three = two & m.third
		two = one & m.second
		one = m.first
	}
	for i := max(0, len(text)-sieved+1); i < len(text); i++ {
		hits = a.walk(text, i, hits)
	}
	return hits
}

// walk appends the words that begin at text[at].
func (a *automaton) walk(text string, at int, hits []hit) []hit {
	state := uint32(0)
	for i := at; i < len(text); i++ {
		state = a.next[state+uint32(a.class[text[i]])]
		if state == 0 {
			break
		}
		if w := a.ends[state/uint32(a.classes)]; w != 0 {
			hits = inOrder(hits, hit{word: int(w - 1), at: at, end: i + 1})
		}
	}
	return hits
}

// inOrder inserts h, which begins behind all hits or where the latest do.
func inOrder(hits []hit, h hit) []hit {
	i := len(hits)
	for i > 0 && hits[i-1].end > h.end {
		i--
	}
	return slices.Insert(hits, i, h)
}
