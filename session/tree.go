package session

import (
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// tree is the index of a session with the parents of its entries.
type tree struct {
	index
	migrated *migration // set when the file is older than the current format
}

// path returns the indexes from the root to leaf. cycle is set if the parents form a cycle;
// the path then begins where the cycle would close.
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

// newestBelow returns the newest of the entries from index from on that descend from the
// entry top without leaving them. A top of -1 is before the first entry: roots descend from it.
func (t *tree) newestBelow(top, from int) (place int, ok bool) {
	seen := make([]bool, t.len()-from)
	for i := t.len() - 1; i >= from; i-- {
		for j := i; j >= from && !seen[j-from]; {
			seen[j-from] = true
			if j = t.parentOf(j); j == top {
				return i, true
			}
		}
	}
	return 0, false
}

// Leaf determines up to which entry a context is built: [AtLast], [AtRoot] or [At].
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

// LeafID returns the id of the entry that is shown as the leaf, or "" when there is none: the
// one that leaf stands for, or else the nearest one above it that is not hidden.
func (d *Document) LeafID(leaf Leaf) string {
	if i := d.shown(d.tree.resolve(leaf)); i >= 0 {
		return d.tree.id(i)
	}
	return ""
}

// Index returns the index of the entry called id. An unknown id is a NotFound error.
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

// PathTo returns the indexes of the entries from the root to leaf. It stops where the
// parents form a cycle.
func (d *Document) PathTo(leaf Leaf) []int {
	path, _ := d.tree.path(d.tree.resolve(leaf))
	return path
}

// Parent returns the index of entry i's parent, or -1 for a root.
func (d *Document) Parent(i int) int { return d.tree.parentOf(i) }

// Labels returns the label of every entry that has one. The last label entry for a target
// counts; an empty one clears the label.
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

// Ordered returns the indexes of all entries that are not hidden, parents before children,
// children of one parent by timestamp. Entries that share an id are one node, the last of
// them. Nodes on a cycle of parents have no root above them; they come last.
func (d *Document) Ordered() ([]int, error) {
	kin, err := d.kin()
	if err != nil {
		return nil, err
	}
	order := make([]int, 0, d.Len())
	placed := make([]bool, d.Len())
	var stack []int // not recursive: a conversation can be a hundred thousand turns deep
	visit := func(roots []int) {
		stack = appendBackward(stack, roots)
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if placed[i] {
				continue
			}
			placed[i] = true
			order = append(order, i)
			stack = appendBackward(stack, kin.of(i))
		}
	}
	visit(kin.of(-1))
	for i := range d.Len() {
		if !placed[i] && !d.tree.hidden(i) && !d.tree.shadowed(i) {
			visit([]int{i})
		}
	}
	return order, nil
}

func appendBackward(stack, list []int) []int {
	for _, i := range slices.Backward(list) {
		stack = append(stack, i)
	}
	return stack
}

// kin holds the shown children of every entry, grouped by shown parent and sorted by time.
type kin struct {
	ends []int // [p+1]: where the children of p end in list; -1, the parent of roots, has the first
	list []int
}

func (k kin) of(parent int) []int {
	from := 0
	if parent >= 0 {
		from = k.ends[parent]
	}
	return k.list[from:k.ends[parent+1]]
}

// kin groups the entries by parent. It reads the times only of those that have siblings.
func (d *Document) kin() (kin, error) {
	k := kin{ends: make([]int, d.Len()+2)}
	parents := d.ShownParents()
	each := func(f func(i, parent int)) {
		for i, parent := range parents {
			if !d.tree.hidden(i) && !d.tree.shadowed(i) {
				f(i, parent)
			}
		}
	}
	// Counted one index further, the sums are where each group begins; filling moves that
	// to where it ends.
	each(func(_, parent int) { k.ends[parent+2]++ })
	for p := range d.Len() + 1 {
		k.ends[p+1] += k.ends[p]
	}
	k.list = make([]int, k.ends[d.Len()+1])
	each(func(i, parent int) {
		k.list[k.ends[parent+1]] = i
		k.ends[parent+1]++
	})
	for parent := -1; parent < d.Len(); parent++ {
		if err := d.sortByTime(k.of(parent)); err != nil {
			return kin{}, err
		}
	}
	return k, nil
}

func (d *Document) sortByTime(siblings []int) error {
	if len(siblings) < 2 {
		return nil
	}
	times := make(map[int]string, len(siblings))
	for _, i := range siblings {
		e, err := d.Brief(i)
		if err != nil {
			return err
		}
		times[i] = sortableTime(e.Timestamp)
	}
	slices.SortStableFunc(siblings, func(a, b int) int { return strings.Compare(times[a], times[b]) })
	return nil
}
