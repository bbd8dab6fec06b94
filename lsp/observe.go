package lsp

import (
	"maps"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// observer is called when a document was opened, changed or closed. The caller holds the lock of the documents, so it must not block.
type observer func(doc Document, open bool)

// observe calls f for every change of a document until stop is called.
func (d *Documents) observe(path string, f observer) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.observeLocked(path, f)
}

func (d *Documents) observeLocked(path string, f observer) (stop func()) {
	if d.observers[path] == nil {
		d.observers[path] = map[*observer]bool{}
	}
	d.observers[path][&f] = true
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.observers[path], &f)
		if len(d.observers[path]) == 0 {
			delete(d.observers, path)
		}
	}
}

// observedLocked notifies the observers of a document.
func (d *Documents) observedLocked(path string) {
	doc, open := d.byPath[path]
	for f := range d.observers[path] {
		(*f)(doc, open)
	}
	d.lateLocked(path, doc, open)
}

// savedDocs is the state of open documents regarding saves.
type savedDocs struct {
	clean   map[string]Document       // by path; the version that was equal to the file
	asked   map[string]int            // by path; requested saves that the client has not reported yet
	watches map[*map[string]bool]bool // the saved paths of each watch
}

func newSavedDocs() savedDocs {
	return savedDocs{clean: map[string]Document{}, asked: map[string]int{}, watches: map[*map[string]bool]bool{}}
}

// changedLocked forgets a requested save without a report: the report would have come before this change.
func (sd *savedDocs) changedLocked(path string) { delete(sd.asked, path) }

func (sd *savedDocs) closedLocked(path string) {
	delete(sd.asked, path)
	delete(sd.clean, path)
}

// didSave handles a textDocument/didSave.
func (d *Documents) didSave(uri string) {
	path, ok := textdoc.Path(uri)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, open := d.byPath[path]
	if !open {
		return
	}
	d.saves.clean[path] = doc
	if d.saves.asked[path] > 0 {
		d.saves.asked[path]--
		return
	}
	for paths := range d.saves.watches {
		(*paths)[path] = true
	}
}

// askedToSave adds by to the number of requested saves of a document.
func (d *Documents) askedToSave(path string, by int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.saves.asked[path] += by; d.saves.asked[path] <= 0 {
		delete(d.saves.asked, path)
	}
}

// watchSaves starts noting the documents that the user saves.
func (d *Documents) watchSaves() (end func() []string) {
	saved := map[string]bool{}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.saves.watches[&saved] = true
	return func() []string {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.saves.watches, &saved)
		return slices.Sorted(maps.Keys(saved))
	}
}

// setClean notes that a document has no unsaved changes.
func (d *Documents) setClean(doc Document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now, open := d.byPath[doc.Path]; open && now.Version == doc.Version && now.Text == doc.Text {
		d.saves.clean[doc.Path] = doc
	}
}

// isClean reports whether this version of a document has no unsaved changes. Another program may have changed the file since.
func (d *Documents) isClean(doc Document) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.saves.clean[doc.Path]
	return ok && c.Version == doc.Version && c.Text == doc.Text
}
