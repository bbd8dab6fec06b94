package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// differsMark begins a comment on behavior that deliberately differs from the terminal programs.
const differsMark = "Differs:"

var (
	testFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	namedTest  = regexp.MustCompile(`\.((?:Test|Fuzz)[A-Z]\w*)`)
	namedStory = regexp.MustCompile(`\bTest(Conversations|Scripts)/([\w-]+)`)
)

// TestDifferencesAreListed keeps docs/differences.md and the code in sync: each row names a test that
// exists, and a file has as many rows as marks.
func TestDifferencesAreListed(t *testing.T) {
	t.Parallel()
	text := tables(t, "../../docs/differences.md")
	requireRealTests(t, text)
	var rows []string
	for row := range strings.Lines(string(text)) {
		if !strings.HasPrefix(row, "| ") || strings.HasPrefix(row, "| The programs |") {
			continue
		}
		rows = append(rows, row)
		require.Equal(t, 4, strings.Count(row, "|"), "three columns: %s", row)
		held := row[strings.LastIndex(strings.TrimRight(row, "|\n "), "|"):]
		require.True(t, namedTest.MatchString(held) || namedStory.MatchString(held), "no test: %s", row)
	}
	marked := marks(t)
	require.NotEmpty(t, marked)
	for file, n := range marked {
		listed := 0
		for _, row := range rows {
			if strings.Contains(row, "`"+file+"`") {
				listed++
			}
		}
		require.GreaterOrEqual(t, listed, n, "docs/differences.md has too few rows for %s", file)
	}
}

// marks counts the marks in the program's source files, by path in the repository.
func marks(t *testing.T) map[string]int {
	t.Helper()
	found := map[string]int{}
	skipped := []string{".git", "node_modules", "testdata"}
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := strings.Count(string(text), "// "+differsMark); n > 0 {
			rel, err := filepath.Rel("../..", path)
			if err != nil {
				return err
			}
			found[filepath.ToSlash(rel)] = n
		}
		return nil
	}))
	return found
}

// tables returns a document from its first table on. The text above it explains the names.
func tables(t *testing.T, path string) []byte {
	t.Helper()
	doc, err := os.ReadFile(path)
	require.NoError(t, err)
	at := regexp.MustCompile(`(?m)^\|---`).FindIndex(doc)
	require.NotNil(t, at, "%s has no table", path)
	return doc[at[0]:]
}

// requireRealTests requires that the text names at least one test and that every named test exists.
func requireRealTests(t *testing.T, text []byte) {
	t.Helper()
	exists := map[string]bool{}
	for _, pattern := range []string{"../../*/*_test.go", "../../*/*/*_test.go", "../../*/*/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, m := range testFunc.FindAllSubmatch(text, -1) {
				exists[string(m[1])] = true
			}
		}
	}
	tests, stories := namedTest.FindAllSubmatch(text, -1), namedStory.FindAllSubmatch(text, -1)
	require.NotEmpty(t, append(tests, stories...))
	for _, m := range tests {
		require.True(t, exists[string(m[1])], "%s does not exist", m[1])
	}
	dirs := map[string]string{"Conversations": "../../testdata/conversations", "Scripts": "testdata/script"}
	for _, m := range stories {
		require.FileExists(t, filepath.Join(dirs[string(m[1])], string(m[2])+".txtar"))
	}
}
