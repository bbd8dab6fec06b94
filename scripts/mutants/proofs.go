package main

import (
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	statement  = regexp.MustCompile(`(?m)^(?:\| )?([A-Z]+-\d+)(?::| \|) `)
	annotation = regexp.MustCompile(`^(?://|#) Proves: (.+)$`)
	reference  = regexp.MustCompile(`[A-Z]+-\d+`)
	goTest     = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)
	qualifier  = regexp.MustCompile(`\([^()]*\)`)
)

// readRows returns the ids of the statements, which begin a line or a row of a table in the files of docs/coverage.
func readRows(root string) (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "coverage", "*"))
	if err != nil {
		return nil, err
	}
	rows := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range statement.FindAllStringSubmatch(string(text), -1) {
			rows[m[1]] = true
		}
	}
	return rows, nil
}

// readProofs returns the tests that "go test" runs on this machine and the rows that each of them names, by the comments that
// scripts/coverage explains.
func readProofs(root string) (map[string][]string, error) {
	proofs := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, "_test.go") && path.Ext(file) != ".txtar" {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		if runs, err := build.Default.MatchFile(filepath.Split(file)); path.Ext(file) == ".go" && !runs {
			return err
		}
		text, err := os.ReadFile(file)
		if err == nil {
			proofsOf(proofs, filepath.ToSlash(rel), string(text))
		}
		return err
	})
	return proofs, err
}

// proofsOf adds the tests of one file, with their rows.
func proofsOf(proofs map[string][]string, rel, text string) {
	dir, base := path.Dir(rel), strings.TrimSuffix(path.Base(rel), ".txtar")
	var group string
	switch dir {
	case "testdata/conversations":
		group = "TestConversations/"
	case "cmd/xcsh-ls/testdata/script":
		group = "TestScripts/"
	}
	switch {
	case group != "":
		head, _, _ := strings.Cut(text, "\n-- ")
		proofs[group+base] = append(proofs[group+base], rowsOf(head)...)
	case path.Ext(rel) == ".go":
		var comment strings.Builder
		for line := range strings.Lines(text) {
			if m := goTest.FindStringSubmatch(line); m != nil {
				name := dir + "." + m[1]
				proofs[name] = append(proofs[name], rowsOf(comment.String())...)
			}
			if !strings.HasPrefix(line, "//") {
				comment.Reset()
				continue
			}
			comment.WriteString(line)
		}
	}
}

// rowsOf returns the rows in a comment.
func rowsOf(comment string) []string {
	var rows []string
	for line := range strings.Lines(comment) {
		if m := annotation.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			rows = append(rows, reference.FindAllString(qualifier.ReplaceAllString(m[1], ""), -1)...)
		}
	}
	return rows
}

// target returns the package of a test, as a directory relative to the root, and the pattern for "-test.run".
func target(test string) (dir, pattern string, err error) {
	if name, ok := strings.CutPrefix(test, "TestConversations/"); ok {
		return "cmd/xcsh-ls", "^TestConversations$/^" + regexp.QuoteMeta(name) + "$", nil
	}
	if name, ok := strings.CutPrefix(test, "TestScripts/"); ok {
		return "cmd/xcsh-ls", "^TestScripts$/^" + regexp.QuoteMeta(name) + "$", nil
	}
	i := strings.LastIndexByte(test, '.')
	if i < 0 {
		return "", "", fmt.Errorf("%s: want package.TestName, TestConversations/name or TestScripts/name", test)
	}
	return test[:i], "^" + test[i+1:] + "$", nil
}
