package bench_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/history"
)

// historyOf returns a store with n prompts of 5 to 24 words from a vocabulary in which a few
// words are in almost every prompt, as in a language. The words are those at the ranks given.
func historyOf(b *testing.B, n int, ranks ...int) (s *history.Store, words []string) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "history.db")
	s = history.Open(history.Config{Path: path})
	s.Prepare()
	_, err := s.Recent(b.Context(), 1, "")
	require.NoError(b, err)
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]string, 3000)
	for i := range all {
		word := make([]byte, 3+r.IntN(7))
		for j := range word {
			word[j] = byte('a' + r.IntN(26))
		}
		all[i] = string(word)
	}
	zipf := rand.NewZipf(r, 1.1, 5, uint64(len(all)-1))
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(b, err)
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(b.Context(), nil)
	require.NoError(b, err)
	for i := range n {
		prompt := make([]string, 5+r.IntN(20))
		for j := range prompt {
			prompt[j] = all[zipf.Uint64()]
		}
		_, err := tx.ExecContext(b.Context(), "INSERT INTO history (prompt, created_at, cwd) VALUES (?, ?, ?)",
			strings.Join(prompt, " "), 1_700_000_000+i*7, fmt.Sprintf("/home/dev/p%d", r.IntN(30)))
		require.NoError(b, err)
	}
	require.NoError(b, tx.Commit())
	require.NoError(b, db.Close())
	for _, rank := range ranks {
		words = append(words, all[rank])
	}
	return s, words
}

// BenchmarkHistory measures the request of an editor while a user types: xcsh.history over 100,000
// prompts, from the command to the JSON of its answer. The limit is 20 ms.
func BenchmarkHistory(b *testing.B) {
	s, words := historyOf(b, 100_000, 0, 1, 200, 2500)
	env := &commands.Env{Sessions: agent.NewManager(agent.Config{Storage: agent.Storage{History: s}}), Folders: func() []string { return []string{"/home/dev/p3"} }}
	for _, q := range []struct{ name, query, scope string }{
		{"Recent", "", "all"},
		{"RecentOfAFolder", "", "folder"},
		{"TheCommonestWord", words[0], "all"},
		{"TwoCommonWords", words[0] + " " + words[1], "all"},
		{"AWord", words[2], "all"},
		{"ARareWord", words[3], "all"},
		{"OneLetter", "a", "all"},
		{"TwoLetters", words[2][:2], "all"},
		{"Nothing", "qqqqqq", "all"},
		{"AWordInAFolder", words[2], "folder"},
	} {
		args, err := json.Marshal(map[string]string{"query": q.query, "scope": q.scope})
		require.NoError(b, err)
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := commands.Default.Execute(b.Context(), env, "xcsh.history", []json.RawMessage{args})
				require.NoError(b, err)
				_, err = json.Marshal(r)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkHistoryAdd measures the time to record a prompt.
func BenchmarkHistoryAdd(b *testing.B) {
	s := history.Open(history.Config{Path: filepath.Join(b.TempDir(), "history.db"), Unanswered: filepath.Join(b.TempDir(), "unanswered")})
	s.Prepare()
	n := 0
	for b.Loop() {
		n++
		s.Say(history.Prompt{Text: fmt.Sprintf("prompt %d", n), Cwd: "/w"}).Answered()
	}
}
