package sessiondoc

import (
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/outline"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

const (
	maxSymbols = 10_000 // of one document; with more entries only turns are symbols

	// turnBytes and detailBytes bound how much of a document is decoded to name turns and the
	// entries in them.
	turnBytes   = 16 << 20
	detailBytes = 4 << 20
)

// documentSymbol is a part of a document with its children.
type documentSymbol struct {
	Name           string              `json:"name"`
	Detail         string              `json:"detail,omitempty"`
	Kind           protocol.SymbolKind `json:"kind"`
	Range          textdoc.Range       `json:"range"`
	SelectionRange textdoc.Range       `json:"selectionRange"`
	Children       []documentSymbol    `json:"children,omitempty"`
}

// symbolInformation is the flat form for clients that do not support children.
type symbolInformation struct {
	Name          string              `json:"name"`
	Kind          protocol.SymbolKind `json:"kind"`
	Location      location            `json:"location"`
	ContainerName string              `json:"containerName,omitempty"`
}

type location struct {
	URI   string        `json:"uri"`
	Range textdoc.Range `json:"range"`
}

// symbols returns a symbol for the header and one for each branch, with its turns as children. The
// turns of a file without branches are at the top.
func (d *Docs) symbols(v *view) any {
	b := symbolBuilder{
		v: v, left: maxSymbols, details: v.Doc.Len() <= maxSymbols,
		turns: outline.Namer{View: v.View, Bytes: turnBytes}, rest: outline.Namer{View: v.View, Bytes: detailBytes},
	}
	symbols := b.all()
	if d.client.HierarchicalSymbols {
		return symbols
	}
	return flatSymbols([]symbolInformation{}, v.uri, "", symbols)
}

// symbolBuilder makes at most left symbols.
type symbolBuilder struct {
	v           *view
	left        int
	details     bool
	turns, rest outline.Namer
}

func (b *symbolBuilder) all() []documentSymbol {
	symbols := []documentSymbol{}
	if from, to := b.v.Doc.HeaderSpan(); from < to {
		name := b.v.Doc.Title().Text
		if name = session.CleanTitle(name); name == "" {
			name = "Session"
		}
		symbols = append(symbols, b.symbol(name, b.v.Doc.Header().ID, protocol.SymbolKindFile, from, to))
	}
	for _, branch := range b.v.branches {
		if b.left <= 0 {
			break
		}
		parts := b.branch(branch)
		if len(b.v.branches) == 1 {
			return append(symbols, parts...)
		}
		whole := b.entries(b.branchName(branch), protocol.SymbolKindNamespace, branch.First, branch.Last)
		whole.Children = parts
		symbols = append(symbols, whole)
	}
	return symbols
}

func (b *symbolBuilder) branchName(branch outline.Branch) string {
	if branch.From < 0 {
		return "Beginning"
	}
	from, _ := b.v.Doc.Span(branch.From)
	return fmt.Sprintf("Branch from line %d", b.v.lines.Line(from)+1)
}

// branch returns the turns of a branch and the entries before the first.
func (b *symbolBuilder) branch(branch outline.Branch) (symbols []documentSymbol) {
	before := branch.Last
	if len(branch.Turns) > 0 {
		before = branch.Turns[0].Prompt - 1
	}
	symbols = b.each(branch.First, before)
	for _, t := range branch.Turns {
		if b.left <= 0 {
			break
		}
		turn := b.entries(b.turns.Name(t.Prompt), protocol.SymbolKindEvent, t.Prompt, t.Last)
		turn.Children = b.each(t.Prompt+1, t.Last)
		symbols = append(symbols, turn)
	}
	return symbols
}

// each returns the entries from first to last. For a document with more than maxSymbols entries it
// returns only summaries.
func (b *symbolBuilder) each(first, last int) (symbols []documentSymbol) {
	for i := first; i <= last && b.left > 0; i++ {
		if b.v.Doc.Hidden(i) {
			continue
		}
		typ := b.v.Doc.Type(i)
		if b.details || typ == session.TypeCompaction || typ == session.TypeBranchSummary {
			symbols = append(symbols, b.entries(b.rest.Name(i), symbolKind(typ, b.v.Doc.Role(i)), i, i))
		}
	}
	return symbols
}

func symbolKind(typ session.Type, role string) protocol.SymbolKind {
	switch {
	case role == "assistant":
		return protocol.SymbolKindString
	case typ == session.TypeMessage:
		return protocol.SymbolKindFunction
	case typ == session.TypeCompaction, typ == session.TypeBranchSummary:
		return protocol.SymbolKindPackage
	}
	return protocol.SymbolKindProperty
}

// entries returns one symbol for the entries from first to last.
func (b *symbolBuilder) entries(name string, kind protocol.SymbolKind, first, last int) documentSymbol {
	from, _ := b.v.Doc.Span(first)
	_, to := b.v.Doc.Span(last)
	return b.symbol(name, b.v.Doc.ID(first), kind, from, to)
}

func (b *symbolBuilder) symbol(name, detail string, kind protocol.SymbolKind, from, to int64) documentSymbol {
	b.left--
	begin := b.v.lines.Begin(from)
	return documentSymbol{
		Name: visible.Line(name), Detail: visible.Line(detail), Kind: kind,
		Range: b.v.lines.Whole(from, to), SelectionRange: textdoc.Range{Start: begin, End: begin},
	}
}

func flatSymbols(to []symbolInformation, uri, container string, symbols []documentSymbol) []symbolInformation {
	for _, s := range symbols {
		to = append(to, symbolInformation{s.Name, s.Kind, location{uri, s.Range}, container})
		to = flatSymbols(to, uri, s.Name, s.Children)
	}
	return to
}
