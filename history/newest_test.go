package history_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

// pieces are the parts of prompts and queries: words, signs, and characters that a tokenizer folds,
// divides at or leaves out.
var pieces = []string{
	"a", "ab", "abc", "Abc", "B", "ba", "x1", "1", "42", "_", "-", "'", ".", "++", "c++", "don't", "bar.ts", "case_name",
	"é", "e\u0301", "café", "cafe", "CAFÉ", "über", "uber", "Ä", "ß", "İ", "Σ", "日本語", "日", "한국", "—", "…", "’", "“x”", "🙂", "a🙂b", "\u200b",
	"\u00a0", "\u00ad", "½", "²", "ﬁ", "\ue000", "\U0001d7d8", "ǆ", "क्ष", "a\tb", "a\nb",
}

func phraseOf(r *rand.Rand, most int) string {
	var b strings.Builder
	for range 1 + r.IntN(most) {
		b.WriteString(pieces[r.IntN(len(pieces))])
		if r.IntN(3) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Every way of searching finds the same as the index, in the order of time.
func TestSearchFindsAllMatchesOfTheIndex(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	path := filepath.Join(t.TempDir(), "history.db")
	w := open(t, path)
	w.Prepare()
	require.Empty(t, w.recent(t, 1))
	db := other(t, path)
	r := rand.New(rand.NewPCG(5, 6))
	run(t, db, "BEGIN")
	for i := range 3000 {
		prompt := phraseOf(r, 12)
		if i%80 == 0 {
			prompt += " seldom" // with a frequent phrase it is searched for in another way
		}
		_, err := db.ExecContext(t.Context(), "INSERT INTO history (prompt, created_at, cwd) VALUES (?, ?, ?)",
			prompt, 1000+r.IntN(2000), []string{"/a", "/b", "/a"}[r.IntN(3)])
		require.NoError(t, err)
	}
	run(t, db, "COMMIT")
	const statement = `SELECT h.id FROM history_fts f JOIN history h ON h.id = f.rowid
WHERE history_fts MATCH ? AND (? = '' OR h.cwd = ?) ORDER BY h.created_at DESC, h.id DESC LIMIT ?`
	checked := 0
	for i := range 600 {
		query := phraseOf(r, 3)
		if i%3 == 0 {
			query = "seld " + query
		}
		match, ok := matchOf(query)
		if !ok {
			continue
		}
		limit, cwd := []int{1, 10, 100, 1000}[r.IntN(4)], []string{"", "/a", "/b", "/none"}[r.IntN(4)]
		rows, err := db.QueryContext(t.Context(), statement, match, cwd, cwd, limit)
		require.NoError(t, err)
		var want, got []int64
		for rows.Next() {
			var id int64
			require.NoError(t, rows.Scan(&id))
			want = append(want, id)
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
		entries, err := w.Search(t.Context(), query, limit, cwd)
		require.NoError(t, err)
		for _, e := range entries {
			got = append(got, e.ID)
		}
		require.Equal(t, want, got, "%q in %q, %d", query, cwd, limit)
		checked++
	}
	require.Greater(t, checked, 100)
}

// matchOf is the expression of the terminal programs; ok is false for queries that they do not
// support.
func matchOf(query string) (match string, ok bool) {
	var terms []string
	for _, term := range strings.FieldsFunc(query, func(r rune) bool { return r == 0xA0 || unicode.IsSpace(r) }) {
		if strings.ContainsAny(term, "日本語한국🙂") { // which is found otherwise, or not searched for
			return "", false
		}
		terms = append(terms, `"`+term+`"*`)
	}
	match = strings.Join(terms, " ")
	return match, strings.ContainsAny(strings.ToLower(query), "abcdefghijklmnopqrstuvwxyz0123456789")
}

// Prompts that are large are left to the index.
func TestSearchAmongLargePrompts(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	long := strings.Repeat("word"+strings.Repeat("x", 95)+" ", 2500) // few words, which are quick to index
	for i := range 20 {
		w.Add(history.Prompt{Text: fmt.Sprintf("large %d %s", i, long)})
		w.flush(t) // each, because Flush gives up after a while on a busy machine
	}
	require.Len(t, w.search(t, "lar wor"), 20)
	require.Empty(t, w.search(t, "large nothing"))
}
