package session

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// forkBody is the content of a fork after its header: a range of the source, copied byte
// for byte except for lines that have to change, and entries that are not in that range.
type forkBody struct {
	doc   *Document
	file  afero.File // the source, for the system to copy; nil: doc.src
	raw   span       // of the source, from the end of its header on
	ended bool       // the range ends a line
	edits bool       // some lines of the range have to change
	into  forkInto
	late  []int                    // entries after the range
	disk  func(line []byte) []byte // how a line from memory is written
	size  int64                    // bytes written
}

// bodyOf returns the content for a fork of all of d. It copies the file if that still is
// the one in memory, else the content that d has read.
func (s *Store) bodyOf(d *Document, into forkInto, disk func([]byte) []byte) (*forkBody, error) {
	b := &forkBody{doc: d, into: into, late: d.freshEntries(), disk: disk}
	b.raw.end, b.ended = d.src.len(), d.src.endsLine()
	// The positions of later lines in the file are unknown, so their images could not be
	// inserted.
	if into.blobs == nil || len(b.late) == 0 {
		if b.file = s.openSame(into.source, d); b.file != nil {
			b.late, b.raw.end, b.ended = into.unsaved, d.tail.size, d.tail.newline
		}
	}
	if err := b.plan(); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// openSame opens the file at path if it is the one that d was read from, at the same size.
// It returns nil on any failure, because d has the content.
func (s *Store) openSame(path string, d *Document) afero.File {
	same := func(info os.FileInfo, err error) bool {
		return err == nil && info.Mode().IsRegular() && disk.SameFile(info, d.info) && info.Size() == d.tail.size
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

// freshEntries returns the entries that are newer than the source. They come last.
func (d *Document) freshEntries() []int {
	n := d.Len()
	for n > 0 && d.tree.fresh(n-1) {
		n--
	}
	return allEntries(d)[n:]
}

// plan finds the start of the content after the header, and whether lines have to change:
// those of an older format, and those with references to images that the copy would not
// find.
func (b *forkBody) plan() (err error) {
	b.edits = b.doc.tree.migrated != nil
	if b.raw.off, err = b.doc.behindHeader(); err == nil && !b.edits && b.into.blobs != nil {
		b.edits, err = b.mentions([]byte(BlobPrefix))
	}
	return err
}

// behindHeader returns the offset in the source of the content after the header. A header
// on one line is followed by the rest of that line, which may hold a value. The rest of a
// multi-line header's last line is ignored.
func (d *Document) behindHeader() (int64, error) {
	at := d.headerAt.end
	if bytes.IndexByte(d.header.Raw, '\n') < 0 {
		return at, nil
	}
	for size := d.src.len(); at < size; {
		b, err := d.src.read(at, int(min(size-at, 64<<10)))
		if err != nil {
			return 0, disk.Fault("read", d.path, err)
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return at + int64(i), nil
		}
		at += int64(len(b))
	}
	return at, nil
}

// mentions reports whether text occurs in the range.
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
	return false, disk.Fault("read", b.doc.name(), err)
}

// reader returns a reader of a part of the source.
func (b *forkBody) reader(part span) (io.Reader, error) {
	if b.file == nil {
		return io.NewSectionReader(lockedReader{&b.doc.src}, part.off, part.end-part.off), nil
	}
	// io.Copy lets the system copy the file only for a reader of exactly this form.
	_, err := b.file.Seek(part.off, io.SeekStart)
	return &io.LimitedReader{R: b.file, N: part.end - part.off}, err
}

// writeTo writes header and the content after it.
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
			if t.mem(i) == nil && t.migrated == nil && !bytes.Contains(line, []byte(BlobPrefix)) {
				return nil // unchanged in the source
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

// copyPart copies a part of the source. A part that ends early is an error: the file was
// truncated in the meantime.
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

// close closes the file that was copied.
func (b *forkBody) close() error {
	if b.file == nil {
		return nil
	}
	return b.file.Close()
}
