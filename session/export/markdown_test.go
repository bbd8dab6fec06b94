package export_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/export"
)

func TestMarkdownGolden(t *testing.T) {
	t.Parallel()
	golden(t, "sample.md", markdown(t, sample(t)))
}

func TestMarkdownShowsTheActivePath(t *testing.T) {
	t.Parallel()
	got := markdown(t, sample(t))
	require.NotContains(t, got, "That led nowhere.")
	require.Contains(t, got, "$0.0123 ($0.5123 including other branches)")
	d := sample(t)
	d.PathIDs = nil
	require.Contains(t, markdown(t, d), "That led nowhere.")
	d.PathIDs = map[string]bool{}
	require.Contains(t, markdown(t, d), "This conversation has no entries.")
}

// Of entries with the same id the last one counts.
func TestMarkdownUsesTheLastEntryOfAnID(t *testing.T) {
	t.Parallel()
	got := markdown(t, export.Doc{PathIDs: map[string]bool{"dup": true}, Entries: entries(raws(
		user(`"dup"`, `"the first"`), user(`"dup"`, `"the last counts"`), user(`7`, `"a number"`), `null`, `[]`,
	))})
	require.Contains(t, got, "the last counts")
	require.NotContains(t, got, "the first")
	require.NotContains(t, got, "a number")
}

// Output of programs cannot end its fence, and names cannot be markup.
func TestMarkdownKeepsTextsInTheirPlaces(t *testing.T) {
	t.Parallel()
	got := markdown(t, export.Doc{Title: "*a* <b>\n# c", Damaged: 2, Entries: entries(raws(
		strings.ReplaceAll(`{"type":"message","message":{"role":"toolResult","toolName":"x<script>\n# y","content":[{"type":"text","text":"'''\n# no heading\n''''"}]}}`, "'", "`"),
		`{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","name":"t","arguments":{"a":"x `+"`"+` y"}}]}}`,
	))})
	require.True(t, strings.HasPrefix(got, "# \\*a\\* &lt;b&gt; \\# c\n"), got)
	require.Contains(t, got, "## x&lt;script&gt; \\# y\n")
	require.Contains(t, got, "\n`````\n```\n# no heading\n````\n`````\n")
	require.Contains(t, got, "- a: ``x ` y``")
	require.Contains(t, got, "> 2 damaged lines of the session file couldn't be read.")
}

// Control characters, broken UTF-8 and marks that reorder text become visible.
// Proves: F-37 (pages)
func TestMarkdownCleansText(t *testing.T) {
	t.Parallel()
	got := markdown(t, export.Doc{Entries: entries(raws(
		user(`"a"`, `"nul\u0000 esc\u001b[2J \u001b[1;31mred\u001b[0m bell\u0007 \r\nlone\ud800. rlo\u202e\u2066. c1\u009b. del\u007f tab\tend"`),
		user(`"b"`, "\"bad\xff\xfe\""),
	))})
	require.Contains(t, got, `nul\u0000 esc\u001b[2J red bell\u0007 `+"\nlone\uFFFD. "+`rlo\u202e\u2066. c1\u009b. del\u007f `+"tab\tend")
	require.Contains(t, got, "bad\uFFFD")
}

func TestJSONLKeepsBytes(t *testing.T) {
	t.Parallel()
	file := readLines(t, "sample.jsonl")
	var want strings.Builder
	for _, l := range file {
		want.Write(append(l, '\n'))
	}
	var got strings.Builder
	require.NoError(t, export.JSONL(&got, sample(t)))
	require.Equal(t, want.String(), got.String())
	got.Reset()
	require.NoError(t, export.JSONL(&got, export.Doc{}))
	require.Empty(t, got.String())
}
