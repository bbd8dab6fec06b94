package session

import (
	"iter"
	"slices"

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

// isBelow reports whether an entry is another one or below it; -1 is above all.
func (t *tree) isBelow(i, top int) bool {
	if top < 0 {
		return true
	}
	for at := range t.upward(i) {
		if at == top {
			return true
		}
	}
	return false
}

// upward yields an entry and those above it, each once. It needs memory only where a parent comes behind its child.
func (t *tree) upward(leaf int) iter.Seq[int] {
	return func(yield func(int) bool) {
		var seen []bool // once the parents may form a cycle
		for i := leaf; i >= 0 && (seen == nil || !seen[i]); {
			if seen != nil {
				seen[i] = true
			}
			if !yield(i) {
				return
			}
			parent := t.parentOf(i)
			if parent > i && seen == nil {
				seen = make([]bool, t.len())
				for j := leaf; j != i; j = t.parentOf(j) {
					seen[j] = true
				}
				seen[i] = true
			}
			i = parent
		}
	}
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

// PathTo returns the indexes of the entries from the root to leaf, which the caller must not change. It
// stops where the parents form a cycle.
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
	for i, s := range d.labelEntries() {
		line, err := d.rawOf(i, s)
		if err != nil {
			return nil, err
		}
		if l := (Entry{Type: TypeLabel, Raw: line}).AsLabel(); l.Text == "" {
			delete(labels, l.TargetID)
		} else {
			labels[l.TargetID] = l.Text
		}
	}
	return labels, nil
}

// labelSlots are the slots of the labels among the first entries, so that the index is walked once for a tree.
type labelSlots struct {
	of     int // entries
	places []int
	slots  []slot
	many   bool // too many to be kept
}

const maxLabelSlots = 4096

// note notes entry i if it is a label.
func (l *labelSlots) note(i int, s *slot) {
	switch {
	case s.typ != labelCode:
	case len(l.places) == maxLabelSlots:
		l.many = true
	default:
		l.places, l.slots = append(l.places, i), append(l.slots, *s)
	}
}

// labelEntries yields the labels with their slots, which must not be changed.
func (d *Document) labelEntries() iter.Seq2[int, *slot] {
	return func(yield func(int, *slot) bool) {
		if l := d.labelled.Load(); l != nil && l.of == d.Len() && !l.many {
			for n, i := range l.places {
				if !yield(i, &l.slots[n]) {
					return
				}
			}
			return
		}
		for i, s := range d.tree.slots.each(d.Len()) {
			if s.typ == labelCode && !yield(i, s) {
				return
			}
		}
	}
}
