package outline_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/outline"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func view(t testing.TB, text string) outline.View {
	t.Helper()
	doc, _ := session.ParseText(t.Context(), text)
	require.NotNil(t, doc)
	return outline.View{Doc: doc, Text: text}
}

func TestBranches(t *testing.T) {
	t.Parallel()
	v := view(t, st.File(
		st.Header("s", "/w"),
		st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"), // 0, 1
		st.User("cccccccc", "bbbbbbbb", "three"),     // 2
		st.User("dddddddd", "bbbbbbbb", "other way"), // 3
		st.Assistant("eeeeeeee", "dddddddd", "four"), // 4
		st.User("ffffffff", "99999999", "lost"),      // 5
	))
	require.Equal(t, []outline.Branch{
		{From: -1, First: 0, Last: 2, Turns: []outline.Turn{{Prompt: 0, Last: 1, Answer: 1}, {Prompt: 2, Last: 2, Answer: -1}}},
		{From: 1, First: 3, Last: 4, Turns: []outline.Turn{{Prompt: 3, Last: 4, Answer: 4}}},
		{From: -1, First: 5, Last: 5, Turns: []outline.Turn{{Prompt: 5, Last: 5, Answer: -1}}},
	}, v.Branches())
}

// Entries that are not shown neither begin a branch nor end one.
func TestHiddenEntriesAreNoBranches(t *testing.T) {
	t.Parallel()
	own := func(id, parent string) string {
		return `{"type":"custom","customType":"xcsh-ls.toolStart","data":{},"id":"` + id + `","parentId":"` + parent + `","timestamp":"x"}`
	}
	v := view(t, st.File(
		st.Header("s", "/w"),
		st.User("aaaaaaaa", "", "one"), own("00000001", "aaaaaaaa"), st.Assistant("bbbbbbbb", "00000001", "two"), // 0, 1, 2
		own("00000002", "bbbbbbbb"), st.User("cccccccc", "bbbbbbbb", "three"), // 3, 4
		own("00000003", "aaaaaaaa"), st.Assistant("dddddddd", "00000003", "other"), // 5, 6
	))
	require.Equal(t, []outline.Branch{
		{From: -1, First: 0, Last: 4, Turns: []outline.Turn{{Prompt: 0, Last: 2, Answer: 2}, {Prompt: 4, Last: 4, Answer: -1}}},
		{From: 0, First: 6, Last: 6},
	}, v.Branches())
}

// Naming stops reading at its limit.
func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	v := view(t, st.File(st.Header("s", "/w"), st.User("aaaaaaaa", "", strings.Repeat("long ", 50)), st.Assistant("bbbbbbbb", "aaaaaaaa", "two\nlines")))
	n := outline.Namer{View: v, Bytes: 1 << 20}
	require.Equal(t, strings.Repeat("long ", 16)+"…", n.Name(0))
	require.Equal(t, "Answer: two lines", n.Name(1))
	n = outline.Namer{View: v, Bytes: 10}
	require.Equal(t, "Prompt", n.Name(0))
	require.Equal(t, "Answer", n.Name(1))
}

func TestLineIsBounded(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"a long text":   st.User("aaaaaaaa", "", strings.Repeat("x", 1<<20)),
		"many blocks":   `{"type":"message","message":{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"block"},`, 10_000) + `{}]}}`,
		"many files":    `{"type":"message","message":{"role":"fileMention","files":[` + strings.Repeat(`{"path":"p"},`, 10_000) + `{}]}}`,
		"deep nesting":  `{"type":"custom","data":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`,
		"a large value": `{"type":"custom","data":"` + strings.Repeat("x", 1<<20) + `"}`,
		"images":        `{"type":"message","message":{"role":"user","content":[` + strings.Repeat(`{"type":"image"},`, 10_000) + `{}]}}`,
	} {
		require.Less(t, len(outline.Line([]byte(line))), 64<<10, name)
	}
}

// viewer allows HTML and every scheme.
var viewer = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))

// live matches markup that Markdown alone never makes, or must not make here.
var live = regexp.MustCompile(`(?i)<(?:!|\?|/?(?:a href="\s*(?:[a-z0-9+.-]+:)|img|script|iframe|svg|style|div|span|sub|b|i|form|object)[^a-z])`)

func requireDead(t *testing.T, markdown string) {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, viewer.Convert([]byte(markdown), &page))
	for _, m := range live.FindAllString(page.String(), -1) {
		require.Regexp(t, `(?i)^<a href="(?:https?|mailto):`, m+":", "%q", markdown)
	}
}

// A hover shows the content of a message, and nothing of it is active.
func TestLineIsDead(t *testing.T) {
	t.Parallel()
	const text = "# Fine *text* with `code`\n<script>x</script> <img src=x> [a](command:x) ![b](https://c.d/e) [ok](https://f.g)\n\n```html\n<b>\n```\n- a\n  ```\n<i>\n\u009d0;t\u202e"
	line := st.Assistant("aaaaaaaa", "", text)
	shown := outline.Line([]byte(line))
	requireDead(t, shown)
	require.Contains(t, shown, "# Fine *text* with `code`\n&lt;script>x&lt;/script> &lt;img src=x> [a]\\(command:x) &#33;[b](https://c.d/e) [ok](https://f.g)")
	require.Contains(t, shown, "```html\n<b>\n```")
	require.Contains(t, shown, `\u009d0;t\u202e`)
}

// FuzzOutline shows any text without a panic, with every range inside of it.
func FuzzOutline(f *testing.F) {
	for _, text := range []string{
		st.File(st.Header("s", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "![x](y)")),
		`{"type":"session","id":"s","parentSession":"p"}` + "\n" + `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","arguments":{"path":"a\u0000"}}]}}`,
		`{"type":"title","v":1,"title":"t","updatedAt":"","pad":""}` + "\n{\n\n}{}\r\n[1]\n\"blob:sha256:" + strings.Repeat("0", 64) + `"`,
		`{"type":"message","message":{"role":"bashExecution","command":{},"output":["<img>"]}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := view(t, text)
		n := outline.Namer{View: v, Bytes: 1 << 16}
		next := 0
		for _, b := range v.Branches() {
			require.Equal(t, next, b.First)
			next = b.Last + 1
			require.Less(t, b.From, v.Doc.Len())
		}
		require.Equal(t, v.Doc.Len(), next)
		for i := range v.Doc.Len() {
			require.NotPanics(t, func() { _ = n.Name(i) })
			from, to := v.Doc.Span(i)
			shown := outline.Line([]byte(text[from:to]))
			require.True(t, utf8.ValidString(shown))
			require.Equal(t, visible.Text(shown), shown)
			requireDead(t, shown)
		}
		for _, l := range v.Links() {
			require.True(t, 0 < l.From && l.From <= l.To && l.To < int64(len(text)), l)
		}
		for _, found := range v.Doc.Findings(10) {
			require.True(t, 0 <= found.From && found.From <= found.To && found.To <= int64(len(text)), found)
		}
		_ = outline.Line([]byte(text))
	})
}
