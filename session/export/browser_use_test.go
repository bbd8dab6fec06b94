//go:build browser

package export_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/export"
)

// The first entries of a long session are shown while the others are still being read.
func TestBrowserShowsTheBeginningFirst(t *testing.T) {
	c := startChromium(t)
	html := page(t, long(20_000))
	half := len(html) / 2
	goOn := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, html[:half])
		_ = http.NewResponseController(w).Flush()
		<-goOn
		_, _ = io.WriteString(w, html[half:])
	}))
	defer server.Close()
	p := c.visit(t, server.URL+"/", "")
	p.until(t, `document.querySelectorAll("main article").length > 0`)
	require.Equal(t, "loading", p.eval(t, `document.readyState`))
	require.Contains(t, p.eval(t, `document.querySelector("main").innerText`), "Entry 0 says something")
	require.Contains(t, p.eval(t, `document.getElementById("status").textContent`), "Loading…")
	require.Contains(t, p.eval(t, `document.getElementById("facts").innerText`), "Messages\n…")
	close(goOn)
	p.ready(t)
	require.Contains(t, p.eval(t, `document.getElementById("status").textContent`), "20,001 entries")
	require.Contains(t, p.eval(t, `document.getElementById("facts").innerText`), "6,667 user")
	p.quiet(t)
}

// A truncated page shows the entries it has and reports that it is incomplete.
func TestBrowserShowsATruncatedPage(t *testing.T) {
	c := startChromium(t)
	html := page(t, sample(t))
	p := c.open(t, html[:strings.Index(html, `"id":"a0000009"`)], "")
	require.Contains(t, p.eval(t, `document.getElementById("notices").innerText`), "This page is incomplete: it ends after 11 entries.")
	require.Contains(t, p.eval(t, `document.querySelector("#filters [data-filter=all]").click(), document.getElementById("rows").innerText`), "List the files")
	p.quiet(t)
}

// A match is unfolded, marked and scrolled to, at any position in an entry.
func TestBrowserHighlightsMatches(t *testing.T) {
	c := startChromium(t)
	output := strings.Repeat(`nothing\n`, 300) + `the Needle here\n` + strings.Repeat(`nothing\n`, 300)
	p := c.show(t, export.Doc{Entries: entries(raws(
		user(`"q"`, `"find it"`),
		assistant("a", "q", `{"type":"toolCall","id":"t1","name":"grep","arguments":{"pattern":"x","path":"src"}}`),
		`{"type":"message","id":"b","parentId":"a","message":{"role":"toolResult","toolCallId":"t1","toolName":"grep","content":[{"type":"text","text":"`+output+`"}]}}`,
		`{"type":"message","id":"c","parentId":"b","message":{"role":"user","content":"thanks for the needle"}}`,
	))})
	require.Contains(t, p.eval(t, `document.getElementById("entry-b").innerText`), "grep\nx", "a result says what was called")
	p.press(t, "/")
	p.eval(t, `document.execCommand("insertText", false, "NEEDLE")`)
	p.press(t, "Enter") // at once, before the search begins automatically
	p.until(t, `document.querySelector("main .current")?.id === "entry-b"`)
	p.until(t, `CSS.highlights.get("hit")?.size >= 2`)
	require.Equal(t, true, p.eval(t, `document.querySelector("#entry-b details.output").open`))
	p.until(t, `(() => {
		const box = document.querySelector("#entry-b pre").getBoundingClientRect();
		const hit = [...CSS.highlights.get("hit")].find((r) => document.querySelector("#entry-b pre").contains(r.startContainer))?.getBoundingClientRect();
		return hit && hit.top >= box.top && hit.bottom <= box.bottom && hit.top > 0 && hit.bottom < innerHeight;
	})()`)
	p.picture(t, "search-expanded")

	p.eval(t, `document.querySelector("#filters [data-filter=user]").click()`)
	require.Equal(t, "1 of 4 entries match", p.eval(t, `document.getElementById("status").textContent`), "a view narrows what was found")
	p.press(t, "Escape")
	p.until(t, `!document.getElementById("status").textContent.includes("match") && !CSS.highlights.has("hit")`)
	p.quiet(t)
}

// A page gives back the session it was made of.
func TestBrowserSavesTheSession(t *testing.T) {
	c := startChromium(t)
	p := c.show(t, sample(t))
	p.eval(t, `URL.createObjectURL = (blob) => { window.saved = blob; return "#top"; };
		HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; };
		document.getElementById("save").click()`)
	require.Equal(t, "sample.jsonl", p.eval(t, `window.savedAs`))
	saved, _ := p.eval(t, `window.saved.text()`).(string)
	file := readLines(t, "sample.jsonl")
	lines := strings.Split(strings.TrimSuffix(saved, "\n"), "\n")
	require.Len(t, lines, len(file))
	for i, line := range lines {
		require.JSONEq(t, string(file[i]), line)
	}
	p.quiet(t)
}

