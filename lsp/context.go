package lsp

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/commands/composer"
)

// ContextParams are the parameters of xcsh/context: a prompt names a thing in the editor. The result is a
// [commands.ContextPiece], or null if there is no such thing.
type ContextParams struct {
	Cwd   string `json:"cwd"`             // only things of this folder count
	Kind  string `json:"kind"`            // problems, buffer, selection, terminal or symbol
	Query string `json:"query,omitempty"` // the name of a symbol
}

// clientContext are the things in the editor that prompts can name.
type clientContext struct {
	s     *server
	kinds []string
}

var _ commands.EditorContext = clientContext{}

// Kinds implements [commands.EditorContext].
func (c clientContext) Kinds() []string { return c.kinds }

// Piece implements [commands.EditorContext].
func (c clientContext) Piece(ctx context.Context, cwd, kind, query string) (*commands.ContextPiece, error) {
	var piece *commands.ContextPiece
	if err := c.s.ask(ctx, MethodContext, ContextParams{Cwd: cwd, Kind: kind, Query: query}, &piece); err != nil {
		return nil, err
	}
	return piece, nil
}

// readContextKinds returns the kinds of things that the client announces.
func readContextKinds(options json.RawMessage) (kinds []string) {
	for _, kind := range valueAt[[]string](options, "contextKinds") {
		if slices.Contains(composer.EditorKinds, kind) && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// context returns the things in the editor that prompts can name, nil for a client that announces none.
func (s *server) context() commands.EditorContext {
	if kinds := readContextKinds(s.config.options); len(kinds) > 0 {
		return clientContext{s, kinds}
	}
	return nil
}
