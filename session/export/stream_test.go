package export_test

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session/export"
)

// An export of a session of any length needs the memory of its largest entry: of the
// entries handed out, only those in hand are alive.
// Proves: F-18
func TestExportsKeepNoEntries(t *testing.T) {
	racetest.Large(t)
	const n = 5000
	filler := strings.Repeat(`line of tool output\n`, 400)
	most := 0
	lines := func(yield func(json.RawMessage, error) bool) {
		handed := make([]weak.Pointer[byte], 0, n)
		for i := range n {
			raw := fmt.Appendf(nil, `{"type":"message","id":"%08x","role":"user","content":"%s","message":{"role":"user","content":"%[2]s"}}`, i, filler)
			handed = append(handed, weak.Make(&raw[0]))
			if !yield(raw, nil) {
				return
			}
			if i%1000 != 999 {
				continue
			}
			runtime.GC()
			alive := 0
			for _, p := range handed {
				if p.Value() != nil {
					alive++
				}
			}
			most = max(most, alive)
		}
	}
	d := export.Doc{Entries: lines}
	require.NoError(t, export.HTML(io.Discard, d, export.HTMLOptions{}))
	require.NoError(t, export.Markdown(io.Discard, d))
	require.NoError(t, export.JSONL(io.Discard, d))
	require.NoError(t, export.HTML(io.Discard, new(export.Redactor).Doc(d), export.HTMLOptions{}))
	said := export.Doc{Messages: lines}
	require.NoError(t, export.Text(io.Discard, said))
	require.NoError(t, export.Text(io.Discard, new(export.Redactor).Doc(said)))
	require.LessOrEqual(t, most, 8)
}

// The work per entry does not grow with the number of entries.
func TestMarkdownAllocationsAreLinear(t *testing.T) {
	allocs := func(n int) float64 {
		d := export.Doc{Entries: func(yield func(json.RawMessage, error) bool) {
			for i := range n {
				if !yield(fmt.Appendf(nil, `{"type":"message","id":"%08x","message":{"role":"user","content":"hello"}}`, i), nil) {
					return
				}
			}
		}}
		return testing.AllocsPerRun(1, func() {
			if err := export.Markdown(io.Discard, d); err != nil {
				t.Fatal(err)
			}
		})
	}
	require.InEpsilon(t, 4*allocs(250), allocs(1000), 0.25)
}

// A page allocates nothing for each entry: its lines are copied as they are.
// Proves: F-18
func TestHTMLAllocatesNothingPerEntry(t *testing.T) {
	line := json.RawMessage(`{"type":"message","id":"00000001","message":{"role":"user","content":"a < b"}}`)
	allocs := func(n int) float64 {
		d := export.Doc{Entries: func(yield func(json.RawMessage, error) bool) {
			for range n {
				if !yield(line, nil) {
					return
				}
			}
		}}
		return testing.AllocsPerRun(2, func() {
			if err := export.HTML(io.Discard, d, export.HTMLOptions{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	require.InDelta(t, allocs(10), allocs(1000), 10)
}
