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
)

// TestCoverageNamesRealTests keeps docs/coverage.md from naming tests that are gone.
func TestCoverageNamesRealTests(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/coverage.md")
	require.NoError(t, err)
	// The table is what counts; the words above it explain the names.
	table := doc[regexp.MustCompile(`(?m)^\|---`).FindIndex(doc)[0]:]

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
	for _, m := range namedTest.FindAllSubmatch(table, -1) {
		require.True(t, exists[string(m[1])], "%s does not exist", m[1])
	}
	dirs := map[string]string{"Conversations": "../../testdata/conversations", "Scripts": "testdata/script"}
	for _, m := range namedStory.FindAllSubmatch(table, -1) {
		require.FileExists(t, filepath.Join(dirs[string(m[1])], string(m[2])+".txtar"))
	}
}
