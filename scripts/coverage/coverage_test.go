package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	head      = "| id | statement | note |\n|---|---|---|\n"
	checklist = "# Checklist\n\n" + head + "| X-001 | one | a note |\n| X-002 | two | |\n\n## More\n\n" + head + "| X-003 | a, *b* and c | |\n"
	failures  = "# Failures\n\n| id | failure | statement | note |\n|---|---|---|---|\n| F-01 | loss | none | |\n"
	declared  = "# Reasons.\nX-002: missing: nobody needs it\nX-003: partly: c is not asserted\n"
)

// world are the files of a repository without a mistake.
func world() map[string]string {
	return map[string]string{
		"docs/coverage/checklist.md":               checklist,
		"docs/coverage/failures.md":                failures,
		"docs/coverage/agent-base.md":              "# Mapping\n",
		"docs/coverage/own.md":                     "# Own\n",
		"docs/coverage/engines.md":                 "# Engines\n",
		"docs/coverage/changes.md":                 "# Changes\n",
		"docs/coverage/team.md":                    "# Team\n",
		"docs/coverage/status.txt":                 declared,
		"a/b/x_test.go":                            "package b\n\n// TestOne holds.\n// Proves: X-001, F-01 (a, b)\nfunc TestOne(t *testing.T) {}\n",
		"testdata/conversations/list.txtar":        "# Proves: F-01\nWords.\n-- a --\n# Proves: nothing\n",
		"editors/neovim/tests/a_test.lua":          "-- Proves: X-001\ncase('it works', function()\n",
		"editors/vscode/test/unit/a.test.ts":       "// Proves: X-003\n\ntest('a', () => {})\ntest.skip('b', () => {})\n",
		"cmd/xcsh-ls/testdata/p-client/a.test.mjs": "// Words.\n// Proves: X-003\ntest('all of it', () => {})\n",
	}
}

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

func TestTheTableHasStatusesTestsAndReasons(t *testing.T) {
	t.Parallel()
	got, err := document(repository(t, world()), false)
	require.NoError(t, err)
	require.Contains(t, got, "| 4 | 2 | 1 | 0 | 1 | 2 |\n", "the totals")
	require.Contains(t, got, "\n## Checklist\n\n| Id | Statement | Status | Black box | Tests, or why there are none |\n|---|---|---|---|---|\n"+
		"| X-001 | one | proven | no | a/b.TestOne, editors/neovim/tests/a_test.lua: it works |\n"+
		"| X-002 | two | missing | no | nobody needs it |\n\n### More\n\n")
	require.Contains(t, got, "| X-003 | a, *b* and c | partly | yes | editors/vscode/test/unit/a.test.ts, p-client/a: all of it; c is not asserted |\n")
	require.Contains(t, got, "| F-01 | loss: none | proven | yes | TestConversations/list, a/b.TestOne (a, b) |\n")
}

