package main

import (
	"go/scanner"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
)

// chunk is a piece of prose: a comment or a part of a Markdown document.
type chunk struct {
	line int // of its first line
	text string
}

// extract returns the prose of a file, by the file's name.
func extract(path string, src []byte) []chunk {
	switch filepath.Ext(path) {
	case ".go":
		return goComments(src)
	case ".ts", ".tsx", ".js", ".mjs":
		return comments(string(src), typeScript)
	case ".lua":
		return comments(string(src), lua)
	case ".md", ".txt", ".json", ".html": // help, texts of the user interface and the exported page
		return markdown(string(src))
	case ".sh", ".yml", ".yaml":
		return hashComments(string(src))
	}
	if name := filepath.Base(path); name == "Makefile" || name == "Dockerfile" {
		return hashComments(string(src))
	}
	return nil
}

// hashComment matches a comment of a shell script or a makefile. Its text is the first group.
var hashComment = regexp.MustCompile(`^(?:|.*\s)#+(?:$|\s+([^!].*))$`)

// hashComments returns the comments of a text in a language in which # begins them.
func hashComments(src string) []chunk {
	var found []chunk
	n := 0
	for line := range strings.Lines(src) {
		n++
		if m := hashComment.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			found = append(found, chunk{n, m[1]})
		}
	}
	return join(found)
}

// directive is a comment for a tool.
var directive = regexp.MustCompile(`^//(?:[a-z]+:\S|nolint|export )`)

// goComments returns the comments of a Go file. Generated files have none of their own.
func goComments(src []byte) []chunk {
	if generated.Match(src) {
		return nil
	}
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	var found []chunk
	for {
		at, tok, text := s.Scan()
		if tok == token.EOF {
			return join(found)
		}
		if tok == token.COMMENT && !directive.MatchString(text) {
			found = append(found, chunk{file.Line(at), strings.Trim(text, "/*")})
		}
	}
}

// generated marks a file that a program writes.
var generated = regexp.MustCompile(`(?m)^(?://|--) Code generated .* DO NOT EDIT\.?$`)

// join merges comments on consecutive lines, so that a phrase may span them.
func join(found []chunk) []chunk {
	var merged []chunk
	for _, c := range found {
		if n := len(merged); n > 0 {
			last := &merged[n-1]
			if c.line == last.line+strings.Count(last.text, "\n")+1 {
				last.text += "\n" + c.text
				continue
			}
		}
		merged = append(merged, c)
	}
	return merged
}

// syntax is as much of a language as it takes to find its comments.
type syntax struct {
	line        string      // begins a comment that ends with the line
	blocks      [][2]string // begin and end a comment
	longStrings [][2]string // begin and end a text that may have several lines
}

var (
	typeScript = syntax{"//", [][2]string{{"/*", "*/"}}, [][2]string{{"`", "`"}}}
	lua        = syntax{"--", [][2]string{{"--[[", "]]"}}, [][2]string{{"[[", "]]"}}}
)

// comments returns the comments of a text in a language with quoted strings.
func comments(src string, l syntax) []chunk {
	if generated.MatchString(src) {
		return nil
	}
	var found []chunk
	line := 1
	for src != "" {
		n, comment := next(src, l)
		if comment {
			found = append(found, chunk{line, strings.Trim(src[:n], "/*-[]\n")})
		}
		line += strings.Count(src[:n], "\n")
		src = src[n:]
	}
	return join(found)
}

// next returns the length of the token at the beginning of a text, and whether it is a comment.
func next(src string, l syntax) (int, bool) {
	for _, b := range l.blocks {
		if strings.HasPrefix(src, b[0]) {
			return upTo(src, len(b[0]), b[1]), true
		}
	}
	if strings.HasPrefix(src, l.line) {
		return upTo(src, len(l.line), "\n") - 1, true
	}
	for _, s := range l.longStrings {
		if strings.HasPrefix(src, s[0]) {
			return upTo(src, len(s[0]), s[1]), false
		}
	}
	if src[0] != '"' && src[0] != '\'' {
		return 1, false
	}
	for i := 1; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case src[0], '\n':
			return i + 1, false
		}
	}
	return len(src), false
}

// upTo returns the index after the first end at or after from.
func upTo(src string, from int, end string) int {
	if i := strings.Index(src[from:], end); i >= 0 {
		return from + i + len(end)
	}
	if end == "\n" {
		return len(src) + 1
	}
	return len(src)
}

var (
	fence      = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	codeSpan   = regexp.MustCompile("`[^`\n]*`")
	generation = regexp.MustCompile(`(?s)<!-- generated: .*?<!-- end of generated -->`)
	linkTarget = regexp.MustCompile(`\]\([^)\s]*\)`)
	startsPart = regexp.MustCompile(`^(?:$|#|\||\* |- |\d+\. )`)
)

// markdown returns the prose of a Markdown document: no code, no addresses, no generated tables.
func markdown(src string) []chunk {
	for _, drop := range []*regexp.Regexp{generation, fence, codeSpan, linkTarget} {
		src = drop.ReplaceAllStringFunc(src, func(s string) string {
			return " x" + strings.Repeat("\n", strings.Count(s, "\n")) + " "
		})
	}
	var found []chunk
	n := 0
	for line := range strings.Lines(src) {
		n++
		line = strings.TrimRight(line, "\n")
		if startsPart.MatchString(strings.TrimLeft(line, " ")) || len(found) == 0 {
			found = append(found, chunk{n, line})
			continue
		}
		last := &found[len(found)-1]
		last.text += "\n" + line
	}
	return found
}
