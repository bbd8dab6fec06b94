package history_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// requireOff checks the effects of an unusable history: it is reported once, new prompts can be
// found for as long as the process lives, and the file stays.
func requireOff(t *testing.T, w *world, kind fault.Kind) {
	t.Helper()
	before, _ := os.ReadFile(w.path)
	w.Prepare()
	w.say("first", "second")
	err := w.Flush(t.Context())
	require.Equal(t, kind, fault.KindOf(err), err)
	require.Contains(t, err.Error(), w.path)
	w.say("third")
	require.Error(t, w.Flush(t.Context()))
	entries, err := w.Recent(t.Context(), 10, "")
	require.Equal(t, kind, fault.KindOf(err), err)
	require.Equal(t, []string{"third", "second", "first"}, texts(entries))
	entries, err = w.Search(t.Context(), "sec", 10, "")
	require.Error(t, err)
	require.Equal(t, []string{"second"}, texts(entries))
	require.Len(t, w.warnings(), 1)
	require.Contains(t, w.warnings()[0], w.path)
	require.Error(t, w.Close(t.Context()))
	after, _ := os.ReadFile(w.path)
	require.True(t, bytes.Equal(before, after), "the file stays as it is")
}

// Proves: F-32
func TestRandomBytes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	content := make([]byte, 64<<10)
	_, err := rand.Read(content)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	requireOff(t, open(t, path), fault.Damaged)
}

func TestAnEmptyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	w := open(t, path)
	w.say("x")
	w.flush(t)
	require.Equal(t, []string{"x"}, w.recent(t, 10))
}

func TestADirectoryInItsPlace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	require.NoError(t, os.Mkdir(path, 0o700))
	requireOff(t, open(t, path), fault.IO)
}

func TestAFileInPlaceOfItsDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "agent")
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	w := open(t, filepath.Join(dir, "history.db"))
	w.say("x")
	require.Error(t, w.Flush(t.Context()))
	require.Len(t, w.warnings(), 1)
	require.Equal(t, fault.IO, fault.KindOf(w.Problem()))
}

// Overwritten pages make some statement or other fail. Whichever it is, the store continues: every
// call returns, and each prompt is found or the user was warned.
// Proves: F-32
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	const page = 4096
	made := newStore(t)
	for i := range 400 {
		made.say(fmt.Sprintf("prompt %d with some words to fill the pages of the table and of the index %d", i, i*7919))
	}
	made.flush(t)
	require.NoError(t, made.Close(t.Context()))
	whole, err := os.ReadFile(made.path)
	require.NoError(t, err)
	require.Greater(t, len(whole)/page, 10)
	for n := range len(whole) / page {
		damaged := bytes.Clone(whole)
		from := n * page
		if n == 0 {
			from = 100 // after the header: a page that looks like one
		}
		for i := from; i < (n+1)*page; i++ {
			damaged[i] = byte(i * 31)
		}
		path := filepath.Join(t.TempDir(), "history.db")
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		w := open(t, path)
		w.clock.add(time.Hour) // after all existing prompts
		w.say("said to a damaged database")
		flushed := w.Flush(t.Context())
		found, err := w.Recent(t.Context(), 10, "")
		if err == nil {
			require.Contains(t, texts(found), "said to a damaged database", "page %d", n)
		}
		if flushed != nil {
			require.Len(t, w.warnings(), 1, "page %d", n)
			require.Contains(t, texts(found), "said to a damaged database", "page %d", n)
		}
		_, _ = w.Search(t.Context(), "prompt wor", 100, "") // returns
		_ = w.Close(t.Context())
	}
}

// Another program holds the lock for longer than any timeout: new prompts do not wait, nothing is
// lost, and each has the time at which it was sent.
// Proves: X-221
func TestLockedForTenSeconds(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("before")
	w.flush(t)
	db := other(t, w.path)
	run(t, db, "BEGIN IMMEDIATE", "INSERT INTO history (prompt, created_at) VALUES ('theirs', 1)")
	for i := range 500 {
		w.say(fmt.Sprintf("while locked %d", i))
	}
	// If recording waited for the lock, each prompt would take five seconds, and the test never got here.
	require.Equal(t, []string{"while locked 499"}, w.recent(t, 1))
	for range 2 {
		require.Equal(t, fault.Busy, fault.KindOf(w.Flush(t.Context())), "gives up after five seconds")
	}
	run(t, db, "COMMIT")
	w.flush(t)
	require.Equal(t, 502, one[int](t, db, "SELECT count(*) FROM history"))
	require.Equal(t, w.clock.Now().Unix(), one[int64](t, db, "SELECT max(created_at) FROM history"))
	require.Empty(t, w.warnings())
	requireWhole(t, db)
}

// A lock that is held while the program ends costs the unwritten prompts, but does not delay the
// end by the five seconds that a write waits for it. A busy machine makes some attempts slow.
func TestClosingALockedDatabase(t *testing.T) {
	t.Parallel()
	for range 5 {
		if closeLocked(t) < 3*time.Second {
			return
		}
	}
	require.Fail(t, "closing waits for the lock")
}

// closeLocked returns how long it takes to close a store whose database is locked.
func closeLocked(t *testing.T) time.Duration {
	t.Helper()
	w := newStore(t)
	w.say("before")
	w.flush(t)
	db := other(t, w.path)
	run(t, db, "BEGIN IMMEDIATE")
	w.say("not written")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	require.Equal(t, fault.Busy, fault.KindOf(w.Close(ctx)))
	took := time.Since(began)
	run(t, db, "ROLLBACK")
	w.flush(t)
	require.Equal(t, []string{"not written", "before"}, w.recent(t, 10))
	return took
}

// Whichever step around the database fails, the store works or reports it, once.
func TestEveryStepThatFails(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		faulty := &st.FaultFs{Fs: afero.NewOsFs(), At: at, Mode: st.Dead}
		w := open(t, filepath.Join(t.TempDir(), "agent", "history.db"), func(c *history.Config) { c.Fs = faulty })
		w.say("x")
		err := w.Flush(t.Context())
		if !faulty.Fired() {
			require.NoError(t, err)
			require.Greater(t, at, 2)
			return
		}
		if err != nil {
			require.Len(t, w.warnings(), 1, at)
		}
		entries, _ := w.Recent(t.Context(), 10, "")
		require.Equal(t, []string{"x"}, texts(entries), at)
	}
}
