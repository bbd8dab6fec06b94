package session

// NotInTree is the parent in a [Document.Shape] of an entry that is no node of the tree.
const NotInTree = -2

// Shape returns the tree that the first n entries form, n ≤ Len: for each of them the index of the nearest entry above it that is not
// hidden, -1 for a root, or [NotInTree] for a hidden entry and for one that shares its id with a later one. The tree
// is that of a file with these entries only. Parents may form a cycle. Shape reads no entry.
func (d *Document) Shape(n int) []int32 {
	if shape, ok := d.plainShape(n); ok {
		return shape
	}
	t := &d.tree
	if n < d.Len() {
		t = &tree{index: d.tree.upTo(n, 0)}
	}
	shape := make([]int32, n)
	for i, p := range t.shownParents() {
		if shape[i] = int32(p); t.hidden(i) || t.shadowed(i) {
			shape[i] = NotInTree
		}
	}
	return shape
}

// plainShape is Shape for a document in which no id is used twice and every parent precedes its children. ok is false for
// any other.
func (d *Document) plainShape(n int) (shape []int32, ok bool) {
	t := &d.tree
	if t.twice {
		return nil, false
	}
	shape = make([]int32, n)
	var hidden []int32 // those seen so far
	for i := range n {
		p := t.parentOf(i)
		if p >= n {
			p = -1 // it was added later
		}
		if p >= i {
			return nil, false
		}
		if p >= 0 && t.hidden(p) {
			p = int(shape[p])
		}
		if shape[i] = int32(p); t.hidden(i) {
			hidden = append(hidden, int32(i))
		}
	}
	for _, i := range hidden {
		shape[i] = NotInTree
	}
	return shape, true
}
