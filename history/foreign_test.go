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

// The shell of SQLite and another binding of it, both of a much older version, write to the
// file and checkpoint it while three of our processes do: 10,000 prompts, and none is lost.
// Proves
func TestOtherProgramsOnTheSameFile(t *testing.T) {
	const each = 2000
	path := shared(t)
	python := exec.CommandContext(t.Context(), "python3", "testdata/writer.py", path, "python", fmt.Sprint(each))
	shell := exec.CommandContext(t.Context(), "sqlite3", "-bail", path)
	shell.Stdin = strings.NewReader(shellScript("shell", each))
	w := beside(t, path, each, python, shell)
	require.Len(t, w.search(t, "python 1999"), 1)
	require.Len(t, w.search(t, "shell 1999"), 1)
}

// shared is a database that one of our processes has made.
func shared(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent", "history.db")
	w := open(t, path)
	w.Prepare()
	require.Empty(t, w.recent(t, 1))
	return path
}

// beside makes other programs and three of our processes write to the file, the same number of
// prompts each, and checks that all of them are there.
func beside(t *testing.T, path string, each int, others ...*exec.Cmd) *world {
	t.Helper()
	all := append(others, child(t, "many", path, fmt.Sprintf("a%d", each)), child(t, "many", path, fmt.Sprintf("b%d", each)))
	for _, cmd := range all {
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
	}
	require.NoError(t, addMany(path, fmt.Sprintf("c%d", each)))
	for _, cmd := range all {
		require.NoError(t, cmd.Wait(), cmd.Path)
	}
	query := "PRAGMA integrity_check; SELECT count(*), count(DISTINCT prompt) FROM history;"
	out, err := exec.CommandContext(t.Context(), "sqlite3", path, query).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, fmt.Sprintf("ok\n%d|%[1]d\n", each*(len(all)+1)), string(out))
	requireWhole(t, other(t, path))
	return open(t, path)
}

// shellScript adds prompts, each in a transaction of its own, and reads some back.
func shellScript(name string, n int) string {
	var b strings.Builder
	b.WriteString(".timeout 60000\n")
	for i := range n {
		fmt.Fprintf(&b, "INSERT INTO history (prompt, cwd) VALUES ('%s prompt %d', '/shell');\n", name, i)
		if i%50 == 0 {
			fmt.Fprintf(&b, "SELECT count(*) FROM history_fts WHERE history_fts MATCH '\"%s\"* \"%d\"*';\n", name, i)
		}
	}
	return b.String()
}

// Each side opens the other's database without changing it.
// Proves: X-226
func TestTheShellReadsOurDatabase(t *testing.T) {
	w := newStore(t)
	w.say("don't panic", "日本語 and 100%", "line one\nline two")
	w.flush(t)
	for query, want := range map[string]string{
		"SELECT prompt FROM history ORDER BY created_at DESC, id DESC LIMIT 1":                                   "line one\nline two\n",
		"SELECT h.prompt FROM history_fts f JOIN history h ON h.id = f.rowid WHERE history_fts MATCH '\"pan\"*'": "don't panic\n",
		"SELECT cwd, typeof(created_at), typeof(id) FROM history LIMIT 1":                                        "/w|integer|integer\n",
	} {
		out, err := exec.CommandContext(t.Context(), "sqlite3", w.path, query).CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, want, string(out), query)
	}
}
