package bench_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/bench"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// treeBound limits the time to request the tree of a session, as a multiple of indexing its file.
const treeBound = 25

// BenchmarkTree requests the tree of a long session, in turn with indexing its file.
func BenchmarkTree(b *testing.B) {
	b.Run("S2", func(b *testing.B) {
		_, path, s := single(b, "S2")
		askTree(b, path, s.Entries)
	})
	b.Run("100000 entries", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "2025-01-01T00-00-00-000Z_long.jsonl")
		require.NoError(b, os.WriteFile(path, []byte(bushy(100_000)), 0o600))
		askTree(b, path, 100_000)
	})
}

func askTree(b *testing.B, path string, entries int) {
	b.Helper()
	dir := b.TempDir()
	kit := bench.New(dir, dir)
	ed := newStage(b, answering(b, "", false))
	var answers, indexed []time.Duration
	for b.Loop() {
		begin := time.Now()
		doc, err := kit.Store.Load(path)
		require.NoError(b, err)
		indexed = append(indexed, time.Since(begin))
		require.NoError(b, doc.Close())

		begin = time.Now()
		raw, failure := ed.Exec("xcsh.tree", lsptest.Fields{"source": path})
		answers = append(answers, time.Since(begin))
		require.Nil(b, failure)
		var tree struct{ Nodes []struct{ ID string } }
		require.NoError(b, json.Unmarshal(raw, &tree))
		require.Len(b, tree.Nodes, entries)
	}
	ratio := float64(median(answers)) / float64(median(indexed))
	b.ReportMetric(ratio, "tree/index")
	b.ReportMetric(float64(median(answers).Microseconds())/1000, "tree-ms")
	if len(answers) >= 5 {
		require.Less(b, ratio, float64(treeBound))
	}
}

// bushy returns a session in which every eighth entry is the first of a new branch.
func bushy(entries int) string {
	var text strings.Builder
	text.WriteString(sessiontest.Header("long", "/w") + "\n")
	for i := range entries {
		parent := ""
		switch {
		case i > 0 && i%8 == 0:
			parent = fmt.Sprintf("%08x", i/2)
		case i > 0:
			parent = fmt.Sprintf("%08x", i-1)
		}
		id := fmt.Sprintf("%08x", i)
		if i%2 == 0 {
			text.WriteString(sessiontest.User(id, parent, "What is the answer to this?") + "\n")
		} else {
			text.WriteString(sessiontest.Assistant(id, parent, "It is this, and here is why.") + "\n")
		}
	}
	return text.String()
}
