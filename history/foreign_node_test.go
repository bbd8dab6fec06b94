//go:build foreign

package history_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Node.js, with a version of SQLite of its own, and the shell write beside three of our processes.
func TestOtherProgramsInNode(t *testing.T) {
	const each = 2000
	path := shared(t)
	node := exec.CommandContext(t.Context(), nodeWithSQLite(t), "testdata/writer.mjs", path, "node", fmt.Sprint(each))
	shell := exec.CommandContext(t.Context(), "sqlite3", "-bail", path)
	shell.Stdin = strings.NewReader(shellScript("shell", each))
	w := beside(t, path, each, node, shell)
	require.Len(t, w.search(t, "node 1999"), 1)
}

// nodeWithSQLite returns the Node.js that bench/peers/install.sh installs if the one on PATH is too
// old, as Debian's is.
func nodeWithSQLite(t *testing.T) string {
	t.Helper()
	installed, err := filepath.Glob("../bench/peers/node_modules/node-*/bin/node")
	require.NoError(t, err)
	for _, node := range installed {
		if info, err := os.Stat(node); err == nil && info.Mode()&0o100 != 0 {
			return node
		}
	}
	return "node"
}
