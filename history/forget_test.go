package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

func (w *world) forget(t *testing.T, f history.Forgetting) int {
	t.Helper()
	gone, err := w.Forget(t.Context(), f)
	require.NoError(t, err)
	return gone
}

// Proves: N-04
func TestForgetting(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	require.Equal(t, 0, w.forget(t, history.Forgetting{All: true}), "an empty history")
	_, err := os.Stat(w.path)
	require.ErrorIs(t, err, os.ErrNotExist, "and nothing is made")
	w.say("one secret", "two", "three secret", "two", "four")
	w.flush(t)
	entries, err := w.Recent(t.Context(), 10, "")
	require.NoError(t, err)
	require.Equal(t, 1, w.forget(t, history.Forgetting{IDs: []int64{entries[2].ID, 0, -1, 4711}}))
	require.Equal(t, []string{"four", "two", "two", "one secret"}, w.recent(t, 10))
	require.Equal(t, []string{"one secret"}, w.search(t, "secret"))
	require.Equal(t, 2, w.forget(t, history.Forgetting{Prompts: []string{"two", "Four", "tw"}}), "exactly these texts")
	require.Equal(t, 1, w.forget(t, history.Forgetting{Prompts: []string{"four"}, IDs: []int64{entries[0].ID}}), "counted once")
	requireWhole(t, other(t, w.path))
	w.say("four")
	w.flush(t)
	require.Equal(t, []string{"four", "one secret"}, w.recent(t, 10), "a forgotten prompt can be recorded again")
	theirs := other(t, w.path)
	const search = `SELECT group_concat(rowid) FROM history_fts WHERE history_fts MATCH '"secret"* OR "all"*'`
	require.Equal(t, "1", one[string](t, theirs, search))
	require.Equal(t, 2, w.forget(t, history.Forgetting{All: true}))
	require.Empty(t, w.recent(t, 10))
	require.Empty(t, w.search(t, "secret"))
	run(t, theirs, "INSERT INTO history (id, prompt) VALUES (100, 'all of theirs')")
	require.Equal(t, "100", one[string](t, theirs, search), "an open connection continues")
	w.clock.add(100 * 365 * 24 * time.Hour)
	w.say("after all")
	w.flush(t)
	require.Equal(t, []string{"after all", "all of theirs"}, w.search(t, "all"))
	requireWhole(t, other(t, w.path))
}

// After a compaction, forgotten prompts are not in the bytes of the files either.
// Proves: N-04
func TestForgottenBytes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		forget history.Forgetting
		sought string
	}{
		"the text of one":       {history.Forgetting{Prompts: []string{"the password is Xyzzy-4711"}, Compact: true}, "Xyzzy-4711"},
		"the text of all":       {history.Forgetting{All: true, Compact: true}, "Xyzzy-4711"},
		"one word in the index": {history.Forgetting{Prompts: []string{"the password is Xyzzy-4711"}, Compact: true}, "xyzzy"},
		"all of the index":      {history.Forgetting{All: true, Compact: true}, "xyzzy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newStore(t)
			w.say("the password is Xyzzy-4711")
			for i := range 300 {
				w.say(fmt.Sprintf("prompt %d", i))
			}
			w.flush(t)
			require.True(t, inFiles(t, w.path, tc.sought))
			require.Positive(t, w.forget(t, tc.forget))
			require.False(t, inFiles(t, w.path, tc.sought))
			requireWhole(t, other(t, w.path))
		})
	}
	t.Run("without a new file", func(t *testing.T) {
		t.Parallel()
		w := newStore(t)
		w.say("one", "the password is Xyzzy-4711", "two")
		w.flush(t)
		require.Equal(t, 1, w.forget(t, history.Forgetting{Prompts: []string{"the password is Xyzzy-4711"}}))
		require.False(t, inFiles(t, w.path, "Xyzzy-4711"))
	})
}

func inFiles(t *testing.T, path, text string) bool {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(content), text) {
			return true
		}
	}
	return false
}

func TestForgettingInADatabaseWithoutDuplicates(t *testing.T) {
	t.Parallel()
	path, db := countingDatabase(t)
	run(t, db, "INSERT INTO history (prompt, created_at, use_count) VALUES ('old', 1000, 3), ('newer', 2000, 1), ('newest', 3000, 1)")
	w := open(t, path)
	before := schemaOf(t, path)
	require.Equal(t, 2, w.forget(t, history.Forgetting{IDs: []int64{1}, Prompts: []string{"newest"}}))
	require.Equal(t, []string{"newer"}, w.recent(t, 10))
	w.say("old")
	w.flush(t)
	require.Equal(t, 1, one[int](t, db, "SELECT use_count FROM history WHERE prompt = 'old'"))
	requireWhole(t, db)
	require.Equal(t, before, schemaOf(t, path))
}

