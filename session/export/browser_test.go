//go:build browser

package export_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/export"
)

// everything draws all of a page and uses all of it: every fold is opened, every element gets the events that
// users cause, every filter and theme is tried. It returns the elements that should not be in the document.
const everything = `(async () => {
	const wait = () => new Promise((done) => setTimeout(done, 30));
	dispatchEvent(new Event("beforeprint"));
	for (let round = 0; round < 4; round++) {
		for (const el of document.querySelectorAll("details:not([open])")) el.open = true;
		await wait();
	}
	for (const b of document.querySelectorAll("#filters button, #theme")) b.click();
	for (const el of document.querySelectorAll("*")) {
		for (const name of ["mouseover", "mouseenter", "pointerover", "focus", "animationstart", "load", "error"]) el.dispatchEvent(new Event(name));
	}
	await wait();
	const bad = [];
	const known = new Set("HTML HEAD META TITLE STYLE BODY A ARTICLE ASIDE B BLOCKQUOTE BR BUTTON CODE DD DEL DETAILS DIALOG DIV DL DT EM FOOTER H1 H2 H3 H4 H5 H6 HEADER HR IMG INPUT KBD LI MAIN NAV NOSCRIPT OL P PRE SCRIPT SECTION SPAN STRONG SUMMARY TABLE TBODY TD TH THEAD TIME TR UL".split(" "));
	for (const el of document.querySelectorAll("*")) {
		if (!known.has(el.tagName) || el.namespaceURI !== "http://www.w3.org/1999/xhtml") bad.push("element " + el.tagName);
		for (const { name, value } of el.attributes) {
			if (/^on|^srcdoc$|^action$|^formaction$|^xlink|^background$|^ping$/.test(name)) bad.push("attribute " + name);
			if (name === "href" && !/^(?:https?:\/\/|mailto:|#)/.test(value)) bad.push("link " + value);
			if (name === "href" && value[0] !== "#" && el.rel !== "noopener noreferrer nofollow") bad.push("rel " + el.rel);
			if (name === "src" && !/^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+\/]+=*$/.test(value)) bad.push("source " + value);
			if (name === "style" && value && !/^(?:(?:top|height|min-height|padding-inline-start|tab-size): [\d.]+px;? ?)+$/.test(value)) bad.push("style " + value);
		}
	}
	const scripts = [...document.scripts].filter((s) => !s.type);
	if (scripts.length !== 1) bad.push(scripts.length + " scripts");
	if (document.title === "pwned" || window.pwned) bad.push("it ran");
	for (const key in {}) bad.push("every object has " + key);
	return [...new Set(bad)].slice(0, 10);
})()`

// inRow gives lines ids and parents that make them one conversation; the ids hold the payload too.
func inRow(lines []json.RawMessage, payload string) []json.RawMessage {
	out := make([]json.RawMessage, len(lines))
	last := ""
	for i, l := range lines {
		id := fmt.Sprint(i, payload)
		out[i] = rawjson.SetString(rawjson.SetString(l, "id", id), "parentId", last)
		last = id
	}
	return out
}

// Whichever string of a session an attacker controls, a browser that draws all of the page runs nothing, loads
// nothing and has nothing to block.
// Proves: O-016, F-14
func TestBrowserRunsNothingOfASession(t *testing.T) {
	c := startChromium(t)
	payloads := append(payloads, markupPayloads...)
	for i, payload := range payloads {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			d := poisonedDoc(t, payload)
			lines := inRow(poisoned(t, payload), payload)
			d.Entries, d.LeafID = entries(lines), fmt.Sprint(len(lines)-1, payload)
			p := c.show(t, d)
			require.Greater(t, p.eval(t, `dispatchEvent(new Event("beforeprint")), document.querySelectorAll("article").length`), 300.0, "all of it was drawn")
			require.Empty(t, p.eval(t, everything))
			p.quiet(t)
		})
	}
}

