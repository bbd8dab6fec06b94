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

// nearParent is how many entries before a child its parent is searched among. It is nearly always the one before.
const nearParent = 16

// plainShape is Shape for a document in which no id is used twice and every parent precedes its children. ok is false for
// any other.
func (d *Document) plainShape(n int) (shape []int32, ok bool) {
	t, named := &d.tree, 0
	for i := range t.len() {
		if t.slots.at(i).idKind != noID {
			named++
		}
	}
	if named != t.ids.used {
		return nil, false
	}
	shape = make([]int32, n)
	var hidden []int32 // those seen so far
	for i := range n {
		s := t.slots.at(i)
		p := t.plainParent(i, s)
		if p >= n {
			p = -1 // it was added later
		}
		if p >= i {
			return nil, false
		}
		if p >= 0 && t.hidden(p) {
			p = int(shape[p])
		}
		if shape[i] = int32(p); s.has&slotHidden != 0 {
			hidden = append(hidden, int32(i))
		}
	}
	for _, i := range hidden {
		shape[i] = NotInTree
	}
	return shape, true
}

// plainParent is parentOf for a document in which no id is used twice.
func (t *tree) plainParent(i int, s *slot) int {
	if s.parentKind == noID || s.ownParent() {
		return -1
	}
	for j := i - 1; j >= max(0, i-nearParent); j-- {
		if c := t.slots.at(j); c.id == s.parent && c.idKind == s.parentKind {
			return j
		}
	}
	return t.parentOf(i)
}
