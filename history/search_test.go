package history_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/history"
)

// The results of the terminal programs, and queries that they do not support (marked so).
// Proves
func TestSearch(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	prompts := []string{
		"Hello world", "I don't know", "look at bar.ts", "a snake case_name here", "explain c++ templates", "not x or y near z prompt",
		"日本語のテスト", "a café on the corner", "100% sure", "100 surely", "thumbs 👍 up", `say "hi" to foo-bar`, `back\slash_and%`,
	}
	w.say(prompts...)
	w.flush(t)
	for query, want := range map[string][]string{
		"HEL":              {"Hello world"},
		"hello*":           {"Hello world"},
		"^hello":           {"Hello world"},
		"wor hel":          {"Hello world"},
		"world\u3000hello": {"Hello world"},
		"orld":             {},
		"don't":            {"I don't know"},
		"dont":             {},
		"bar.ts":           {"look at bar.ts"},
		"case_name":        {"a snake case_name here"},
		"foo-bar":          {`say "hi" to foo-bar`},
		`"hi"`:             {`say "hi" to foo-bar`},
		`"`:                {`say "hi" to foo-bar`}, // the programs: nothing
		"c++ templ":        {"explain c++ templates"},
		"-- hello":         {"Hello world"},
		"NOT x":            {"not x or y near z prompt"},
		"OR":               {"not x or y near z prompt"},
		"NEAR(z)":          {"not x or y near z prompt"},
		"prompt:x":         {},
		"日本":               {"日本語のテスト"},
		"本語":               {"日本語のテスト"}, // the programs: nothing
		"本語 hello":         {},
		"cafe":             {"a café on the corner"},
		"CAFÉ":             {"a café on the corner"},
		"👍":                {"thumbs 👍 up"}, // the programs: nothing
		"👍 thumb":          {"thumbs 👍 up"},
		"%":                {`back\slash_and%`, "100% sure"}, // the programs: nothing
		`\`:                {`back\slash_and%`},              // the programs: nothing
		"_":                {`back\slash_and%`, "a snake case_name here"},
		"hel\x00lo":        {"Hello world"}, // the programs: nothing
		"hello\xff":        {"Hello world"},
		"":                 {},
		" \t\n\u2003":      {},
		"nowhere":          {},
		"100% sur":         {"100 surely", "100% sure"},
	} {
		require.Equal(t, want, w.search(t, query), query)
	}
}

// No query is too long, and none is code.
// Proves: X-223
func TestHostileQueries(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("drop everything")
	w.flush(t)
	for _, query := range []string{
		"'; DROP TABLE history; --", `"; DROP TABLE history; --`, strings.Repeat("drop ", 100_000), strings.Repeat("é", 100_000),
		strings.Repeat(`"`, 5000), "(((((", "drop AND NOT OR *", "{a b}:drop", "drop^2", "NEAR(drop everything, 2)", strings.Repeat("%", 5000),
		strings.Repeat("漢", 5000),
	} {
		_, err := w.Search(t.Context(), query, 100, "")
		require.NoError(t, err, query[:min(len(query), 40)])
	}
	require.Equal(t, []string{"drop everything"}, w.search(t, strings.Repeat("drop ", 100_000)))
	requireWhole(t, other(t, w.path))
}

// The newest time comes first, also where the rows are not in the order of their times: a
// clock was set back, or a row was used again.
// Proves: X-222
func TestSearchIsInTheOrderOfTime(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.Prepare()
	require.Empty(t, w.recent(t, 1))
	db := other(t, w.path)
	r := rand.New(rand.NewPCG(1, 2))
	at := int64(1_700_000_000)
	run(t, db, "BEGIN")
	for i := range 2000 {
		when := at + int64(i/3)
		if r.IntN(100) == 0 {
			when += int64(r.IntN(2000)) - 1000
		}
		run(t, db, fmt.Sprintf("INSERT INTO history (prompt, created_at) VALUES ('word%d common %d', %d)", r.IntN(7), i, when))
	}
	run(t, db, "COMMIT")
	for _, limit := range []int{1, 7, 100, 1000} {
		require.Equal(t, wanted(t, w, "", limit), w.recent(t, limit))
	}
	for _, query := range []string{"common", "word3", "wor com", "word1 common 1"} {
		for _, limit := range []int{1, 7, 100, 1000} {
			got, err := w.Search(t.Context(), query, limit, "")
			require.NoError(t, err)
			require.Equal(t, wanted(t, w, query, limit), texts(got), "%s, %d", query, limit)
		}
	}
}

// wanted returns the expected result of a search, by checking all prompts.
func wanted(t *testing.T, w *world, query string, limit int) []string {
	t.Helper()
	rows, err := other(t, w.path).QueryContext(t.Context(), "SELECT prompt FROM history ORDER BY created_at DESC, id DESC")
	require.NoError(t, err)
	defer rows.Close()
	list := []string{}
	for rows.Next() && len(list) < limit {
		var prompt string
		require.NoError(t, rows.Scan(&prompt))
		has := true
		for term := range strings.FieldsSeq(query) {
			has = has && strings.Contains(" "+prompt, " "+term)
		}
		if has {
			list = append(list, prompt)
		}
	}
	require.NoError(t, rows.Err())
	return list
}

// Without its index the table is searched.
func TestSearchWithoutAnIndex(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("hello world", "good bye")
	w.flush(t)
	run(t, other(t, w.path), "DROP TRIGGER history_ai", "DROP TABLE history_fts")
	require.Equal(t, []string{"hello world"}, w.search(t, "hel"))
	require.Empty(t, w.search(t, "hel bye"))
}

// A search does not wait for a write that waits for another program.
func TestASearchOvertakesAWrite(t *testing.T) {
	t.Parallel()
	w := newStore(t)
	w.say("before")
	w.flush(t)
	db := other(t, w.path)
	run(t, db, "BEGIN IMMEDIATE")
	for range 20 {
		w.say("waits")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // a write waits for five
		entries, err := w.Search(ctx, "bef", 10, "")
		cancel()
		require.NoError(t, err)
		require.Equal(t, []string{"before"}, texts(entries))
	}
	run(t, db, "ROLLBACK")
	w.flush(t)
	require.Equal(t, []string{"waits", "before"}, w.recent(t, 10))
}

func FuzzSearch(f *testing.F) {
	f.Add(`"don't" c++ 日本 %_\`, "text")
	f.Add("\x00\xff*^NEAR(", "a\x00b")
	w := history.Open(history.Config{Path: f.TempDir() + "/history.db"})
	f.Cleanup(func() { _ = w.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, query, prompt string) {
		w.Add(history.Prompt{Text: prompt})
		require.NoError(t, w.Flush(t.Context()))
		_, err := w.Search(t.Context(), query, 10, "")
		require.NoError(t, err)
	})
}
