package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	testFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	namedTest  = regexp.MustCompile(`\.((?:Test|Fuzz)[A-Z]\w*)`)
	namedStory = regexp.MustCompile(`\bTest(Conversations|Scripts)/([\w-]+)`)
	namedFlow  = regexp.MustCompile(`\b(plain|acp)-client/([\w-]+)`)
)

// TestCoverageNamesRealTests keeps docs/coverage.md from naming tests that are gone.
func TestCoverageNamesRealTests(t *testing.T) {
	t.Parallel()
	requireRealTests(t, tables(t, "../../docs/coverage.md"))
}

// tables returns a document from its first table on. The words above it explain the names.
func tables(t *testing.T, path string) []byte {
	t.Helper()
	doc, err := os.ReadFile(path)
	require.NoError(t, err)
	at := regexp.MustCompile(`(?m)^\|---`).FindIndex(doc)
	require.NotNil(t, at, "%s has no table", path)
	return doc[at[0]:]
}

// requireRealTests requires that every test named in a text exists, and that there are some.
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
	for _, m := range namedFlow.FindAllSubmatch(text, -1) {
		require.FileExists(t, "testdata/"+string(m[1])+"-client/"+string(m[2])+".test.mjs")
	}
}