// On a narrow screen the tree covers the conversation until an entry is picked.
func TestBrowserOnANarrowScreen(t *testing.T) {
	c := startChromium(t)
	p := c.show(t, export.Doc{})
	p.do(t, chromedp.EmulateViewport(420, 800, chromedp.EmulateMobile))
	p = c.show(t, sample(t))
	p.do(t, chromedp.EmulateViewport(420, 800, chromedp.EmulateMobile))
	p.do(t, chromedp.Reload())
	p.until(t, `innerWidth === 420`)
	p.ready(t)
	shown := `getComputedStyle(document.getElementById("sidebar")).display !== "none"`
	require.Equal(t, false, p.eval(t, shown))
	require.EqualValues(t, 420, p.eval(t, `document.documentElement.scrollWidth`), "nothing is wider than the screen")
	p.eval(t, `document.getElementById("toggle-sidebar").click()`)
	require.Equal(t, true, p.eval(t, shown))
	require.Equal(t, true, p.eval(t, `(() => { const { left, top, width } = document.getElementById("search").getBoundingClientRect(); return document.elementFromPoint(left + width / 2, top + 5)?.id === "search"; })()`), "the search is not covered")
	p.picture(t, "narrow-tree")
	p.eval(t, `document.querySelectorAll("#rows .row")[3].click()`)
	require.Equal(t, false, p.eval(t, shown))
	p.eval(t, `document.getElementById("toggle-sidebar").click()`)
	p.press(t, "Escape")
	require.Equal(t, false, p.eval(t, shown))
	p.quiet(t)
}

// Code reads from left to right in a message that reads from right to left.
func TestBrowserKeepsCodeLeftToRight(t *testing.T) {
	c := startChromium(t)
	text, err := json.Marshal("بالطبع\n\n```go\nreturn 1\n```\n")
	require.NoError(t, err)
	p := c.show(t, export.Doc{Entries: entries(raws(user(`"a"`, string(text))))})
	require.Equal(t, "rtl", p.eval(t, `getComputedStyle(document.querySelector("article .text")).direction`))
	require.Equal(t, "ltr", p.eval(t, `getComputedStyle(document.querySelector("article pre")).direction`))
	p.quiet(t)
}

// Printing draws everything, or states on paper that it did not.
func TestBrowserReportsOmittedPrintedEntries(t *testing.T) {
	c := startChromium(t)
	for n, whole := range map[int]bool{1000: true, 4000: false} {
		p := c.show(t, long(n))
		p.do(t, command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}))
		p.eval(t, `dispatchEvent(new Event("beforeprint"))`)
		require.Equal(t, whole, p.eval(t, `getComputedStyle(document.getElementById("print-note")).display === "none"`), n)
		require.Equal(t, whole, p.eval(t, fmt.Sprintf(`document.querySelectorAll("article").length === %d`, n)))
		require.Equal(t, "none", p.eval(t, `getComputedStyle(document.getElementById("sidebar")).display`))
		p.quiet(t)
	}
}

// Every control can be reached and has a name, and the focused control is visibly marked.
func TestBrowserHasNamesAndFocus(t *testing.T) {
	c := startChromium(t)
	p := c.show(t, sample(t))
	require.Empty(t, p.eval(t, `[...document.querySelectorAll("button, a, input, [role], summary, [tabindex]")]
		.filter((el) => el.getAttribute("role") !== "presentation" && !(el.getAttribute("aria-label") ?? "").trim() && !el.textContent.trim()).map((el) => el.outerHTML)`))
	require.Empty(t, p.eval(t, `(() => {
		const hidden = [];
		for (let i = 0; i < 12; i++) {
			const el = [...document.querySelectorAll("a, button, input, #tree")].filter((el) => el.checkVisibility())[i];
			el.focus({ focusVisible: true });
			const { outlineStyle, outlineWidth } = getComputedStyle(el.id === "tree" ? el.querySelector(".cursor") ?? el : el);
			if (outlineStyle === "none" || outlineWidth === "0px") hidden.push(el.outerHTML);
		}
		return hidden;
	})()`))
	// Text stands out from its background (at least 4.5 to 1) in both themes.
	contrast := `(() => {
		const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
		const rgba = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
		const back = (el) => { for (; el; el = el.parentElement) { const c = rgba(getComputedStyle(el).backgroundColor); if (c[3] === 255) return c; } return rgba("white"); };
		const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
		const weak = new Set();
		for (const el of document.querySelectorAll("body *")) {
			if (!el.checkVisibility() || ![...el.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
			const [a, b] = [light(rgba(getComputedStyle(el).color)), light(back(el))];
			const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (ratio < 4.5) weak.add(el.tagName + "." + el.className + " " + ratio.toFixed(2));
		}
		return [...weak];
	})()`
	p.press(t, "t")
	p.press(t, "o")
	for _, theme := range []string{"light", "dark"} {
		p.press(t, "d")
		require.Equal(t, theme, p.eval(t, `document.documentElement.dataset.theme`))
		require.Empty(t, p.eval(t, contrast), theme)
	}
	p.quiet(t)
}
