package history_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is a store with a database of its own, and the warnings that the user got.
type world struct {
	*history.Store
	path  string
	clock *clock

	mu     sync.Mutex
	warned []string
}

func open(t *testing.T, path string, options ...func(*history.Config)) *world {
	t.Helper()
	w := &world{path: path, clock: newClock()}
	cfg := history.Config{Path: path, Now: w.clock.Now, Log: zaptest.NewLogger(t), Warn: func(s string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.warned = append(w.warned, s)
	}}
	for _, o := range options {
		o(&cfg)
	}
	w.Store = history.Open(cfg)
	t.Cleanup(func() { _ = w.Close(context.WithoutCancel(t.Context())) })
	return w
}

func newStore(t *testing.T) *world { return open(t, filepath.Join(t.TempDir(), "agent", "history.db")) }

func (w *world) warnings() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.warned
}

// say adds prompts of /w, a second apart.
func (w *world) say(texts ...string) {
	for _, text := range texts {
		w.clock.add(time.Second)
		w.Add(history.Prompt{Text: text, Cwd: "/w"})
	}
}

func (w *world) flush(t *testing.T) {
	t.Helper()
	require.NoError(t, w.Flush(t.Context()))
}

func texts(entries []history.Entry) []string {
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Prompt)
	}
	return list
}

func (w *world) recent(t *testing.T, limit int) []string {
	t.Helper()
	entries, err := w.Recent(t.Context(), limit, "")
	require.NoError(t, err)
	return texts(entries)
}

func (w *world) search(t *testing.T, query string) []string {
	t.Helper()
	entries, err := w.Search(t.Context(), query, 100, "")
	require.NoError(t, err)
	return texts(entries)
}

// other is another program's connection to the database.
func other(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_busy_timeout=5000")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func run(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		_, err := db.ExecContext(t.Context(), s)
		require.NoError(t, err, s)
	}
}

func one[T any](t *testing.T, db *sql.DB, query string) (v T) {
	t.Helper()
	require.NoError(t, db.QueryRowContext(t.Context(), query).Scan(&v), query)
	return v
}

// requireWhole checks the database and its index.
func requireWhole(t *testing.T, db *sql.DB) {
	t.Helper()
	require.Equal(t, "ok", one[string](t, db, "PRAGMA integrity_check"))
	run(t, db, "INSERT INTO history_fts (history_fts, rank) VALUES ('integrity-check', 1)")
}