func TestMistakesAreReported(t *testing.T) {
	t.Parallel()
	const file, reasons = "a/x_test.go", "docs/coverage/status.txt"
	for name, tc := range map[string]struct{ file, text, want string }{
		"no test":           {reasons, "X-003: partly: c is not\n", "X-002 has neither"},
		"unknown statement": {file, "package a\n\n// Proves: X-001, X-009\nfunc TestA(t *testing.T) {}\n", "no statement X-009"},
		"unknown reason":    {reasons, declared + "X-009: missing: no\n", "no statement X-009"},
		"not a test":        {file, "package a\n\n// Proves: X-001\n\nfunc TestA(t *testing.T) {}\n", "a/x_test.go:3: the comment is not above a test"},
		"no such test":      {reasons, declared + "F-01: differs: see TestTwo\n", "F-01: there is no test TestTwo"},
		"no such script":    {reasons, declared + "F-01: differs: see TestScripts/two\n", "F-01: there is no test TestScripts/two"},
		"wrong syntax":      {file, "package a\n\n// Proves: all of it\nfunc TestA(t *testing.T) {}\n", "a/x_test.go:3: want"},
		"skipped":           {file, "package a\n\n// Proves: X-001\nfunc TestA(t *testing.T) {\n\tt.Skip(\"later\")\n}\n", "always skipped"},
		"unused tag":        {file, "//go:build later\n\npackage a\n\n// Proves: X-001\nfunc TestA(t *testing.T) {}\n", "always skipped"},
		"skipped in JS":     {"a/a.test.mjs", "// Proves: X-001\ntest.skip('later', () => {})\n", "always skipped"},
		"skipped in all":    {"a/a.test.mjs", "// Proves: X-001\n\ntest.skip('later', () => {})\n", "no test that runs"},
		"skipped script":    {"cmd/xcsh-ls/testdata/script/a.txtar", "# Proves: X-001\nskip later\n", "always skipped"},
		"nothing runs it":   {"testdata/others/a.txtar", "# Proves: X-001\n", "no test runs"},
		"inside code":       {"a/a.test.mjs", "test('a', () => {\n// Proves: X-001\n\n})\n", "not above a test"},
		"a kind":            {reasons, declared + "F-01: proven: surely\n", "status.txt:4: want"},
		"no reason":         {reasons, declared + "F-01: partly: \n", "status.txt:4: want"},
		"declared twice":    {reasons, declared + declared, "status.txt:5: X-002 is declared twice"},
		"partly no test":    {reasons, "X-002: partly: half\n", "X-002 has no test"},
		"missing but test":  {reasons, declared + "F-01: missing: no\n", "F-01 is missing, but"},
		"stated twice":      {"docs/coverage/own.md", head + "| X-001 | again | |\n", "own.md:3: X-001 is already in checklist.md:5"},
		"broken row":        {"docs/coverage/own.md", head + "| N-01 a statement | |\n", "own.md:3: not a row"},
		"no note":           {"docs/coverage/own.md", head + "| N-01 | a statement |\n", "own.md:3: want an id, a statement and a note"},
		"no statement":      {"docs/coverage/own.md", head + "| N-01 | | |\n", "own.md:3: want an id, a statement and a note"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := world()
			files[tc.file] = tc.text
			_, err := document(repository(t, files), false)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestATestWithATagOfAScriptRuns(t *testing.T) {
	t.Parallel()
	files := world()
	files["scripts/test.sh"] = "go test -tags later ./a\n"
	files["a/x_test.go"] = "//go:build later && unix\n\npackage a\n\n// Proves: X-001\nfunc TestA(t *testing.T) {}\n"
	_, err := document(repository(t, files), false)
	require.NoError(t, err)
}

func TestAStaleDocumentIsReported(t *testing.T) {
	t.Parallel()
	root := repository(t, copies(t))
	doc := filepath.Join(root, "docs", "coverage.md")
	require.NoError(t, generate(root, false))
	require.NoError(t, generate(root, true))
	require.NoError(t, os.WriteFile(doc, []byte("old"), 0o600))
	require.ErrorContains(t, generate(root, true), "stale")
}

// TestStatementsAreVerbatim changes a word of each copy, shortens a statement and drops a row.
func TestStatementsAreVerbatim(t *testing.T) {
	t.Parallel()
	original := copies(t)
	for name, tc := range map[string]struct{ file, old, new string }{
		"a word":    {"checklist.md", "| Listing has no side effects on disk |", "| Listing has few side effects on disk |"},
		"a failure": {"failures.md", "| disk full in general |", "| disk full |"},
		"a cut":     {"agent-base.md", "messageCount counts the active branch", "messageCount counts"},
		"a row":     {"agent-base.md", "| AB-010 | future-dated session does not pin or purge others | |\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(original)
			path := "docs/coverage/" + tc.file
			require.Contains(t, files[path], tc.old)
			files[path] = strings.Replace(files[path], tc.old, tc.new, 1)
			_, err := document(repository(t, files), true)
			require.ErrorContains(t, err, tc.file+": a statement differs from the specification")
		})
	}
}

// copies are the statements of this repository, all of them declared as missing.
func copies(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	known := map[string]string{}
	for _, s := range sources {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "coverage", s.file))
		require.NoError(t, err)
		files["docs/coverage/"+s.file] = string(text)
		_, err = parseStatements(s.file, string(text), known)
		require.NoError(t, err)
	}
	var b strings.Builder
	for id := range known {
		b.WriteString(id + ": missing: not here\n")
	}
	files["docs/coverage/status.txt"] = b.String()
	return files
}
