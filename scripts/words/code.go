package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// addCode adds the banned phrases in the strings of a source file, and its banned names. The strings of tests
// are not checked.
func (n *count) addCode(file string, src []byte, r rules, exceptions []*exception) {
	names, literals := code(file, src)
	for _, c := range literals {
		switch {
		case isTest(file):
		case r.enforceStrings:
			n.banned = append(n.banned, bannedIn(file, c, r, exceptions)...)
		default:
			n.hits = append(n.hits, bannedIn(file, c, r, exceptions)...)
		}
	}
	for _, c := range names {
		for _, w := range wordsOfName(c.text) {
			if advice, banned := r.names[w]; banned && !allowed(exceptions, file, w) {
				n.banned = append(n.banned, hit{file, c.line, fmt.Sprintf("the name %s, use %s", c.text, advice)})
			}
		}
	}
}

// code returns the identifiers of a source file, and its strings of several words.
func code(file string, src []byte) (names, literals []chunk) {
	switch path.Ext(file) {
	case ".go":
		names, literals = goCode(src)
	case ".ts", ".tsx", ".js", ".mjs":
		names, literals = otherCode(string(src), typeScript)
	case ".lua":
		names, literals = otherCode(string(src), lua)
	}
	return names, literals
}

func goCode(src []byte) (names, literals []chunk) {
	if generated.Match(src) {
		return nil, nil
	}
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	for {
		at, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return names, literals
		case tok == token.IDENT:
			names = append(names, chunk{file.Line(at), text})
		case tok == token.STRING && strings.Contains(text, " "):
			literals = append(literals, chunk{file.Line(at), text})
		}
	}
}

// identifier matches the names of TypeScript, JavaScript and Lua.
var identifier = regexp.MustCompile(`^[A-Za-z_]\w*`)

func otherCode(src string, l syntax) (names, literals []chunk) {
	if generated.MatchString(src) {
		return nil, nil
	}
	line := 1
	for src != "" {
		n, comment := next(src, l)
		if name := identifier.FindString(src); name != "" {
			n = len(name)
			names = append(names, chunk{line, name})
		} else if n = min(n, len(src)); !comment && n > 1 && strings.Contains(src[:n], " ") {
			literals = append(literals, chunk{line, src[:n]})
		}
		line += strings.Count(src[:n], "\n")
		src = src[n:]
	}
	return names, literals
}

// part matches a word of an identifier in camel case or with underscores.
var part = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// wordsOfName returns the words of an identifier in lower case.
func wordsOfName(name string) []string {
	return part.FindAllString(strings.ToLower(part.ReplaceAllString(name, "$0 ")), -1)
}

// testFile matches the paths of tests.
var testFile = regexp.MustCompile(`_test\.(?:go|lua)$|\.test\.(?:ts|mjs)$|(?:^|/)(?:tests?|attack|bench|sessiontest|lsptest|providertest)/`)

// isTest reports whether a file belongs to tests.
func isTest(file string) bool { return testFile.MatchString(file) }
