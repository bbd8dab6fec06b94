package session

import (
	"errors"
	"math/rand/v2"

	"github.com/xcsh-ls/xcsh-ls/session/internal/filesums"
	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// errNoIndex means that a session gets no index file.
var errNoIndex = errors.New("session: not indexed")

// keepEvery is by how many bytes an open session grows before its index files are extended. Only tests change it.
var keepEvery int64 = 256 << 10

// keepIndex extends the index files of the session if more than a number of bytes were appended since, by this Log or by
// others. So the next opening reads no lines but those that come later. The lines are read from the file, and their
// checksums are of the bytes that were read. What is before them is compared by the next opening, because this
// process's own writes are all that it knows to have happened meanwhile.
func (l *Log) keepIndex(grown int64) {
	d := l.doc
	if l.store.IndexDir == "" || l.path == "" || l.pending || d.kept == 0 || d.comparing != nil || d.tail.size-d.kept <= grown {
		return
	}
	l.store.remembered(l.path, l.store.extendIndex(l.path, d))
	d.kept = d.tail.size // if it failed, the next attempt is not that of the next entry
}

// extendIndex extends the index files of the session at path, which is open as d, by what the file has behind them.
func (s *Store) extendIndex(path string, d *Document) error {
	r := &indexReader{store: s, at: s.indexAt(path), trusted: true}
	if !r.openIndex() {
		return errNoIndex
	}
	if !r.facts.sums.Agrees(d.sums) {
		return errors.Join(filesums.ErrOtherBytes, r.base.Close())
	}
	now, err := r.open(path)
	if err != nil {
		return errors.Join(err, r.base.Close())
	}
	now.settle(&d.dialect)
	r.takeOutline(now)
	if o := d.outlined.Load(); o != nil && now.outlined.Load() == nil && o.entries == now.Len() && o.leaf == now.Len()-1 && d.Len() == now.Len() {
		now.outlined.Store(o)
	}
	now.rested = d.rested && now.stamp == d.stamp && d.indexed == r.facts.sums.Size // the bytes that d was compared with
	if r.grew || now.rested && (!r.facts.rested || r.facts.stamp != now.stamp) {
		err = r.extend(now, false)
	}
	return errors.Join(err, now.Close())
}

// writeIndex writes the base of the index files of d, which was just read. If outlined is set, the outline of the
// newest entry is made for it.
func (d *Document) writeIndex(at indexPlace, outlined bool) error {
	facts, err := d.facts(at, outlined)
	if err != nil {
		return err
	}
	ids := d.tree.allIDs()
	facts.mark, facts.base, facts.cells, facts.factor = rand.Uint64(), d.Len(), len(ids.cells), ids.multiplier
	for i := 0; i < d.Len(); i += pageLen() {
		s := d.tree.slots.at(i)
		facts.starts = append(facts.starts, pageStart{s.off, s.ord})
	}
	at.Remove(at.name + extensionEnd)
	return at.Write(at.name+baseEnd, facts.encode(), d.pages(0), indexfile.Section{
		Size: int64(len(ids.cells)) * cellSize, Block: idBlock,
		Fill: func(n int, b []byte) {
			for i := range len(b) / cellSize {
				putCell(b[i*cellSize:], ids.cells[n*idBlock/cellSize+i])
			}
		},
	})
}

// writeExtension writes the extension of a base.
func (d *Document) writeExtension(at indexPlace, base *indexFacts, outlined bool) error {
	facts, err := d.facts(at, outlined)
	if err != nil {
		return err
	}
	facts.mark, facts.base, facts.starts, facts.cells, facts.factor = base.mark, base.base, base.starts, base.cells, base.factor
	return at.Write(at.name+extensionEnd, facts.encode(), d.pages(base.base))
}

// pages returns the slots from index from on as a section.
func (d *Document) pages(from int) indexfile.Section {
	return indexfile.Section{
		Size: int64(d.Len()-from) * slotSize, Block: pageSize(),
		Fill: func(n int, b []byte) {
			for i := range len(b) / slotSize {
				putSlot(b[i*slotSize:], d.tree.slots.at(from+n*pageLen()+i))
			}
		},
	}
}

// facts returns the facts of d, but for those about a base. It fails if d gets no index file: because it is of
// an older format, has no end of a line at its end, has a value that further lines may continue, or holds
// entries in memory only.
func (d *Document) facts(at indexPlace, outlined bool) (*indexFacts, error) {
	switch {
	case d.header.Version != CurrentVersion, d.tree.migrated != nil, !d.tail.newline, d.tail.open, d.tree.lines != nil,
		d.tally.counted != d.Len(), d.Len() == 0, !d.sums.Valid(), d.sums.Size != d.tail.size, d.headerAt.end != d.sums.From:
		return nil, errNoIndex
	}
	newest := d.Len() - 1
	o := d.outlined.Load()
	if o != nil && (o.leaf != newest || o.entries != d.Len()) {
		o = nil
	}
	if o == nil && outlined {
		var err error
		if o, err = d.outlineAt(newest); err != nil {
			return nil, err
		}
	}
	s, _ := d.spineAt(newest)
	f := &indexFacts{
		path: at.path, slots: d.Len(), stamp: d.stamp, rested: d.rested && d.stamp.Size == d.tail.size, sums: d.sums, end: endSumOf(d.end),
		lines: d.tail.lines, values: int(d.values), budget: d.tail.budget,
		headerRaw: d.header.Raw, headerAt: d.headerAt, hasSlot: d.hasSlot, title: d.title, named: d.named, piName: d.piName, marks: d.marks,
		names: d.tree.names.texts, odd: oddNames{d.tree.oddTypes, d.tree.oddRoles}, twice: d.tree.twice,
		problems: d.scanned.problems, found: d.scanned.found, tally: d.tally.counts, dialect: d.dialect, spine: s, outlined: o,
	}
	f.stamp.Size = d.tail.size
	return f, nil
}
