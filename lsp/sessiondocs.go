package lsp

import (
	"context"

	"go.lsp.dev/jsonrpc2"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp/sessiondoc"
)

// sessionDocHost is the server as [sessiondoc.Docs] sees it.
func (s *server) sessionDocHost() sessiondoc.Host {
	return sessiondoc.Host{
		Work:       s.work,
		Document:   s.documents.Lookup,
		Encoding:   s.documents.encoding,
		Files:      s.files,
		Notify:     s.notify,
		Background: s.background,
		Guard:      s.guarded,
		AfterFunc:  s.opts.Clock.AfterFunc,
	}
}

// files returns the files that may be read for the client.
func (s *server) files() sessiondoc.Files {
	env := s.readOnlyEnv()
	return sessiondoc.Files{Fs: env.Fs, Finder: env.Finder, Folders: s.folders.list()}
}

// folderOf returns the innermost workspace folder that path is in.
func (s *server) folderOf(path string) (folder string, ok bool) {
	return sessiondoc.Files{Folders: s.folders.list()}.FolderOf(path)
}

// readOnlyEnv returns the Env for work that changes nothing. It does not keep the backend from being
// replaced.
func (s *server) readOnlyEnv() *commands.Env {
	s.config.mu.Lock()
	defer s.config.mu.Unlock()
	return s.config.env
}

// background runs f on a goroutine that a stopping server waits for. It does not block. If too many
// requests are being handled, it does not run f.
func (s *server) background(what string, f func(ctx context.Context)) {
	c, ok := s.calls.Begin(s.work, jsonrpc2.ID{}, false)
	if !ok {
		return
	}
	go func() {
		defer s.calls.End(c)
		defer s.recoverPanic(what)
		f(c.Context())
	}()
}

// documentOpened handles textDocument/didOpen.
func (s *server) documentOpened(p *didOpenParams) error {
	err := s.documents.didOpen(p)
	s.sessionDocs.Opened(p.TextDocument.URI)
	s.pending.documentMoved(p.TextDocument.URI)
	return err
}

// documentChanged handles textDocument/didChange.
func (s *server) documentChanged(p *didChangeParams) error {
	err := s.documents.didChange(p)
	s.sessionDocs.Changed(p.TextDocument.URI)
	s.pending.documentMoved(p.TextDocument.URI)
	return err
}

// documentClosed handles textDocument/didClose.
func (s *server) documentClosed(p *didCloseParams) error {
	err := s.documents.didClose(p)
	s.sessionDocs.Closed(p.TextDocument.URI)
	s.pending.documentMoved(p.TextDocument.URI)
	return err
}
