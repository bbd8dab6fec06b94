package sessiondoc

import (
	"context"
	"encoding/json"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
	"github.com/xcsh-ls/xcsh-ls/session/outline"
)

type hover struct {
	Contents markup        `json:"contents"`
	Range    textdoc.Range `json:"range"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// hover answers with a rendering of the entry under the cursor. For an open document it reads only
// that line, whatever the size of the rest, unless the line has an unusual form.
func (d *Docs) hover(ctx context.Context, raw json.RawMessage) (any, error) {
	var p struct {
		params
		Position textdoc.Position `json:"position"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, conn.ParamsError(protocol.MethodTextDocumentHover, "params", err)
	}
	if path, ok := textdoc.Path(p.TextDocument.URI); ok {
		if doc, open := d.host.Document(path); open && d.host.Files().isSession(path, doc.Text) {
			if h := d.hoverLine(doc.Text, p.Position); h != nil {
				return conn.EncodeJSON(h)
			}
		}
	}
	v, err := d.view(ctx, p.TextDocument.URI)
	if v == nil || err != nil {
		return nil, err
	}
	h := d.hoverEntry(v, p.Position)
	if h == nil {
		return nil, nil
	}
	return conn.EncodeJSON(h)
}

// hoverLine returns the hover of a line that is one object, the usual form, or nil.
func (d *Docs) hoverLine(text string, pos textdoc.Position) *hover {
	offset := textdoc.OffsetAt(text, pos, d.host.Encoding())
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
	return d.rendered(line, textdoc.Range{Start: textdoc.Position{Line: pos.Line}, End: textdoc.Position{Line: pos.Line + 1}})
}

// hoverEntry returns the hover of the header or entry at a position, or nil.
func (d *Docs) hoverEntry(v *view, pos textdoc.Position) *hover {
	offset := v.lines.OffsetAt(pos)
	from, to := v.Doc.HeaderSpan()
	if offset < from || offset >= to {
		i, ok := v.Doc.EntryAt(offset)
		if !ok {
			return nil
		}
		from, to = v.Doc.Span(i)
	}
	return d.rendered([]byte(v.Text[from:to]), textdoc.Range{Start: v.lines.Position(from), End: v.lines.Position(to)})
}

func (d *Docs) rendered(raw []byte, at textdoc.Range) *hover {
	kind := "plaintext"
	if d.client.MarkdownHover {
		kind = "markdown"
	}
	return &hover{markup{kind, outline.Line(raw)}, at}
}
