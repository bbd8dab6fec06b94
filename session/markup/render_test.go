package markup_test

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
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session/markup"
)

// poison is Markdown that tries to be live in one viewer or another.
var poison = []string{
	"<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "<div>\n\n*x*\n\n</div>", "<!--\n-->", "<?x?>", "<!DOCTYPE x>", "<![CDATA[x]]>",
	"<https://a.b> <a@b.c> <javascript:alert(1)> <command:x>", "[a](javascript:alert(1))", "[a](<javascript:alert(1)>)", "[a](&#x6a;avascript:x)", `[a](javascript\:x)`,
	"[a](\n  javascript:x)", "[a]: javascript:x\n\n[a] [b][a] ![a]", "[a]:\n  <data:x>\n\n[a]", "![x](https://evil.example/x.png)", "![x][y]\n\n[y]: https://evil.example/x", "[![x](y)](command:z)",
	"| ' | <script>x</script> ' |\n|---|---|\n| ' | ' '<script>' ' |", "$ '$<b onclick=x>' $", "$$\n'''\n$$\n<script>\n'''", "a '\nb '<script>' c ' d", "- a\n  '''\n<script>\n  '''", "  '''\na\n  '''\n'''\n<script>\n'''",
	"> '''\n<script>", "> a '\nb '<script>' c '", "- '''\n<script>\n'''", "1. '''\n   '''\n<script>\n'''", "[a](') ' x '<script>'", "[a]['] ' x '<script>'\n\n[']: x", "https://x/' ' a '<script>'",
	"'''a'b\n<script>\n'''", "~~~ '\n<script>\n~~~", "\t'''\n<script>\n\t'''", "    '''\n\n<script>\n    '''", "- a\n\n      '''\n\n<script>\n      '''", ">>>>>>>>>> '''\n<script>",
	"\\<script>", "\\\\<script>", "\\'<script>'", "'\\'<script>'", "''<script>'", "<\nscript>", "<\\script>", "&lt;script&gt;", "<scr\x00ipt>", "<\u200bscript>", "\u2028<script>", "a\r<script>",
	"# <b> {onclick=x}", "<svg/onload=x>", "</p>", "[x](data:text/html;base64,xx \"t\")", "[x](vbscript:x 't')", "[a](a\x00javascript:x)", "[a](//evil.example)", "[^1]\n\n[^1]: <b>\n    '''\n<script>\n    '''",
	"a\n: ~~~\n<script>\n~~~", "- [ ] '''\n<script>\n'''", "* * *\n'''\n<script>", "[a](x \"t\n'''\n<script>\n'''", "'''\n''' x\n<script>\n'''\n<script>", "''''\n'''\n<script>\n''''\n<b>",
}

func init() {
	for i, s := range poison {
		poison[i] = strings.ReplaceAll(s, "'", "`")
	}
}

// viewers are renderers that allow HTML and every scheme.
var viewers = map[string]goldmark.Markdown{
	"CommonMark": goldmark.New(goldmark.WithRendererOptions(html.WithUnsafe())),
	"extended": goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList, extension.Typographer),
		goldmark.WithParserOptions(parser.WithAttribute(), parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()),
	),
}

// allowedTags are the tags that Markdown itself makes in these viewers.
var allowedTags = regexp.MustCompile(`^(?:</?(?:p|em|strong|del|h[1-6]|ul|ol|li|blockquote|pre|table|thead|tbody|tr|hr|br|dl|dt|dd)` +
	`|<(?:hr|br) /|<ol start="\d+"|<h[1-6] id="[^"<>]*"|</?code|<code class="language-[^"<>]*"|<t[hd](?: style="text-align:\w+")?|</t[hd]|</a` +
	`|<a href="[^"<>]*"(?: title="[^"<>]*")?|<input (?:checked="" )?disabled="" type="checkbox"(?: /)?` +
	`|<div class="footnotes" role="doc-endnotes"|</div|</?sup(?: id="fnref\d*:\d+")?|<li id="fn:\d+"|<a href="#fn(?:ref\d*)?:\d+" class="footnote-(?:ref|backref)" role="doc-(?:noteref|backlink)")>$`)

var tag = regexp.MustCompile(`<[^>]*>?`)

var link = regexp.MustCompile(`href="([^"]*)"`)

