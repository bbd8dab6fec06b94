package session

import (
	"errors"
	"math/rand/v2"

	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// errNoIndex means that a session gets no index file.
var errNoIndex = errors.New("session: not indexed")

// writeIndex writes the base of the index files of d, which was just read.
func (d *Document) writeIndex(at indexPlace) error {
	facts, err := d.facts(at)
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
func (d *Document) writeExtension(at indexPlace, base *indexFacts) error {
	facts, err := d.facts(at)
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
func (d *Document) facts(at indexPlace) (*indexFacts, error) {
	switch {
	case d.header.Version != CurrentVersion, d.tree.migrated != nil, !d.tail.newline, d.tail.open, d.tree.lines != nil,
		d.tally.counted != d.Len(), d.Len() == 0, !d.sums.Valid(), d.sums.Size != d.tail.size, d.headerAt.end != d.sums.From:
		return nil, errNoIndex
	}
	newest := d.Len() - 1
	o, err := d.outlineAt(newest)
	if err != nil {
		return nil, err
	}
	s, _ := d.spineAt(newest)
	f := &indexFacts{
		path: at.path, slots: d.Len(), stamp: d.stamp, rested: d.rested && d.stamp.Size == d.tail.size, sums: d.sums,
		lines: d.tail.lines, values: int(d.values), budget: d.tail.budget,
		headerRaw: d.header.Raw, headerAt: d.headerAt, hasSlot: d.hasSlot, title: d.title, named: d.named, piName: d.piName, marks: d.marks,
		names: d.tree.names.texts, odd: oddNames{d.tree.oddTypes, d.tree.oddRoles}, twice: d.tree.twice,
		problems: d.scanned.problems, found: d.scanned.found, tally: d.tally.counts, dialect: d.dialect, spine: s, outlined: o,
	}
	f.stamp.Size = d.tail.size
	return f, nil
}
