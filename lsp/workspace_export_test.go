package lsp

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// What the tests of edits and questions reach inside the package for.
var (
	Difference = difference
	Clip       = clip
)

// NewDocuments returns documents without a client.
func NewDocuments(log *zap.Logger) *Documents { return newDocuments(log) }

// Opened is textDocument/didOpen.
func (d *Documents) Opened(path, text string) {
	p := new(didOpenParams)
	p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text = "file://"+path, 1, text
	_ = d.didOpen(p)
}

// Changed is a textDocument/didChange with the whole text.
func (d *Documents) Changed(path string, version int64, text string) {
	p := new(didChangeParams)
	p.TextDocument.URI, p.TextDocument.Version = "file://"+path, &version
	p.ContentChanges = []contentChange{{Text: text}}
	_ = d.didChange(p)
}

// Closed is textDocument/didClose.
func (d *Documents) Closed(path string) {
	p := new(didCloseParams)
	p.TextDocument.URI = "file://" + path
	_ = d.didClose(p)
}

// Expect begins an expectation. What it returns ends it, and reports whether it was
// surpassed; it is nil when nothing is expected.
func (d *Documents) Expect(doc Document, text string) (surpassed func() bool, unexpect func()) {
	e := d.expect(doc, text)
	if e == nil {
		return nil, nil
	}
	return func() bool { return d.surpassed(e) }, func() { d.unexpect(e) }
}

// Settled waits for what is expected of a document.
func (d *Documents) Settled(ctx context.Context, path string, patience time.Duration) {
	d.settled(ctx, path, patience)
}

// ApplyChange returns text after an edit in the protocol's form.
func ApplyChange(text string, start, end Position, inserted string, enc encoding) string {
	return contentChange{Range: &textRange{start, end}, Text: inserted}.apply(text, enc)
}
