package lsp

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// Document is a copy of one open text as the client sees it.
type Document = textdoc.Document

// Documents are the texts that the client has open, which may differ from the files on disk. It holds
// only documents with file: URIs. It is safe for concurrent use.
type Documents struct {
	log    *zap.Logger
	inputs *inputs // the server's own files, which are not documents

	// mu guards the fields below.
	mu      sync.Mutex
	enc     textdoc.Encoding
	byPath  map[string]Document
	pending map[string]*expected // by path; see expect
	edits   map[string]agentEdit // by path; of the open documents that the agent has changed
	saves   savedDocs

	observers map[string]map[*observer]bool // by path
	late      map[string]*lateEdit          // by path; edits that were given up
}

// expected is the text of a document after an edit that the client has not reported yet.
type expected struct {
	Document
	reported chan struct{} // closed when the client reported any change, or closed the document
	met      bool          // the change led to the expected text; set before reported is closed
}

func newDocuments(log *zap.Logger) *Documents {
	return &Documents{
		log: log, inputs: newInputs(), enc: textdoc.UTF16, byPath: make(map[string]Document), pending: make(map[string]*expected),
		edits: make(map[string]agentEdit), saves: newSavedDocs(), observers: make(map[string]map[*observer]bool),
		late: make(map[string]*lateEdit),
	}
}

// setEncoding sets the client's encoding.
func (d *Documents) setEncoding(enc textdoc.Encoding) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.enc = enc
}

// Lookup returns the open document at a cleaned absolute path.
func (d *Documents) Lookup(path string) (Document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, ok := d.byPath[path]
	if next, waiting := d.pending[path]; ok && waiting {
		return next.Document, true
	}
	return doc, ok
}

// paths returns the paths of the open documents, sorted.
func (d *Documents) paths() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.byPath))
}

// expect makes text the document's text until the client reports its next change. An edit that the
// client was asked to make is complete when it answers, but the notification about it may arrive
// later, and readers must not see the old text meanwhile. It returns nil if doc is not the current
// version any more.
func (d *Documents) expect(doc Document, text string) *expected {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now, open := d.byPath[doc.Path]; !open || now.Version != doc.Version {
		return nil
	}
	d.reportedLocked(doc.Path)
	delete(d.late, doc.Path) // the next report may be about this edit
	doc.Text = text
	e := &expected{Document: doc, reported: make(chan struct{})}
	d.pending[doc.Path] = e
	return e
}

// unexpect ends an expectation: the client did not make the edit.
func (d *Documents) unexpect(e *expected) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending[e.Path] == e {
		d.reportedLocked(e.Path)
	}
}

// surpassed reports whether the client reported a different change than the expected one.
func (d *Documents) surpassed(e *expected) bool {
	select {
	case <-e.reported:
		return !e.met
	default:
		return false
	}
}

// reportedLocked ends an expectation.
func (d *Documents) reportedLocked(path string) {
	e, waiting := d.pending[path]
	if !waiting {
		return
	}
	now, open := d.byPath[path]
	e.met = open && sameLines(now.Text, e.Text)
	close(e.reported)
	delete(d.pending, path)
}

// sameLines reports whether two texts are equal except for line ends, which editors normalize.
func sameLines(a, b string) bool {
	plain := func(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n") }
	return a == b || plain(a) == plain(b)
}

// settled waits at most timeout until the client has reported the expected change of a document. The
// next edit must name the version after it.
func (d *Documents) settled(ctx context.Context, path string, timeout time.Duration) {
	d.mu.Lock()
	e, waiting := d.pending[path]
	d.mu.Unlock()
	if !waiting {
		return
	}
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case <-e.reported:
	case <-t.C:
	case <-ctx.Done():
	}
}

// encoding returns the client's encoding.
func (d *Documents) encoding() textdoc.Encoding {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.enc
}

func (d *Documents) didOpen(p *didOpenParams) error {
	path, ok := textdoc.Path(p.TextDocument.URI)
	if !ok {
		return nil // untitled:, git: and the like are not files
	}
	if d.inputs.opened(path, p.TextDocument.Text) {
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
	d.saves.closedLocked(path)
	d.reportedLocked(path)
	d.observedLocked(path)
	return nil
}

// didChange applies edits in order. It ignores a version that is not newer than the current one,
// because applying edits twice would corrupt the text. A change without a version is applied.
func (d *Documents) didChange(p *didChangeParams) error {
	path, ok := textdoc.Path(p.TextDocument.URI)
	if !ok || d.inputs.edited(path, p.ContentChanges, d.encoding()) {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, ok := d.byPath[path]
	if !ok {
		d.log.Warn("a change of a document that is not open", zap.String("path", path))
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
	d.saves.changedLocked(path)
	d.reportedLocked(path)
	d.observedLocked(path)
	return nil
}

func (d *Documents) didClose(p *didCloseParams) error {
	path, ok := textdoc.Path(p.TextDocument.URI)
	if !ok || d.inputs.closed(path) {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byPath, path)
	delete(d.edits, path)
	d.saves.closedLocked(path)
	d.reportedLocked(path)
	d.observedLocked(path)
	return nil
}

// The parameters of the document notifications. The types of the protocol package are not used: they
// decode an invalid range as a replacement of the whole text, and any string as a file: URI.
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
		Range *textdoc.Range `json:"range"` // nil replaces the whole text
		Text  string         `json:"text"`
	}
)

// apply returns text after the change. Strings decoded by encoding/json are copies, so they do not
// keep the message in memory.
func (c contentChange) apply(text string, enc textdoc.Encoding) string {
	if c.Range == nil {
		return c.Text
	}
	from, to := textdoc.OffsetAt(text, c.Range.Start, enc), textdoc.OffsetAt(text, c.Range.End, enc)
	if from > to {
		from, to = to, from
	}
	return text[:from] + c.Text + text[to:]
}
