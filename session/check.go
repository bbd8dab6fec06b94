package session

import (
	"io"
	"reflect"
	"slices"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Check returns all problems of the session: those found while reading, those of the tree
// as a whole, and those of the context of leaf. An index file is ignored: the session file
// is read whole, and an index file that differs is removed. Check fails only if a large file cannot
// be read.
func (d *Document) Check(leaf Leaf, blobs BlobSource) ([]Problem, error) {
	whole, err := d.reread()
	if err != nil {
		return nil, err
	}
	if leaf.place > 0 && whole.Len() != d.Len() { // the index file had other entries
		leaf = At(d.tree.id(leaf.place - 1))
	}
	return whole.check(leaf, blobs)
}

// reread returns the document that reading the file of d whole gives, with the entries that are not in it. It is d
// itself unless d was made of an index file. It shares the file with d and need not be closed.
func (d *Document) reread() (*Document, error) {
	lazy := d.tree.slots.lazy
	if lazy == nil {
		return d, nil
	}
	w := &Document{path: d.path, info: d.info}
	size := d.src.size
	if _, err := w.read(lentFile{d.src.file, io.NewSectionReader(lockedReader{&d.src}, 0, size)}, size, nil); err != nil {
		return nil, disk.Fault("read", d.path, err)
	}
	if w.tail.size < size {
		return nil, disk.Fault("read", d.path, errTruncated)
	}
	w.settle(lazy.dialect)
	if !lazy.describes(w) {
		lazy.drop()
	}
	if err := w.headerFault(); err != nil {
		return nil, err
	}
	w.problems = append(w.problems, d.problems[d.settled:]...)
	for place, line := range d.tree.lines {
		i := int(place)
		if !d.tree.fresh(i) && i < w.Len() && w.tree.id(i) == d.tree.id(i) {
			w.tree.setMem(i, line) // our own entry, which the file may have without its images
		}
	}
	for _, i := range d.freshEntries() {
		w.tree.add(d.tree.at(i))
	}
	return w, nil
}

// describes reports whether the index file has what reading the file whole gave. Of a file that has grown since, only
// the entries are compared.
func (l *lazyPages) describes(w *Document) bool {
	for n := range l.starts {
		if _, err := l.checked(n, w, n*pageLen()); err != nil {
			return false
		}
	}
	f := l.facts
	return w.Len() >= f.slots && l.findsIDs(w) && l.hasLate(w) && (w.tail.size != f.sums.Size || f.describes(w))
}

// findsIDs reports whether the table of ids leads to the entries that it should.
func (l *lazyPages) findsIDs(w *Document) bool {
	for i := range l.n {
		key := w.tree.slots.at(i).idKey()
		want, _ := w.tree.findKey(key)
		if want >= l.n || key.kind == noID {
			continue
		}
		if got, ok := l.doc.tree.base.find(key); !ok || got != want {
			return false
		}
	}
	return true
}

// hasLate reports whether the entries of the extension are the right ones.
func (l *lazyPages) hasLate(w *Document) bool {
	var want, got [slotSize]byte
	for i := l.n; i < l.facts.slots; i++ {
		putSlot(want[:], w.tree.slots.at(i))
		putSlot(got[:], l.doc.tree.slots.at(i))
		if got != want {
			return false
		}
	}
	return true
}

// describes reports whether the facts are those of the file of w, which has the size that they name.
func (f *indexFacts) describes(w *Document) bool {
	want := *f // without what is about the index file itself
	want.path, want.mark, want.base, want.starts, want.cells, want.factor, want.stamp, want.rested = "", 0, 0, nil, 0, 0, disk.Stamp{}, false
	if f.hasSlot {
		want.title = w.title // always read from the file
	}
	if f.dialect != w.dialect {
		want.spine, want.outlined = nil, nil // they are not used
	}
	got := &indexFacts{
		slots: w.Len(), sums: w.sums, end: endSumOf(w.end), lines: w.tail.lines, values: int(w.values), budget: w.tail.budget,
		headerRaw: w.header.Raw, headerAt: w.headerAt, hasSlot: w.hasSlot, title: w.title, named: w.named, piName: w.piName, marks: w.marks,
		names: w.tree.names.texts, odd: oddNames{w.tree.oddTypes, w.tree.oddRoles}, twice: w.tree.twice,
		problems: w.scanned.problems, found: w.scanned.found, tally: w.tally.counts, dialect: f.dialect,
	}
	if s := want.spine; s != nil {
		if got.spine, _ = w.spineAt(s.leaf); got.spine.isIn(s) {
			got.spine = s
		}
	}
	if o := want.outlined; o != nil {
		got.outlined, _ = w.outlineAt(o.leaf) // nil if it cannot be read
	}
	got, _ = decodeFacts(got.encode()) // so that empty lists are missing, as they are in f
	return reflect.DeepEqual(&want, got)
}

// isIn reports whether carried is s, but for sparse entries that later ones override, which a spine that was carried on may have.
func (s *spine) isIn(carried *spine) bool {
	if s == nil || !slices.IsSorted(carried.sparse) || len(carried.sparse) > 0 && carried.sparse[len(carried.sparse)-1] >= carried.from {
		return false
	}
	for _, i := range s.sparse {
		if _, ok := slices.BinarySearch(carried.sparse, i); !ok {
			return false
		}
	}
	made := *s
	made.sparse = carried.sparse
	return reflect.DeepEqual(&made, carried)
}

// lentFile is a file that another document has open.
type lentFile struct {
	afero.File
	part *io.SectionReader
}

func (f lentFile) Read(b []byte) (int, error)                { return f.part.Read(b) }
func (f lentFile) ReadAt(b []byte, off int64) (int, error)   { return f.part.ReadAt(b, off) }
func (f lentFile) Seek(off int64, whence int) (int64, error) { return f.part.Seek(off, whence) }
func (f lentFile) Close() error                              { return nil }

// check is [Document.Check] for a document that was read whole.
func (d *Document) check(leaf Leaf, blobs BlobSource) ([]Problem, error) {
	problems := append([]Problem{}, d.problems...)
	cycles := d.cycles()
	seen := map[ProblemKind]map[string]bool{OrphanEntry: {}, ParentCycle: {}}
	for i := range d.Len() {
		if d.tree.orphan(i) {
			id := d.tree.id(i)
			seen[OrphanEntry][id] = true
			p := problemAt(OrphanEntry, 0, false, "The parent of entry %s is not in the file; it stands as another beginning.", id)
			p.EntryID = id
			problems = append(problems, p)
			continue
		}
		if cycles[i] {
			id := d.tree.id(i)
			seen[ParentCycle][id] = true
			p := problemAt(ParentCycle, 0, false, "The parents of entry %s lead back to it.", id)
			p.EntryID = id
			problems = append(problems, p)
		}
	}
	_, contextProblems, err := BuildContext(d, leaf, blobs)
	for _, p := range contextProblems {
		if !seen[p.Kind][p.EntryID] {
			problems = append(problems, p)
			continue
		}
		// The same problem, but here the conversation loses the entries above it.
		for i := range problems {
			if problems[i].Kind == p.Kind && problems[i].EntryID == p.EntryID {
				problems[i] = p
			}
		}
	}
	return problems, err
}

// cycles returns the entries on a cycle of parents, including an entry that is its own
// parent. It visits every entry once, whatever the shape.
func (d *Document) cycles() map[int]bool {
	onCycle := map[int]bool{}
	walk := make([]int32, d.Len()) // the walk that reached the entry first; 0: none yet
	for i := range d.Len() {
		if d.tree.slots.at(i).ownParent() && !d.tree.shadowed(i) {
			onCycle[i] = true // a root here, but a dead end in pi
		}
		id := int32(i + 1)
		j := i
		for j >= 0 && walk[j] == 0 {
			walk[j] = id
			j = d.tree.parentOf(j)
		}
		if j < 0 || walk[j] != id {
			continue // a root, or a chain that was walked before
		}
		for ; !onCycle[j]; j = d.tree.parentOf(j) {
			onCycle[j] = true
		}
	}
	return onCycle
}
