package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/web"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

func textOf(t *testing.T, contentType, body string) string {
	t.Helper()
	text, _, ok := web.Page{FinalURL: "https://example.com/dir/page", ContentType: contentType, Body: []byte(body)}.Text()
	require.True(t, ok)
	return text
}

func TestHTML(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<title>A &amp; B</title><body><p>one\n two<p>three": "Title: A & B\n\none two\n\nthree",
		"<h1>Head</h1>text":                                           "# Head\n\ntext",
		"<title>Head</title><h1>Head</h1>text":                        "# Head\n\ntext",
		"a <b>bold</b>, <i>it</i>.":                                   "a bold, it.",
		"<ul><li>one<li>two<ul><li>deep</ul></ul><ol><li>x<li>y</ol>": "- one\n- two\n\n  - deep\n\n1. x\n2. y",
		`see <a href="../other">the other</a>, <a href="#x">here</a>, <a href="mailto:a">b</a>`:   "see the other (https://example.com/other), here, b",
		`<a href="javascript:alert(1)">x</a> <a href="https://a.example/">https://a.example/</a>`: "x https://a.example/",
		"<pre>a\n  b &lt;\n</pre>after":                          "```\na\n  b <\n\n```\n\nafter",
		"use <code>go test</code> now":                           "use `go test` now",
		"<table><tr><th>a<th>b</tr><tr><td>1<td>2</tr></table>":  "a | b\n1 | 2",
		"a<script>evil()</script><style>x{}</style><!-- no -->b": "ab",
		"a<br>b<hr>c":                             "a\nb\n\n---\n\nc",
		`x <img src=y alt="a cat"> <img src=z>`:   "x [image: a cat]",
		"<svg><text>no</text></svg>yes</svg></p>": "yes",
		"": "",
	} {
		require.Equal(t, want, strings.TrimSuffix(textOf(t, "text/html", in), "\n"), in)
	}
}

func TestKindsOfPages(t *testing.T) {
	t.Parallel()
	require.Equal(t, "grün", textOf(t, "text/plain; charset=iso-8859-1", "gr\xfcn"))
	require.Equal(t, "grün", textOf(t, "text/html", "<meta charset=windows-1252><p>gr\xfcn"))
	require.Equal(t, "漢字", textOf(t, "text/plain; charset=shift_jis", "\x8a\xbf\x8e\x9a"))
	require.Equal(t, "ab", textOf(t, "text/plain; charset=utf-16le", "a\x00b\x00"))
	require.Equal(t, `{"a":1}`, textOf(t, "application/json", `{"a":1}`))
	require.Equal(t, "<p>not sniffed</p>", textOf(t, "text/plain", "<p>not sniffed</p>"))
	require.Equal(t, "sniffed", textOf(t, "", "<!doctype html><p>sniffed</p>"))
	require.Equal(t, "{}", textOf(t, "application/problem+json", "{}"))
	for _, contentType := range []string{"application/zip", "image/png", "video/mp4", "application/octet-stream", ""} {
		_, _, ok := web.Page{ContentType: contentType, Body: []byte("\x89PNG\r\n\x1a\n\x00\x01")}.Text()
		require.False(t, ok, contentType)
	}
	long := textOf(t, "text/plain", strings.Repeat("wörd ", 2000))
	for line := range strings.Lines(long) {
		require.LessOrEqual(t, len(line), 2001)
	}
	require.Equal(t, strings.Repeat("wörd ", 2000), strings.ReplaceAll(long, "\n", ""))
}

// A large page is converted in a moment, however it is nested.
func TestLargeHTML(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	const size = 300 << 10
	start := time.Now()
	for _, part := range []string{"<div>", "<ul><li>", "<a href=x>", "<a href=x>y", "<pre>", "<b>x", "</a>", "<table><tr><td>", "<svg>", "x ", "<", "&", "<a href=https://a.example>x</a>"} {
		_ = textOf(t, "text/html", strings.Repeat(part, size/len(part)))
	}
	require.Less(t, time.Since(start), time.Minute)
}
