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
	hidden := make([]uint64, n/64+1) // a bit for each entry; their pages need not be in memory
	var ids [nearby]idKey            // of the entries before, by the end of their places
	labels := labelSlots{of: n}
	for i, s := range t.slots.each(n) {
		labels.note(i, s)
		p := t.parentNear(i, s, &ids)
		ids[i%nearby] = s.idKey()
		if p >= n {
			p = -1 // it was added later
		}
		if p >= i {
			return nil, false
		}
		if p >= 0 && hidden[p/64]>>(p%64)&1 > 0 {
			p = int(shape[p])
		}
		if shape[i] = int32(p); s.has&slotHidden != 0 {
			hidden[i/64] |= 1 << (i % 64)
		}
	}
	d.labelled.Store(&labels)
	for i := range shape {
		if hidden[i/64]>>(i%64)&1 > 0 {
			shape[i] = NotInTree
		}
	}
	return shape, true
}

// parentNear is [index.parentOf] for a slot before which the ids of the nearest entries are known, in a document in which
// no id is used twice.
func (x *index) parentNear(i int, s *slot, ids *[nearby]idKey) int {
	if s.parentKind == noID || s.ownParent() {
		return -1
	}
	near := 1
	if x.base != nil {
		near = nearby
	}
	for j := i - 1; j >= max(0, i-near); j-- {
		if ids[j%nearby] == s.parentKey() {
			return j
		}
	}
	if p, ok := x.findKey(s.parentKey()); ok {
		return p
	}
	return -1
}
