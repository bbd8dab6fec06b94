package bench_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The time limits of responses about a session document that was just edited, as multiples of scanning
// the text once. The edit itself copies the text twice.
var documentBounds = map[string]float64{
	"textDocument/hover":          0.75,
	"textDocument/documentSymbol": 3.5,
	"textDocument/foldingRange":   2.5,
}

// BenchmarkEditedDocument types a character in the middle of a session of 100 MB and requests
// information about it at once, in turn with scanning the whole text.
func BenchmarkEditedDocument(b *testing.B) {
	each(b, []string{"S10", "S2"}, func(b *testing.B, name string) {
		_, path, _ := single(b, name)
		content, err := os.ReadFile(path)
		require.NoError(b, err)
		text := string(content)
		ed := newStage(b, answering(b, "", false))
		ed.Open(path, text)
		middle := strings.Count(text[:len(text)/2], "\n")
		ask(b, ed.Editor, "textDocument/documentSymbol", path, middle)
		spent, scans, version := map[string][]time.Duration{}, []time.Duration(nil), 1
		for b.Loop() {
			begin := time.Now()
			_, err := session.ParseText(context.Background(), text)
			require.NoError(b, err)
			scans = append(scans, time.Since(begin))
			for method := range documentBounds {
				version++
				begin := time.Now()
				at := lsptest.Fields{"line": middle, "character": 0}
				ed.ChangeWith(path, version, lsptest.Fields{"range": lsptest.Fields{"start": at, "end": at}, "text": " "})
				ask(b, ed.Editor, method, path, middle)
				spent[method] = append(spent[method], time.Since(begin))
			}
		}
		scan := median(scans)
		for method, bound := range documentBounds {
			ratio := float64(median(spent[method])) / float64(scan)
			b.ReportMetric(ratio, filepath.Base(method)+"/scan")
			if len(scans) >= 5 && name == "S2" {
				require.Less(b, ratio, bound, method)
			}
		}
	})
}

func ask(b *testing.B, ed *lsptest.Editor, method, path string, line int) {
	b.Helper()
	result, failure := ed.Call(method, lsptest.Fields{
		"textDocument": lsptest.Fields{"uri": lsptest.URI(path)}, "position": lsptest.Fields{"line": line, "character": 1},
	})
	require.Nil(b, failure)
	require.NotEqual(b, "null", string(result), method)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
