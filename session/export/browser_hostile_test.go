//go:build browser

package export_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/export"
)

// assistant is a line with these blocks of content.
func assistant(id, parent, content string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"message":{"role":"assistant","content":[%s]}}`, id, parent, content)
}

// Keys with a meaning in JavaScript are treated like any other key, at every level.
// Proves: O-016
func TestBrowserKeepsObjectsApart(t *testing.T) {
	c := startChromium(t)
	poison := `{"__proto__":{"polluted":"yes","type":"message","open":true},"constructor":{"prototype":{"polluted":"yes"}},"toString":"x","hasOwnProperty":1}`
	d := export.Doc{
		Header: json.RawMessage(poison), LeafID: "__proto__",
		Tools: []export.Tool{{Name: "__proto__", Parameters: json.RawMessage(poison)}},
		Entries: entries(raws(
			`{"type":"message","id":"constructor","__proto__":{"id":"x"},"message":{"__proto__":{"role":"user"},"role":"assistant","content":[{"type":"toolCall","id":"__proto__","name":"__proto__","arguments":`+poison+`}],"usage":`+poison+`}}`,
			`{"type":"message","id":"toString","parentId":"constructor","message":{"role":"toolResult","toolCallId":"__proto__","toolName":"constructor","content":[],"details":`+poison+`}}`,
			`{"type":"__proto__","id":"hasOwnProperty","parentId":"toString","data":`+poison+`}`,
			`{"type":"label","id":"valueOf","parentId":"hasOwnProperty","targetId":"__proto__","label":"constructor"}`,
			`{"type":"custom","id":"__proto__","parentId":"valueOf","data":`+poison+`}`,
		)),
	}
	p := c.show(t, d)
	require.EqualValues(t, 5, p.eval(t, `document.querySelectorAll("article").length`))
	require.Empty(t, p.eval(t, everything))
	require.Nil(t, p.eval(t, `({}).polluted ?? [].polluted ?? null`))
	require.Contains(t, p.eval(t, `document.querySelector("article").innerText`), "polluted", "what was called is shown")
	p.quiet(t)
}

// Fragments of the page's address that refer to nothing have no effect.
// Proves: O-016
func TestBrowserAcceptsAnyAddress(t *testing.T) {
	c := startChromium(t)
	html := page(t, sample(t))
	odd := []string{
		"#", "#%", "#%E0%A4%A", "#entry-", "#entry-__proto__", "#entry-constructor", "#entry-.99999999999999999999", "#entry-.-1", "#entry-.1e1", "#.0x1",
		"#<img src=x onerror=alert(1)>", "#javascript:alert(1)", "#%00", "#entry-%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "#search", "#entry-" + strings.Repeat("a", 100_000),
	}
	for _, fragment := range odd[:4] {
		p := c.open(t, html, fragment)
		require.Nil(t, p.eval(t, `document.querySelector("main .current")?.id ?? null`), fragment)
		p.quiet(t)
	}
	p := c.open(t, html, "#entry-a0000009")
	for _, fragment := range odd {
		js, err := json.Marshal(fragment)
		require.NoError(t, err)
		p.eval(t, fmt.Sprintf(`new Promise((done) => { addEventListener("hashchange", () => setTimeout(done), { once: true }); location.hash = %s; if (%[1]s === "#") setTimeout(done); })`, js))
		require.Equal(t, "entry-a0000009", p.eval(t, `document.querySelector("main .current").id`), "%.80s", fragment)
	}
	p.quiet(t)
}

// Values nested deeper than the browser's own JSON parser can follow, and Markdown nested as deep, affect only their
// entry.
// Proves: O-016
func TestBrowserAcceptsAnyNesting(t *testing.T) {
	c := startChromium(t)
	const deep = 50_000
	var rest []string // of each entry, after its ids
	for _, v := range []string{strings.Repeat("[", deep) + strings.Repeat("]", deep), strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep)} {
		rest = append(
			rest, `"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","name":"x","arguments":{"a":`+v+`}}]}`,
			`"type":"service_tier_change","serviceTier":`+v, `"type":"custom","data":`+v, `"type":"unknown","data":`+v,
			`"type":"message","message":{"role":"user","content":`+v+`}`,
		)
	}
	for _, piece := range []string{
		"> ", "- ", "[", "**", "`", "| a ", "1. ", "- > ", "[a](", "<b>", "*a **b ", "![", "http://", "&#0;", "<a:", "[a]: https://a.invalid\n\n[a] ",
		"```js\n${`/*\n```\n", "```xml\n<a b='\n", "\\", "~~a ", "a|\n-|\n", "\"'", "(((a@b.invalid",
	} {
		text, err := json.Marshal(strings.Repeat(piece, 50_000/len(piece)))
		require.NoError(t, err)
		rest = append(rest, `"type":"message","message":{"role":"user","content":`+string(text)+`}`)
	}
	rest = append(rest, `"type":"message","message":{"role":"user","content":"still here"}`)
	lines := make([]string, len(rest))
	for i := range rest {
		lines[i] = fmt.Sprintf(`{"id":"n%d","parentId":"n%d",%s}`, i, i-1, rest[i])
	}
	p := c.show(t, export.Doc{Entries: entries(raws(lines...))})
	require.EqualValues(t, len(lines), p.eval(t, `document.querySelectorAll("article").length`))
	require.Contains(t, p.eval(t, `document.querySelector("main").innerText`), "still here")
	p.quiet(t)
}

