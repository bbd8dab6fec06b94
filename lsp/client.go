package lsp

import (
	"context"
	"errors"
	"path/filepath"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// clientUI reaches the person through the client. Its methods may be called from
// commands only, never from the goroutine that reads: the answer to a question is
// read there.
type clientUI struct{ s *server }

var _ commands.UI = clientUI{}

// Ask shows the choices as the buttons of a window/showMessageRequest. When two
// choices read the same, the first of them is returned.
func (ui clientUI) Ask(ctx context.Context, q commands.Question) (int, error) {
	if len(q.Choices) == 0 {
		return commands.Closed, nil
	}
	params := protocol.ShowMessageRequestParams{Type: protocol.MessageTypeInfo, Message: q.Text}
	for _, choice := range q.Choices {
		params.Actions = append(params.Actions, protocol.MessageActionItem{Title: choice})
	}
	var answer *protocol.MessageActionItem
	err := ui.s.ask(ctx, protocol.MethodWindowShowMessageRequest, &params, &answer)
	switch {
	case ctx.Err() != nil:
		return commands.Closed, ctx.Err()
	case isUnknownMethod(err):
		return commands.Unasked, nil
	case err != nil, answer == nil: // some clients fail where the person closed the question
		return commands.Closed, nil
	}
	for i, choice := range q.Choices {
		if choice == answer.Title {
			return i, nil
		}
	}
	ui.s.log.Warn("the client chose what was not offered")
	return commands.Closed, nil
}

// Notify shows a message.
func (ui clientUI) Notify(_ context.Context, level commands.Level, text string) {
	ui.s.showMessage(level, text)
}

// Open shows a file with window/showDocument. A client that cannot is told the
// path in a message instead, which does not count as shown.
func (ui clientUI) Open(ctx context.Context, path string, external bool) bool {
	return ui.show(ctx, uri.File(path), external, filepath.ToSlash(path))
}

// OpenURL shows a web page with window/showDocument. A client that cannot is told the
// address in a message instead, which does not count as shown.
func (ui clientUI) OpenURL(ctx context.Context, address string) bool {
	return ui.show(ctx, uri.URI(address), true, address)
}

func (ui clientUI) show(ctx context.Context, what uri.URI, external bool, told string) bool {
	if ui.s.showDocument(ctx, what, external) {
		return true
	}
	ui.s.showMessage(commands.LevelInfo, told)
	return false
}

// showDocument shows something in the client, or outside it when external is set. It reports
// whether the client did so.
func (s *server) showDocument(ctx context.Context, what uri.URI, external bool) bool {
	if !s.client.showDocument {
		return false
	}
	params := protocol.ShowDocumentParams{URI: what, External: new(external)}
	if !external {
		params.TakeFocus = new(true)
	}
	var result *protocol.ShowDocumentResult
	err := s.ask(ctx, protocol.MethodWindowShowDocument, &params, &result)
	return err == nil && result != nil && result.Success
}

// Progress begins a report; see progress.go.
func (ui clientUI) Progress(ctx context.Context, title string) commands.Progress {
	return ui.s.progress.begin(ctx, title)
}

// showMessage queues a window/showMessage.
func (s *server) showMessage(level commands.Level, text string) {
	s.notify(protocol.MethodWindowShowMessage, struct {
		Type    int    `json:"type"`
		Message string `json:"message"`
	}{int(level), text}, "")
}

// teller is [commands.Env.Tell] as the settings want it: by window/logMessage, which clients
// keep for who looks there.
func (s *server) teller(settings Settings) func(text string) {
	if settings.ShowSummary != nil && !*settings.ShowSummary {
		return nil
	}
	return func(text string) {
		s.notify(protocol.MethodWindowLogMessage, struct {
			Type    int    `json:"type"`
			Message string `json:"message"`
		}{int(commands.LevelInfo), text}, "")
	}
}

// errNotRunning refuses a question before initialize was answered: the client may
// not be asked yet, and the answer could not be read.
var errNotRunning = errors.New("lsp: the client cannot be asked before initialize is answered")

// ask sends a request to the client and waits for the answer, after what was
// queued before it. When ctx ends first the client is told not to bother. A client
// that answers null leaves result as it is.
func (s *server) ask(ctx context.Context, method string, params, result any) error {
	if s.state.is(phaseNew) {
		return errNotRunning
	}
	s.outbox.flush(ctx)
	err := protocol.Call(ctx, s.conn, method, params, result)
	if err != nil && ctx.Err() == nil {
		s.log.Debug("the client did not answer", zap.String("method", method), zap.Bool("unsupported", isUnknownMethod(err)), zap.Error(err))
	}
	return err
}

// isUnknownMethod reports whether the client answered that it does not know the request.
func isUnknownMethod(err error) bool {
	var wire *jsonrpc2.Error
	return errors.As(err, &wire) && wire.Code == jsonrpc2.MethodNotFound
}
