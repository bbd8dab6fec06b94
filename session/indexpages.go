package session

import (
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// Sections of an index file.
const (
	pageSection = iota // slots, in pages
	idSection          // cells of the table of ids
)

const (
	slotSize = 32
	cellSize = 8
	idBlock  = 64 << 10 // bytes of a block of the table of ids
)

// lazyPages are the first pages of an index, which an index file holds. A page is read when it is needed, and
// then kept. It is safe for concurrent use.
//
// A page that can't be read there is made of the session file, which takes a few milliseconds.
type lazyPages struct {
	doc    *Document
	file   *indexfile.File
	n      int         // slots
	starts []pageStart // of each page
	got    []atomic.Pointer[[]slot]
	drop   func()                    // removes the index files
	whole  func() (*Document, error) // reads the whole session file

	facts   *indexFacts // of the index file
	dialect *Dialect    // that the session's place determines, nil for none
}

// pageStart is where the first entry of a page is.
type pageStart struct {
	off int64
	ord int32
}

func (l *lazyPages) page(n int) []slot {
	if p := l.got[n].Load(); p != nil {
		return *p
	}
	page, err := l.read(n)
	if err != nil {
		l.drop()
		page, err = l.scan(n)
	}
	if err != nil {
		page, err = l.fromWhole(n)
	}
	if err != nil {
		l.doc.src.fail(errChanged)
		page = make([]slot, l.len(n), pageLen()) // nothing that is read by means of it succeeds
	}
	l.got[n].CompareAndSwap(nil, &page)
	return *l.got[n].Load()
}

// len returns the number of slots of a page.
func (l *lazyPages) len(n int) int { return min(pageLen(), l.n-n*pageLen()) }

// block calls f with the encoded slots of a page, which are valid during the call. It fails if f reports that they can't be
// those of the session.
func (l *lazyPages) block(n int, f func(b []byte) bool) error {
	buf, _ := pageBuffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer pageBuffers.Put(buf)
	b, err := l.file.BlockInto(pageSection, n, *buf)
	if err != nil {
		return err
	}
	*buf = b
	if !f(b) {
		return indexfile.ErrDamaged
	}
	return nil
}

// pageBuffers are buffers for encoded pages, so that reading many pages does not leave as much garbage.
var pageBuffers sync.Pool

func (l *lazyPages) read(n int) (page []slot, err error) {
	err = l.block(n, func(b []byte) (ok bool) {
		page, ok = l.decode(b, make([]slot, 0, pageLen()))
		return ok
	})
	return page, err
}

// decode appends the slots of an encoded page. It reports false at one that can't be of the session.
func (l *lazyPages) decode(b []byte, page []slot) (_ []slot, ok bool) {
	for ; len(b) > 0; b = b[slotSize:] {
		s := getSlot(b)
		if !l.plausible(&s) {
			return page, false
		}
		page = append(page, s)
	}
	return page, true
}

func (l *lazyPages) plausible(s *slot) bool {
	return s.plausible(l.doc.indexed, len(l.doc.tree.names.texts))
}

// seen returns a page that is in memory, else nil.
func (l *lazyPages) seen(n int) []slot {
	if p := l.got[n].Load(); p != nil {
		return *p
	}
	return nil
}

// errNotThePage means that a page made of the session file is not the one that the index had.
var errNotThePage = errors.New("session: the file is not the one that was indexed")

// scan makes a page of the lines of the session file that it is about.
func (l *lazyPages) scan(n int) ([]slot, error) {
	from, to := l.starts[n], l.doc.indexed
	if n+1 < len(l.starts) {
		to = l.starts[n+1].off
	}
	part := &Document{header: l.doc.header, values: from.ord}
	names := &l.doc.tree.names // has all of them; cloned, so that a line that is new adds none
	part.tree.names = idNames{texts: slices.Clip(names.texts), byID: maps.Clone(names.byID)}
	s := lineScanner{
		src: io.NewSectionReader(lockedReader{&l.doc.src}, from.off, to-from.off), off: from.off,
		emit: part.add, report: func(Problem) {}, budget: spanBudget, limits: fileLimits, begun: true,
	}
	if _, err := s.run(); err != nil {
		return nil, err
	}
	return l.checked(n, part, 0)
}

// fromWhole makes a page of the whole session file.
func (l *lazyPages) fromWhole(n int) ([]slot, error) {
	d, err := l.whole()
	if err != nil {
		return nil, err
	}
	return l.checked(n, d, n*pageLen())
}

// checked returns the slots of d from index from on as page n, if they have its checksum.
func (l *lazyPages) checked(n int, d *Document, from int) ([]slot, error) {
	if d.Len() < from+l.len(n) {
		return nil, errNotThePage
	}
	page := make([]slot, l.len(n), pageLen())
	b := make([]byte, len(page)*slotSize)
	for i := range page {
		page[i] = *d.tree.slots.at(from + i)
		putSlot(b[i*slotSize:], &page[i])
	}
	if indexfile.Checksum(b) != l.file.Sum(pageSection, n) {
		return nil, errNotThePage
	}
	return page, nil
}

// putSlot encodes a slot of an entry that is in the file.
func putSlot(b []byte, s *slot) {
	binary.LittleEndian.PutUint64(b, uint64(s.off))
	binary.LittleEndian.PutUint32(b[8:], uint32(s.n))
	binary.LittleEndian.PutUint32(b[12:], uint32(s.ord))
	binary.LittleEndian.PutUint32(b[16:], s.id)
	binary.LittleEndian.PutUint32(b[20:], s.parent)
	b[24], b[25], b[26], b[27], b[28] = byte(s.idKind), byte(s.parentKind), s.typ, s.role, byte(s.has&slotHidden)
	b[29], b[30], b[31] = 0, 0, 0
}

func getSlot(b []byte) (s slot) {
	_ = b[slotSize-1]
	return slot{
		off: int64(binary.LittleEndian.Uint64(b)), n: int32(binary.LittleEndian.Uint32(b[8:])), ord: int32(binary.LittleEndian.Uint32(b[12:])),
		id: binary.LittleEndian.Uint32(b[16:]), parent: binary.LittleEndian.Uint32(b[20:]),
		idKind: idKind(b[24]), parentKind: idKind(b[25]), typ: b[26], role: b[27], has: slotFlags(b[28]) & slotHidden,
	}
}

// plausible reports whether a slot can be that of an entry in a file of size bytes, with a number of unusual ids. A page
// with any other has its checksum only if somebody made it.
func (s *slot) plausible(size int64, names int) bool {
	id := func(k idKey) bool { return k.kind <= namedID && (k.kind != namedID || int64(k.value) < int64(names)) }
	return s.off >= 0 && s.n > 0 && s.off <= size-int64(s.n) && id(s.idKey()) && id(s.parentKey()) &&
		(s.typ == otherCode || int(s.typ) < len(typeCodes)) && (s.role == otherCode || int(s.role) < len(roleCodes))
}

// idBase finds the ids of the entries that an index file holds, in a table in that file. A block of it is read
// when it is needed, and then kept. It is safe for concurrent use.
type idBase struct {
	pages      *lazyPages
	slots      *slots
	cells      int // a power of two of them
	multiplier uint64
	named      bool // some ids are not of eight hex digits
	got        []atomic.Pointer[[]byte]

	once    sync.Once
	rebuilt atomic.Pointer[idTable] // if the table can't be read
}

// find returns the place of the last entry of the file with the key.
func (t *idBase) find(k idKey) (place int, ok bool) {
	if t.cells == 0 || k.kind == noID {
		return 0, false
	}
	if r := t.rebuilt.Load(); r != nil {
		return r.find(k, t.slots)
	}
	mask := uint32(t.cells - 1)
	at := home(k.value, t.multiplier, t.cells)
	for range t.cells {
		c, err := t.cell(at)
		if err != nil || c.place < 0 || int(c.place) > t.pages.n {
			return t.rebuild().find(k, t.slots)
		}
		if c.place == 0 {
			return 0, false
		}
		if c.value == k.value && t.kind(int(c.place)-1) == k.kind {
			return int(c.place) - 1, true
		}
		at = (at + 1) & mask
	}
	return 0, false
}

// kind returns the kind of an entry's id, without the entry's page if all are of the common one.
func (t *idBase) kind(place int) idKind {
	if !t.named {
		return hexID
	}
	return t.slots.at(place).idKind
}

func (t *idBase) cell(at uint32) (idCell, error) {
	n := int(at) / (idBlock / cellSize)
	b := t.got[n].Load()
	if b == nil {
		block, err := t.pages.file.Block(idSection, n)
		if err != nil {
			return idCell{}, err
		}
		b = &block
		t.got[n].Store(b)
	}
	return getCell((*b)[int(at)%(idBlock/cellSize)*cellSize:]), nil
}

func putCell(b []byte, c idCell) {
	binary.LittleEndian.PutUint32(b, c.value)
	binary.LittleEndian.PutUint32(b[4:], uint32(c.place))
}

func getCell(b []byte) idCell {
	return idCell{value: binary.LittleEndian.Uint32(b), place: int32(binary.LittleEndian.Uint32(b[4:]))}
}

// rebuild makes the table in memory, of the slots.
func (t *idBase) rebuild() *idTable {
	t.once.Do(func() {
		t.pages.drop()
		r := &idTable{}
		r.putAll(t.slots, 0, t.pages.n)
		t.rebuilt.Store(r)
	})
	return t.rebuilt.Load()
}

// table returns the whole table, in memory.
func (t *idBase) table() idTable {
	if t.cells == 0 {
		return idTable{}
	}
	all := idTable{cells: make([]idCell, t.cells), multiplier: t.multiplier}
	for at := range all.cells {
		c, err := t.cell(uint32(at))
		if err != nil || t.rebuilt.Load() != nil || c.place < 0 || int(c.place) > t.pages.n {
			return t.rebuild().clone()
		}
		if all.cells[at] = c; c.place != 0 {
			all.used++
		}
	}
	return all
}

// allIDs returns a copy of the whole table of ids.
func (x *index) allIDs() idTable {
	if x.base == nil {
		return x.ids.clone()
	}
	all := x.base.table()
	all.putAll(&x.slots, x.base.pages.n, x.len())
	return all
}
