package redact

// automaton finds words in a text in one pass, ignoring the case of their ASCII letters
// (Aho and Corasick, 1975). The words must be in lower case.
type automaton struct {
	class   [256]uint16 // of a byte; 0: in no word
	classes int
	next    []uint32  // state*classes + class → the next state times classes, with ending if words end there
	ends    [][]int32 // by state: the words that end there
	lengths []int
}

// ending marks a state in which words end.
const ending = 1 << 31

func newAutomaton(words []string) *automaton {
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
	a.link()
	return a
}

// grow adds a state.
func (a *automaton) grow() uint32 {
	a.next = append(a.next, make([]uint32, a.classes)...)
	a.ends = append(a.ends, nil)
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
	a.ends[state] = append(a.ends[state], word)
}

// link makes the tree of words an automaton: where a word does not continue, the longest
// suffix that is the beginning of a word does.
func (a *automaton) link() {
	fail := make([]uint32, len(a.ends))
	queue := []uint32{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		for c := range a.classes {
			at := int(state)*a.classes + c
			onFail := a.next[int(fail[state])*a.classes+c]
			child := a.next[at]
			if child == 0 {
				if state != 0 {
					a.next[at] = onFail
				}
				continue
			}
			if state != 0 {
				fail[child] = onFail
			}
			a.ends[child] = append(a.ends[child], a.ends[fail[child]]...)
			queue = append(queue, child)
		}
	}
	for i, state := range a.next {
		a.next[i] = state * uint32(a.classes)
		if len(a.ends[state]) > 0 {
			a.next[i] |= ending
		}
	}
}

// find calls f with every word in text and its beginning, ordered by their ends.
func (a *automaton) find(text string, f func(word, at int)) {
	state := uint32(0)
	for i := range len(text) {
		state = a.next[state+uint32(a.class[text[i]])]
		if state&ending == 0 {
			continue
		}
		state &^= ending
		for _, w := range a.ends[state/uint32(a.classes)] {
			f(int(w), i+1-a.lengths[w])
		}
	}
}
