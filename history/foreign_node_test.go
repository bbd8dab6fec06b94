//go:build foreign && betterSqlite3

package history_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The most used binding of SQLite in Node.js, with a version of its own, and the shell write beside
// three of our processes. The binding is installed by "npm --prefix testdata/better-sqlite3 ci",
// which compiles it if no prebuilt one is available.
func TestBetterSqlite3OnTheSameFile(t *testing.T) {
	const each = 2000
	path := shared(t)
	node := exec.CommandContext(t.Context(), "node", "testdata/better-sqlite3/writer.mjs", path, "node", fmt.Sprint(each))
	shell := exec.CommandContext(t.Context(), "sqlite3", "-bail", path)
	shell.Stdin = strings.NewReader(shellScript("shell", each))
	w := beside(t, path, each, node, shell)
	require.Len(t, w.search(t, "node 1999"), 1)
}
