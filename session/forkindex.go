package session

import (
	"bytes"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// indexOfFork returns the fork just written to path without reading all of it: the copied
// entries are those of the source at shifted offsets. nil means that the file must be read,
// because it is small, because another process already wrote to it, or because there are
// problems, which are reported with line numbers.
func (s *Store) indexOfFork(path string, header []byte, b *forkBody) (*Document, error) {
	from := b.doc
	if from.src.file == nil || b.edits || len(from.problems) > 0 || !from.src.endsLine() {
		return nil, nil
	}
	f, err := s.Fs.Open(path)
	if err != nil {
		return nil, disk.Fault("open", path, err)
	}
	d := &Document{path: path, src: source{file: f, size: b.size}, tail: tail{size: b.size, newline: true}}
	known, err := d.beginsWith(header)
	if known {
		d.header, _ = ParseHeader(header)
		d.headerAt = span{0, int64(len(header))}
		known, err = d.takeIndex(from, b.raw.off)
	}
	if err != nil || !known {
		return nil, disk.FaultOrNil("read", path, errors.Join(err, f.Close()))
	}
	d.settle(s.dialectAt(path))
	if sp := from.spine.Load(); sp != nil && sp.leaf < d.Len() && d.dialect == from.dialect {
		d.spine.Store(sp) // the entries have the same indexes
	}
	s.indexFork(d, b)
	return d, nil
}

// indexFork writes the index file of a fork.
func (s *Store) indexFork(d *Document, b *forkBody) {
	if s.IndexDir == "" || d.tail.size <= indexFrom || b.raw.off != b.doc.sums.From {
		return
	}
	var err error
	if d.sums, err = b.doc.sums.Shifted(d.headerAt.end-b.raw.off).Grown(d.src.file, d.tail.size); err == nil {
		d.takeStamp(s.Now())
		d.rested = false // it was written a moment ago
		err = d.writeIndex(s.indexAt(d.path), true)
		d.kept = d.tail.size
	}
	s.remembered(d.path, err)
}

// beginsWith reports whether the file of d has the expected length and begins with the
// header, whose id is unique.
func (d *Document) beginsWith(header []byte) (ok bool, err error) {
	if d.info, err = d.src.file.Stat(); err != nil || d.info.Size() != d.src.size {
		return false, err
	}
	b, err := d.src.read(0, len(header))
	return bytes.Equal(b, header), err
}

// takeIndex copies the index of another document to d, whose header is followed by that
// document's bytes from off on. The bytes after those are read. ok is false if they hold
// anything unusual or are too many to be read at once.
func (d *Document) takeIndex(from *Document, off int64) (ok bool, err error) {
	further := d.headerAt.end - off
	entries := from.Len() - len(from.freshEntries())
	d.tree.index = from.tree.upTo(entries, further)
	if from.tally.read.counted == entries {
		d.tally.counts = from.tally.read.clone()
	}
	d.marks, d.values = from.marks, from.values
	if err := d.takeTitle(); err != nil {
		return false, err
	}
	behind := from.src.len() + further
	if d.src.size-behind > smallFile {
		return false, nil
	}
	rest, err := d.src.read(behind, int(d.src.size-behind))
	if err != nil {
		return false, err
	}
	lines, err := from.linesBehindHeader()
	if err != nil {
		return false, err
	}
	odd := false
	s := lineScanner{
		buf: rest, eof: true, off: behind, line: lines + 1, open: from.scanned.tail.open,
		emit: d.add, report: func(Problem) { odd = true }, budget: from.scanned.tail.budget, limits: heldLimits, begun: true,
	}
	if d.tail, err = s.run(); err != nil || odd || len(d.problems) > 0 {
		return false, err
	}
	d.tail.newline = true // rest may be empty
	return true, d.readEnd()
}

// linesBehindHeader returns the number of lines that were read behind that of the header.
func (d *Document) linesBehindHeader() (int, error) {
	head, err := d.src.read(0, int(d.headerAt.end))
	return d.scanned.tail.lines - bytes.Count(head, []byte{'\n'}) - 1, err
}

// takeTitle sets the title that reading the entries so far would have set.
func (d *Document) takeTitle() error {
	d.title = Title{Text: d.header.Title, Source: d.header.TitleSource}
	for i := d.Len() - 1; i >= 0; i-- {
		if d.tree.typ(i) != TypeSessionInfo {
			continue
		}
		raw, err := d.raw(i)
		if err == nil {
			d.noteTitle(TypeSessionInfo, raw)
		}
		return err
	}
	return nil
}
