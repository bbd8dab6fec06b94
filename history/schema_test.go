package history_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/history"
)

// The objects of a newer program's database, whose prompts are there once and count.
var counting = []string{
	"PRAGMA journal_mode = WAL", "PRAGMA user_version = 1",
	"CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL DEFAULT (unixepoch()), cwd TEXT, session_id TEXT, use_count INTEGER NOT NULL DEFAULT 1)",
	"CREATE INDEX idx_history_created_at ON history (created_at DESC)",
	"CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id')",
	"CREATE TRIGGER history_ai AFTER INSERT ON history BEGIN INSERT INTO history_fts (rowid, prompt) VALUES (new.id, new.prompt); END",
	"CREATE TABLE session_titles (session_id TEXT PRIMARY KEY, title TEXT, updated_at INTEGER)",
}

// countingDatabase is an empty database of a version that counts.
func countingDatabase(t *testing.T) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "history.db")
	db = other(t, path)
	run(t, db, counting...)
	return path, db
}

func schemaOf(t *testing.T, path string) string {
	t.Helper()
	return one[string](t, other(t, path), "SELECT group_concat(type || name || coalesce(sql, ''), char(10)) FROM sqlite_master ORDER BY rowid")
}

// Proves: X-226
func TestADatabaseThatCounts(t *testing.T) {
	t.Parallel()
	path, db := countingDatabase(t)
	run(t, db, "INSERT INTO history (prompt, created_at, cwd, session_id, use_count) VALUES ('old', 1000, '/a', 's1', 3), ('newer', 2000, '/a', 's1', 1)")
	before := schemaOf(t, path)
	w := open(t, path)
	require.Equal(t, []string{"newer", "old"}, w.recent(t, 10))
	say := func(text string) { w.Add(history.Prompt{Text: text, Cwd: "/b", SessionID: "s2"}) }
	say("old")
	say("with\r\nlines  \rand more\t\n")
	say("old")
	w.flush(t)
	require.Equal(t, 3, one[int](t, db, "SELECT count(*) FROM history"), "each is listed once")
	require.Equal(t, "5 /b s2", one[string](t, db, "SELECT use_count || ' ' || cwd || ' ' || session_id FROM history WHERE prompt = 'old'"))
	require.Equal(t, w.clock.Now().Unix(), one[int64](t, db, "SELECT created_at FROM history WHERE prompt = 'old'"))
	require.Equal(t, 1, one[int](t, db, "SELECT use_count FROM history WHERE prompt = 'with' || char(10) || 'lines' || char(10) || 'and more'"))
	require.Equal(t, []string{"old"}, w.search(t, "ol"), "the newest use counts, the index stays right")
	requireWhole(t, db)
	require.Equal(t, before, schemaOf(t, path))
	require.Equal(t, 1, one[int](t, db, "PRAGMA user_version"))
}

// A row that was used later, by a program with a better clock, keeps that time.
func TestALaterUseIsKept(t *testing.T) {
	t.Parallel()
	path, db := countingDatabase(t)
	run(t, db, "INSERT INTO history (prompt, created_at) VALUES ('p', 99999999999)")
	w := open(t, path)
	w.say("p")
	w.flush(t)
	require.Equal(t, int64(99999999999), one[int64](t, db, "SELECT created_at FROM history"))
	require.Equal(t, 2, one[int](t, db, "SELECT use_count FROM history"))
}

// The database of an older version is read and written without changes of its schema: rebuilding it
// is left to the program that it belongs to.
// Proves: X-224
func TestADatabaseOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	db := other(t, path)
	run(t, db, "CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL, created_at INTEGER NOT NULL DEFAULT (unixepoch()), cwd TEXT)",
		"INSERT INTO history (prompt, created_at) VALUES ('from long ago', 1000)")
	w := open(t, path)
	w.say("from today")
	w.flush(t)
	require.Equal(t, []string{"from today", "from long ago"}, w.search(t, "from"), "a new index contains the existing prompts")
	require.Contains(t, schemaOf(t, path), "unixepoch()")
	require.Equal(t, 1, one[int](t, db, "SELECT id FROM history WHERE created_at = 1000"))
	requireWhole(t, db)
}

// Opening does not change a database that a program made.
// Proves: X-224
func TestOpeningChangesNoSchema(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("x")
	require.NoError(t, w.Close(t.Context()))
	before := schemaOf(t, w.path)
	again := open(t, w.path)
	again.say("y")
	again.flush(t)
	require.Equal(t, before, schemaOf(t, w.path))
}

func TestATableOfSomethingElse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	run(t, other(t, path), "CREATE TABLE history (id INTEGER PRIMARY KEY, url TEXT, created_at INTEGER)")
	w := open(t, path)
	w.say("x")
	require.Error(t, w.Flush(t.Context()))
	require.Len(t, w.warnings(), 1)
	require.Contains(t, w.warnings()[0], path)
	require.Equal(t, 0, one[int](t, other(t, path), "SELECT count(*) FROM history"))
}

// A table without a place for the directory takes the prompt alone.
func TestATableWithoutDirectories(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	run(t, other(t, path), "CREATE TABLE history (id INTEGER PRIMARY KEY, prompt TEXT NOT NULL, created_at INTEGER NOT NULL)")
	w := open(t, path)
	w.say("x")
	w.flush(t)
	require.Equal(t, []string{"x"}, w.search(t, "x"))
	entries, err := w.Recent(t.Context(), 10, "/w")
	require.NoError(t, err)
	require.Empty(t, entries)
}
