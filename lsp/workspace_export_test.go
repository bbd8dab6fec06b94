package lsp

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// The internals that the tests of edits and questions use.
var (
	Difference = difference
	Clip       = clip
)

// NewDocuments returns documents without a client.
func NewDocuments(log *zap.Logger) *Documents { return newDocuments(log) }

// Opened handles textDocument/didOpen.
func (d *Documents) Opened(path, text string) {
	p := new(didOpenParams)
	p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text = "file://"+path, 1, text
	_ = d.didOpen(p)
}

// Changed handles a textDocument/didChange with the whole text.
func (d *Documents) Changed(path string, version int64, text string) {
	p := new(didChangeParams)
	p.TextDocument.URI, p.TextDocument.Version = "file://"+path, &version
	p.ContentChanges = []contentChange{{Text: text}}
	_ = d.didChange(p)
}

// Closed handles textDocument/didClose.
func (d *Documents) Closed(path string) {
	p := new(didCloseParams)
	p.TextDocument.URI = "file://" + path
	_ = d.didClose(p)
}

// Expect starts an expectation. It returns functions that report whether it was surpassed and that end
// it, or nil if the document has changed.
func (d *Documents) Expect(doc Document, text string) (surpassed func() bool, unexpect func()) {
	e := d.expect(doc, text)
	if e == nil {
		return nil, nil
	}
	return func() bool { return d.surpassed(e) }, func() { d.unexpect(e) }
}

// Settled waits for the expected change of a document.
func (d *Documents) Settled(ctx context.Context, path string, timeout time.Duration) {
	d.settled(ctx, path, timeout)
}

// ApplyChange returns text after an edit in the protocol's form.
func ApplyChange(text string, start, end textdoc.Position, inserted string, enc textdoc.Encoding) string {
	return contentChange{Range: &textdoc.Range{Start: start, End: end}, Text: inserted}.apply(text, enc)
}

// LineEdit is an edit of [LineEdits].
type LineEdit struct {
	Start, End textdoc.Position
	Text       string
}

// LineEdits returns the edits that turn a text into another one.
func LineEdits(old, text string, enc textdoc.Encoding) (edits []LineEdit) {
	for _, e := range lineEdits(old, text, enc) {
		edits = append(edits, LineEdit{e.Range.Start, e.Range.End, e.NewText})
	}
	return edits
}
