package setup

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// maxImports bounds how deep files can import each other in instructions of oh-my-pi.
const maxImports = 5

// imported matches "@path" at the beginning of a word.
var imported = regexp.MustCompile("(^|[\\s(])@([^\\s`@()]+)")

// expandImports replaces "@path" in instructions by the text of the file, as oh-my-pi does: relative to the file
// that names it, not in code, and not again in a file that imports itself. What names no file stays.
//
// Differs: oh-my-pi reads any file. Here a file of a project imports files of its folder only.
func (l *looking) expandImports(p place, text string) string {
	left := maxText
	return l.imports(p, text, []string{p.full()}, &left)
}

// imports expands a text. chain are the files that lead to it; left bounds the imported bytes.
func (l *looking) imports(p place, text string, chain []string, left *int) string {
	if len(chain) > maxImports || !strings.Contains(text, "@") {
		return text
	}
	var out strings.Builder
	for _, part := range outsideCode(text) {
		if part.code {
			out.WriteString(part.text)
			continue
		}
		out.WriteString(imported.ReplaceAllStringFunc(part.text, func(found string) string {
			m := imported.FindStringSubmatch(found)
			for _, name := range []string{m[2], strings.TrimRight(m[2], ".,;:!?\"'")} {
				if name == "" {
					continue
				}
				if content, ok := l.importFile(p, name, chain, left); ok {
					return m[1] + content + m[2][len(name):]
				}
			}
			return found
		}))
	}
	return out.String()
}

// importFile returns the text of a file that a text at p imports.
func (l *looking) importFile(p place, name string, chain []string, left *int) (text string, ok bool) {
	at, ok := l.importPlace(p, name)
	if !ok || slices.Contains(chain, at.full()) || *left <= 0 {
		return "", false
	}
	info, err := l.Fs.Stat(at.full())
	if err != nil || info.IsDir() {
		return "", false // an ordinary word
	}
	in, ok := l.read(at, int64(*left))
	if !ok {
		return "", false
	}
	*left -= len(in.Content)
	return l.imports(at, string(in.Content), append(slices.Clip(chain), at.full()), left), true
}

// importPlace returns where an imported file is. One of a project must be below its root.
func (l *looking) importPlace(p place, name string) (at place, ok bool) {
	path := homePath(filepath.FromSlash(name), l.Home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(p.full()), path)
	}
	if p.dir == "" {
		return ofUser(path), true
	}
	top := l.root
	if rel, err := filepath.Rel(top, p.full()); err != nil || !filepath.IsLocal(rel) {
		top = p.dir
	}
	rel, err := filepath.Rel(top, path)
	if strings.HasPrefix(filepath.Base(path), ".env") && l.exists(ofUser(path)) {
		l.partly(p.full(), "the import @"+line(name, 100), "the file may contain secrets")
		return place{}, false
	}
	if err != nil || !filepath.IsLocal(rel) {
		if l.exists(ofUser(path)) {
			l.partly(p.full(), "the import @"+line(name, 100), "it is outside of the folder")
		}
		return place{}, false
	}
	return ofProject(top, filepath.ToSlash(rel)), true
}

// part is a part of a Markdown text.
type part struct {
	text string
	code bool
}

// outsideCode splits a Markdown text into code, in fences and backquotes, and the rest.
func outsideCode(text string) (parts []part) {
	fence := ""
	for _, l := range strings.SplitAfter(text, "\n") {
		trimmed := strings.TrimLeft(l, " ")
		mark := fenceOf(trimmed)
		switch {
		case fence != "":
			parts = append(parts, part{l, true})
			if mark != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(strings.TrimLeft(trimmed, mark[:1])) == "" {
				fence = ""
			}
		case mark != "":
			fence = mark
			parts = append(parts, part{l, true})
		default:
			parts = append(parts, codeSpans(l)...)
		}
	}
	return parts
}

// fenceOf returns the fence that a line begins with, "" for none.
func fenceOf(s string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(s) - len(strings.TrimLeft(s, c)); n >= 3 {
			return s[:n]
		}
	}
	return ""
}

var backquotes = regexp.MustCompile("`+")

// codeSpans splits a line into code in backquotes and the rest.
func codeSpans(s string) (parts []part) {
	for {
		open := backquotes.FindStringIndex(s)
		if open == nil {
			return append(parts, part{s, false})
		}
		mark, end := s[open[0]:open[1]], -1
		for _, at := range backquotes.FindAllStringIndex(s[open[1]:], -1) {
			if at[1]-at[0] == len(mark) {
				end = open[1] + at[1]
				break
			}
		}
		if end < 0 {
			return append(parts, part{s, false})
		}
		parts = append(parts, part{s[:open[0]], false}, part{s[open[0]:end], true})
		s = s[end:]
	}
}
