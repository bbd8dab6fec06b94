package merge

import "bytes"

// Hunk is a run of lines of an old text that is replaced in a new text. Starts count from 1. A side without lines starts at the line
// before which it is empty.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Old, New           [][]byte
}

// Diff returns the hunks from one text to another, in order. Two hunks are separated by at least one equal line.
func Diff(old, new []byte) []Hunk { return diffLines(Lines(old), Lines(new)) }

func diffLines(a, b [][]byte) (hunks []Hunk) {
	match := matches(a, b)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		if i < len(a) && match[i] == j {
			i, j = i+1, j+1
			continue
		}
		i0, j0 := i, j
		for i < len(a) && match[i] < 0 {
			i++
		}
		if j = len(b); i < len(a) {
			j = match[i]
		}
		hunks = append(hunks, Hunk{i0 + 1, i - i0, j0 + 1, j - j0, a[i0:i], b[j0:j]})
	}
	return hunks
}

// matches returns for each line of a the index of the equal line of b that it is matched with, or -1. The indexes increase.
func matches(a, b [][]byte) []int {
	match := make([]int, len(a))
	for i := range match {
		match[i] = -1
	}
	lo := 0
	for lo < len(a) && lo < len(b) && bytes.Equal(a[lo], b[lo]) {
		match[lo] = lo
		lo++
	}
	na, nb := len(a), len(b)
	for na > lo && nb > lo && bytes.Equal(a[na-1], b[nb-1]) {
		na, nb = na-1, nb-1
		match[na] = nb
	}
	if lo == na || lo == nb {
		return match
	}
	x, y := common(a[lo:na], b[lo:nb])
	m := myers{budget: maxCost, match: func(i, j int) { match[lo+x[i].at] = lo + y[j].at }}
	m.a, m.b = values(x), values(y)
	m.compare(0, len(m.a), 0, len(m.b))
	slide(a, b, match)
	return match
}

// symbol is the number of a line's text, and its index.
type symbol struct{ value, at int }

// common returns the lines of each side that also occur on the other. The others have no match.
func common(a, b [][]byte) (x, y []symbol) {
	ids := make(map[string]int, len(a))
	number := func(l []byte) int {
		id, ok := ids[string(l)]
		if !ok {
			id = len(ids)
			ids[string(l)] = id
		}
		return id
	}
	for i, l := range a {
		x = append(x, symbol{number(l), i})
	}
	inBoth := make([]bool, len(ids))
	for j, l := range b {
		if id, ok := ids[string(l)]; ok {
			inBoth[id] = true
			y = append(y, symbol{id, j})
		}
	}
	kept := x[:0]
	for _, s := range x {
		if inBoth[s.value] {
			kept = append(kept, s)
		}
	}
	return kept, y
}

func values(s []symbol) []int {
	v := make([]int, len(s))
	for i := range s {
		v[i] = s[i].value
	}
	return v
}

// slide moves runs of removed or added lines down as far as possible, so that the same change has the same position on both sides of
// a merge.
func slide(a, b [][]byte, match []int) {
	back := make([]int, len(b))
	for j := range back {
		back[j] = -1
	}
	for i, j := range match {
		if j >= 0 {
			back[j] = i
		}
	}
	slideSide(a, match, back)
	slideSide(b, back, match)
}

// slideSide moves the runs of unmatched lines of one side, from the last to the first.
func slideSide(lines [][]byte, match, back []int) {
	for end := len(lines); end > 0; {
		if match[end-1] >= 0 {
			end--
			continue
		}
		start := end - 1
		for start > 0 && match[start-1] < 0 {
			start--
		}
		next := start
		for s, e := start, end; e < len(lines) && match[e] >= 0 && bytes.Equal(lines[s], lines[e]) && unbroken(match, s, e); s, e = s+1, e+1 {
			match[s], match[e] = match[e], -1
			back[match[s]] = s
		}
		end = next
	}
}

// unbroken reports whether the match of the line at e can move to s, without a change of the other side in between.
func unbroken(match []int, s, e int) bool {
	prev := -1
	if s > 0 {
		prev = match[s-1]
	}
	return prev == match[e]-1
}
