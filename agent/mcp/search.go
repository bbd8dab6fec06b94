package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/schema"
)

const searchName = "search_tools"

const (
	searchDoc = "Finds further tools of MCP servers by words of their names and descriptions, and makes the ones found available " +
		"from the next request on."
	searchSchema = `{"type":"object","properties":{"query":{"type":"string","description":"Words that describe the tool."},` +
		`"limit":{"type":"integer","description":"The largest number of tools to return.","minimum":1,"maximum":20}},"required":["query"]}`
)

// ownTool returns a tool of this package.
func ownTool(name, doc, parameters string, changes bool, run func(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error)) Tool {
	p, err := schema.New(name, json.RawMessage(parameters))
	if err != nil {
		panic("mcp: the schema of " + name + ": " + err.Error()) // every test shows it
	}
	return Tool{Tool: tool.Tool{
		Tool:    provider.Tool{Name: name, Description: doc, Parameters: json.RawMessage(parameters)},
		Changes: changes, Check: p.Check,
		Run: func(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error) {
			args, err := p.Check(args)
			if err != nil {
				return tool.Result{}, err
			}
			return run(ctx, env, args)
		},
	}}
}

// searchTool returns the tool that finds tools beyond the limits.
func (h *Servers) searchTool() Tool {
	return ownTool(searchName, searchDoc, searchSchema, false, func(_ context.Context, _ tool.Env, args json.RawMessage) (tool.Result, error) {
		var a struct {
			Query string `json:"query"`
			Limit int    `json:"limit"`
		}
		if err := json.Unmarshal(args, &a); err != nil {
			return tool.Result{}, err
		}
		return h.search(a.Query, cmp.Or(a.Limit, defaultSearch)), nil
	})
}

// search finds tools, activates them, and describes them.
func (h *Servers) search(query string, limit int) tool.Result {
	all, _ := h.all()
	_, rest := h.divide(all)
	found := ranked(rest, query)
	if len(found) == 0 {
		return tool.TextResult(fmt.Sprintf("No further tool matches %q. %d tools are not declared.", query, len(rest)))
	}
	found = found[:min(len(found), limit)]
	var texts, names []string
	for _, o := range found {
		texts, names = append(texts, o.document()), append(names, o.Name)
	}
	h.mu.Lock()
	h.activateLocked(names)
	active := slices.Clone(h.active)
	h.mu.Unlock()
	if h.options.Activated != nil {
		h.options.Activated(active)
	}
	shown, note := tool.Head(strings.Join(texts, "\n\n"))
	return tool.TextResult(strings.TrimSpace("These tools are available from the next request on.\n\n" + shown + "\n\n" + note))
}

// ranked returns the tools that match a query, the best one first.
func ranked(tools []offered, query string) []offered {
	type scored struct {
		offered
		score int
	}
	var list []scored
	words := wordsOf(query)
	for _, o := range tools {
		name, about := wordsOf(o.Server+" "+o.ServerTool), wordsOf(o.Description)
		score := 0
		for _, w := range words {
			switch {
			case slices.Contains(name, w):
				score += 8
			case slices.ContainsFunc(name, func(n string) bool { return strings.HasPrefix(n, w) }):
				score += 4
			case slices.Contains(about, w):
				score += 2
			case slices.ContainsFunc(about, func(n string) bool { return strings.HasPrefix(n, w) }):
				score++
			}
		}
		if score > 0 {
			list = append(list, scored{o, score})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]offered, len(list))
	for i, s := range list {
		out[i] = s.offered
	}
	return out
}

// wordsOf returns the words of a text or of a name such as "readFile" in lower case.
func wordsOf(s string) []string {
	var spaced strings.Builder
	lower := false
	for _, r := range s {
		if lower && unicode.IsUpper(r) {
			spaced.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		spaced.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(spaced.String()), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
