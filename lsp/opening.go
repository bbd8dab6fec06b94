package lsp

import (
	"context"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Open opens a file in the editor without moving the focus, and waits until the client reports its text.
func (e editorDocs) Open(ctx context.Context, path string) (change.Document, error) {
	if d, open := e.Document(path); open {
		return d, nil
	}
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return change.Document{}, fault.New(fault.InvalidArgument, "%q is not an absolute path.", path)
	}
	if !e.s.client.showDocument {
		return change.Document{}, notOpened(path, "The editor does not support opening %s. Open it and try again.")
	}
	opened, stop := e.opened(path)
	defer stop()
	within, cancel := e.s.answerWithin(ctx, answerTime)
	defer cancel()
	params := protocol.ShowDocumentParams{URI: uri.File(path), External: new(false), TakeFocus: new(false)}
	var result *protocol.ShowDocumentResult
	err := e.s.askWithin(within, 0, protocol.MethodWindowShowDocument, &params, &result)
	switch {
	case ctx.Err() != nil:
		return change.Document{}, fault.New(fault.Cancelled, "Opening %s in the editor was cancelled.", path).With("path", path)
	case err != nil || result == nil || !result.Success:
		return change.Document{}, notOpened(path, "The editor did not open %s. Open it and try again.")
	}
	doc, open := e.lookup(path)
	if !open {
		select {
		case <-opened:
		case <-within.Done():
		}
		doc, open = e.lookup(path)
	}
	if !open {
		return change.Document{}, notOpened(path, "The editor opened %s but did not send its text. Open it and try again.")
	}
	e.s.documents.setClean(doc) // the document was not open before, so the editor has just read the file
	return change.Document{Path: path, Text: doc.Text, Version: doc.Version}, nil
}

func notOpened(path, text string) error {
	return fault.New(fault.Denied, text, path).With("path", path)
}

// opened returns a channel that is closed when the document of a path, or of the target of a link at the path, is opened.
func (e editorDocs) opened(path string) (opened <-chan struct{}, stop func()) {
	done := make(chan struct{})
	isOpen := false // guarded by the lock of the documents
	watch := func(_ Document, open bool) {
		if open && !isOpen {
			isOpen = true
			close(done)
		}
	}
	stop = e.s.documents.observe(path, watch)
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		first, second := stop, e.s.documents.observe(real, watch)
		stop = func() { first(); second() }
	}
	return done, stop
}
