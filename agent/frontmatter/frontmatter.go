// Package frontmatter reads the front matter of Markdown files: of rules, skills and templates.
package frontmatter

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// maxHead bounds front matter, in bytes. Longer front matter is part of the text.
const maxHead = 64 << 10

// Split returns the front matter of a Markdown file, with its keys in camel case, and the rest, trimmed.
// Front matter that is no YAML, which is common in rules of other editors ("globs: *.ts,*.tsx"), is read
// line by line, as oh-my-pi does.
func Split(content string) (meta map[string]any, body string) {
	content = strings.ReplaceAll(strings.TrimPrefix(content, "\uFEFF"), "\r\n", "\n")
	rest, found := strings.CutPrefix(content, "---\n")
	if !found {
		return nil, strings.TrimSpace(content)
	}
	head, body, found := strings.Cut("\n"+rest, "\n---")
	if !found || len(head) > maxHead {
		return nil, strings.TrimSpace(content)
	}
	if yaml.Unmarshal([]byte(head), &meta) != nil {
		meta = byLine(head)
	}
	named := make(map[string]any, len(meta))
	for key, v := range meta {
		named[camel(key)] = v
	}
	return named, strings.TrimSpace(body)
}

var keyValue = regexp.MustCompile(`^([\w-]+):\s*(.*)$`)

// byLine reads lines of the form "key: value". A value that is no YAML is a text.
func byLine(head string) map[string]any {
	meta := map[string]any{}
	for line := range strings.SplitSeq(head, "\n") {
		m := keyValue.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		meta[m[1]] = value(m[2])
	}
	return meta
}

func value(s string) (v any) {
	d := yaml.NewDecoder(strings.NewReader(s))
	if err := d.Decode(&v); err != nil || !errors.Is(d.Decode(new(any)), io.EOF) { // nothing may follow
		return strings.TrimSpace(s)
	}
	return v
}

// camel returns a key with hyphens in its other form: interrupt-mode is interruptMode.
func camel(key string) string {
	parts := strings.Split(key, "-")
	for i, p := range parts[1:] {
		if p != "" {
			parts[i+1] = string(unicode.ToUpper(rune(p[0]))) + p[1:]
		}
	}
	return strings.Join(parts, "")
}

// Text returns a text of front matter, "" if there is none.
func Text(meta map[string]any, key string) string {
	s, _ := meta[key].(string)
	return strings.TrimSpace(s)
}

// True reports whether a value of front matter is true.
func True(meta map[string]any, key string) bool {
	on, _ := meta[key].(bool)
	return on
}
