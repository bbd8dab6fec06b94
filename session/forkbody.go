package session

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/spf13/afero"
)

// forkBody is what stands behind the header of a fork: a range of the source, carried
// byte for byte but for lines that have to change, and entries that are not in it.
type forkBody struct {
	doc   *Document
	file  afero.File // the source, for the system to copy; nil: doc.src
	raw   span       // of the source, from behind its header on
	ended bool       // the range ends a line
	edits bool       // some lines of the range have to change
	into  forkInto
	late  []int                    // entries behind the range
	disk  func(line []byte) []byte // how a line from memory is written
	size  int64                    // bytes written
}

// bodyOf returns what a fork of all of d holds. A file that still is the one in memory
// is copied, else what is known of it.
func (s *Store) bodyOf(d *Document, into forkInto, disk func([]byte) []byte) (*forkBody, error) {
	b := &forkBody{doc: d, into: into, late: d.freshEntries(), disk: disk}
	b.raw.end, b.ended = d.src.len(), d.src.endsLine()
	// Where the lines are that came later is not known, so they could not be given their
	// images.
	if into.blobs == nil || len(b.late) == 0 {
		if b.file = s.openSame(into.source, d); b.file != nil {
			b.late, b.raw.end, b.ended = into.unsaved, d.tail.size, d.tail.newline
		}
	}
	if err := b.plan(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// openSame opens the file at path if it is the one that d knows, and as long as that.
// Whatever is in the way of it is no error: memory has what was read.
func (s *Store) openSame(path string, d *Document) afero.File {
	same := func(info os.FileInfo, err error) bool {
		return err == nil && info.Mode().IsRegular() && sameFile(info, d.info) && info.Size() == d.tail.size
	}
	if !same(s.Fs.Stat(path)) { // before opening, which would wait at a named pipe
		return nil
	}
	f, err := s.Fs.Open(path)
	if err != nil {
		return nil
	}
	if !same(f.Stat()) {
		_ = f.Close() // nothing was written to it
		return nil
	}
	return f
}

// freshEntries returns the entries that are newer than the source. They are the last.
func (d *Document) freshEntries() []int {
	n := d.Len()
	for n > 0 && d.tree.fresh(n-1) {
		n--
	}
	return allEntries(d)[n:]
}

// plan finds where everything behind the header begins, and whether lines have to
// change: those of an older format, and those with references to images that the copy
// would not find.
func (b *forkBody) plan() (err error) {
	b.edits = b.doc.tree.migrated != nil
	if b.raw.off, err = b.doc.behindHeader(); err == nil && !b.edits && b.into.blobs != nil {
		b.edits, err = b.mentions([]byte(blobPrefix))
	}
	return err
}

// behindHeader returns where in the source everything behind the header begins. A
// header on one line is followed by the rest of that line, where a value may stand. On
// the line that a longer header ends on nothing counts.
func (d *Document) behindHeader() (int64, error) {
	at := d.headerAt.end
	if bytes.IndexByte(d.header.Raw, '\n') < 0 {
		return at, nil
	}
	for size := d.src.len(); at < size; {
		b, err := d.src.read(at, int(min(size-at, 64<<10)))
		if err != nil {
			return 0, ioFault("read", d.path, err)
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return at + int64(i), nil
		}
		at += int64(len(b))
	}
	return at, nil
}

// mentions reports whether text is in the range.
func (b *forkBody) mentions(text []byte) (bool, error) {
	r, err := b.reader(b.raw)
	window, kept := make([]byte, readBlock), 0
	for err == nil {
		var n int
		n, err = io.ReadFull(r, window[kept:])
		seen := window[:kept+n]
		if bytes.Contains(seen, text) {
			return true, nil
		}
		kept = copy(window, seen[max(0, len(seen)-len(text)+1):])
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return false, ioFault("read", b.doc.name(), err)
}

// reader returns a reader of a part of the source.
func (b *forkBody) reader(part span) (io.Reader, error) {
	if b.file == nil {
		return io.NewSectionReader(lockedReader{&b.doc.src}, part.off, part.end-part.off), nil
	}
	// In this form, and in no other, a system that can copy files by itself does so.
	_, err := b.file.Seek(part.off, io.SeekStart)
	return &io.LimitedReader{R: b.file, N: part.end - part.off}, err
}

// writeTo writes header and everything behind it.
func (b *forkBody) writeTo(w io.Writer, header []byte) error {
	b.size = 0
	if err := b.write(w, header); err != nil {
		return err
	}
	if err := b.writeRange(w); err != nil {
		return err
	}
	if !b.ended || b.raw.off == b.raw.end {
		if err := b.write(w, []byte{'\n'}); err != nil {
			return err
		}
	}
	return b.doc.eachOnDisk(b.late, b.disk, func(_ int, line []byte) error {
		return b.write(w, append(slices.Clip(b.into.withImages(line)), '\n'))
	})
}

func (b *forkBody) write(w io.Writer, text []byte) error {
	n, err := w.Write(text)
	b.size += int64(n)
	return err
}

// writeRange writes the range of the source, with the lines that have to change.
func (b *forkBody) writeRange(w io.Writer) error {
	at := b.raw.off
	if b.edits {
		t := &b.doc.tree
		known := allEntries(b.doc)[:b.doc.Len()-len(b.doc.freshEntries())]
		err := b.doc.eachOnDisk(known, b.disk, func(i int, line []byte) error {
			if t.mem(i) == nil && t.migrated == nil && !bytes.Contains(line, []byte(blobPrefix)) {
				return nil // the source has it so
			}
			old := t.span(i)
			err := b.copyPart(w, span{at, old.off})
			at = old.end
			if err == nil {
				err = b.write(w, b.into.withImages(line))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return b.copyPart(w, span{at, b.raw.end})
}

// copyPart copies a part of the source. One that ends early is an error: it was cut off
// since it was looked at.
func (b *forkBody) copyPart(w io.Writer, part span) error {
	if part.off == part.end {
		return nil
	}
	r, err := b.reader(part)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, r)
	b.size += n
	if err == nil && n < part.end-part.off {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Close closes the file that was copied.
func (b *forkBody) Close() error {
	if b.file == nil {
		return nil
	}
	return b.file.Close()
}
