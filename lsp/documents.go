package lsp

import (
	"sync"

	"go.uber.org/zap"
)

// Document is one open text as the client sees it. It is a copy: later edits do
// not show in it.
type Document struct {
	Path       string // cleaned and absolute
	LanguageID string
	Version    int64 // grows with every change
	Text       string
}

// Documents are the texts the client has open: what is on the person's screen,
// which may differ from the disk. Only file: documents are kept. It is safe for
// concurrent use.
type Documents struct {
	log *zap.Logger

	mu     sync.Mutex
	enc    encoding            // guarded by mu
	byPath map[string]Document // guarded by mu
}

func newDocuments(log *zap.Logger) *Documents {
	return &Documents{log: log, enc: utf16Units, byPath: make(map[string]Document)}
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
	return doc, ok
}

func (d *Documents) didOpen(p *didOpenParams) error {
	path, ok := filePath(p.TextDocument.URI)
	if !ok {
		return nil // untitled:, git: and the like have no place on disk
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, open := d.byPath[path]; open {
		d.log.Warn("a document was opened twice", zap.String("path", path))
	}
	d.byPath[path] = Document{
		Path:       path,
		LanguageID: p.TextDocument.LanguageID,
		Version:    p.TextDocument.Version,
		Text:       p.TextDocument.Text,
	}
	return nil
}

// didChange applies edits in the order given. A version that is not newer than
// the one we have is refused: applying edits twice would corrupt the text. A
// client that sends no version is taken at its word.
func (d *Documents) didChange(p *didChangeParams) error {
	path, ok := filePath(p.TextDocument.URI)
	if !ok {
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
	return nil
}

func (d *Documents) didClose(p *didCloseParams) error {
	path, ok := filePath(p.TextDocument.URI)
	if !ok {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byPath, path)
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
