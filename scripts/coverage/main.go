// Coverage writes docs/coverage.md: the statements of docs/coverage/statements.txt, each with the
// tests that prove it. A test names statements in a comment line directly above it:
//
//	// Proves: X-217, F-32 (two writers)
//
// The words in parentheses are printed after the test. In txtar files the line is part of the head
// of the file and begins with "#", in Lua with "--". With -check nothing is written, and a stale
// file is an error.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	check := flag.Bool("check", false, "write nothing; fail if docs/coverage.md is stale")
	flag.Parse()
	if err := generate(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

// generate writes docs/coverage.md, or compares it.
func generate(root string, check bool) error {
	list, err := readStatements(filepath.Join(root, "docs", "coverage", "statements.txt"))
	if err != nil {
		return err
	}
	proofs, err := scan(root)
	if err != nil {
		return err
	}
	want, err := render(list, proofs)
	if err != nil {
		return err
	}
	path := filepath.Join(root, "docs", "coverage.md")
	if !check {
		return os.WriteFile(path, want, 0o644) //nolint:gosec // a file of the repository
	}
	got, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(got, want) {
		err = errors.New("docs/coverage.md is stale; run make coverage")
	}
	return err
}
