package attack

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// poison is Markdown with an effect in a viewer: tags and links, plain and in positions where viewers
// disagree whether they are code. It contains ' in place of `.
var poison = []string{
	"<script>alert(1)</script>", "a <img src=x onerror=alert(1)> <svg/onload=alert(1)> </p><iframe src=x>", "<!-- x --> <?x?> <!DOCTYPE x> <![CDATA[x]]>", "<div>\n\n*x*\n\n</div>",
	"[a](command:workbench.action.terminal.new) [b](vscode://x) [c](javascript:alert(1)) [d](data:text/html,x) [e](file:///etc/passwd) <command:x> <javascript:x>",
	"[a](&#x6a;avascript:x) [b](java&Tab;script:x) [c](javascript\\:x) [d](<javascript:x>) [e](\n  javascript:x) [f](//evil.example/x)", "[r]: javascript:x\n[s]:\n  data:x\n\n[r] [x][s] ![r]",
	"![i](https://evil.example/t.png) ![j][k] [![l](https://evil.example/l.png)](command:x)\n\n[k]: https://evil.example/k.png", "x\n'''\n</code></pre><script>\n''''\n<b onclick=x>\n'''\n<i>",
	"| ' | <script>x</script> ' |\n|---|---|\n| ' | ' '<script>' ' |", "a '\nb '<script>' c ' d", "[a](') ' x '<script>'", "- a\n  '''\n<script>\n  '''", "  '''\na\n  '''\n'''\n<script>\n'''",
	"> '''\n<script>\n'''\n<b>", "- '''\n<script>\n'''", "$$\n'''\n$$\n<script>\n'''", "~~~ '\n<script>\n~~~", "\\<script> \\'<script>' ''<script>'", "    '''\n\n<script>\n    '''", "'''a'b\n<script>\n'''", "unclosed\n'''",
}

// markdownTag matches a tag that CommonMark generates for Markdown without HTML, or for a table.
var markdownTag = regexp.MustCompile(`^</?(?:p|em|strong|del|s|h[1-6]|ul|ol|li|blockquote|pre|code|table|thead|tbody|tr|t[hd]|a)>$|^<(?:hr|br)(?: /)?>$` +
	`|^<ol start="\d+">$|^<code class="language-[\w+.-]+">$|^<t[hd] style="text-align:\s*\w+">$|^<a href="(?:(?:https?:|mailto:)[^"<>]*|(?:[^":/<>][^":<>]*)?)"(?: title="[^"<>]*")?>$|^<input [^<>="]*(?:disabled|checked)[^<>]*type="checkbox"[^<>]*>$`)

func requireDeadPage(t *testing.T, page string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`<[^>]*>?`).FindAllStringIndex(page, -1) {
		require.Regexp(t, markdownTag, page[m[0]:m[1]], "live in …%s", page[max(0, m[0]-100):min(len(page), m[1]+40)])
	}
}

// render returns the HTML of a viewer that passes HTML and every scheme through.
func render(t *testing.T, markdown string) string {
	t.Helper()
	var page bytes.Buffer
	viewer := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	require.NoError(t, viewer.Convert([]byte(markdown), &page))
	return page.String()
}

// poisoned writes a session with one poison, or several, in every field.
func (v *victim) poisoned(name, text string) string {
	path := filepath.Join(v.home, "all", name+".jsonl")
	v.write(path, strings.Join(v.hostileLines(strings.ReplaceAll(text, "'", "`")), "\n"))
	return path
}

func TestNothingInAMarkdownExportIsLive(t *testing.T) {
	v := newVictim(t)
	out := v.path("page.md")
	var pages []string
	for i, p := range append(poison, strings.Join(poison, "\n\n"), strings.Join(poison, "\n")) {
		r := v.run("export", "--overwrite", v.poisoned("p", p), out)
		require.Zero(t, r.code, r.stderr)
		pages = append(pages, v.read(out))
		requireSteersNothing(t, "export", pages[i])
		requireDeadPage(t, render(t, pages[i]))
	}
	t.Run("markdown-it", func(t *testing.T) {
		for _, page := range renderByMarkdownIt(t, pages) {
			requireDeadPage(t, page)
		}
	})
}

// renderByMarkdownIt renders pages as VS Code's preview does, if its package is installed.
func renderByMarkdownIt(t *testing.T, pages []string) []string {
	t.Helper()
	dir, err := filepath.Abs("../editors/vscode/node_modules/markdown-it")
	require.NoError(t, err)
	node, err := exec.LookPath("node")
	if _, absent := os.Stat(dir); absent != nil || err != nil {
		t.Skip("needs Node.js, and npm ci in editors/vscode")
	}
	const script = `const md = require(process.argv[1])({html: true}); md.validateLink = () => true
let s = ''; process.stdin.on('data', d => s += d).on('end', () => process.stdout.write(s.split('\0').map(x => md.render(x)).join('\0')))`
	cmd := exec.CommandContext(t.Context(), node, "-e", script, dir)
	cmd.Stdin = strings.NewReader(strings.Join(pages, "\x00"))
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Split(string(out), "\x00")
}

// Ordinary Markdown and code are displayed as intended.
func TestAMarkdownExportKeepsItsMarkdown(t *testing.T) {
	v := newVictim(t)
	const text = "# Title\n\nUse 'Vec<T>' or **bold** [docs](https://example.com/a?b=c#d) and [file](src/main.go#L10).\n\n'''html\n<b onclick=\"x\">![i](j)</b>\n'''\n\n1. Step\n   '''sh\n   npm i\n   '''\n\n| a | b |\n|---|---|\n| 1 < 2 | 'x' |"
	require.Zero(t, v.run("export", v.poisoned("p", text), "page.md").code)
	page := render(t, v.read(v.path("page.md")))
	for _, part := range []string{
		"<h1>Title</h1>", "<code>Vec</code>&lt;<code>T&gt;</code>", "<strong>bold</strong>", `<a href="https://example.com/a?b=c#d">docs</a>`, `<a href="src/main.go#L10">file</a>`,
		"<code class=\"language-html\">&lt;b onclick=&quot;x&quot;&gt;![i](j)&lt;/b&gt;\n</code>", "<code class=\"language-sh\">npm i\n</code></pre>\n</li>", "<td>1 &lt; 2</td>",
	} {
		require.Contains(t, page, part)
	}
}