// The tests of hostile sessions would pass if the browser reported nothing.
func TestBrowserReportsWhatAPageDoes(t *testing.T) {
	c := startChromium(t)
	p := c.open(t, `<!doctype html><html data-ready="true">
		<meta http-equiv="Content-Security-Policy" content="style-src 'none'">
		<p style="color: red">a violation of the policy</p>
		<img src="https://pixel.invalid/">
		<iframe srcdoc="a frame"></iframe>
		<script>throw new Error("thrown")</script>`, "")
	p.until(t, `document.readyState !== "loading"`)
	p.mu.Lock()
	defer p.mu.Unlock()
	noise := strings.Join(p.noise, "")
	for _, want := range []string{"request https://pixel.invalid/", "Content Security Policy", "frame ", "thrown"} {
		require.Contains(t, noise, want)
	}
}

// markupPayloads are for the viewer's own Markdown.
var markupPayloads = []string{
	"[x](javascript:alert(1)) [x](<javascript:alert(1)>) [x](JaVaScRiPt:alert(1)) [x](java\tscript:alert(1)) [x](\x01javascript:alert(1))",
	"[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==) [x](vbscript:x) [x](file:///etc/passwd) [x](//evil.invalid/x) [x](blob:x)",
	"![x](https://evil.invalid/pixel.png) <img src=https://evil.invalid/x> ![](javascript:alert(1)) <https://a\" onmouseover=\"alert(1)>",
	"[x](https://evil.invalid/\" onclick=\"alert(1)) [<img src=x onerror=alert(1)>](https://e.invalid) <javascript:alert(1)>",
	"```html onload=alert(1)\n<script>alert(1)</script>\n```\n\n| <svg onload=alert(1)> | b |\n|-|-|\n| <script>alert(1)</script> | `<b>` |",
	"<svg><script>alert(1)</script></svg><math><a xlink:href=javascript:alert(1)>x</a></math><template><script>alert(1)</script></template>",
	"__proto__", "constructor", "toString", "#entry-x", "%E0%A4%A",
	"[x](&#106;avascript:alert(1)) [x](javascript&colon;alert(1)) [x](jav&#x09;ascript:alert(1)) [x](\njavascript:alert(1)) [x](%6Aavascript:alert(1)) [x](feed:javascript:alert(1))",
	"[x](https://a@evil.invalid) [https://good.example](https://evil.invalid/) [x](https://e.invalid/\u202Egpj) [x](HTTPS:javascript:alert(1)) <data:text/html,x> <javascript&colon;alert(1)>",
	"image/png;base64,iVBORw\" onerror=\"alert(1)", "item current open; background: url(https://evil.invalid/x)\" style=\"background:url(//evil.invalid/x)",
	"![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+PC9zdmc+) ![x](data:image/svg+xml,<svg onload=alert(1)>)\n\n[a]: javascript:alert(1)\n[b][a] [a]",
}

// Entries in any order, duplicate ids and circular parents: nothing runs, and the page is
// drawn.
// Proves: F-14
func TestBrowserAcceptsAnyTree(t *testing.T) {
	c := startChromium(t)
	var lines []json.RawMessage
	for _, payload := range append(payloads, markupPayloads...) {
		lines = append(lines, poisoned(t, payload)...)
	}
	lines = append(lines, raws(
		`{"type":"message","id":"c1","parentId":"c2"}`, `{"type":"message","id":"c2","parentId":"c1"}`, `{"type":"x","id":"self","parentId":"self"}`,
		`null`, `[]`, `7`, `{"torn":`, `{}`, `{"type":"message","id":"c3","parentId":"c1","message":{"role":"user","content":"behind a circle"}}`,
	)...)
	p := c.open(t, page(t, export.Doc{Entries: entries(lines)}), "#entry-c3")
	require.Contains(t, p.eval(t, `document.querySelector("main").textContent`), "behind a circle")
	p.eval(t, `document.querySelector("#filters [data-filter=all]").click()`)
	require.Equal(t, fmt.Sprintf("%s of %[1]s entries", grouped(len(lines))), p.eval(t, `document.getElementById("status").textContent`))
	p.quiet(t)
}

