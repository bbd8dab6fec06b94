package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/uri"

	"github.com/xcsh-ls/xcsh-ls/agent/senses"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// MethodEditor is the beginning of the methods of requests about code. Only a client that announces one of
// [senses.Requests] with ui.editor gets it.
const MethodEditor = "xcsh/editor/"

// clientSenses is what the client knows about code.
type clientSenses struct {
	s *server

	mu  sync.Mutex
	off map[string]bool // announced requests that the client turned out not to answer; guarded by mu
}

var _ senses.Editor = (*clientSenses)(nil)

// Actions implements [senses.Editor].
func (c *clientSenses) Actions() []string {
	announced := c.s.config.editor()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(senses.Requests), func(request string) bool {
		return c.off[request] || !slices.Contains(announced, request)
	})
}

// Ask implements [senses.Editor].
func (c *clientSenses) Ask(ctx context.Context, request string, limit time.Duration, params any) (json.RawMessage, error) {
	if !slices.Contains(c.Actions(), request) {
		return nil, senses.ErrUnsupported
	}
	var raw json.RawMessage
	err := c.s.askWithin(ctx, limit, MethodEditor+request, params, &raw)
	switch {
	case isUnknownMethod(err):
		c.mu.Lock()
		defer c.mu.Unlock()
		c.off[request] = true
		return nil, senses.ErrUnsupported
	case errors.Is(err, errUnanswered):
		return nil, senses.ErrNoAnswer
	}
	return raw, err
}

// URI implements [senses.Editor]. An open document has the URI that the client uses.
func (c *clientSenses) URI(path string) string {
	if doc, open := c.s.documents.Lookup(path); open {
		return doc.URI
	}
	return string(uri.File(path))
}

// Path implements [senses.Editor].
func (c *clientSenses) Path(u string) (string, bool) { return textdoc.Path(u) }

// Offset implements [senses.Editor].
func (c *clientSenses) Offset(text string, p senses.Position) int {
	return textdoc.OffsetAt(text, textdoc.Position{Line: int64(p.Line), Character: int64(p.Character)}, c.s.documents.encoding())
}

// Position implements [senses.Editor].
func (c *clientSenses) Position(text string, offset int) senses.Position {
	p := textdoc.PositionAt(text, offset, c.s.documents.encoding())
	return senses.Position{Line: int(p.Line), Character: int(p.Character)}
}
