package markup_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/markup"
)

// tick replaces ' with `, so that raw strings can hold Markdown.
func tick(s string) string { return strings.ReplaceAll(s, "'", "`") }

// Ordinary Markdown is unchanged, byte for byte.
func TestOrdinaryMarkdownStays(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "text\n\nmore *text* and **more**, `code`, a_b_c", "# Title\n\n- a\n- b\n  1. c\n\n> quote\n> more\n\n---\n",
		"| a | b |\n|---|---|\n| `x` | 1 < 2 |", "a < b && c <= d, x << 3, <3", "[link](https://example.com/a?b=c&d=e#f \"title\") [rel](src/a.go#L10) [abs](/x) [mail](mailto:a@b.c) [x]()",
		"[ref]: https://example.com\n[^1]: a note", "arr[i](x) and m[k]: v, `f[i](x)`, `vec[1:]`", tick("```go\nif a < b { x := vec![1] }\n<script>\n```\ntext"),
		tick("1. Do\n   ```sh\n   npm i\n\n   npm test\n   ```\n2. Then"), "    indented code\n\n    more of it", "- item\n\n    its paragraph", "&lt;b&gt; &amp;", `\*no\*`, "Line one  \nline two\\\nthree",
	} {
		require.Equal(t, s, markup.Markdown(s))
	}
}

func TestLiveMarkupBecomesText(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"<script>alert(1)</script>":                 "&lt;script>alert(1)&lt;/script>",
		"<!-- x --> <?php ?> <https://example.com>": "&lt;!-- x --> &lt;?php ?> &lt;https://example.com>",
		`\<b> \\<b>`:                         `&lt;b> \\&lt;b>`,
		"'Vec<T>' and '<b>'":                 "'Vec'&lt;'T>' and &lt;'b>'",
		"a ' lone <b>":                       "a ' lone &lt;b>",
		"'' a'<b ''":                         "'' a'&lt;b ''",
		"![alt](https://evil.example/t.png)": "&#33;[alt](https://evil.example/t.png)",
		`!![a](x) \![b](y)`:                  `!&#33;[a](x) &#33;[b](y)`,
		"use 'vec![1]'":                      "use 'vec'&#33;'[1]'",
		"[run](command:workbench.action.terminal.new)":         `[run]\(command:workbench.action.terminal.new)`,
		"[a](javascript:alert(1)) [b](JavaScript:x)":           `[a]\(javascript:alert(1)) [b]\(JavaScript:x)`,
		"[a](&#106;avascript:x) [b](java&Tab;script:x)":        `[a]\(&#106;avascript:x) [b]\(java&Tab;script:x)`,
		`[a](javascript\:x) [b](<javascript:x>)`:               `[a]\(javascript\:x) [b]\(&lt;javascript:x>)`,
		"[a](data:text/html,x) [b](file:///etc) [c](vscode:x)": `[a]\(data:text/html,x) [b]\(file:///etc) [c]\(vscode:x)`,
		"[a](//evil.example) [b](/&#47;evil) [c](C:\\x)":       `[a]\(//evil.example) [b]\(/&#47;evil) [c]\(C:\x)`,
		"[a](x(y):z) [b](c): d [e](f(g)) h":                    `[a]\(x(y):z) [b](c): d [e](f(g)) h`,
		"[a](\njavascript:x)":                                  "[a]\\(\njavascript:x)",
		"[a]: javascript:x\n[b]:\n  data:x":                    "[a]\\: javascript:x\n[b]\\:\n  data:x",
		"$$\nx":                                                "&#36;$\nx",
		"esc\x1b[2J rlo\u202e":                                 `esc\u001b[2J rlo\u202e`,
		"    <b>\n\n    c\nd":                                  "'''\n<b>\n\nc\n'''\n\nd",
		"- a\n\n    <b>":                                       "- a\n\n    &lt;b>",
		"'''a <b>''' c":                                        "&#32;'''a '''&lt;'''b>''' c",
	} {
		require.Equal(t, tick(want), markup.Markdown(tick(from)))
	}
}

// Code blocks end where their text does: at the left margin, in a fence it does not contain.
func TestBlocksGetNewDelimiters(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"'''\n<b>":                            "'''\n<b>\n'''",
		"'''html onload=x\na\n'''":            "'''html\na\n'''",
		"~~~\n'''\n<b>\n~~~":                  "''''\n'''\n<b>\n''''",
		"- a\n  '''js\n  <b>\n  '''\n- c":     "- a\n\n'''js\n<b>\n'''\n\n- c",
		"- a\n  '''\n<script>\n  '''":         "- a\n\n'''\n<script>\n'''",
		"- '''\n  <b>\n  '''\nx":              "-\n\n'''\n<b>\n'''\n\nx",
		"  '''\na\n  '''\n'''\n<script>\n'''": "'''\na\n'''\n\n'''\n<script>\n'''",
		"> '''\n> <b>\n<script>":              "> '''\n> <b>\n> '''\n&lt;script>",
		"> a '\nb '<script>' c '":             "> a '\nb '&lt;script>' c '",
	} {
		require.Equal(t, tick(want), markup.Markdown(tick(from)))
	}
}

func TestPiecesOfALine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "`a b`", markup.Code("a\nb"))
	require.Equal(t, "``x ` y``", markup.Code("x ` y"))
	require.Equal(t, "&lt;`script>`", markup.Code("<script>"))
	require.Equal(t, "`a`&lt;`b \\u202e`", markup.Code("a<b \u202e"))
	require.Equal(t, `\*a\* &lt;b&gt; \[c\](d) \\u001b`, markup.Plain("*a* <b> [c](d) \x1b"))
	require.Equal(t, "````go\n```\n\\u001b\n````", markup.Block("go x", "```\n\x1b\n"))
}
