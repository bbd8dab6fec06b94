package ttsr

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// source is the part of an answer that a text is from.
type source int

const (
	prose source = iota
	thinking
	tools
)

// scope is the set of texts that a rule is applied to.
type scope struct {
	prose, thinking, tools bool // tools: the calls of every tool
	calls                  []calls
}

// calls are the calls of one tool, "" for any, that name a file matching glob, "" for all.
type calls struct{ tool, glob string }

func (s scope) reachable() bool { return s.prose || s.thinking || s.tools || len(s.calls) > 0 }

var scopeToken = regexp.MustCompile(`(?i)^(?:(tool)(?::([a-z0-9_-]+))?|([a-z0-9_-]+))(?:\(([^)]+)\))?$`)

// parseScope reads the tokens of a scope: text, thinking, tool, toolcall, tool:NAME, NAME, each of the
// last three with a pattern for files in parentheses. Without tokens it is text and all tools.
func parseScope(tokens []string) scope {
	if len(tokens) == 0 {
		return scope{prose: true, tools: true}
	}
	var s scope
	for _, token := range tokens[:min(len(tokens), maxGlobs)] {
		switch strings.ToLower(token) {
		case "text":
			s.prose = true
			continue
		case "thinking":
			s.thinking = true
			continue
		case "tool", "toolcall":
			s.tools = true
			continue
		}
		m := scopeToken.FindStringSubmatch(token)
		if m == nil {
			continue
		}
		name := strings.ToLower(m[2])
		if m[1] == "" {
			name = strings.ToLower(m[3])
		}
		s.calls = append(s.calls, calls{name, strings.TrimSpace(m[4])})
	}
	return s
}

// has reports whether the scope includes a text.
func (s scope) has(t text) bool {
	switch t.source {
	case prose:
		return s.prose
	case thinking:
		return s.thinking
	}
	return s.tools || slices.ContainsFunc(s.calls, func(c calls) bool {
		return (c.tool == "" || c.tool == strings.ToLower(t.tool)) && (c.glob == "" || t.names(c.glob))
	})
}

// names reports whether one of the files that a call names matches a pattern, with its path or only
// with its name.
func (t text) names(glob string) bool {
	return slices.ContainsFunc(t.paths, func(path string) bool {
		path = filepath.ToSlash(strings.ReplaceAll(path, `\`, "/"))
		whole, err := doublestar.Match(glob, path)
		if err != nil || whole {
			return err == nil
		}
		base, err := doublestar.Match(glob, path[strings.LastIndexByte(path, '/')+1:])
		return err == nil && base
	})
}

// splitAll divides texts at the commas outside of parentheses, brackets, braces and quotation marks,
// and removes quotation marks around the parts.
func splitAll(list []string) (tokens []string) {
	for _, s := range list {
		for _, token := range splitTokens(s) {
			if n := len(token); n >= 2 && (token[0] == '"' || token[0] == '\'') && token[n-1] == token[0] {
				token = strings.TrimSpace(token[1 : n-1])
			}
			if token != "" && !slices.Contains(tokens, token) {
				tokens = append(tokens, token)
			}
		}
	}
	return tokens
}

func splitTokens(s string) (tokens []string) {
	depth, quote, from := 0, byte(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote && s[i-1] != '\\' {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth = max(0, depth-1)
		case c == ',' && depth == 0:
			tokens, from = append(tokens, strings.TrimSpace(s[from:i])), i+1
		}
	}
	return append(tokens, strings.TrimSpace(s[from:]))
}
