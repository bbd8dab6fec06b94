package lsp

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
)

// editorDocs are the client's open documents for a rewind.
type editorDocs struct{ workspace }

var (
	_ change.Documents  = editorDocs{}
	_ change.Watcher    = editorDocs{}
	_ change.Withdrawer = editorDocs{}
)

// Document returns the open document of a path, or of the target of a link at the path.
func (e editorDocs) Document(path string) (change.Document, bool) {
	doc, open := e.lookup(path)
	if !open {
		return change.Document{}, false
	}
	return change.Document{Path: path, Text: doc.Text, Version: doc.Version, Dirty: e.dirty(e.s.work, doc)}, true
}

// dirty reports whether a document has unsaved changes. A document without unsaved changes may still differ from the file: if a command
// has changed the file and the editor has not reloaded it, or if the file is not UTF-8 and only the editor can decode it.
func (e editorDocs) dirty(ctx context.Context, doc Document) bool {
	return !e.s.documents.isClean(doc) && e.differs(ctx, doc)
}

// Save asks the client to save the documents one by one. It stops after the first request without a response.
func (e editorDocs) Save(ctx context.Context, paths []string) (unsaved []string) {
	supported, policy := e.s.config.saving()
	asking := supported && policy != saveOff
	for _, path := range paths {
		if doc, open := e.lookup(path); asking && open {
			e.s.documents.settled(ctx, doc.Path, reportTimeout)
			if doc, open = e.lookup(path); open && e.dirty(ctx, doc) {
				asking = e.save(ctx, doc)
			}
		}
		if doc, open := e.lookup(path); open && e.dirty(ctx, doc) {
			unsaved = append(unsaved, path)
		}
	}
	return unsaved
}

// Watch implements [change.Watcher].
func (e editorDocs) Watch() (end func() []string) { return e.s.documents.watchSaves() }
