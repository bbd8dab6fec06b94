package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"
)

var (
	errNotAbove  = errors.New("the comment is not above a test")
	errNeverRuns = errors.New("the test is always skipped")
)

var goTest = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)

func parseGo(rel string, src []byte) (*ast.File, error) {
	return parser.ParseFile(token.NewFileSet(), rel, src, parser.SkipObjectResolution)
}

// stories are the directories whose files are tests, with the name of the Go test that runs them.
var stories = map[string]string{
	"testdata/conversations":      "TestConversations/",
	"cmd/xcsh-ls/testdata/script": "TestScripts/",
}

// testAt returns the test below the annotation in line i.
func testAt(f testFile, i int, outside map[string]bool) (proof, error) {
	dir, base := path.Dir(f.rel), path.Base(f.rel)
	story, isStory := stories[dir]
	switch {
	case isStory:
		return proof{name: story + strings.TrimSuffix(base, ".txtar"), outside: true}, skippedStory(f)
	case strings.HasSuffix(f.rel, ".go"):
		name, err := goTestBelow(f, i)
		return proof{name: dir + "." + name, outside: outside[name]}, err
	case strings.HasSuffix(f.rel, ".txtar"):
		return proof{}, errors.New("no test runs this file")
	}
	title, err := titleBelow(f.lines, i)
	name := f.rel
	if strings.HasSuffix(dir, "-client") {
		name = path.Base(dir) + "/" + strings.TrimSuffix(base, ".test.mjs")
	}
	if title != "" {
		name += ": " + title
	}
	return proof{name: name, outside: isClient(f)}, err
}

// goTestBelow returns the test function below line i, of whose comment the line is a part.
func goTestBelow(f testFile, i int) (string, error) {
	for _, line := range f.lines[i+1:] {
		m := goTest.FindStringSubmatch(line)
		if m == nil && strings.HasPrefix(line, "//") {
			continue
		}
		if m == nil {
			break
		}
		if alwaysSkips(f.ast, m[1]) {
			return "", errNeverRuns
		}
		return m[1], nil
	}
	return "", errNotAbove
}

// alwaysSkips reports whether a test calls t.Skip without a condition.
func alwaysSkips(file *ast.File, name string) bool {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Name.Name != name {
			continue
		}
		for _, s := range f.Body.List {
			e, ok := s.(*ast.ExprStmt)
			if !ok {
				continue
			}
			if call, ok := e.X.(*ast.CallExpr); ok {
				if fun, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(fun.Sel.Name, "Skip") {
					return true
				}
			}
		}
	}
	return false
}

// titleBelow returns the title of the test below line i; it is empty if the line is in the comment at the
// head of a file and thus about all of its tests.
func titleBelow(lines []string, i int) (string, error) {
	if i+1 < len(lines) {
		if m := titled.FindStringSubmatch(lines[i+1]); m != nil {
			if m[1] == ".skip" || m[1] == ".todo" || strings.Contains(m[5], "skip: true") {
				return "", errNeverRuns
			}
			return m[2] + m[3] + m[4], nil
		}
	}
	some := false
	for n, line := range lines {
		comment := strings.HasPrefix(line, "//") || strings.HasPrefix(line, "--") || strings.TrimSpace(line) == ""
		if n <= i && !comment {
			return "", errNotAbove
		}
		m := titled.FindStringSubmatch(line)
		some = some || m != nil && m[1] == "" && !strings.Contains(m[5], "skip: true")
	}
	if !some {
		return "", errors.New("the file has no test that runs")
	}
	return "", nil
}

// isClient reports whether the tests of a file in JavaScript, TypeScript or Lua run the program: those of
// clients and whole editors, not those of single modules.
func isClient(f testFile) bool {
	if strings.HasPrefix(f.rel, "cmd/xcsh-ls/testdata/") || strings.HasPrefix(f.rel, "editors/vscode/test/e2e/") {
		return true
	}
	return strings.HasPrefix(f.rel, "editors/neovim/") && strings.Contains(strings.Join(f.lines, "\n"), "require('harness')")
}

// skippedStory returns an error if a script is skipped without a condition.
func skippedStory(f testFile) error {
	for _, line := range f.lines {
		if strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") {
			break
		}
		if line == "skip" || strings.HasPrefix(line, "skip ") {
			return fmt.Errorf("%w: %s", errNeverRuns, line)
		}
	}
	return nil
}

// names adds the names of a file's tests.
func names(f testFile, to map[string]bool) {
	if story, ok := stories[path.Dir(f.rel)]; ok {
		to[story+strings.TrimSuffix(path.Base(f.rel), ".txtar")] = true
	}
	for _, line := range f.lines {
		if m := goTest.FindStringSubmatch(line); m != nil {
			to[m[1]] = true
		}
	}
}
