package session

import (
	"encoding/json"
	"iter"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// sequenceBlock is how many bytes of a large file are read at a time when entries are read one after the other.
const sequenceBlock = 128 << 10

// Lines returns the lines of all entries in file order, in the form that [Document.Entry] returns. A line is only valid
// until the next one is requested. For a large file this is several times as fast as reading entry by entry.
//
// With blobs, references to images outside the file are replaced with the images; a reference to an image that is not
// available stays. Nil leaves every line unchanged.
func (d *Document) Lines(blobs BlobSource) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		var w window
		for i := range d.Len() {
			line := d.tree.mem(i)
			if line == nil {
				raw, err := w.read(&d.src, d.tree.span(i))
				if err != nil {
					yield(nil, disk.Fault("read", d.path, err))
					return
				}
				line = d.current(i, raw)
			}
			if blobs != nil && namesBlobs(line) {
				line = resolveBlobs(line, blobs, 0, func(string, error) {})
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// window is the part of a source that was read last.
type window struct {
	off int64
	buf []byte
}

// read returns the bytes of s at at. They are valid until the next call.
func (w *window) read(s *source, at span) ([]byte, error) {
	if s.file == nil {
		return s.read(at.off, int(at.end-at.off))
	}
	if at.off < w.off || at.end > w.off+int64(len(w.buf)) {
		n := max(at.end-at.off, min(sequenceBlock, s.size-at.off))
		if int64(cap(w.buf)) < n || cap(w.buf) > 4*sequenceBlock { // a buffer for one long line is not kept
			w.buf = make([]byte, max(n, sequenceBlock))
		}
		w.off, w.buf = at.off, w.buf[:n]
		if err := s.readFull(w.buf, at.off); err != nil {
			w.buf = w.buf[:0]
			return nil, err
		}
	}
	return w.buf[at.off-w.off : at.end-w.off], nil
}
