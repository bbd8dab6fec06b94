package importer

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// importLines copies the session file at path, of any program, among those of the folder.
// Every line keeps its bytes except the header, and that too unless it must differ:
// another cwd, because lists use it, or another id, because two sessions cannot have the
// same. Images that are kept elsewhere are copied too, and then the lines that refer to
// them change; so is the artifact directory.
func (im *Importer) importLines(path string) (r Result, err error) {
	doc, err := im.store.Load(path)
	if err != nil {
		return Result{}, session.Closing(err, doc)
	}
	defer func() { err = session.Closing(err, doc) }()
	if h, ok := im.here(doc, path); ok {
		return Result{Status: Skipped, Session: h.header.ID, Path: h.path}, nil
	}
	r, id := Result{Status: Imported}, doc.Header().ID
	if im.hasID(id) {
		r.Status = Updated
	}
	taken := id == "" || r.Status == Updated || im.isNamed(id)
	if im.Try {
		return r, nil
	}
	parent := ""
	if taken {
		parent, id = id, im.store.NewID()
	}
	r.Session, r.Path = id, filepath.Join(im.dir, im.nameFor(path, doc.Header(), id))
	header, err := im.store.CopySession(doc, path, r.Path, id, func(header []byte) []byte {
		return im.adapt(doc, header, id, parent)
	})
	if err != nil {
		return Result{}, err
	}
	im.keepTime(r.Path, doc.ModTime())
	h, _ := session.ParseHeader(header)
	im.note(importHead{path: r.Path, header: h})
	return r, nil
}

func (im *Importer) hasID(id string) bool {
	return slices.ContainsFunc(im.heads, func(h importHead) bool { return h.header.ID == id })
}

// isNamed reports whether a session of any folder has a file that is named after the id.
func (im *Importer) isNamed(id string) bool {
	if im.names == nil {
		im.names = sessionNames(im.finder)
	}
	return slices.ContainsFunc(im.names, func(name string) bool { return name == id || strings.HasSuffix(name, "_"+id) })
}

// here returns the session of the folder that the one at path is, or is the beginning of.
func (im *Importer) here(doc *session.Document, path string) (importHead, bool) {
	for _, h := range im.heads {
		if h.header.ID != doc.Header().ID && (doc.Header().ID == "" || h.header.ParentSession != doc.Header().ID) {
			continue
		}
		if h.path == path || im.store.Continues(doc, h.path) {
			return h, true
		}
	}
	return importHead{}, false
}

// adapt replaces the members of a header that must differ.
func (im *Importer) adapt(doc *session.Document, header []byte, id, parent string) []byte {
	if id != doc.Header().ID {
		header = rawjson.SetString(header, "id", id)
	}
	if parent != "" {
		header = rawjson.SetString(header, "parentSession", parent)
	}
	if !im.finder.SameCwd(doc.Header().Cwd, im.Cwd) {
		header = rawjson.SetString(header, "cwd", im.Cwd)
	}
	changed, _ := session.ParseHeader(header)
	if doc.DialectWith(changed) != doc.Dialect() {
		header = rawjson.SetString(header, "dialect", doc.Dialect().String())
	}
	return header
}
