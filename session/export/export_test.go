package export_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/export"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/golden/name, or writes it with -update.
func golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update")
	require.Equal(t, string(want), got)
}

// readLines returns the lines of a file under testdata.
func readLines(t testing.TB, name string) []json.RawMessage {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	var lines []json.RawMessage
	for l := range bytes.Lines(b) {
		lines = append(lines, json.RawMessage(bytes.TrimSpace(l)))
	}
	return lines
}

func entries(lines []json.RawMessage) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	}
}

func raws(lines ...string) []json.RawMessage {
	out := make([]json.RawMessage, len(lines))
	for i, l := range lines {
		out[i] = json.RawMessage(l)
	}
	return out
}

// sample is testdata/sample.jsonl, which has every entry type and a branch off the path.
func sample(t testing.TB) export.Doc {
	t.Helper()
	lines := readLines(t, "sample.jsonl")
	d := export.Doc{
		Header: lines[0], Entries: entries(lines[1:]), LeafID: "a0000019",
		PathIDs: map[string]bool{}, Labels: map[string]string{"a0000004": "first look"},
		Model: "openai/gpt-5", ThinkingLevel: "high", SystemPrompt: "You are a test agent.",
		Tools: []export.Tool{{Name: "bash", Description: "Run a command.", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Title: "Port the selector", FileName: "sample.jsonl",
	}
	var messages []json.RawMessage
	for _, l := range lines[1:] {
		id, _ := rawjson.GetString(l, "id")
		d.PathIDs[id] = !strings.HasPrefix(id, "b")
		if m := rawjson.Get(l, "message"); m != nil && d.PathIDs[id] {
			messages = append(messages, m)
		}
	}
	d.Messages = entries(messages)
	return d
}

func page(t testing.TB, d export.Doc) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, export.HTML(&out, d, export.HTMLOptions{AppName: "xcsh-ls", GeneratedAt: "2026-03-05 10:00 UTC"}))
	return out.String()
}

func text(t testing.TB, d export.Doc) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, export.Text(&out, d))
	return out.String()
}

func markdown(t testing.TB, d export.Doc) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, export.Markdown(&out, d))
	return out.String()
}