// The schema equals that of the terminal programs.
// Proves
func TestTheSchema(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.Prepare()
	require.Empty(t, w.recent(t, 10), "the first question waits for the file that is being made")
	db := other(t, w.path)
	rows, err := db.QueryContext(t.Context(), "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'history_fts_%' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
	require.NoError(t, err)
	defer rows.Close()
	var made []string
	for rows.Next() {
		var kind, name string
		require.NoError(t, rows.Scan(&kind, &name))
		made = append(made, kind+" "+name)
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []string{"table history", "index idx_history_created_at", "table history_fts", "trigger history_ai"}, made)
	require.NotContains(t, one[string](t, db, "SELECT group_concat(sql) FROM sqlite_master"), "unixepoch(", "a program would rebuild the table")
	require.Equal(t, "wal", one[string](t, db, "PRAGMA journal_mode"))
	require.Equal(t, 0, one[int](t, db, "PRAGMA user_version"))
	columns := one[string](t, db, `SELECT group_concat(name || ' ' || type || ' ' || "notnull" || ' ' || pk, ', ') FROM pragma_table_info('history')`)
	require.Equal(t, "id INTEGER 0 1, prompt TEXT 1 0, created_at INTEGER 1 0, cwd TEXT 0 0", columns)
	run(t, db, "INSERT INTO history (prompt) VALUES ('of another program')")
	require.InDelta(t, time.Now().Unix(), one[int64](t, db, "SELECT created_at FROM history"), 60, "the default is a time")
	require.Equal(t, []string{"of another program"}, w.search(t, "anoth prog"), "the trigger fills the index")
}

// A store that is not used makes nothing, and neither does a search.
func TestNothingIsMadeBeforeItIsNeeded(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	require.Empty(t, w.recent(t, 10))
	require.Empty(t, w.search(t, "x"))
	w.say("", "  ", "\n\t", " with a space before it")
	w.flush(t)
	require.NoDirExists(t, filepath.Dir(w.path))
}

func TestPromptsAreRecorded(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("one", "\n two \t", "three")
	w.flush(t)
	entries, err := w.Recent(t.Context(), 10, "")
	require.NoError(t, err)
	require.Equal(t, []string{"three", "two", "one"}, texts(entries))
	require.Equal(t, "/w", entries[0].Cwd)
	require.True(t, entries[0].Created.Equal(w.clock.Now()))
	db := other(t, w.path)
	requireWhole(t, db)
	require.Equal(t, w.clock.Now().Unix(), one[int64](t, db, "SELECT max(created_at) FROM history"), "seconds, as the programs write them")
}

// Only neighbours count as duplicates: of this process, or the newest of any other.
// Proves: X-219
func TestConsecutiveDuplicatesAreSkipped(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("a", "a", "b", "a")
	w.flush(t)
	require.Equal(t, []string{"a", "b", "a"}, w.recent(t, 10))
	db := other(t, w.path)
	run(t, db, fmt.Sprintf("INSERT INTO history (prompt, created_at) VALUES ('theirs', %d)", w.clock.Now().Unix()+1))
	w.clock.add(time.Second)
	w.say("theirs")
	w.flush(t)
	require.Equal(t, []string{"theirs", "a", "b", "a"}, w.recent(t, 10), "the newest of another program")
	run(t, db, fmt.Sprintf("INSERT INTO history (prompt, created_at) VALUES ('more', %d)", w.clock.Now().Unix()+1))
	w.clock.add(time.Second)
	w.say("theirs")
	w.flush(t)
	require.Equal(t, []string{"more", "theirs", "a", "b", "a"}, w.recent(t, 10), "our own last one, as in the programs")
}

// Proves: X-219
func TestTheRestartKnowsTheNewest(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("same")
	require.NoError(t, w.Close(t.Context()))
	again := open(t, w.path)
	again.say("same")
	again.flush(t)
	require.Equal(t, []string{"same"}, again.recent(t, 10))
}

// A store that was closed opens again when it is used.
func TestClosedAndUsedAgain(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("one")
	require.NoError(t, w.Close(t.Context()))
	require.NoFileExists(t, w.path+"-wal", "the last to close leaves one file")
	w.say("two")
	w.flush(t)
	require.Equal(t, []string{"two", "one"}, w.recent(t, 10))
}

// Proves: X-222
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	for i := range 1010 {
		w.say(fmt.Sprintf("prompt %d", i))
		if i%500 == 499 {
			w.flush(t)
		}
	}
	w.flush(t)
	for limit, want := range map[int]int{-5: 0, 0: 0, 3: 3, 1000: 1000, 1001: 1000} {
		require.Len(t, w.recent(t, limit), want, limit)
		entries, err := w.Search(t.Context(), "prom", limit, "")
		require.NoError(t, err)
		require.Len(t, entries, want, limit)
	}
	require.Equal(t, []string{"prompt 1009", "prompt 1008"}, w.recent(t, 2))
}

// A search finds a prompt before it is in the database.
// Proves: X-221
func TestSearchFindsUnwrittenPrompts(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("in the database")
	w.flush(t)
	db := other(t, w.path)
	run(t, db, "BEGIN IMMEDIATE") // from now on nothing can be written
	w.say("waits for the lock", "waits for it, too")
	require.Equal(t, []string{"waits for it, too", "waits for the lock", "in the database"}, w.recent(t, 10))
	require.Equal(t, []string{"waits for the lock"}, w.search(t, "Wait lock"))
	run(t, db, "COMMIT")
	w.flush(t)
	require.Equal(t, []string{"waits for it, too", "waits for the lock", "in the database"}, w.recent(t, 10))
}

func TestOneDirectory(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	for i := range 6 {
		w.clock.add(time.Second)
		w.Add(history.Prompt{Text: fmt.Sprintf("fix %d", i), Cwd: fmt.Sprintf("/%d", i%2)})
	}
	w.flush(t)
	entries, err := w.Recent(t.Context(), 10, "/1")
	require.NoError(t, err)
	require.Equal(t, []string{"fix 5", "fix 3", "fix 1"}, texts(entries))
	entries, err = w.Search(t.Context(), "fix", 2, "/0")
	require.NoError(t, err)
	require.Equal(t, []string{"fix 4", "fix 2"}, texts(entries))
	entries, err = w.Search(t.Context(), "fix", 2, "/nowhere")
	require.NoError(t, err)
	require.Empty(t, entries)
}

