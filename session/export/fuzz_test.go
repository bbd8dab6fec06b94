package export_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/export"
)

func addSeeds(f *testing.F) {
	f.Helper()
	b, err := os.ReadFile("testdata/sample.jsonl")
	require.NoError(f, err)
	for l := range bytes.Lines(b) {
		f.Add(l)
	}
	f.Add([]byte(`{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","arguments":{"a":`))
}

func fuzzDoc(b []byte) export.Doc {
	var lines []json.RawMessage
	for l := range bytes.Lines(b) {
		lines = append(lines, l)
	}
	return export.Doc{
		Header: b, Entries: entries(lines), Messages: entries(append(lines, b)),
		SystemPrompt: string(b), Model: string(b), Title: string(b),
		Tools:  []export.Tool{{Name: string(b), Description: string(b), Parameters: b}},
		Labels: map[string]string{"a0000004": string(b)},
	}
}

// FuzzHTML feeds arbitrary bytes as entries, whole and torn, as they are and redacted: no panic, and a page that is
// still inert. Valid JSON stays valid JSON.
func FuzzHTML(f *testing.F) {
	racetest.Large(f)
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		d := fuzzDoc(b)
		requireInert(t, page(t, d))
		r := new(export.Redactor)
		requireInert(t, page(t, r.Doc(d)))
		if rawjson.Valid(b) {
			require.True(t, rawjson.Valid(r.JSON(b)))
		}
	})
}

// FuzzMarkdown feeds arbitrary bytes as entries: no panic, valid UTF-8.
func FuzzMarkdown(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		require.True(t, utf8.ValidString(markdown(t, fuzzDoc(b))))
	})
}

// FuzzText feeds arbitrary bytes as messages: no panic, valid UTF-8, trimmed.
func FuzzText(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		got := text(t, fuzzDoc(b))
		require.True(t, utf8.ValidString(got))
		require.True(t, strings.HasPrefix(got, "## "))
		require.NotEqual(t, "\n", got[len(got)-1:])
		for m := range fuzzDoc(b).Messages {
			text(t, export.Doc{Messages: entries(raws(`{"role":"user","content":` + string(m) + `}`))})
		}
	})
}
