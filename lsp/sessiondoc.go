package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/outline"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// Session files are documents like any other to an editor. What it asks about one is answered
// from a sessionView, which is made once for each version of the text, when somebody asks or
// when the person has stopped typing, and never on the goroutine that reads.

// typingPause is how long a session document must not change before it is looked through by
// itself.
const typingPause = 300 * time.Millisecond

// sessionView is one version of a session document.
type sessionView struct {
	outline.View
	lines    *lines
	branches []outline.Branch
	findings []session.Finding

	path, uri string
	version   int64 // of an open document
	open      bool
}

// sessionDocs are the views of the open session documents. It is safe for concurrent use.
type sessionDocs struct {
	s *server

	mu     sync.Mutex
	byPath map[string]*versionView // guarded by mu
	told   map[string]string       // URIs by path, of the documents with diagnostics; guarded by mu
	timers map[string]func() bool  // by path; guarded by mu
}

// versionView is the view of one version, perhaps still to come.
type versionView struct {
	doc    Document
	cancel context.CancelFunc
	done   chan struct{} // closed when view and err are set
	view   *sessionView  // nil when the text is no session
	err    error
	told   bool // its diagnostics were sent; guarded by sessionDocs.mu
}

func newSessionDocs(s *server) *sessionDocs {
	return &sessionDocs{s: s, byPath: map[string]*versionView{}, told: map[string]string{}, timers: map[string]func() bool{}}
}

// documentOpened, documentChanged and documentClosed keep the views up to date with the
// notifications of the same names.
func (s *server) documentOpened(p *didOpenParams) error {
	err := s.documents.didOpen(p)
	s.sessionDocs.changed(p.TextDocument.URI, 0)
	return err
}

func (s *server) documentChanged(p *didChangeParams) error {
	err := s.documents.didChange(p)
	s.sessionDocs.changed(p.TextDocument.URI, typingPause)
	return err
}

func (s *server) documentClosed(p *didCloseParams) error {
	err := s.documents.didClose(p)
	if path, ok := filePath(p.TextDocument.URI); ok {
		s.sessionDocs.closed(path)
	}
	return err
}

// changed lets the diagnostics of a document be sent after a while, from its newest text.
func (d *sessionDocs) changed(uri string, after time.Duration) {
	path, ok := filePath(uri)
	if !ok || filepath.Ext(path) != ".jsonl" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(path)
	if after == 0 {
		d.s.background("the diagnostics of "+path, func(ctx context.Context) { d.diagnose(ctx, path) })
		return
	}
	d.timers[path] = d.s.opts.Clock.AfterFunc(after, func() {
		d.s.background("the diagnostics of "+path, func(ctx context.Context) { d.diagnose(ctx, path) })
	})
}

// closed takes the diagnostics of a document away.
func (d *sessionDocs) closed(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(path)
	d.clear(path)
}

// forget ends the work on the version before. It needs mu.
func (d *sessionDocs) forget(path string) {
	if stop := d.timers[path]; stop != nil {
		stop()
		delete(d.timers, path)
	}
	if v := d.byPath[path]; v != nil {
		v.cancel()
		delete(d.byPath, path)
	}
}

// background runs f on a goroutine of its own that a stopping server waits for. It must not
// block. When there is no room f does not run.
func (s *server) background(what string, f func(ctx context.Context)) {
	c, ok := s.calls.begin(s.work, jsonrpc2.ID{})
	if !ok {
		return
	}
	go func() {
		defer s.calls.end(c)
		defer s.recoverPanic(what)
		f(c.ctx)
	}()
}

