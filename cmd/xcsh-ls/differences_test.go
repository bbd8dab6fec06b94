package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// differsMark begins a comment on something that is deliberately not as in the programs.
const differsMark = "Differs:"

// TestDifferencesAreListed keeps docs/differences.md and the code together: each row names a
// test that exists, and a file has as many rows as it has marks.
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

// marks counts the marks in the files of the program, by their paths in the repository.
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
