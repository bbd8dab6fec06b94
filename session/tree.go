package session

import (
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// tree is the index of a session with the parents of its entries.
type tree struct {
	index
	migrated *migration // set when the file is older than the current format
}

// path returns the indexes from the root to leaf. cycle is set when the parents
// lead in a circle; the path then begins where the circle would close.
func (t *tree) path(leaf int) (path []int, cycle bool) {
	seen := make([]bool, t.len())
	for i := leaf; i >= 0; i = t.parentOf(i) {
		if seen[i] {
			cycle = true
			break
		}
		seen[i] = true
		path = append(path, i)
	}
	slices.Reverse(path)
	return path, cycle
}

// Leaf says up to which entry a context is built: [AtLast], [AtRoot] or [At].
type Leaf struct {
	id    string
	root  bool
	place int // 1 + the index of an entry that may have no id
}

// AtLast is the newest entry of the file.
func AtLast() Leaf { return Leaf{} }

// AtRoot is before the first entry: an empty context.
func AtRoot() Leaf { return Leaf{root: true} }

// At is the entry called id, or the newest entry when there is none.
func At(id string) Leaf { return Leaf{id: id} }

// atPlace is the entry at an index; -1 is [AtRoot].
func atPlace(i int) Leaf { return Leaf{root: i < 0, place: i + 1} }

// resolve returns the index a leaf stands for, or -1.
func (t *tree) resolve(l Leaf) int {
	if l.root {
		return -1
	}
	if l.place > 0 {
		return l.place - 1
	}
	if i, ok := t.find(l.id); ok {
		return i
	}
	return t.len() - 1
}

// LeafID returns the id of the entry that leaf stands for, or "" when there is none.
func (d *Document) LeafID(leaf Leaf) string {
	if i := d.tree.resolve(leaf); i >= 0 {
		return d.tree.id(i)
	}
	return ""
}

// Index returns the index of the entry called id. An unknown id is kind notFound.
func (d *Document) Index(id string) (int, error) {
	i, ok := d.tree.find(id)
	if !ok {
		return 0, entryNotFound(id)
	}
	return i, nil
}

func entryNotFound(id string) error {
	return fault.New(fault.NotFound, "Entry %s not found", id).With("entryId", id)
}

// PathTo returns the indexes of the entries from the root to leaf. It ends the walk
// where parents lead in a circle.
func (d *Document) PathTo(leaf Leaf) []int {
	path, _ := d.tree.path(d.tree.resolve(leaf))
	return path
}

// Parent returns the index of entry i's parent, or -1 for a root.
func (d *Document) Parent(i int) int { return d.tree.parentOf(i) }

// Labels returns the label of every entry that has one. The last label entry for a
// target counts; an empty one clears.
func (d *Document) Labels() (map[string]string, error) {
	labels := map[string]string{}
	for i := range d.Len() {
		if d.tree.typ(i) != TypeLabel {
			continue
		}
		e, err := d.Entry(i)
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

// Ordered returns the indexes of all entries, parents before children, children of
// one parent by timestamp. Entries that share an id are one node, the last of them.
// Nodes on a circle of parents have no root above them; they follow at the end.
func (d *Document) Ordered() ([]int, error) {
	children, roots, err := d.children()
	if err != nil {
		return nil, err
	}
	order := make([]int, 0, d.Len())
	placed := make([]bool, d.Len())
	visit := func(root int) {
		// A stack, not recursion: a conversation of a hundred thousand turns is as deep.
		for stack := []int{root}; len(stack) > 0; {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if placed[i] {
				continue
			}
			placed[i] = true
			order = append(order, i)
			for _, c := range slices.Backward(children[i]) {
				stack = append(stack, c)
			}
		}
	}
	for _, r := range roots {
		visit(r)
	}
	for i := range d.Len() {
		if !d.tree.shadowed(i) {
			visit(i)
		}
	}
	return order, nil
}

func (d *Document) children() (children map[int][]int, roots []int, err error) {
	children = map[int][]int{}
	times := make([]string, d.Len())
	for i := range d.Len() {
		if d.tree.shadowed(i) {
			continue
		}
		e, err := d.Entry(i)
		if err != nil {
			return nil, nil, err
		}
		times[i] = sortableTime(e.Timestamp)
		if p := d.tree.parentOf(i); p >= 0 {
			children[p] = append(children[p], i)
		} else {
			roots = append(roots, i)
		}
	}
	for _, c := range children {
		slices.SortStableFunc(c, func(a, b int) int { return strings.Compare(times[a], times[b]) })
	}
	return children, roots, nil
}
