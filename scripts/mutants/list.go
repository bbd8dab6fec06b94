package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// mutant is a bug: a change of one file that makes tests of a row fail.
type mutant struct {
	row      string
	tests    []string // as in docs/coverage.md
	file     string   // relative to the root, with slashes
	bug      string   // in words
	old, new string
	hangs    bool
	from     string // file of the list and line
}

// directory has the list, relative to the root.
const directory = "scripts/mutants/list"

// readList reads all files of the list, in the order of their names.
func readList(root string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(directory), "*.txt"))
	if err != nil {
		return nil, err
	}
	var list []mutant
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := parse(filepath.Base(file), string(text))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// parse reads one file of the list. Empty lines separate mutants; a line that begins with "#" is a comment.
func parse(name, text string) ([]mutant, error) {
	var list []mutant
	var block []string
	lines := append(strings.Split(text, "\n"), "")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "#"):
		case line != "":
			block = append(block, line)
		case len(block) > 0:
			from := fmt.Sprintf("%s:%d", name, i-len(block)+1)
			m, err := parseBlock(block)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", from, err)
			}
			m.from = from
			list = append(list, m)
			block = nil
		}
	}
	return list, nil
}

// parseBlock reads the lines of one mutant.
func parseBlock(lines []string) (mutant, error) {
	if len(lines) < 3 {
		return mutant{}, errors.New(`want "ROW: tests", "file: bug", and lines with "-" and "+"`)
	}
	row, tests, ok := strings.Cut(lines[0], ": ")
	file, bug, ok2 := strings.Cut(lines[1], ": ")
	if !ok || !ok2 || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || path.Clean(file) != file || !filepath.IsLocal(file) {
		return mutant{}, errors.New(`want "ROW: package.TestName" and "file.go: bug", where the file is no test`)
	}
	m := mutant{row: row, tests: strings.Split(tests, ", "), file: file, bug: bug}
	lines = lines[2:]
	if lines[0] == "hangs" {
		m.hangs, lines = true, lines[1:]
	}
	var removed, added []string
	for _, line := range lines {
		// An empty line of the text may have lost the space behind its sign.
		sign, text, _ := strings.Cut(line, " ")
		switch {
		case sign == "-" && added == nil:
			removed = append(removed, text)
		case sign == "+":
			added = append(added, text)
		default:
			return mutant{}, fmt.Errorf(`want "- text" and then "+ text", got %q`, line)
		}
	}
	m.old, m.new = strings.Join(removed, "\n"), strings.Join(added, "\n")
	if strings.TrimSpace(m.old) == "" || m.old == m.new {
		return mutant{}, errors.New("the mutant changes nothing")
	}
	return m, nil
}

// chosen returns the mutants with a text in their row, tests or file.
func chosen(list []mutant, text string) []mutant {
	var found []mutant
	for _, m := range list {
		if strings.Contains(m.String()+" "+m.file+" "+m.from, text) {
			found = append(found, m)
		}
	}
	return found
}

// String names a mutant in reports.
func (m mutant) String() string {
	return m.row + " " + strings.Join(m.tests, ", ")
}
