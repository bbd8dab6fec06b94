package session

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// LineReader returns a reader of the line of entry i, in the form that [Document.Entry] returns. The line
// of a large file is read from there, so that its length does not matter. The rules for concurrent use are
// those of Entry.
func (d *Document) LineReader(i int) (*io.SectionReader, error) {
	if d.inFile(i) {
		at := d.tree.span(i)
		return io.NewSectionReader(lockedReader{&d.src}, at.off, at.end-at.off), nil
	}
	line, err := d.raw(i)
	return io.NewSectionReader(bytes.NewReader(line), 0, int64(len(line))), err
}

// Brief is [Document.Entry] for a caller that shows the beginning of an entry: of a line of more than 4 MiB,
// long texts and lists are cut. Raw is valid JSON in any case.
func (d *Document) Brief(i int) (Entry, error) {
	line, err := d.brief(i)
	if err != nil {
		return Entry{}, err
	}
	return d.entryOf(i, line), nil
}

// Briefs returns [Document.Brief] of all entries in file order. An entry is only valid until the next one is
// requested. For a large file this is several times as fast as reading entry by entry.
func (d *Document) Briefs() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var w window
		for i := range d.Len() {
			line, err := []byte(nil), error(nil)
			if !d.inFile(i) || d.long(i) {
				line, err = d.brief(i)
			} else if line, err = w.read(&d.src, d.tree.span(i)); err != nil {
				err = disk.Fault("read", d.path, err)
			} else {
				err = d.confirm(i, line)
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(d.entryOf(i, line), nil) {
				return
			}
		}
	}
}

// inFile reports whether the bytes of entry i in a large file are its line, in the current format.
func (d *Document) inFile(i int) bool {
	return d.src.file != nil && d.tree.migrated == nil && d.tree.mem(i) == nil
}

// long reports whether the line of entry i is too long to be held in order to show or count it.
func (d *Document) long(i int) bool {
	at := d.tree.span(i)
	n := int(at.end - at.off)
	if line := d.tree.mem(i); line != nil {
		n = len(line)
	}
	return n > fileLimits.long && d.tree.migrated == nil
}

// brief returns the line of entry i. If it is long, it is the beginning of it, or else the digest, if
// something that every entry has comes later.
func (d *Document) brief(i int) ([]byte, error) {
	if !d.long(i) {
		return d.raw(i)
	}
	r, err := d.LineReader(i)
	if err != nil {
		return nil, err
	}
	beginning := make([]byte, fileLimits.keep)
	if _, err := io.ReadFull(r, beginning); err != nil {
		return nil, d.lineFault(err)
	}
	line := rawjson.Closed(beginning)
	role, timed := rawjson.Get(line, "message", "role"), rawjson.Get(line, "timestamp")
	if timed == nil || role == nil && d.tree.role(i) != "" || d.comparing != nil {
		line, _, err = d.digest(i)
	}
	return line, err
}

// digest returns the digest of entry i, whose line is long, and how much of the line is not images.
// It reads the line without holding it.
func (d *Document) digest(i int) (line []byte, words int64, err error) {
	r, err := d.LineReader(i)
	if err != nil {
		return nil, 0, err
	}
	in := streamOf(r, 0, r.Size(), fileLimits.keep)
	digest, st := in.Digest()
	if err = in.Err(); err == nil && st != rawjson.Complete {
		err = errTruncated // it was a whole value when it was indexed
	}
	if err != nil {
		return nil, 0, d.lineFault(err)
	}
	if err := d.confirm(i, digest.Raw); err != nil {
		return nil, 0, err
	}
	return digest.Raw, r.Size() - digest.Images, nil
}

// longNamesBlobs is [namesBlobs] for entry i, whose line is long.
func (d *Document) longNamesBlobs(i int) (bool, error) {
	r, err := d.LineReader(i)
	if err != nil {
		return false, err
	}
	block, kept := make([]byte, tailBlock), 0
	for {
		n, err := io.ReadFull(r, block[kept:])
		part := block[:kept+n]
		switch {
		case namesBlobs(part):
			return true, nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return false, nil
		case err != nil:
			return false, d.lineFault(err)
		}
		// A reference may begin at the end of one part and go on in the next.
		kept = copy(block, part[len(part)-len(BlobPrefix)+1:])
	}
}

// lineFault is the error of reading a line.
func (d *Document) lineFault(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errTruncated
	}
	return disk.Fault("read", d.path, err)
}
