package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// check compares a list with the repository: rows and tests exist, the tests prove their rows, and every change
// fits its file. It returns all mistakes.
func check(root string, list []mutant) error {
	rows, err := readRows(root)
	if err != nil {
		return err
	}
	proofs, err := readProofs(root)
	if err != nil {
		return err
	}
	var mistakes []error
	seen := map[string]string{}
	for _, m := range list {
		mistake := func(format string, args ...any) {
			mistakes = append(mistakes, fmt.Errorf(m.from+": "+format, args...))
		}
		if !rows[m.row] {
			mistake("there is no row %s", m.row)
		}
		for _, test := range m.tests {
			proven, exists := proofs[test]
			if !exists {
				mistake("there is no test %s, or it needs a build tag", test)
			} else if !slices.Contains(proven, m.row) {
				mistake("%s does not prove %s; it proves %s", test, m.row, strings.Join(proven, ", "))
			}
		}
		if err := fits(root, m); err != nil {
			mistake("%w", err)
		}
		key := m.file + "\x00" + m.old + "\x00" + m.new
		if seen[key] != "" {
			mistake("the bug is also at %s", seen[key])
		}
		seen[key] = m.from
	}
	return errors.Join(mistakes...)
}

// fits reports a mutant that can't be applied to its file, or whose result is not Go.
func fits(root string, m mutant) error {
	text, err := mutated(root, m)
	if err == nil {
		_, err = parser.ParseFile(token.NewFileSet(), m.file, text, parser.SkipObjectResolution)
	}
	return err
}

// mutated returns the file of a mutant with its bug.
func mutated(root string, m mutant) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		return nil, err
	}
	switch n := bytes.Count(text, []byte(m.old)); n {
	case 1:
		return bytes.Replace(text, []byte(m.old), []byte(m.new), 1), nil
	case 0:
		return nil, fmt.Errorf("%s does not contain %q (any more)", m.file, m.old)
	default:
		return nil, fmt.Errorf("%s contains %q %d times; add a line around it", m.file, m.old, n)
	}
}
