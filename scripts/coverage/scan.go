package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// proof is a test that proves a statement. outside says that it drives the program from outside.
type proof struct {
	name, qualifier string
	outside         bool
}

// skipped are the directories without tests of the project.
var skipped = []string{".git", "node_modules", "dist", ".cache"}

var (
	annotation = regexp.MustCompile(`^\s*(?://|#|--) Proves: (.+)$`)
	reference  = regexp.MustCompile(`^([A-Z]+-\d+)(?: \(([^()]+)\))?$`)
	between    = regexp.MustCompile(`, ([A-Z]+-\d+)`)
	titled     = regexp.MustCompile(`^\s*(?:await )?(?:test|it|case|flow|runner\.case)(\.\w+)?\(\s*(?:"([^"]+)"|'([^']+)'|` + "`([^`]+)`" + `)(.*)$`)
)

// testFile is one file with tests. ast is nil unless it is Go.
type testFile struct {
	rel   string // path in the repository, with slashes
	lines []string
	ast   *ast.File
}

// repositoryTests is what a repository's test files say.
type repositoryTests struct {
	proofs map[string][]proof // by the ids of statements
	exists map[string]bool    // names of tests
}

// scan reads the tests of a repository.
func scan(root string) (repositoryTests, error) {
	tests := repositoryTests{map[string][]proof{}, map[string]bool{}}
	tags, err := usedTags(root)
	if err != nil {
		return tests, err
	}
	packages, err := testFiles(root)
	if err != nil {
		return tests, err
	}
	for dir, files := range packages {
		var parsed []*ast.File
		for _, f := range files {
			if f.ast != nil {
				parsed = append(parsed, f.ast)
			}
		}
		outside := outsideTests(dir, parsed)
		for _, f := range files {
			names(f, tests.exists)
			if err := proofsOf(f, outside, tags, tests.proofs); err != nil {
				return tests, err
			}
		}
	}
	for id := range tests.proofs {
		slices.SortFunc(tests.proofs[id], func(a, b proof) int {
			return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.qualifier, b.qualifier))
		})
		tests.proofs[id] = slices.Compact(tests.proofs[id])
	}
	return tests, nil
}

// testFiles returns the test files by directory.
func testFiles(root string) (map[string][]testFile, error) {
	packages := map[string][]testFile{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && file != root && slices.Contains(skipped, d.Name()) {
				err = fs.SkipDir
			}
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !isTest(rel) {
			return nil
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f := testFile{rel: rel, lines: strings.Split(string(src), "\n")}
		if strings.HasSuffix(rel, ".go") {
			if f.ast, err = parseGo(rel, src); err != nil {
				return err
			}
		}
		packages[path.Dir(rel)] = append(packages[path.Dir(rel)], f)
		return nil
	})
	return packages, err
}

// isTest reports whether a file can have annotations. Those of this program are examples.
func isTest(rel string) bool {
	if strings.HasPrefix(rel, "scripts/coverage/") {
		return false
	}
	for _, ending := range []string{"_test.go", ".txtar", ".test.mjs", ".test.ts", "_test.lua"} {
		if strings.HasSuffix(rel, ending) {
			return true
		}
	}
	return false
}

// proofsOf adds the annotations of one file.
func proofsOf(f testFile, outside map[string]bool, tags [][]string, to map[string][]proof) error {
	for i, line := range f.lines {
		if strings.HasSuffix(f.rel, ".txtar") && strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") {
			break
		}
		m := annotation.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		place := fmt.Sprintf("%s:%d", f.rel, i+1)
		test, err := testAt(f, i, outside)
		if err == nil && !runs(f, tags) {
			err = errNeverRuns
		}
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		for part := range strings.SplitSeq(between.ReplaceAllString(m[1], "\x00$1"), "\x00") {
			r := reference.FindStringSubmatch(part)
			if r == nil {
				return fmt.Errorf("%s: want \"Proves: X-1, F-2 (qualifier)\"", place)
			}
			test.qualifier = r[2]
			to[r[1]] = append(to[r[1]], test)
		}
	}
	return nil
}