// The policy of the page forbids everything its script never does: no string becomes markup, code or the address of a
// script.
func TestBrowserForbidsMarkupOfStrings(t *testing.T) {
	c := startChromium(t)
	p := c.show(t, sample(t))
	for _, sink := range []string{
		`document.body.innerHTML = "<b>x</b>"`, `document.body.insertAdjacentHTML("beforeend", "<b>x</b>")`, `document.write("<b>x</b>")`,
		`document.createElement("iframe").srcdoc = "<b>x</b>"`, `document.createElement("script").text = "1"`,
		`document.createElement("script").src = "data:text/javascript,1"`, `new DOMParser().parseFromString("<b>x</b>", "text/html")`,
		`trustedTypes.createPolicy("default", {})`,
	} {
		require.Equal(t, "TypeError", p.eval(t, `(() => { try { `+sink+`; return "allowed"; } catch (e) { return e.name; } })()`), sink)
	}
}

// Content that takes a browser long to render is drawn on demand.
func TestBrowserDrawsEnormousEntriesInParts(t *testing.T) {
	c := startChromium(t)
	long := strings.Repeat(`one more line of what a program printed\n`, 20_000)
	diff := strings.Repeat(`+an added line\n`, 30_000)
	many := strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"one"},`, 5000), ",")
	p := c.show(t, export.Doc{Entries: entries(raws(
		assistant("a", "", many),
		`{"type":"message","id":"b","parentId":"a","message":{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"`+long+`"}],"details":{"diff":"`+diff+`"}}}`,
	))})
	require.EqualValues(t, 200, p.eval(t, `document.querySelectorAll("article:first-child > .text").length`))
	p.eval(t, `document.querySelector("article:first-child > .rest").click()`)
	require.EqualValues(t, 5000, p.eval(t, `document.querySelectorAll("article:first-child > .text").length`))

	p.press(t, "o")
	p.until(t, `document.querySelector("details.output pre") !== null`)
	require.EqualValues(t, 200_000, p.eval(t, `document.querySelector("details.output code").textContent.length`))
	require.Equal(t, "Show 585.9 KB more", p.eval(t, `document.querySelector("details.output .rest").innerText`))
	p.eval(t, `document.querySelector("details.output .rest").click()`)
	require.EqualValues(t, strings.Count(long, "\\n")*40, p.eval(t, `document.querySelector("details.output pre").textContent.length`))

	p.eval(t, `document.querySelector("details.fold").open = true`)
	p.until(t, `document.querySelector(".diff") !== null`)
	require.EqualValues(t, 2000, p.eval(t, `document.querySelectorAll(".diff > .ins").length`))
	p.eval(t, `document.querySelector(".diff .rest").click()`)
	require.EqualValues(t, 30_000, p.eval(t, `document.querySelectorAll(".diff > .ins").length`))
	p.quiet(t)
}

// Copied text is the text shown: without terminal control sequences and without characters
// that reorder text.
// Proves: O-016
func TestBrowserCopiesTheDisplayedText(t *testing.T) {
	c := startChromium(t)
	p := c.show(t, export.Doc{Entries: entries(raws(
		assistant("a", "", `{"type":"toolCall","name":"bash","arguments":{"command":"echo a\u202e\u001b[2J\rb","timeout":7}}`),
	))})
	p.eval(t, `Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } })`)
	copied := func(selector string) any {
		p.eval(t, fmt.Sprintf(`window.copied = null, document.querySelector(%q).click()`, selector))
		p.until(t, `window.copied !== null`)
		return p.eval(t, `window.copied`)
	}
	require.Equal(t, "echo a␛[2J␍b", copied(".code .copy"))
	require.Equal(t, "[bash] \necho a␛[2J␍b\ntimeout: 7", copied("article > header .copy"))
	p.quiet(t)
}
