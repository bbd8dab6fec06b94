package bench_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/history"
)

// countingSchema is the schema of a database that stores each prompt once.
var countingSchema = []string{
	"PRAGMA journal_mode = WAL",
	"CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL DEFAULT (unixepoch()), cwd TEXT, session_id TEXT, use_count INTEGER NOT NULL DEFAULT 1)",
	"CREATE INDEX idx_history_created_at ON history (created_at DESC)",
	"CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id')",
	"CREATE TRIGGER history_ai AFTER INSERT ON history BEGIN INSERT INTO history_fts (rowid, prompt) VALUES (new.id, new.prompt); END",
}

// pastOf fills a database with n prompts and returns its store and the vocabulary, the
// commonest word first. With few words each of them is in thousands of prompts. Prompts of
// folder p0 are every thirtieth, of "rare" every thousandth. In a database that counts one in
// five prompts is used again later.
func pastOf(b *testing.B, n, vocabulary int, counting bool) (*history.Store, []string) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "history.db")
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(b, err)
	db.SetMaxOpenConns(1)
	exec := func(statement string, args ...any) {
		_, err := db.ExecContext(b.Context(), statement, args...)
		require.NoError(b, err)
	}
	if counting {
		for _, statement := range countingSchema {
			exec(statement)
		}
	} else {
		s := history.Open(history.Config{Path: path})
		s.Prepare()
		_, err := s.Recent(b.Context(), 1, "")
		require.NoError(b, err)
		require.NoError(b, s.Close(b.Context()))
	}
	r := rand.New(rand.NewPCG(3, 4))
	words := make([]string, vocabulary)
	for i := range words {
		word := make([]byte, 3+r.IntN(7))
		for j := range word {
			word[j] = byte('a' + r.IntN(26))
		}
		words[i] = string(word)
	}
	zipf := rand.NewZipf(r, 1.1, 5, uint64(len(words)-1))
	exec("BEGIN")
	for i := range n {
		prompt := make([]string, 5+r.IntN(20))
		for j := range prompt {
			prompt[j] = words[zipf.Uint64()]
		}
		cwd := fmt.Sprintf("/home/dev/p%d", i%30)
		if i%1000 == 0 {
			cwd = "/home/dev/rare"
		}
		exec("INSERT OR IGNORE INTO history (prompt, created_at, cwd) VALUES (?, ?, ?)", strings.Join(prompt, " "), 1_700_000_000+i*7, cwd)
		if counting && i%5 == 4 {
			exec("UPDATE history SET created_at = ? WHERE id = ?", 1_700_000_001+i*7, 1+r.IntN(i))
		}
	}
	exec("COMMIT")
	require.NoError(b, db.Close())
	return history.Open(history.Config{Path: path}), words
}

// asked returns typical queries: words and prefixes of words, common and rare, one and several.
func asked(words []string) (queries []string) {
	for rank := 0; rank < len(words); rank += 1 + rank/4 {
		word := words[rank]
		queries = append(queries, word[:1], word[:2], word[:3], word, word+" "+words[(rank+1)%len(words)][:2], words[0]+" "+word)
	}
	return append(queries, "a b", "the quick", "qqqq", words[0][:1]+" "+words[1][:1]+" "+words[2][:1])
}

// BenchmarkHistorySearch is xcsh.history over 100,000 prompts with some hundred queries, each
// three times of which the best counts: the median of the queries, and the slowest of them. The
// limit is 20 ms.
func BenchmarkHistorySearch(b *testing.B) {
	for _, shape := range []struct {
		name       string
		vocabulary int
		counting   bool
		cwd        string
	}{
		{"Plain", 3000, false, ""},
		{"PlainFewWords", 80, false, ""},
		{"PlainFolder", 3000, false, "/home/dev/p3"},
		{"PlainRareFolder", 3000, false, "/home/dev/rare"},
		{"Counting", 3000, true, ""},
		{"CountingFewWords", 80, true, ""},
		{"CountingFolder", 3000, true, "/home/dev/p3"},
		{"CountingRareFolder", 3000, true, "/home/dev/rare"},
	} {
		b.Run(shape.name, func(b *testing.B) {
			s, words := pastOf(b, 100_000, shape.vocabulary, shape.counting)
			env := &commands.Env{Sessions: agent.NewManager(agent.Config{Storage: agent.Storage{History: s}}), Folders: func() []string { return []string{shape.cwd} }}
			queries := asked(words)
			var took []time.Duration
			slowest := ""
			for b.Loop() {
				took = took[:0]
				for _, query := range queries {
					best := bestOf(b, env, query, shape.cwd)
					if len(took) == 0 || best > slices.Max(took) {
						slowest = query
					}
					took = append(took, best)
				}
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
			b.ReportMetric(took[len(took)*95/100].Seconds()*1000, "p95-ms")
			b.ReportMetric(took[len(took)-1].Seconds()*1000, "worst-ms")
			b.ReportMetric(0, "ns/op")
			b.Logf("%d queries; the slowest is %q", len(queries), slowest)
			require.NoError(b, s.Close(context.WithoutCancel(b.Context())))
		})
	}
}

// bestOf returns the best time of three runs.
func bestOf(b *testing.B, env *commands.Env, query, cwd string) time.Duration {
	b.Helper()
	a := map[string]string{"query": query, "scope": "all"}
	if cwd != "" {
		a["scope"] = "folder"
	}
	raw, err := json.Marshal(a)
	require.NoError(b, err)
	best := time.Hour
	for range 3 {
		began := time.Now()
		r, err := commands.Default.Execute(b.Context(), env, "xcsh.history", []json.RawMessage{raw})
		require.NoError(b, err)
		_, err = json.Marshal(r)
		require.NoError(b, err)
		best = min(best, time.Since(began))
	}
	return best
}