// The store does not remove rows of an index that a trigger of another version keeps up to date.
func TestForgettingWithATriggerForIt(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("one", "two", "three")
	w.flush(t)
	db := other(t, w.path)
	run(t, db, `CREATE TRIGGER history_ad AFTER  DELETE
		ON history BEGIN INSERT INTO history_fts (history_fts, rowid, prompt) VALUES ('delete', old.id, old.prompt); END`)
	require.Equal(t, 1, w.forget(t, history.Forgetting{Prompts: []string{"two"}}))
	requireWhole(t, db)
	require.Equal(t, 2, w.forget(t, history.Forgetting{All: true}))
	requireWhole(t, other(t, w.path))
}

// An index that is damaged or missing is no reason to keep a secret.
func TestForgettingWithABrokenIndex(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string][]string{
		"damaged": {"UPDATE history_fts_data SET block = x'00ff' WHERE id = 10"},
		"gone":    {"DROP TRIGGER history_ai", "DROP TABLE history_fts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range []history.Forgetting{{Prompts: []string{"secret"}}, {All: true}} {
				path := filepath.Join(t.TempDir(), "history.db")
				w := open(t, path)
				w.say("secret", "another")
				w.flush(t)
				run(t, other(t, path), breaks...)
				require.Positive(t, w.forget(t, f))
				require.NotContains(t, w.recent(t, 10), "secret")
				require.Equal(t, "ok", one[string](t, other(t, path), "PRAGMA integrity_check(1)"))
			}
		})
	}
}

// Another program that holds the lock is waited for; if it does not release the lock, nothing is
// forgotten.
func TestForgettingInALockedDatabase(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("one")
	w.flush(t)
	db := other(t, w.path)
	run(t, db, "BEGIN IMMEDIATE")
	w.say("waits")
	_, err := w.Forget(t.Context(), history.Forgetting{All: true})
	require.Equal(t, fault.Busy, fault.KindOf(err), err)
	require.Equal(t, []string{"waits", "one"}, w.recent(t, 10))
	run(t, db, "ROLLBACK")
	require.Equal(t, 2, w.forget(t, history.Forgetting{All: true}))
	w.flush(t)
	require.Empty(t, w.recent(t, 10))
	require.Empty(t, w.warnings())
}

// Forgetting removes unanswered prompts, too, but not those that wait for their answer.
func TestForgettingUnansweredPrompts(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]history.Forgetting{
		"these": {Prompts: []string{"left", "offered", "running"}},
		"all":   {All: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			w := keeper(t, fs)
			say(w, "offered")
			dies(t, fs, 4711)
			require.Len(t, w.Offer("/w"), 1)
			gone := keeper(t, fs)
			say(gone, "left")
			say(gone, "of a living one")
			list := names(t, fs)
			require.Len(t, list, 3)
			require.NoError(t, fs.Rename(filepath.Join(journalDir, list[2]), filepath.Join(journalDir, "4712-cafe.json")))
			running := say(w, "running")
			require.Positive(t, w.forget(t, f))
			for _, e := range w.Unanswered("", "") {
				require.NotEqual(t, "offered", e.Prompt)
			}
			running.Answered()
		})
	}
}

// An unusable history still forgets its prompts.
func TestForgettingWithoutADatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600))
	w := open(t, path)
	w.say("secret")
	_ = w.Flush(t.Context())
	gone, err := w.Forget(t.Context(), history.Forgetting{Prompts: []string{"secret"}})
	require.Equal(t, fault.Damaged, fault.KindOf(err), err)
	require.Equal(t, 1, gone)
	entries, _ := w.Recent(t.Context(), 10, "")
	require.Empty(t, entries)
	var none *history.Store
	gone, err = none.Forget(t.Context(), history.Forgetting{All: true})
	require.NoError(t, err)
	require.Zero(t, gone)
}

// Other processes write while this one forgets: none of their prompts is lost, and the index stays
// right.
// Proves: N-04
func TestForgettingBesideAWriter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	w := open(t, path)
	w.Prepare()
	cmd := child(t, "many", path, "a500")
	require.NoError(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	forgotten := 0
	for running := true; running; {
		select {
		case err := <-done:
			require.NoError(t, err)
			running = false
		case <-time.After(time.Millisecond):
		}
		text := fmt.Sprintf("mine %d", forgotten)
		w.say(text)
		w.flush(t)
		require.Equal(t, 1, w.forget(t, history.Forgetting{Prompts: []string{text}}))
		forgotten++
	}
	db := other(t, path)
	require.Equal(t, 500, one[int](t, db, "SELECT count(*) FROM history"))
	requireWhole(t, db)
}
