package lsp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode"

	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxCompletions limits the items of a completion.
const maxCompletions = 500

// completionOptions offers completion in the files in which users write prompts. A client with an interface of its own
// has its own files, and completion would only change how its editor completes others.
func completionOptions(ownInterface bool) *protocol.CompletionOptions {
	if ownInterface {
		return nil
	}
	return &protocol.CompletionOptions{TriggerCharacters: []string{"/"}}
}

// completionItem is an item of a completion. The protocol package's type has unions that encode slowly.
type completionItem struct {
	Label         string      `json:"label"`
	Kind          int         `json:"kind"`
	Detail        string      `json:"detail,omitempty"`
	Documentation string      `json:"documentation,omitempty"`
	FilterText    string      `json:"filterText"`
	TextEdit      replacement `json:"textEdit"`
}

// replacement is the edit of an item.
type replacement struct {
	Range   textdoc.Range `json:"range"`
	NewText string        `json:"newText"`
}

// completion completes the name at the beginning of a prompt. It returns null in any other document.
func (s *server) completion(ctx context.Context, raw json.RawMessage) (any, error) {
	var p struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
		Position textdoc.Position `json:"position"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, conn.ParamsError(protocol.MethodTextDocumentCompletion, "params", err)
	}
	path, ok := textdoc.Path(p.TextDocument.URI)
	in := s.documents.inputs.find(path)
	if !ok || in == nil || in.names == nil {
		return nil, nil
	}
	in.mu.Lock()
	text := in.text
	in.mu.Unlock()
	enc := s.documents.encoding()
	begun := text[:textdoc.OffsetAt(text, p.Position, enc)]
	name := strings.TrimLeftFunc(begun, unicode.IsSpace)
	if !strings.HasPrefix(name, "/") || strings.ContainsFunc(name, unicode.IsSpace) || strings.Contains(name[1:], "/") {
		return nil, nil
	}
	list, err := in.names(ctx)
	if err != nil {
		return nil, ctx.Err() // completion is only a convenience; sending the prompt reports the error
	}
	typed := int64(len([]rune(name)))
	if enc == textdoc.UTF16 {
		typed = int64(rawjson.UTF16Len(name))
	} else if enc == textdoc.UTF8 {
		typed = int64(len(name))
	}
	from := p.Position
	from.Character = max(0, from.Character-typed)
	return itemsOf(list, name, textdoc.Range{Start: from, End: p.Position}), nil
}

// find returns the input file at path, or nil.
func (in *inputs) find(path string) *input {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.byName[filepath.Base(path)]
}

// itemsOf returns the items for the names that begin with the typed text.
func itemsOf(list []engine.Command, typed string, at textdoc.Range) []completionItem {
	const function = 3 // the kind of item
	items := []completionItem{}
	for _, c := range list {
		name := "/" + c.Name
		if name != visible.Line(name) || !strings.HasPrefix(strings.ToLower(name), strings.ToLower(typed)) || len(items) >= maxCompletions {
			continue
		}
		items = append(items, completionItem{
			Label: name, Kind: function, Detail: visible.Line(c.ArgumentHint), Documentation: visible.Line(c.Description),
			FilterText: name, TextEdit: replacement{at, name + " "},
		})
	}
	return items
}