// target matches the permitted targets of a result's links.
var target = regexp.MustCompile(`^(?:(?i:https?:|mailto:).*|[^:/]*(?:[/?#].*)?|/(?:[^/].*)?)$`)

// requireDead checks a viewer's rendering of a result.
func requireDead(t *testing.T, page, markdown string) {
	t.Helper()
	for _, m := range tag.FindAllString(page, -1) {
		require.Regexp(t, allowedTags, m, "%q\n%s", markdown, page)
	}
	for _, m := range link.FindAllStringSubmatch(page, -1) {
		require.Regexp(t, target, m[1], "%q", markdown)
	}
}

func requireDeadEverywhere(t *testing.T, markdown string) {
	t.Helper()
	for name, viewer := range viewers {
		var page bytes.Buffer
		require.NoError(t, viewer.Convert([]byte(markdown), &page), name)
		requireDead(t, page.String(), markdown)
	}
}

func TestViewersFindNothingLive(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	for i, a := range poison {
		requireDeadEverywhere(t, markup.Markdown(a))
		requireDeadEverywhere(t, "# "+markup.Plain(strings.ReplaceAll(a, "\n", " ")))
		requireDeadEverywhere(t, "- x: "+markup.Code(a)+"\n\n"+markup.Block(a, a)+"\n\n"+markup.Code(a))
		for _, b := range poison[i+1:] {
			requireDeadEverywhere(t, markup.Markdown(a+"\n"+b))
			requireDeadEverywhere(t, markup.Markdown(b+"\n\n"+a))
			requireDeadEverywhere(t, markup.Markdown(a+" "+b))
		}
	}
}

// The renderer of VS Code's preview agrees, where its package is installed.
func TestMarkdownItFindsNothingLive(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs("../../editors/vscode/node_modules/markdown-it")
	require.NoError(t, err)
	node, err := exec.LookPath("node")
	if _, absent := os.Stat(dir); absent != nil || err != nil {
		t.Skip("needs Node.js, and npm ci in editors/vscode")
	}
	var all []string
	for i, a := range poison {
		all = append(all, markup.Markdown(a))
		for _, b := range poison[i+1:] {
			all = append(all, markup.Markdown(a+"\n"+b), markup.Markdown(a+" "+b))
		}
	}
	const script = `const md = require(process.argv[1])({html: true, linkify: true}); md.validateLink = () => true
let s = ''; process.stdin.on('data', d => s += d).on('end', () => process.stdout.write(s.split('\0').map(x => md.render(x)).join('\0')))`
	cmd := exec.CommandContext(t.Context(), node, "-e", script, dir)
	cmd.Stdin = strings.NewReader(strings.Join(all, "\x00"))
	out, err := cmd.Output()
	require.NoError(t, err)
	pages := strings.Split(string(out), "\x00")
	require.Len(t, pages, len(all))
	for i, page := range pages {
		requireDead(t, strings.NewReplacer("<s>", "", "</s>", "").Replace(page), all[i])
	}
}

func FuzzMarkdown(f *testing.F) {
	for i, s := range poison {
		f.Add(s)
		f.Add(s + "\n" + poison[(i*7+3)%len(poison)])
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := markup.Markdown(s)
		requireDeadEverywhere(t, out)
		requireDeadEverywhere(t, "> "+strings.ReplaceAll(out, "\n", "\n> "))
		requireDeadEverywhere(t, "- "+markup.Code(s)+"\n\n"+markup.Block("", s)+"\n\n# "+markup.Plain(strings.ReplaceAll(s, "\n", " ")))
	})
}

// A hostile text takes no more than linear time.
func BenchmarkMarkdown(b *testing.B) {
	for name, piece := range map[string]string{
		"ordinary": "Some text with `code`, a [link](https://example.com) and `Vec<T>`.\n\n```go\nif a < b {}\n```\n",
		"tags":     "<a", "links": "](", "spaces": "](  ", "indented": "    <\n\n", "plain indented": "    a\n\n", "quotes": ">", "ticks": "`<b`", "backslashes": `\<b`, "fences": "  ```\n", "lists": "- ```\n",
	} {
		s := strings.Repeat(piece, 1<<18/len(piece))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				_ = markup.Markdown(s)
			}
		})
	}
}
