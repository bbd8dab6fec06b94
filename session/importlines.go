package session

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// importLines copies the session file at path, whichever program wrote it, among those of
// the folder. Every line keeps its bytes but the header, and that too unless it has to say
// something else: another cwd, because lists go by it, or another id, because two sessions
// cannot have the same. Images that are kept elsewhere come along, and then the lines that
// name them change; so does the artifact directory.
func (im *Importer) importLines(path string) (r Import, err error) {
	doc, err := im.store.Load(path)
	if err != nil {
		return Import{}, closing(err, doc)
	}
	defer func() { err = closing(err, doc) }()
	if h, ok := im.here(doc, path); ok {
		return Import{Status: Skipped, Session: h.header.ID, Path: h.path}, nil
	}
	r, id := Import{Status: Imported}, doc.header.ID
	if im.hasID(id) {
		r.Status = Updated
	}
	taken := id == "" || r.Status == Updated || im.isNamed(id)
	if im.Try {
		return r, nil
	}
	parent := ""
	if taken {
		parent, id = id, im.store.ids.Session()
	}
	r.Session, r.Path = id, filepath.Join(im.dir, im.nameFor(path, doc.header, id))
	header, err := im.copyLines(doc, path, r.Path, id, parent)
	if err != nil {
		return Import{}, err
	}
	im.store.copyArtifacts(path, r.Path)
	im.keepTime(r.Path, doc.info.ModTime())
	h, _ := parseHeader(header)
	im.note(importHead{path: r.Path, header: h})
	return r, nil
}

func (im *Importer) hasID(id string) bool {
	return slices.ContainsFunc(im.heads, func(h importHead) bool { return h.header.ID == id })
}

// isNamed reports whether a session of any folder has a file that is named after the id.
func (im *Importer) isNamed(id string) bool {
	if im.names == nil {
		im.names = im.finder.sessionNames()
	}
	return slices.ContainsFunc(im.names, func(name string) bool { return name == id || strings.HasSuffix(name, "_"+id) })
}

// here returns the session of the folder that the one at path is, or is the beginning of.
func (im *Importer) here(doc *Document, path string) (importHead, bool) {
	for _, h := range im.heads {
		if h.header.ID != doc.header.ID && (doc.header.ID == "" || h.header.ParentSession != doc.header.ID) {
			continue
		}
		if h.path == path || im.begins(doc, h.path) {
			return h, true
		}
	}
	return importHead{}, false
}

// begins reports whether the session at path is doc, or doc and more. Where the images of
// doc had to be taken along the lines are not the same, and their ids have to do.
func (im *Importer) begins(doc *Document, path string) bool {
	other, err := im.store.Load(path)
	if err != nil {
		_ = closing(nil, other) // nothing was written to it
		return false
	}
	defer func() { _ = other.Close() }() // likewise
	if sameInfo := doc.info != nil && other.info != nil && doc.info.Sys() != nil && sameFile(doc.info, other.info); sameInfo {
		return true
	}
	if im.store.foreignBlobs(doc.path, im.dir) != nil {
		return sameEntries(doc, other)
	}
	same, err := beginsWith(other, doc)
	return err == nil && same
}

// sameEntries reports whether the ids of b begin with those of a.
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

// beginsWith reports whether what is behind the header of long begins with what is behind
// the header of short.
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

// behind reads what is behind the header.
func (d *Document) behind() (*io.SectionReader, error) {
	at, err := d.behindHeader()
	return io.NewSectionReader(lockedReader{&d.src}, at, d.src.len()-at), err
}

// copyLines writes the copy of a session that is to have the id and returns its header.
func (im *Importer) copyLines(doc *Document, from, to, id, parent string) (header []byte, err error) {
	s := im.store
	body, err := s.bodyOf(doc, forkInto{source: from, blobs: s.foreignBlobs(from, im.dir)}, s.forDisk(to, doc.dialect))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	header = doc.header.Raw
	if body.edits {
		// A file of an older version stays one, unless its lines have to change anyway.
		if body.edits, err = body.namesImages(); err != nil {
			return nil, err
		}
		if body.edits {
			header = doc.HeaderLine()
		}
	}
	header = im.adapt(doc, header, id, parent)
	return header, createFile(s.Fs, to, id, func(w io.Writer) error {
		// omp's title comes before the header.
		if _, err := io.Copy(w, io.NewSectionReader(lockedReader{&doc.src}, 0, doc.headerAt.off)); err != nil {
			return err
		}
		return body.writeTo(w, header)
	})
}

// namesImages reports whether there are images to take along.
func (b *forkBody) namesImages() (bool, error) {
	if b.into.blobs == nil {
		return false, nil
	}
	return b.mentions([]byte(blobPrefix))
}

// adapt changes in a header what has to be another.
func (im *Importer) adapt(doc *Document, header []byte, id, parent string) []byte {
	if id != doc.header.ID {
		header = rawjson.SetString(header, "id", id)
	}
	if parent != "" {
		header = rawjson.SetString(header, "parentSession", parent)
	}
	if !im.finder.SameCwd(doc.header.Cwd, im.Cwd) {
		header = rawjson.SetString(header, "cwd", im.Cwd)
	}
	changed, _ := parseHeader(header)
	if guessDialect(doc.hasSlot, changed, doc.marks) != doc.dialect {
		header = rawjson.SetString(header, "dialect", doc.dialect.String())
	}
	return header
}
