package sessiondoc

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/outline"
)

// view is the parsed form of one version of a document.
type view struct {
	outline.View
	lines    *textdoc.Lines
	branches []outline.Branch
	findings []session.Finding

	path, uri string
}

// version is the view of one version of an open document, which may still be in the making.
type version struct {
	doc       textdoc.Document
	cancel    context.CancelFunc
	done      chan struct{} // closed when view and err are set
	view      *view         // nil if the text is not a session
	err       error
	published bool // its diagnostics were published; guarded by Docs.mu
}

// view returns the view of the newest text of a document: that in the editor, else that on disk. It
// returns nil if the document is not a session or must not be read. It publishes the diagnostics
// of an open document.
func (d *Docs) view(ctx context.Context, uri string) (*view, error) {
	path, ok := textdoc.Path(uri)
	if !ok || filepath.Ext(path) != ".jsonl" {
		return nil, nil
	}
	doc, open := d.host.Document(path)
	if !open {
		text, ok, err := d.host.Files().read(path)
		if !ok || err != nil {
			return nil, err
		}
		return d.parse(ctx, textdoc.Document{Path: path, URI: uri, Text: text}, false)
	}
	v := d.version(doc)
	select {
	case <-v.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if errors.Is(v.err, context.Canceled) && ctx.Err() == nil {
		return nil, fault.New(fault.Stale, "%s was changed while it was being read.", path).With("path", path)
	}
	if v.err == nil {
		d.publish(v)
	}
	return v.view, v.err
}

// version returns the version of doc. The first call starts making its view.
func (d *Docs) version(doc textdoc.Document) *version {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.versions[doc.Path]
	if v != nil && v.doc.Version == doc.Version && v.doc.Text == doc.Text {
		return v
	}
	if v != nil {
		v.cancel()
	}
	v = &version{doc: doc, done: make(chan struct{})}
	d.versions[doc.Path] = v
	ctx, cancel := context.WithCancel(d.host.Work)
	v.cancel = cancel
	go func() {
		defer cancel()
		defer close(v.done)
		v.err = d.host.Guard("reading "+doc.Path, func() (err error) {
			v.view, err = d.parse(ctx, doc, true)
			return err
		})
	}()
	return v
}

// parse returns the view of a text, or nil if it is not a session.
func (d *Docs) parse(ctx context.Context, doc textdoc.Document, open bool) (*view, error) {
	if !d.host.Files().isSession(doc.Path, doc.Text) {
		return nil, nil
	}
	parsed, err := session.ParseText(ctx, doc.Text)
	if parsed == nil {
		return nil, err
	}
	v := &view{
		View: outline.View{Doc: parsed, Text: doc.Text}, lines: textdoc.NewLines(doc.Text, d.host.Encoding()),
		path: doc.Path, uri: doc.URI,
	}
	v.branches = v.Branches()
	if open {
		v.findings = parsed.Findings(maxDiagnostics)
	}
	return v, nil
}