// view returns the view of the newest text of a document: that of the editor, else that on
// disk. It is nil for what is no session, or not to be looked at. The diagnostics of an open
// document are sent with it.
func (d *sessionDocs) view(ctx context.Context, uri string) (*sessionView, error) {
	path, ok := filePath(uri)
	if !ok || filepath.Ext(path) != ".jsonl" {
		return nil, nil
	}
	doc, open := d.s.documents.Lookup(path)
	if !open {
		text, ok, err := d.s.readSession(path)
		if !ok || err != nil {
			return nil, err
		}
		return d.make(ctx, Document{Path: path, URI: uri, Text: text}, false)
	}
	v := d.version(doc)
	select {
	case <-v.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if errors.Is(v.err, context.Canceled) && ctx.Err() == nil {
		return nil, fault.New(fault.Stale, "%s was changed while it was looked through.", path).With("path", path)
	}
	if v.err == nil {
		d.tell(v)
	}
	return v.view, v.err
}

// version returns the view of doc, which is made once.
func (d *sessionDocs) version(doc Document) *versionView {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.byPath[doc.Path]
	if v != nil && v.doc.Version == doc.Version && v.doc.Text == doc.Text {
		return v
	}
	if v != nil {
		v.cancel()
	}
	v = &versionView{doc: doc, done: make(chan struct{}), err: errNotMade}
	d.byPath[doc.Path] = v
	ctx, cancel := context.WithCancel(d.s.work)
	v.cancel = cancel
	go func() {
		defer cancel()
		defer close(v.done)
		defer d.s.recoverPanic("a view of " + doc.Path)
		v.view, v.err = d.make(ctx, doc, true)
	}()
	return v
}

// errNotMade is the error of a view whose making failed in a way that the log tells of.
var errNotMade = panicError("reading a session document")

// make parses a text, unless it is no session.
func (d *sessionDocs) make(ctx context.Context, doc Document, open bool) (*sessionView, error) {
	if !d.s.isSession(doc.Path, doc.Text) {
		return nil, nil
	}
	parsed, err := session.ParseText(ctx, doc.Text)
	if parsed == nil {
		return nil, err
	}
	v := &sessionView{
		View: outline.View{Doc: parsed, Text: doc.Text}, lines: newLines(doc.Text, d.s.documents.encoding()),
		path: doc.Path, uri: doc.URI, version: doc.Version, open: open,
	}
	v.branches = v.Branches()
	if open {
		v.findings = parsed.Findings(maxDiagnostics)
	}
	return v, nil
}

// isSession reports whether a text is one of a session: its first line is a header, behind a
// title slot maybe, or it lies where sessions are kept.
func (s *server) isSession(path, text string) bool {
	if filepath.Ext(path) != ".jsonl" {
		return false
	}
	text = strings.TrimPrefix(text, "\uFEFF")
	for range 2 {
		line, rest, _ := strings.Cut(text[:min(len(text), sessionHead)], "\n")
		switch typ, _ := rawjson.GetString([]byte(line), "type"); typ {
		case "session":
			return true
		case "title":
			text = rest
			continue
		}
		break
	}
	_, kept := s.lookEnv().Finder.FileRoot(path)
	return kept
}

// sessionHead is how much of a text is looked at for a header.
const sessionHead = 64 << 10

// lookEnv returns the Env for what changes nothing.
func (s *server) lookEnv() *commands.Env {
	s.config.mu.Lock()
	defer s.config.mu.Unlock()
	return s.config.env
}

// maxClosed is how large a file is at most that is read although it is not open, in bytes.
const maxClosed = 256 << 20

// readSession reads a session that is not open. ok is false for a file that is neither in a
// workspace folder nor where sessions are kept, links followed, and for one that is too large.
func (s *server) readSession(path string) (text string, ok bool, err error) {
	env := s.lookEnv()
	if env.Fs == nil || !s.mayRead(path) {
		return "", false, nil
	}
	if !leadsInside(path, append(rootDirs(env.Finder), s.folders.list()...), env.Finder.RealPath) {
		return "", false, nil
	}
	info, err := env.Fs.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxClosed {
		return "", false, nil
	}
	f, err := env.Fs.Open(path)
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	_, err = io.Copy(&b, io.LimitReader(f, maxClosed))
	return b.String(), true, errors.Join(err, f.Close())
}

// leadsInside reports whether path is in one of the directories once links are followed.
func leadsInside(path string, dirs []string, realPath func(string) (string, error)) bool {
	if realPath == nil {
		return true
	}
	real, err := realPath(path)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		realDir, err := realPath(dir)
		return err == nil && isWithin(realDir, real)
	})
}

// rootDirs are the directories that sessions are kept in.
func rootDirs(f session.Finder) (dirs []string) {
	if f.SessionDir != "" {
		dirs = append(dirs, f.SessionDir)
	}
	for _, r := range f.Roots {
		dirs = append(dirs, r.Sessions)
	}
	return dirs
}

func isWithin(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// mayRead reports whether a file is in a workspace folder or where sessions are kept.
func (s *server) mayRead(path string) bool {
	if _, ok := s.folderOf(path); ok {
		return true
	}
	_, kept := s.lookEnv().Finder.FileRoot(path)
	return kept
}

// folderOf returns the innermost workspace folder that path is in.
func (s *server) folderOf(path string) (folder string, ok bool) {
	for _, f := range s.folders.list() {
		if isWithin(f, path) && len(f) > len(folder) {
			folder, ok = f, true
		}
	}
	return folder, ok
}

// textDocumentParams are the parameters of a request about a document.
type textDocumentParams struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
}

func (p *textDocumentParams) documentURI() string { return p.TextDocument.URI }

// aboutSession makes a route of a function that answers a request about a session document.
// About any other document the answer is null.
func aboutSession[P interface{ documentURI() string }](s *server, method string, f func(ctx context.Context, v *sessionView, p P) (any, error)) route {
	return route{call: func(ctx context.Context, raw json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, paramsError(method, "params", err)
		}
		var uri string
		if !isEmptyJSON(raw) {
			uri = p.documentURI()
		}
		v, err := s.sessionDocs.view(ctx, uri)
		if v == nil || err != nil {
			return nil, err
		}
		answer, err := f(ctx, v, p)
		if err != nil {
			return nil, err
		}
		return encodeJSON(answer)
	}}
}
