package export_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/export"
)

// blocks returns the data blocks of a page: the one about the session, the lines of entries, and the last one.
func blocks(t testing.TB, page string) (about string, lines []string, ending string) {
	t.Helper()
	for _, e := range parseMarkup(t, page) {
		switch {
		case e.attr("id") == "session-data":
			about = e.raw
		case e.attr("id") == "session-end":
			ending = e.raw
		case e.attr("class") == "entries":
			lines = append(lines, strings.Split(strings.Trim(e.raw, "\n"), "\n")...)
		}
	}
	return about, lines, ending
}

// Proves: O-011
func TestHTMLOfNothing(t *testing.T) {
	t.Parallel()
	got := page(t, export.Doc{})
	requireInert(t, got)
	about, lines, ending := blocks(t, got)
	require.JSONEq(t, `{"header":null,"leafId":null,"title":"Session"}`, about)
	require.Empty(t, lines)
	require.JSONEq(t, `{"entries":0}`, ending)
}

// A page holds all of a session: header, leaf, system prompt, tools, and every entry unchanged, except for the bytes
// that HTML would change.
// Proves: O-011
func TestHTMLHoldsTheSession(t *testing.T) {
	t.Parallel()
	file := readLines(t, "sample.jsonl")
	got := page(t, sample(t))
	requireInert(t, got)
	about, lines, ending := blocks(t, got)
	require.Len(t, lines, len(file)-1)
	for i, l := range lines {
		require.Equal(t, strings.ReplaceAll(string(file[i+1]), "<", `\u003c`), l)
		require.JSONEq(t, string(file[i+1]), l)
	}
	require.Equal(t, `{"header":`+string(file[0])+`,"leafId":"a0000019","title":"Port the selector","fileName":"sample.jsonl",`+
		`"model":"openai/gpt-5","thinkingLevel":"high","systemPrompt":"You are a test agent.",`+
		`"tools":[{"name":"bash","description":"Run a command.","parameters":{"type":"object"}}]}`, about)
	require.JSONEq(t, `{"entries":28}`, ending)
	require.Contains(t, got, "<title>Port the selector</title>")
	require.Contains(t, got, "Exported by xcsh-ls · 2026-03-05 10:00 UTC")
}

func TestHTMLKeepsOneEntryPerLine(t *testing.T) {
	t.Parallel()
	d := export.Doc{Entries: entries(raws("{\n\"a\":\r\n1}", `{"torn":`, "{\"x\":\"\xff\\ud800</script><!--\x00\"}"))}
	got := page(t, d)
	requireInert(t, got)
	_, lines, _ := blocks(t, got)
	require.Equal(t, []string{`{ "a":  1}`, `{"torn":`, "{\"x\":\"\xff\\ud800\\u003c/script>\\u003c!-- \"}"}, lines)
}

// A long session is in several blocks of whole lines.
func TestHTMLCutsEntriesIntoBlocks(t *testing.T) {
	t.Parallel()
	line := user(`"a"`, `"`+strings.Repeat("x", 100_000)+`"`)
	var file []string
	for range 20 {
		file = append(file, line)
	}
	got := page(t, export.Doc{Entries: entries(raws(file...))})
	requireInert(t, got)
	require.Equal(t, 4, strings.Count(got, `<script class="entries"`))
	_, lines, ending := blocks(t, got)
	require.Equal(t, file, lines)
	require.JSONEq(t, `{"entries":20}`, ending)
}

// Proves: O-011
func TestHTMLContainsTheLeaf(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]export.Doc{
		`"a"`:  {LeafID: "a"},
		`null`: {},
		`""`:   {PathIDs: map[string]bool{}}, // before the first entry
	} {
		about, _, _ := blocks(t, page(t, d))
		require.Contains(t, about, `"leafId":`+want)
	}
	about, _, _ := blocks(t, page(t, export.Doc{Damaged: 3}))
	require.Contains(t, about, `"damaged":3`)
}

func TestHTMLTheme(t *testing.T) {
	t.Parallel()
	for theme, want := range map[string]string{"dark": "dark", "light": "light", "": "auto", `"><script>`: "auto"} {
		var out strings.Builder
		require.NoError(t, export.HTML(&out, export.Doc{}, export.HTMLOptions{Theme: theme}))
		require.Contains(t, out.String(), `<html lang="en" data-theme="`+want+`">`)
	}
}

func user(id, content string) string {
	return `{"type":"message","id":` + id + `,"message":{"role":"user","content":` + content + `}}`
}

func TestReadErrorsEndTheExport(t *testing.T) {
	t.Parallel()
	errRead := errors.New("gone")
	d := export.Doc{Entries: func(yield func(json.RawMessage, error) bool) {
		_ = yield(json.RawMessage(user(`"a"`, `"x"`)), nil) && yield(nil, errRead)
	}}
	require.ErrorIs(t, export.HTML(&strings.Builder{}, d, export.HTMLOptions{}), errRead)
	require.ErrorIs(t, export.Markdown(&strings.Builder{}, d), errRead)
	require.ErrorIs(t, export.JSONL(&strings.Builder{}, d), errRead)
	require.ErrorIs(t, export.JSONL(&strings.Builder{}, new(export.Redactor).Doc(d)), errRead)
}

func TestOddShapes(t *testing.T) {
	t.Parallel()
	var lines []string
	types := strings.Fields("message custom_message compaction branch_summary model_change thinking_level_change service_tier_change mode_change context_change label session_info title_change custom session_init mcp_tool_selection ttsr_injection unknown")
	roles := strings.Fields("user developer system assistant toolResult bashExecution pythonExecution custom hookMessage branchSummary compactionSummary fileMention unknown")
	for _, v := range []string{`null`, `7`, `-1e999`, `true`, `""`, `[]`, `{}`, `[null,[],{"type":7},{"type":"toolCall","arguments":[1,"a"]},{"type":"image"},{"type":"thinking"}]`} {
		for _, typ := range types {
			lines = append(lines, `{"type":"`+typ+`","id":`+v+`,"timestamp":`+v+`,"message":`+v+`,"summary":`+v+`,"data":`+v+`,"content":`+v+`,"tokensBefore":`+v+`,"label":`+v+`}`)
		}
		for _, role := range roles {
			lines = append(lines, `{"type":"message","message":{"role":"`+role+`","content":`+v+`,"files":`+v+`,"usage":`+v+`,"exitCode":`+v+`,"meta":`+v+`,"toolName":`+v+`}}`)
		}
	}
	requireInert(t, page(t, export.Doc{Entries: entries(raws(lines...))}))
	require.NotContains(t, markdown(t, export.Doc{Entries: entries(raws(lines...))}), "undefined")
}
