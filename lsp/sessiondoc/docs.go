package sessiondoc

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// typingPause is how long a document must stay unchanged before its diagnostics are published.
const typingPause = 300 * time.Millisecond

// Docs are the open session documents. It is safe for concurrent use.
type Docs struct {
	host   Host
	client Client // set before any request

	// mu guards the fields below, which are keyed by path.
	mu        sync.Mutex
	versions  map[string]*version
	published map[string]string      // URIs of the documents with diagnostics
	timers    map[string]func() bool // stop functions
}

// New returns an empty set of documents.
func New(h Host) *Docs {
	return &Docs{host: h, versions: map[string]*version{}, published: map[string]string{}, timers: map[string]func() bool{}}
}

// SetClient sets the client's capabilities. It must be called before any request.
func (d *Docs) SetClient(c Client) { d.client = c }

// Opened publishes the diagnostics of a document that was opened.
func (d *Docs) Opened(uri string) { d.changed(uri, 0) }

// Changed publishes the diagnostics of a document that was changed, once it stays unchanged for
// typingPause.
func (d *Docs) Changed(uri string) { d.changed(uri, typingPause) }

func (d *Docs) changed(uri string, after time.Duration) {
	path, ok := textdoc.Path(uri)
	if !ok || filepath.Ext(path) != ".jsonl" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forgetLocked(path)
	diagnose := func() {
		d.host.Background("the diagnostics of "+path, func(ctx context.Context) { d.diagnose(ctx, path) })
	}
	if after == 0 {
		diagnose()
		return
	}
	d.timers[path] = d.host.AfterFunc(after, diagnose)
}

// Closed clears the diagnostics of a document that was closed.
func (d *Docs) Closed(uri string) {
	path, ok := textdoc.Path(uri)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forgetLocked(path)
	d.clearLocked(path)
}

// forgetLocked ends the work on the previous version.
func (d *Docs) forgetLocked(path string) {
	if stop := d.timers[path]; stop != nil {
		stop()
		delete(d.timers, path)
	}
	if v := d.versions[path]; v != nil {
		v.cancel()
		delete(d.versions, path)
	}
}