// Prompts can hold secrets: other users must not read them, regardless of which program made the
// file.
// Proves: X-217
func TestTheFileIsPrivate(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("secret")
	w.flush(t)
	for _, name := range []string{w.path, w.path + "-wal", w.path + "-shm"} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
	info, err := os.Stat(filepath.Dir(w.path))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	run(t, other(t, w.path), "INSERT INTO history (prompt) VALUES ('theirs')") // and stays open, so that the files stay
	require.NoError(t, w.Close(t.Context()))
	for _, name := range []string{w.path, w.path + "-wal", w.path + "-shm"} {
		require.NoError(t, os.Chmod(name, 0o664)) // as another program makes it
	}
	again := open(t, w.path)
	again.say("more")
	again.flush(t)
	for _, name := range []string{w.path, w.path + "-wal", w.path + "-shm"} {
		info, err = os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}

// A path can hold characters with a meaning in addresses.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a?b#c%20d é", "history.db")
	w := open(t, path)
	w.say("hello")
	w.flush(t)
	require.FileExists(t, path)
	require.Equal(t, []string{"hello"}, w.recent(t, 1))
}

// The text of a prompt is stored unchanged, with any content.
// Proves: X-220
func TestOddPrompts(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	long := strings.Repeat("0123456789abcde\n", 1<<16) + "END" // 1 MiB and three bytes
	given := []string{"nul \x00 inside", "lone \xed\xa0\x80 surrogate", "broken \xff byte", "\ufefftrimmed\u3000", "kept\u0085", long}
	w.say(given[0], "", "\t", "\n\u3000\ufeff", "\x0b\r")
	w.say(given[1:]...)
	w.flush(t)
	got := w.recent(t, 10)
	require.Len(t, got, len(given), "blank ones are not recorded")
	require.Equal(t, "nul \x00 inside", got[5])
	require.Equal(t, "lone \uFFFD surrogate", got[4])
	require.Equal(t, "broken \uFFFD byte", got[3])
	require.Equal(t, "trimmed", got[2])
	require.Equal(t, "kept\u0085", got[1], "no white space in JavaScript")
	require.Len(t, got[0], 1<<20)
	require.True(t, strings.HasSuffix(got[0], fmt.Sprintf("\n[cut: the prompt has %d bytes]", len(long))), "the end of the text reports it")
	requireWhole(t, other(t, w.path))
}

func TestANilStore(t *testing.T) {
	t.Parallel()
	var s *history.Store
	s.Prepare()
	s.Add(history.Prompt{Text: "x"})
	s.Say(history.Prompt{Text: "x"}).Answered()
	require.Empty(t, s.Offer(""))
	require.Empty(t, s.Unanswered("", ""))
	entries, err := s.Recent(t.Context(), 10, "")
	require.NoError(t, err)
	require.Empty(t, entries)
	require.NoError(t, s.Flush(t.Context()))
	require.NoError(t, s.Close(t.Context()))
}

// A user may delete the file, and another program may put a new one in its place, while it is open.
func TestTheFileIsReplaced(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("lost with the file")
	w.flush(t)
	for _, end := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.Remove(w.path+end))
	}
	w.say("kept")
	w.flush(t)
	require.Equal(t, []string{"kept"}, w.recent(t, 10))
	require.Equal(t, "kept", one[string](t, other(t, w.path), "SELECT prompt FROM history"))

	fresh := filepath.Join(t.TempDir(), "history.db")
	run(t, other(t, fresh), "CREATE TABLE history (id INTEGER PRIMARY KEY, prompt TEXT NOT NULL, created_at INTEGER NOT NULL, cwd TEXT)",
		"INSERT INTO history (prompt, created_at) VALUES ('from the new file', 1)")
	for _, end := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.Remove(w.path+end))
	}
	require.NoError(t, os.Rename(fresh, w.path))
	w.say("behind it")
	w.flush(t)
	require.Equal(t, []string{"behind it", "from the new file"}, w.recent(t, 10))
	require.Equal(t, []string{"from the new file"}, w.search(t, "fro new"), "an index that is made late holds all")
	assert.Empty(t, w.warnings())
}

// A context that ends is an error of the call only.
func TestACallThatIsCancelled(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("x")
	w.flush(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Recent(ctx, 10, "")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"x"}, w.recent(t, 10))
	require.Equal(t, []string{"x"}, w.search(t, "x"))
	require.NotEqual(t, fault.IO, fault.KindOf(err))
}
