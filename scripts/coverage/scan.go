package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// proof is a test that proves a statement.
type proof struct {
	name, qualifier string
}

// skipped are the directories without tests of the project.
var skipped = []string{".git", "node_modules", "dist", ".cache"}

var (
	annotation = regexp.MustCompile(`^\s*(?://|#|--) Proves: (.+)$`)
	reference  = regexp.MustCompile(`^([A-Z]+-\d+)(?: \(([^()]+)\))?$`)
	between    = regexp.MustCompile(`, ([A-Z]+-\d+)`)
	goTest     = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)
	titled     = regexp.MustCompile(`^\s*(?:await )?(?:test|it|case|t\.test)\(\s*(?:"([^"]+)"|'([^']+)'|` + "`([^`]+)`" + `)`)
)

// scan returns the tests of a repository by the ids of the statements that they prove.
func scan(root string) (map[string][]proof, error) {
	proofs := map[string][]proof{}
	err := eachTest(root, func(rel string, src string) error {
		found, err := proofsOf(rel, src)
		for id, p := range found {
			proofs[id] = append(proofs[id], p...)
		}
		return err
	})
	for id := range proofs {
		slices.SortFunc(proofs[id], func(a, b proof) int {
			return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.qualifier, b.qualifier))
		})
		proofs[id] = slices.Compact(proofs[id])
	}
	return proofs, err
}

// eachTest calls f for every test file, with its path in the repository.
func eachTest(root string, f func(rel, src string) error) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
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
		return f(rel, string(src))
	})
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

// proofsOf returns the annotations of one file.
func proofsOf(rel, src string) (map[string][]proof, error) {
	found := map[string][]proof{}
	lines := strings.Split(src, "\n")
	for i, line := range lines {
		if strings.HasSuffix(rel, ".txtar") && strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") {
			break
		}
		m := annotation.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name, err := nameOf(rel, lines[i+1:])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", rel, i+1, err)
		}
		for part := range strings.SplitSeq(between.ReplaceAllString(m[1], "\x00$1"), "\x00") {
			r := reference.FindStringSubmatch(part)
			if r == nil {
				return nil, fmt.Errorf("%s:%d: want \"Proves: X-1, F-2 (qualifier)\"", rel, i+1)
			}
			found[r[1]] = append(found[r[1]], proof{name, r[2]})
		}
	}
	return found, nil
}

// nameOf returns the name of a test in the table, by the lines after its annotation.
func nameOf(rel string, after []string) (string, error) {
	dir, base := path.Dir(rel), path.Base(rel)
	switch {
	case dir == "testdata/conversations":
		return "TestConversations/" + strings.TrimSuffix(base, ".txtar"), nil
	case dir == "cmd/xcsh-ls/testdata/script":
		return "TestScripts/" + strings.TrimSuffix(base, ".txtar"), nil
	case strings.HasSuffix(dir, "-client"):
		return path.Base(dir) + "/" + strings.TrimSuffix(base, ".test.mjs"), nil
	case !strings.HasSuffix(rel, ".go"):
		for _, m := range titled.FindAllStringSubmatch(first(after), 1) {
			return fmt.Sprintf("%s: %s", rel, m[1]+m[2]+m[3]), nil
		}
		return rel, nil
	}
	for _, line := range after {
		if m := goTest.FindStringSubmatch(line); m != nil {
			return dir + "." + m[1], nil
		}
		if !strings.HasPrefix(line, "//") {
			break
		}
	}
	return "", errors.New("the comment is not above a test")
}

func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}