func grouped(n int) string {
	s := fmt.Sprint(n)
	if len(s) > 3 {
		return s[:len(s)-3] + "," + s[len(s)-3:]
	}
	return s
}

// Proves: O-016
func TestBrowserShowsASession(t *testing.T) {
	c := startChromium(t)
	d := sample(t)
	d.Damaged = 2
	p := c.show(t, d)
	text := func(selector string) string {
		s, _ := p.eval(t, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector)).(string)
		return s
	}
	require.Contains(t, text("#facts"), "2 user · 2 assistant · 2 tool calls")
	require.Contains(t, text("#facts"), "$0.0123 ($0.5123 including other branches)")
	require.Contains(t, text("#notices"), "2 damaged lines of the session file couldn't be read")
	require.NotContains(t, text("main"), "That led nowhere.", "it is on another branch")
	require.Contains(t, text("main .user"), "List the files & read <README.md> — ünïcödé ✓")
	p.eval(t, `document.querySelectorAll("main img").forEach((i) => { i.loading = "eager"; })`)
	p.until(t, `[...document.querySelectorAll("main img")].filter((i) => i.complete && i.naturalWidth === 1).length === 2`)
	require.Contains(t, text("main .diff"), "three")
	require.Contains(t, text("#about"), "System prompt")
	p.picture(t, "sample")

	// All comes last, because the searches below cover the shown entries.
	for _, view := range []struct {
		filter string
		rows   int
	}{{"default", 17}, {"no-tools", 13}, {"user", 3}, {"labelled", 1}, {"all", 28}} {
		p.eval(t, fmt.Sprintf(`document.querySelector("#filters [data-filter=%s]").click()`, view.filter))
		require.EqualValues(t, view.rows, p.eval(t, `document.querySelectorAll("#rows .row").length`), view.filter)
	}
	p.press(t, "/")
	p.eval(t, `document.execCommand("insertText", false, "LED nowhere")`)
	p.until(t, `document.getElementById("status").textContent.includes("match")`)
	require.Equal(t, "2 of 28 entries match", text("#status"))
	p.press(t, "Enter")
	require.Contains(t, text("main .current"), "Tried another way; it led nowhere.")
	p.press(t, "n")
	require.Contains(t, text("main .current"), "That led nowhere.", "the branch of the match is shown")
	require.Equal(t, "#entry-b0000002", p.eval(t, `location.hash`))
	p.quiet(t)
}

func TestBrowserLinksToAnEntry(t *testing.T) {
	c := startChromium(t)
	p := c.open(t, page(t, sample(t)), "#entry-b0000001")
	require.Equal(t, "entry-b0000001", p.eval(t, `document.querySelector("main .current").id`))
	p.eval(t, `location.hash = "#entry-a0000009"`)
	p.until(t, `document.querySelector("main .current")?.id === "entry-a0000009"`)
	p.quiet(t)
}

func TestBrowserKeys(t *testing.T) {
	c := startChromium(t)
	p := c.show(t, sample(t))
	current := `document.querySelector("main .current")?.id.slice("entry-".length)`
	for _, step := range []struct{ key, at string }{
		{"j", "a0000002"}, {"j", "a0000003"}, {"k", "a0000002"}, {"G", "a0000019"}, {"g", "a0000001"}, {"J", "a0000003"}, {"n", "a0000004"}, {"N", "a0000003"},
	} {
		p.press(t, step.key)
		require.Equal(t, step.at, p.eval(t, current), step.key)
	}
	require.Equal(t, true, p.eval(t, `document.activeElement.matches("article")`), "what is shown has the focus")
	p.press(t, "t")
	require.Equal(t, true, p.eval(t, `[...document.querySelectorAll("details.thinking")].every((d) => d.open)`))
	p.press(t, "o")
	require.Equal(t, true, p.eval(t, `[...document.querySelectorAll("details.output, details.call")].every((d) => d.open)`))
	p.press(t, "o")
	require.Equal(t, false, p.eval(t, `[...document.querySelectorAll("details.output, details.call")].some((d) => d.open)`))
	p.press(t, "d")
	require.Equal(t, "light", p.eval(t, `document.documentElement.dataset.theme`))
	p.press(t, "d")
	require.Equal(t, "rgb(22, 24, 27)", p.eval(t, `getComputedStyle(document.body).backgroundColor`))
	p.picture(t, "sample-dark")
	p.press(t, "b")
	require.Equal(t, "none", p.eval(t, `getComputedStyle(document.getElementById("sidebar")).display`))
	p.press(t, "?")
	require.Equal(t, true, p.eval(t, `document.getElementById("help").open`))
	p.quiet(t)
}

