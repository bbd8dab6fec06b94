package lsp

import (
	"context"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
)

// Document is one open text as the client sees it. It is a copy: later edits do
// not show in it.
type Document struct {
	Path       string // cleaned and absolute
	URI        string // as the client spells it
	LanguageID string
	Version    int64 // grows with every change
	Text       string
}

// Documents are the texts the client has open: what is on the person's screen,
// which may differ from the disk. Only file: documents are kept. It is safe for
// concurrent use.
type Documents struct {
	log    *zap.Logger
	inputs *inputs // files of ours, which are kept apart

	mu     sync.Mutex
	enc    encoding             // guarded by mu
	byPath map[string]Document  // guarded by mu
	coming map[string]*expected // guarded by mu; see expect
}

// expected is a text that the client will tell of.
type expected struct {
	Document
	told chan struct{} // closed when the client told of any change, or closed the document
	met  bool          // it was this one; set before told is closed
}

func newDocuments(log *zap.Logger) *Documents {
	return &Documents{log: log, inputs: newInputs(), enc: utf16Units, byPath: make(map[string]Document), coming: make(map[string]*expected)}
}

// setEncoding says how the client counts characters.
func (d *Documents) setEncoding(enc encoding) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.enc = enc
}

// Lookup returns the open document at a cleaned absolute path.
func (d *Documents) Lookup(path string) (Document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, ok := d.byPath[path]
	if next, waiting := d.coming[path]; ok && waiting {
		return next.Document, true
	}
	return doc, ok
}

// expect makes text the document's text until the client tells of its next change. An edit
// that the client was asked to make is done when it answers; the notification about it may
// come later, and who reads meanwhile must not see the text before it. It returns nil when
// doc is not the document any more.
func (d *Documents) expect(doc Document, text string) *expected {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now, open := d.byPath[doc.Path]; !open || now.Version != doc.Version {
		return nil
	}
	d.told(doc.Path)
	doc.Text = text
	e := &expected{Document: doc, told: make(chan struct{})}
	d.coming[doc.Path] = e
	return e
}

// unexpect takes back what expect said: the client did not make the edit.
func (d *Documents) unexpect(e *expected) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.coming[e.Path] == e {
		d.told(e.Path)
	}
}

// surpassed reports whether the client told of another change than the one that is
// expected.
func (d *Documents) surpassed(e *expected) bool {
	select {
	case <-e.told:
		return !e.met
	default:
		return false
	}
}

// told ends an expectation. It needs mu.
func (d *Documents) told(path string) {
	e, waiting := d.coming[path]
	if !waiting {
		return
	}
	now, open := d.byPath[path]
	e.met = open && sameLines(now.Text, e.Text)
	close(e.told)
	delete(d.coming, path)
}

// sameLines reports whether two texts are the same but for what an editor makes of line
// ends by itself.
func sameLines(a, b string) bool {
	plain := func(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n") }
	return a == b || plain(a) == plain(b)
}

// settled waits until the client told of the change that is expected of a document, at
// most patience: the next edit has to name the version after it.
func (d *Documents) settled(ctx context.Context, path string, patience time.Duration) {
	d.mu.Lock()
	e, waiting := d.coming[path]
	d.mu.Unlock()
	if !waiting {
		return
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-e.told:
	case <-t.C:
	case <-ctx.Done():
	}
}

// encoding is how the client counts characters.
func (d *Documents) encoding() encoding {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.enc
}

func (d *Documents) didOpen(p *didOpenParams) error {
	path, ok := filePath(p.TextDocument.URI)
	if !ok {
		return nil // untitled:, git: and the like have no place on disk
	}
	if d.inputs.opened(path) {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, open := d.byPath[path]; open {
		d.log.Warn("a document was opened twice", zap.String("path", path))
	}
	d.byPath[path] = Document{
		Path:       path,
		URI:        p.TextDocument.URI,
		LanguageID: p.TextDocument.LanguageID,
		Version:    p.TextDocument.Version,
		Text:       p.TextDocument.Text,
	}
	d.told(path)
	return nil
}

// didChange applies edits in the order given. A version that is not newer than
// the one we have is refused: applying edits twice would corrupt the text. A
// client that sends no version is taken at its word.
func (d *Documents) didChange(p *didChangeParams) error {
	path, ok := filePath(p.TextDocument.URI)
	if !ok || d.inputs.edited(path) {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, ok := d.byPath[path]
	if !ok {
		d.log.Warn("a document was changed that is not open", zap.String("path", path))
		return nil
	}
	version := doc.Version + 1
	if v := p.TextDocument.Version; v != nil {
		version = *v
	}
	if version <= doc.Version {
		d.log.Warn("a change is not newer than the document", zap.String("path", path),
			zap.Int64("version", version), zap.Int64("have", doc.Version))
		return nil
	}
	for _, c := range p.ContentChanges {
		doc.Text = c.apply(doc.Text, d.enc)
	}
	doc.Version = version
	d.byPath[path] = doc
	d.told(path)
	return nil
}

func (d *Documents) didClose(p *didCloseParams) error {
	path, ok := filePath(p.TextDocument.URI)
	if !ok || d.inputs.closed(path) {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byPath, path)
	d.told(path)
	return nil
}

// The parameters of the document notifications. They are ours and not the protocol
// package's, because that one decodes a range it cannot read as the wish to replace
// the whole text, and makes a file: URI of anything.
type (
	didOpenParams struct {
		TextDocument struct {
			URI        string `json:"uri"`
			LanguageID string `json:"languageId"`
			Version    int64  `json:"version"`
			Text       string `json:"text"`
		} `json:"textDocument"`
	}
	didChangeParams struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version *int64 `json:"version"`
		} `json:"textDocument"`
		ContentChanges []contentChange `json:"contentChanges"`
	}
	didCloseParams struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
	}
	contentChange struct {
		Range *textRange `json:"range"` // nil replaces the whole text
		Text  string     `json:"text"`
	}
)

// apply returns text after the change. Strings decoded by encoding/json are copies,
// so none of them keeps the message alive it came in.
func (c contentChange) apply(text string, enc encoding) string {
	if c.Range == nil {
		return c.Text
	}
	from, to := offsetAt(text, c.Range.Start, enc), offsetAt(text, c.Range.End, enc)
	if from > to {
		from, to = to, from
	}
	return text[:from] + c.Text + text[to:]
}
