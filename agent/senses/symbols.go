package senses

import (
	"context"
	"fmt"
	"strings"
)

// kinds are LSP's kinds of symbols, from 1.
var kinds = []string{
	"", "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface",
	"function", "variable", "constant", "string", "number", "boolean", "array", "object", "key", "null", "enum member", "struct",
	"event", "operator", "type parameter",
}

// symbols answers symbols: those of a file, or of all files by a part of their name.
func (q question) symbols(ctx context.Context) (string, error) {
	if q.a.File == "" || q.a.File == "*" {
		return q.symbolsOfAll(ctx)
	}
	path, _, err := q.file(ctx)
	if err != nil {
		return "", err
	}
	raw, err := q.ask(ctx, Symbols, SymbolsParams{URI: q.s.o.Editor.URI(path)})
	if err != nil {
		return "", err
	}
	o := outline{query: strings.ToLower(q.a.Query)}
	o.add(list[Symbol](raw), 0)
	if o.found == 0 {
		return "No symbols found in " + q.name(path) + ".", nil
	}
	return "Symbols in " + q.name(path) + ":\n" + strings.Join(o.lines, "\n") + more(o.found-len(o.lines)), nil
}

// outline lists the symbols of a file.
type outline struct {
	query string // in lower case
	lines []string
	found int
}

func (o *outline) add(symbols []Symbol, depth int) {
	for _, s := range symbols {
		if o.found >= maxRead {
			return
		}
		at := s.Range
		if s.Selection != nil {
			at = s.Selection
		}
		if s.Location != nil {
			at = &s.Location.Range
		}
		if s.Name != "" && at != nil && at.valid() && strings.Contains(strings.ToLower(s.Name), o.query) {
			if o.found++; len(o.lines) < maxSymbols {
				o.lines = append(o.lines, fmt.Sprintf("%s%s %s, line %d", strings.Repeat("  ", depth+1), kind(s.Kind), shown(s.Name, maxName), at.Start.Line+1))
			}
		}
		if depth < maxNesting {
			o.add(list[Symbol](s.Children), depth+1)
		}
	}
}

func kind(n int) string {
	if n < 1 || n >= len(kinds) {
		return "symbol"
	}
	return kinds[n]
}

func (q question) symbolsOfAll(ctx context.Context) (string, error) {
	if q.a.Query == "" {
		return "", badArgument("query", `lsp: the action symbols needs the parameter "query" without a file.`)
	}
	raw, err := q.ask(ctx, Symbols, SymbolsParams{Query: q.a.Query})
	if err != nil {
		return "", err
	}
	var lines []string
	found := 0
	for _, s := range list[Symbol](raw) {
		if s.Location == nil || !s.Location.Range.valid() {
			continue
		}
		path, ok := q.s.o.Editor.Path(s.Location.URI)
		if !ok || !inside(q.env.Cwd, path) || q.s.o.Files.Private(path) {
			continue
		}
		if found++; len(lines) == maxSymbols {
			continue
		}
		line := fmt.Sprintf("  %s %s, %s:%d", kind(s.Kind), shown(s.Name, maxName), q.name(path), s.Location.Range.Start.Line+1)
		if s.Container != "" {
			line += ", in " + shown(s.Container, maxName)
		}
		lines = append(lines, line)
	}
	if found == 0 {
		return "No symbols found.", nil
	}
	return "Found " + counted(found, "symbol") + ":\n" + strings.Join(lines, "\n") + more(found-len(lines)), nil
}
