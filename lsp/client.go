package lsp

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// clientUI reaches the user through the client. Its methods must not be called on the goroutine that
// reads, which has to read the answers.
type clientUI struct{ s *server }

var _ commands.UI = clientUI{}

// Ask shows the choices as the buttons of a window/showMessageRequest. Of two choices with the same
// text it returns the first.
func (ui clientUI) Ask(ctx context.Context, q commands.Question) (int, error) {
	if len(q.Choices) == 0 {
		return commands.Closed, nil
	}
	params := protocol.ShowMessageRequestParams{Type: protocol.MessageTypeInfo, Message: visible.Text(q.Text)}
	for _, choice := range q.Choices {
		params.Actions = append(params.Actions, protocol.MessageActionItem{Title: visible.Line(choice)})
	}
	var answer *protocol.MessageActionItem
	err := ui.s.ask(ctx, protocol.MethodWindowShowMessageRequest, &params, &answer)
	switch {
	case ctx.Err() != nil:
		return commands.Closed, ctx.Err()
	case isUnknownMethod(err):
		return commands.Unasked, nil
	case err != nil, answer == nil: // some clients answer with an error if the user closes the question
		return commands.Closed, nil
	}
	for i, action := range params.Actions {
		if action.Title == answer.Title {
			return i, nil
		}
	}
	ui.s.log.Warn("the client answered with a choice that was not offered")
	return commands.Closed, nil
}

// Notify shows a message.
func (ui clientUI) Notify(_ context.Context, level commands.Level, text string) {
	ui.s.showMessage(level, text)
}

// Open shows a file with window/showDocument. If the client does not support that, Open shows a
// message with the path and returns false.
func (ui clientUI) Open(ctx context.Context, path string, external bool) bool {
	return ui.show(ctx, uri.File(path), external, filepath.ToSlash(path))
}

// OpenPage shows an HTML file outside the editor with window/showDocument. It shows no message.
func (ui clientUI) OpenPage(ctx context.Context, path string) bool {
	return ui.s.showDocument(ctx, uri.File(path), true)
}

// OpenURL shows a web page with window/showDocument. If the client does not support that, OpenURL
// shows a message with the address and returns false.
func (ui clientUI) OpenURL(ctx context.Context, address string) bool {
	return ui.show(ctx, uri.URI(address), true, address)
}

func (ui clientUI) show(ctx context.Context, what uri.URI, external bool, fallback string) bool {
	if ui.s.showDocument(ctx, what, external) {
		return true
	}
	ui.s.showMessage(commands.LevelInfo, fallback)
	return false
}

// showDocument shows a document in the editor, or outside of it if external is set. It reports
// whether the client did so.
func (s *server) showDocument(ctx context.Context, what uri.URI, external bool) bool {
	if !s.client.showDocument {
		return false
	}
	params, limit := protocol.ShowDocumentParams{URI: what, External: new(external)}, outsideTime
	if !external {
		params.TakeFocus, limit = new(true), answerTime
	}
	var result *protocol.ShowDocumentResult
	err := s.askWithin(ctx, limit, protocol.MethodWindowShowDocument, &params, &result)
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
	}{int(level), visible.Text(text)}, "")
}

// teller returns the [commands.Env.Tell] that the settings ask for. It sends window/logMessage, which
// clients show in an output channel.
func (s *server) teller(settings Settings) func(text string) {
	if settings.ShowSummary != nil && !*settings.ShowSummary {
		return nil
	}
	return func(text string) {
		s.notify(protocol.MethodWindowLogMessage, struct {
			Type    int    `json:"type"`
			Message string `json:"message"`
		}{int(commands.LevelInfo), visible.Text(text)}, "")
	}
}

// errNotRunning is the error of a request to the client before initialize is answered. The protocol
// forbids it, and the answer could not be read.
var errNotRunning = errors.New("lsp: the client cannot be asked before initialize is answered")

// ask sends a request to the client, after the queued notifications, and waits for the answer. If
// ctx or the time limit of the method ends first, it sends a cancellation; for the time limit it
// returns errUnanswered. If the client answers null, result is unchanged.
func (s *server) ask(ctx context.Context, method string, params, result any) error {
	return s.askWithin(ctx, timeFor(method), method, params, result)
}

// askWithin is ask with another time limit. 0 means none.
func (s *server) askWithin(ctx context.Context, limit time.Duration, method string, params, result any) error {
	if s.state.is(phaseNew) {
		return errNotRunning
	}
	within, cancel := s.answerWithin(ctx, limit)
	defer cancel()
	err := s.conn.Call(within, method, params, result)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(within), errUnanswered) {
		err = errUnanswered
	}
	if err != nil && ctx.Err() == nil {
		why := zap.Error(err)
		if method == MethodKey {
			why = zap.Skip() // a client might repeat the key in it
		}
		s.log.Debug("the client did not answer", zap.String("method", method), zap.Bool("unsupported", isUnknownMethod(err)), why)
	}
	return err
}

// isUnknownMethod reports whether err says that the client does not support the request.
func isUnknownMethod(err error) bool {
	var wire *jsonrpc2.Error
	return errors.As(err, &wire) && wire.Code == jsonrpc2.MethodNotFound
}
