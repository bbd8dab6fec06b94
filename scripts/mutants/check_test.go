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

// small is a repository of one module, with a package, its tests, and a conversation.
func small(t *testing.T) string {
	t.Helper()
	return repository(t, map[string]string{
		"go.mod":              "module example.com/small\n\ngo 1.26\n",
		"docs/coverage/a.txt": "# Words about X-002: none.\nX-001: one\n    a note\n",
		"docs/coverage/b.md":  "# B\n\n| id | statement |\n|---|---|\n| F-02 | two, X-002 | |\n",
		"a/a.go":              "package a\n\n// Sum adds.\nfunc Sum(a, b int) int { return a + b }\n\n// Loop ends.\nfunc Loop() {\n\tfor i := 0; i < 1; i++ {\n\t}\n}\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\n// TestSum adds.\n// Proves: X-001, F-02 (a, b)\nfunc TestSum(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n\t\tt.Fatal(\"wrong\")\n\t}\n}\n\n" +
			"// Proves: F-02\nfunc TestLoop(t *testing.T) { Loop() }\n\n// Proves: X-001\nfunc TestSkipped(t *testing.T) { t.Skip(\"never\") }\n\n" +
			"// Proves: X-001\nfunc TestBroken(t *testing.T) { t.Fatal(\"always\") }\n\nfunc TestNothing(t *testing.T) {}\n",
		"a/tagged_test.go":                  "//go:build never\n\npackage a\n\n// Proves: X-001\nfunc TestTagged(t *testing.T) {}\n",
		"testdata/conversations/list.txtar": "# Proves: F-02\nWords.\n-- a --\n# Proves: X-001\n",
	})
}

// bug is a mutant that TestSum notices.
var bug = mutant{row: "X-001", tests: []string{"a.TestSum"}, file: "a/a.go", bug: "wrong sign", old: "a + b", new: "a - b", from: "a.txt:1"}

// with returns bug after a change.
func with(change func(*mutant)) mutant {
	m := bug
	change(&m)
	return m
}

func TestAListFitsItsRepository(t *testing.T) {
	t.Parallel()
	root := small(t)
	require.NoError(t, check(root, []mutant{
		bug,
		with(func(m *mutant) {
			m.row, m.tests, m.new = "F-02", []string{"a.TestSum", "TestConversations/list"}, "a * b"
		}),
	}))
	for want, m := range map[string]mutant{
		"there is no row X-002":                 with(func(m *mutant) { m.row = "X-002" }),
		"there is no test a.TestGone":           with(func(m *mutant) { m.tests = []string{"a.TestGone"} }),
		"there is no test a.TestTagged":         with(func(m *mutant) { m.tests = []string{"a.TestTagged"} }),
		"a.TestNothing does not prove X-001":    with(func(m *mutant) { m.tests = []string{"a.TestNothing"} }),
		"TestConversations/list does not prove": with(func(m *mutant) { m.tests = []string{"TestConversations/list"} }),
		"does not contain \"a % b\"":            with(func(m *mutant) { m.old = "a % b" }),
		"contains \"func\" 2 times":             with(func(m *mutant) { m.old = "func" }),
		"gone.go: no such file":                 with(func(m *mutant) { m.file = "a/gone.go" }),
		"expected operand":                      with(func(m *mutant) { m.new = "a +" }),
		"a.txt:9: the bug is also at a.txt:1":   with(func(m *mutant) { m.from = "a.txt:9" }),
	} {
		require.ErrorContains(t, check(root, []mutant{bug, m}), want)
	}
}

// TestTheListFitsTheRepository keeps the committed list usable without running it: changes of the product that
// make a mutant stale must change the mutant too.
func TestTheListFitsTheRepository(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	list, err := readList(root)
	require.NoError(t, err)
	require.NoError(t, check(root, list))
	rows := map[string]bool{}
	for _, m := range list {
		rows[m.row] = true
	}
	const leastRows = 150
	require.GreaterOrEqual(t, len(rows), leastRows, "rows with a mutant")
}