// long is a session of n entries with a branch in the middle.
func long(n int) export.Doc {
	var lines []string
	parent := ""
	for i := range n {
		id := fmt.Sprintf("e%d", i)
		role := []string{"user", "assistant", "toolResult"}[i%3]
		text := fmt.Sprintf(`**Entry %d** says something of some length, so that it takes a line or two. %s`, i, strings.Repeat("And on. ", i%40))
		if i == n/2 {
			lines = append(lines, fmt.Sprintf(`{"type":"message","id":"other","parentId":%q,"message":{"role":"user","content":"the other way"}}`, parent))
		}
		lines = append(lines, fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"message":{"role":%q,"toolName":"read","content":[{"type":"text","text":%q}]}}`, id, parent, role, text))
		parent = id
	}
	return export.Doc{Entries: entries(raws(lines...)), LeafID: parent, Title: "A long one"}
}

// Of a long session only the entries near the window are drawn, at any scroll position; printing one that is not too
// long draws all of it.
func TestBrowserDrawsTheVisiblePart(t *testing.T) {
	c := startChromium(t)
	p := c.show(t, long(5000))
	drawn := `document.querySelectorAll("main article").length`
	p.until(t, drawn+" > 0")
	require.Less(t, p.eval(t, drawn), 600.0)
	require.Less(t, p.eval(t, `document.querySelectorAll("#rows .row").length`), 100.0)
	p.press(t, "G")
	inView := `(() => { const box = document.querySelector("main .current").getBoundingClientRect(); return box.top >= 0 && box.top < innerHeight; })()`
	p.until(t, `document.querySelector("main .current")?.id === "entry-e4999" && `+inView)
	p.eval(t, `location.hash = "#entry-e2500"`)
	p.until(t, `document.querySelector("main .current")?.id === "entry-e2500" && `+inView)
	require.Less(t, p.eval(t, drawn), 900.0)
	p.picture(t, "long")
	p.eval(t, `location.hash = "#entry-other"`)
	p.until(t, `document.querySelector("main .current")?.id === "entry-other" && `+inView)
	p.quiet(t)

	p = c.show(t, long(1000))
	p.eval(t, `dispatchEvent(new Event("beforeprint"))`)
	require.EqualValues(t, 1000, p.eval(t, drawn))
	p.quiet(t)
}

func TestBrowserReportsRedactions(t *testing.T) {
	c := startChromium(t)
	d := export.Doc{Entries: entries(raws(user(`"a"`, `"password=abc123def456"`)))}
	p := c.show(t, new(export.Redactor).Doc(d))
	require.Equal(t, "Secrets were replaced: named ×1.", p.eval(t, `document.getElementById("notices").innerText`))
	require.Equal(t, "password=‹redacted named›", p.eval(t, `document.querySelector("main .text").innerText`))
	p = c.show(t, new(export.Redactor).Doc(export.Doc{}))
	require.Contains(t, p.eval(t, `document.getElementById("notices").innerText`), "No secrets of the known kinds were found")
	require.Contains(t, p.eval(t, `document.querySelector("main").innerText`), "This conversation has no entries.")
	p.quiet(t)
}
