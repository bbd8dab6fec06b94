package lsp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/outline"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

type positionParams struct {
	textDocumentParams
	Position position `json:"position"`
}

type hover struct {
	Contents markup    `json:"contents"`
	Range    textRange `json:"range"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// hover shows the entry under the cursor. Of a document that is open only its line is looked
// at, whatever the size of the rest, unless there is something odd about that line.
func (s *server) hover(ctx context.Context, raw json.RawMessage) (any, error) {
	var p positionParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, paramsError("textDocument/hover", "params", err)
	}
	if path, ok := filePath(p.TextDocument.URI); ok {
		if doc, open := s.documents.Lookup(path); open && s.isSession(path, doc.Text) {
			if h := s.hoverLine(doc.Text, p.Position); h != nil {
				return encodeJSON(h)
			}
		}
	}
	v, err := s.sessionDocs.view(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return nil, err
	}
	h := s.hoverEntry(v, p.Position)
	if h == nil {
		return nil, nil
	}
	return encodeJSON(h)
}

// hoverLine is for a line that is one object, as the programs write it; nil for any other.
func (s *server) hoverLine(text string, pos position) *hover {
	offset := offsetAt(text, pos, s.documents.encoding())
	from := strings.LastIndexByte(text[:offset], '\n') + 1
	to := len(text)
	if i := strings.IndexByte(text[offset:], '\n'); i >= 0 {
		to = offset + i
	}
	line := []byte(strings.TrimSpace(text[from:to]))
	env, n, st := rawjson.ScanEnvelope(line)
	if st != rawjson.Complete || n != len(line) || !env.Object {
		return nil
	}
	return s.rendered(line, textRange{position{Line: pos.Line}, position{Line: pos.Line + 1}})
}

func (s *server) hoverEntry(v *sessionView, pos position) *hover {
	offset := int64(offsetAt(v.Text, pos, v.lines.enc))
	from, to := v.Doc.HeaderSpan()
	if offset < from || offset >= to {
		i, ok := v.Doc.EntryAt(offset)
		if !ok {
			return nil
		}
		from, to = v.Doc.Span(i)
	}
	return s.rendered([]byte(v.Text[from:to]), textRange{v.lines.position(from), v.lines.position(to)})
}

func (s *server) rendered(raw []byte, at textRange) *hover {
	kind := "plaintext"
	if s.client.markdownHover {
		kind = "markdown"
	}
	return &hover{markup{kind, outline.Line(raw)}, at}
}
