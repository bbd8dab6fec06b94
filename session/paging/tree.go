package paging

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Tree is the tree of a session as it was when the first page was made: parents before children, children of one parent by
// time. Entries that share an id are one node, the last of them. Nodes on a cycle of parents have no root above them; they
// come last.
type Tree struct {
	Total int // nodes

	doc     *session.Document
	cursor  Cursor // of no place
	fold    bool
	under   int // the entry above the tree, -1 for none
	parents []int32
	kin     kin
	order   []int32 // all entries, if an entry does not follow its parent; else nil
}

// OpenTree returns the tree below the entry called under, "" for all of it. With fold, entries that have one child each
// are one node with that child.
func OpenTree(d *session.Document, under string, fold bool) (*Tree, error) {
	kind := Nodes
	if fold {
		kind = Folded
	}
	c := Begin(d, kind)
	if under != "" {
		i, err := d.Index(under)
		if err != nil {
			return nil, err
		}
		c.Of = i + 1
	}
	return newTree(d, c)
}

// ReopenTree returns the tree of a cursor, and the entry at which the next page begins.
func ReopenTree(d *session.Document, cursor, under string, fold bool) (t *Tree, next int, err error) {
	c, err := Parse(cursor, d, Nodes, Folded)
	if err != nil {
		return nil, 0, err
	}
	if under != "" && (c.Of == 0 || under != d.ID(c.Of-1)) || fold && c.Kind != Folded {
		return nil, 0, notACursor("The cursor is of a tree with other arguments; pass those of its first page.")
	}
	t, err = newTree(d, c)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, 0, err
	}
	if err != nil || !t.holds(c.Place) {
		return nil, 0, notACursor("The cursor is damaged; pass it as it was returned.")
	}
	return t, c.Place, nil
}

func newTree(d *session.Document, c Cursor) (*Tree, error) {
	t := &Tree{doc: d, cursor: c, fold: c.Kind == Folded, under: c.Of - 1, parents: d.Shape(c.Entries)}
	if t.under >= 0 && t.parents[t.under] == session.NotInTree {
		return nil, fault.New(fault.NotFound, "Entry %s is not in the tree.", d.ID(t.under)).With("entryId", d.ID(t.under))
	}
	t.kin = kinOf(d, t.parents)
	for i, p := range t.parents {
		if int(p) >= i {
			if err := t.flatten(); err != nil {
				return nil, err
			}
			break
		}
	}
	t.Total = t.count()
	return t, nil
}

// Cursor returns the cursor for the page that begins at an entry.
func (t *Tree) Cursor(next int) string { return t.cursor.At(t.cursor.Kind, next).String() }

// holds reports whether entry i is a node below the entry under which the tree is.
func (t *Tree) holds(i int) bool {
	if i >= len(t.parents) || t.parents[i] == session.NotInTree {
		return false
	}
	if t.order != nil {
		for _, j := range t.order {
			if int(j) == i {
				return true
			}
		}
		return false
	}
	if t.under < 0 {
		return true
	}
	for i = int(t.parents[i]); i > t.under; {
		i = int(t.parents[i])
	}
	return i == t.under
}

// count returns the number of nodes.
func (t *Tree) count() (n int) {
	if t.order != nil {
		for from := 0; from < len(t.order); n++ {
			from += t.runIn(from)
		}
		return n
	}
	begins := func(p int32) bool { return !t.fold || int(p) == t.under || t.kin.number(p) != 1 }
	if t.under < 0 {
		for _, p := range t.parents {
			if p != session.NotInTree && begins(p) {
				n++
			}
		}
		return n
	}
	below := make([]bool, len(t.parents))
	below[t.under] = true
	for i, p := range t.parents {
		if p >= 0 && below[p] {
			below[i] = true
			if begins(p) {
				n++
			}
		}
	}
	return n
}

// flatten puts the entries in order. It is for a tree in which an entry does not follow its parent, so that there may be cycles.
func (t *Tree) flatten() error {
	placed := make([]bool, len(t.parents))
	t.order = []int32{}
	var stack []int32 // not recursive: a conversation can be a hundred thousand turns deep
	visit := func(roots []int32) error {
		stack = appendBackward(stack, roots)
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if placed[i] {
				continue
			}
			placed[i] = true
			t.order = append(t.order, i)
			children, err := t.kin.sorted(i)
			if err != nil {
				return err
			}
			stack = appendBackward(stack, children)
		}
		return nil
	}
	if t.under >= 0 {
		placed[t.under] = true
	}
	roots, err := t.kin.sorted(int32(t.under))
	if err == nil {
		err = visit(roots)
	}
	for i, p := range t.parents {
		if err == nil && t.under < 0 && p != session.NotInTree && !placed[i] {
			err = visit([]int32{int32(i)})
		}
	}
	return err
}

func appendBackward(stack, list []int32) []int32 {
	for _, i := range slices.Backward(list) {
		stack = append(stack, i)
	}
	return stack
}

// Labels returns the label of every entry that has one. The last label entry for a target counts; an empty one clears the label.
func (t *Tree) Labels() (map[string]string, error) {
	if t.cursor.Entries == t.doc.Len() {
		return t.doc.Labels()
	}
	labels := map[string]string{}
	for i := range t.cursor.Entries {
		if t.doc.Type(i) != session.TypeLabel {
			continue
		}
		e, err := t.doc.Entry(i)
		if err != nil {
			return nil, err
		}
		if l := e.AsLabel(); l.Text == "" {
			delete(labels, l.TargetID)
		} else {
			labels[l.TargetID] = l.Text
		}
	}
	return labels, nil
}

// Ordered returns the entries of the whole tree of d in order.
func Ordered(d *session.Document) ([]int, error) {
	t, err := OpenTree(d, "", false)
	if err != nil {
		return nil, err
	}
	order := make([]int, 0, t.Total)
	for n, err := range t.Walk() {
		if err != nil {
			return nil, err
		}
		order = append(order, n.Entry)
	}
	return order, nil
}
