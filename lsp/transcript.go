package lsp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// transcriptScheme is the URI scheme of documents whose text the server supplies: xcsh:PATH.md is the
// conversation of the session at PATH. The extension makes editors show it as Markdown.
const transcriptScheme = "xcsh"

func transcriptURI(path string) string {
	return transcriptScheme + strings.TrimPrefix(string(uri.File(path)), "file") + ".md"
}

// transcriptPath is the inverse of [transcriptURI].
func transcriptPath(uri string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(uri, transcriptScheme+":")
	if !ok {
		return "", false
	}
	rest, ok = strings.CutSuffix(rest, ".md")
	if !strings.HasPrefix(rest, "//") { // clients omit the empty host
		rest = "//" + rest
	}
	path, file := textdoc.Path("file:" + rest)
	return path, ok && file
}

// textParams are the parameters of workspace/textDocumentContent.
type textParams struct {
	URI string `json:"uri"`
}

// textDocumentContent returns the conversation or the changes of a readable session, a file without its pending changes, or a followed session.
func (s *server) textDocumentContent(ctx context.Context, raw json.RawMessage) (any, error) {
	var p textParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, conn.ParamsError(protocol.MethodWorkspaceTextDocumentContent, "uri", err)
	}
	text := s.transcriptText
	switch {
	case strings.HasPrefix(p.URI, baseScheme+":"):
		text = s.baseText
	case isChangesURI(p.URI):
		text = s.changesText
	case strings.HasPrefix(p.URI, commands.FollowScheme+":"):
		text = s.followedText
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	return text(ctx, p)
}

// transcriptText returns the text of a transcript.
func (s *server) transcriptText(ctx context.Context, p textParams) (any, error) {
	path, ok := transcriptPath(p.URI)
	if !ok || filepath.Ext(path) != ".jsonl" || !s.files().MayRead(path) {
		return nil, fault.New(fault.NotFound, "There is no transcript %q.", conn.Printable(p.URI)).With("path", p.URI)
	}
	shown := shownTranscript{uri: p.URI, path: path, file: stateOf(s.readOnlyEnv().Fs.Stat(path))}
	subject := commands.Subject{Folder: commands.Folder{Cwd: filepath.Dir(path)}, Source: path}
	_, text, err := commands.Transcript(ctx, s.config.envForCommand(), subject)
	if err != nil {
		return nil, err
	}
	s.transcripts.add(shown)
	return conn.EncodeJSON(map[string]string{"text": text})
}

var _ commands.TranscriptUI = clientUI{}

// ShowTranscript shows a conversation as a document whose text the client requests.
func (ui clientUI) ShowTranscript(ctx context.Context, path string) bool {
	if !ui.s.client.textDocumentContent || !ui.s.client.showDocument || !ui.s.files().MayRead(path) {
		return false
	}
	return ui.s.showContent(ctx, transcriptURI(path))
}

// showContent shows a virtual document.
func (s *server) showContent(ctx context.Context, uri string) bool {
	params, err := conn.EncodeJSON(map[string]any{"uri": uri, "takeFocus": true})
	if err != nil {
		return false
	}
	var raw json.RawMessage
	err = s.ask(ctx, protocol.MethodWindowShowDocument, params, &raw)
	return err == nil && valueAt[bool](raw, "success")
}

// contentOptions returns the capability for the documents of this server if the client supports them.
func (c clientInfo) contentOptions() protocol.WorkspaceOptionsTextDocumentContent {
	if !c.textDocumentContent {
		return nil
	}
	return &protocol.TextDocumentContentOptions{Schemes: []string{transcriptScheme, baseScheme, commands.FollowScheme}}
}
