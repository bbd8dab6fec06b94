// Coverage writes docs/coverage.md: the statements of the files in docs/coverage, each with its status and
// the tests that prove it. A test names statements in a comment line directly above it:
//
//	// Proves: X-217, F-32 (two writers)
//
// The words in parentheses are printed after the test. In txtar files the line is part of the head
// of the file and begins with "#", in Lua with "--". A statement that is not simply proven by its tests
// has a line in docs/coverage/status.txt that says so and why. With -check nothing is written, and a
// stale file is an error.
package main

import (
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
	want, err := document(root, true)
	if err != nil {
		return err
	}
	path := filepath.Join(root, "docs", "coverage.md")
	if !check {
		return os.WriteFile(path, []byte(want), 0o644) //nolint:gosec // a file of the repository
	}
	got, err := os.ReadFile(path)
	if err == nil && string(got) != want {
		err = errors.New("docs/coverage.md is stale; run make coverage")
	}
	return err
}

// document returns the text of docs/coverage.md. verbatim says whether the statements have to be those of
// the specification.
func document(root string, verbatim bool) (string, error) {
	dir := filepath.Join(root, "docs", "coverage")
	list, err := readStatements(dir, verbatim)
	if err != nil {
		return "", err
	}
	declared, err := readStatuses(filepath.Join(dir, "status.txt"))
	if err != nil {
		return "", err
	}
	tests, err := scan(root)
	if err != nil {
		return "", err
	}
	if err := checkMentions(declared, tests.exists); err != nil {
		return "", err
	}
	return render(list, declared, tests.proofs)
}
