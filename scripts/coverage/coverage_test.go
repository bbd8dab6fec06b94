package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository writes files and returns the root.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

const statements = "# A comment.\nX-001: one\nX-002: two\n    not applicable\n\n## More\n\n> Words.\nF-01: three\n"

func TestTheTableHasTestsAndNotes(t *testing.T) {
	t.Parallel()
	root := repository(t, map[string]string{
		"docs/coverage/statements.txt":             statements,
		"a/b/x_test.go":                            "package b\n\n// TestOne holds.\n// Proves: X-001, F-01 (a, b)\nfunc TestOne(t *testing.T) {}\n",
		"testdata/conversations/list.txtar":        "# Proves: F-01\nWords.\n-- a --\n# Proves: nothing\n",
		"editors/neovim/tests/a_test.lua":          "-- Proves: X-001\ncase('it works', function()\n",
		"editors/vscode/test/unit/a.test.ts":       "// Proves: X-001\n\n",
		"cmd/xcsh-ls/testdata/p-client/a.test.mjs": "// Proves: X-001\n",
	})
	require.NoError(t, generate(root, false))
	got, err := os.ReadFile(filepath.Join(root, "docs", "coverage.md"))
	require.NoError(t, err)
	require.Contains(t, string(got),
		"| X-001 | one | a/b.TestOne, editors/neovim/tests/a_test.lua: it works, editors/vscode/test/unit/a.test.ts, p-client/a |\n"+
			"| X-002 | two | not applicable |\n\n## More\n\nWords.\n")
	require.Contains(t, string(got), "| F-01 | three | TestConversations/list, a/b.TestOne (a, b) |\n")
	require.NoError(t, generate(root, true))
	require.NoError(t, os.WriteFile(filepath.Join(root, "docs", "coverage.md"), []byte("old"), 0o600))
	require.ErrorContains(t, generate(root, true), "stale")
}

func TestMistakesAreReported(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ test, want string }{
		"no test":      {"", "X-001 has neither"},
		"unknown id":   {"// Proves: X-001, F-01, X-009\nfunc TestA(t *testing.T) {}\n", "no statement X-009"},
		"not a test":   {"// Proves: X-001\n\nfunc TestA(t *testing.T) {}\n", "x_test.go:1: the comment is not above a test"},
		"wrong syntax": {"// Proves: all of it\nfunc TestA(t *testing.T) {}\n", "x_test.go:1: want"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t, map[string]string{"docs/coverage/statements.txt": statements, "a/x_test.go": tc.test})
			require.ErrorContains(t, generate(root, false), tc.want)
		})
	}
	_, err := readStatements(filepath.Join(repository(t, map[string]string{"s": "X-001: a\nX-001: b\n"}), "s"))
	require.ErrorContains(t, err, "s:2:")
}
