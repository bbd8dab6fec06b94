package paging

import (
	"iter"
	"slices"
)

// Node is an entry of a tree or, with fold, a run of entries.
type Node struct {
	Entry, Last int // the first and the last entry of the run
	Count       int // entries
	Above       int // the entry of the node above, -1 for a root
}

// Walk returns the nodes of the tree in order.
func (t *Tree) Walk() iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		if t.order != nil {
			t.walkOrder(0, yield)
			return
		}
		roots, err := t.kin.sorted(int32(t.under))
		switch {
		case err != nil:
			yield(Node{}, err)
		case len(roots) > 0:
			w := walker{tree: t}
			w.enter(roots, 0)
			w.walk(roots[0], yield)
		}
	}
}

// WalkFrom returns the nodes of the tree from an entry of it on.
func (t *Tree) WalkFrom(entry int) iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		if t.order != nil {
			t.walkOrder(slices.Index(t.order, int32(entry)), yield)
			return
		}
		w := walker{tree: t}
		if err := w.climb(int32(entry)); err != nil {
			yield(Node{}, err)
			return
		}
		w.walk(int32(entry), yield)
	}
}

// walkOrder is Walk for a tree whose order is known, from a place in the order on.
func (t *Tree) walkOrder(from int, yield func(Node, error) bool) {
	first := map[int32]int{} // the first entry of the run that an entry ends
	for k, run := 0, 0; k < len(t.order); k += run {
		run = t.runIn(k)
		i := t.order[k]
		first[t.order[k+run-1]] = int(i)
		if k < from {
			continue
		}
		n := Node{Entry: int(i), Last: int(t.order[k+run-1]), Count: run, Above: int(t.parents[i])}
		if above, ok := first[t.parents[i]]; ok {
			n.Above = above
		}
		if !yield(n, nil) {
			return
		}
	}
}

// runIn returns the length of the run that begins at a place in the order.
func (t *Tree) runIn(from int) int {
	to := from + 1
	for t.fold && to < len(t.order) && t.parents[t.order[to]] == t.order[to-1] && t.kin.number(t.order[to-1]) == 1 {
		to++
	}
	return to - from
}

// walker walks a tree in which parents precede their children.
type walker struct {
	tree  *Tree
	stack []siblings
	heads map[int32]int32 // see head
}

// siblings is a group of children that is not walked to its end, and the place in it.
type siblings struct {
	group []int32
	at    int
}

// enter pushes a group of children unless it has only one.
func (w *walker) enter(group []int32, at int) {
	if len(group) > 1 {
		w.stack = append(w.stack, siblings{group, at})
	}
}

// climb prepares to walk from entry i on.
func (w *walker) climb(i int32) error {
	t := w.tree
	for {
		p := t.parents[i]
		if t.kin.number(p) > 1 {
			group, err := t.kin.sorted(p)
			if err != nil {
				return err
			}
			w.enter(group, slices.Index(group, i))
		}
		if int(p) == t.under {
			slices.Reverse(w.stack)
			return nil
		}
		i = p
	}
}

func (w *walker) walk(i int32, yield func(Node, error) bool) {
	t := w.tree
	for more := true; more; {
		n := Node{Entry: int(i), Count: 1, Above: int(w.head(t.parents[i]))}
		children, err := t.kin.sorted(i)
		for err == nil && t.fold && len(children) == 1 {
			i = children[0]
			n.Count++
			children, err = t.kin.sorted(i)
		}
		n.Last = int(i)
		if !yield(n, err) || err != nil {
			return
		}
		if len(children) > 0 {
			w.enter(children, 0)
			i = children[0]
			continue
		}
		i, more = w.next()
	}
}

// next returns the entry behind a leaf.
func (w *walker) next() (i int32, more bool) {
	for len(w.stack) > 0 {
		top := &w.stack[len(w.stack)-1]
		if top.at++; top.at < len(top.group) {
			return top.group[top.at], true
		}
		w.stack = w.stack[:len(w.stack)-1]
	}
	return 0, false
}

// head returns the first entry of the run that ends with entry i. A run is followed once, since several entries are below it.
func (w *walker) head(i int32) int32 {
	t := w.tree
	if !t.fold || i < 0 || int(i) == t.under {
		return i
	}
	if h, ok := w.heads[i]; ok {
		return h
	}
	h := i
	for p := t.parents[h]; p >= 0 && int(p) != t.under && t.kin.number(p) == 1; p = t.parents[h] {
		h = p
	}
	if w.heads == nil {
		w.heads = map[int32]int32{}
	}
	w.heads[i] = h
	return h
}
