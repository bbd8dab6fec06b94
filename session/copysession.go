package session

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// CopySession writes a copy of doc, the session at from, to the new file to, with its
// artifacts. Every line is copied byte for byte, except the header, which adapt returns,
// and lines that reference images of another root, which are copied too. suffix makes the
// name of the unfinished file unique. It returns the header.
func (s *Store) CopySession(doc *Document, from, to, suffix string, adapt func(header []byte) []byte) (header []byte, err error) {
	body, err := s.bodyOf(doc, forkInto{source: from, blobs: s.foreignBlobs(from, filepath.Dir(to))}, s.forDisk(to, doc.dialect))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, body.close()) }()
	header = doc.header.Raw
	if body.edits {
		// A file of an older version keeps its version, unless its lines have to change
		// anyway.
		if body.edits, err = body.namesImages(); err != nil {
			return nil, err
		}
		if body.edits {
			header = doc.HeaderLine()
		}
	}
	header = adapt(header)
	err = disk.Create(s.Fs, to, suffix, func(w io.Writer) error {
		// omp's title comes before the header.
		if _, err := io.Copy(w, io.NewSectionReader(lockedReader{&doc.src}, 0, doc.headerAt.off)); err != nil {
			return err
		}
		return body.writeTo(w, header)
	})
	if err == nil {
		s.copyArtifacts(from, to)
	}
	return header, err
}

// namesImages reports whether there are images to copy too.
func (b *forkBody) namesImages() (bool, error) {
	if b.into.blobs == nil {
		return false, nil
	}
	return b.mentions([]byte(BlobPrefix))
}

// Continues reports whether the session at path is equal to doc or continues it. Where
// doc's images had to be copied too, the lines differ, and only the entry ids are compared.
func (s *Store) Continues(doc *Document, path string) bool {
	other, err := s.Load(path)
	if err != nil {
		_ = Closing(nil, other) // nothing was written to it
		return false
	}
	defer func() { _ = other.Close() }() // likewise
	if sameInfo := doc.info != nil && other.info != nil && doc.info.Sys() != nil && disk.SameFile(doc.info, other.info); sameInfo {
		return true
	}
	if s.foreignBlobs(doc.path, filepath.Dir(path)) != nil {
		return sameEntries(doc, other)
	}
	same, err := beginsWith(other, doc)
	return err == nil && same
}

// sameEntries reports whether the entry ids of b begin with those of a.
func sameEntries(a, b *Document) bool {
	if a.Len() == 0 || a.Len() > b.Len() {
		return false
	}
	for i := range a.Len() {
		if id := a.ID(i); id == "" || id != b.ID(i) {
			return false
		}
	}
	return true
}

// beginsWith reports whether the bytes after long's header begin with the bytes after
// short's header.
func beginsWith(long, short *Document) (bool, error) {
	a, err := long.behind()
	if err != nil {
		return false, err
	}
	b, err := short.behind()
	if err != nil || b.Size() > a.Size() {
		return false, err
	}
	one, two := make([]byte, readBlock), make([]byte, readBlock)
	for {
		n, err := io.ReadFull(b, two)
		if _, failed := io.ReadFull(a, one[:n]); failed != nil && n > 0 {
			return false, failed
		}
		switch {
		case !bytes.Equal(one[:n], two[:n]):
			return false, nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return true, nil
		case err != nil:
			return false, err
		}
	}
}

// behind returns a reader of the bytes after the header.
func (d *Document) behind() (*io.SectionReader, error) {
	at, err := d.behindHeader()
	return io.NewSectionReader(lockedReader{&d.src}, at, d.src.len()-at), err
}
