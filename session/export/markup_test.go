package export_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// element is one element of a page with its attributes in order.
type element struct {
	name  string
	attrs []attr
	raw   string // content of script and style
}

type attr struct{ name, value string }

func (e element) attr(name string) string {
	for _, a := range e.attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

var (
	startToken  = regexp.MustCompile(`^<([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>\x00]*")?)*)>$`)
	endToken    = regexp.MustCompile(`^</([a-z][a-z0-9]*)>$`)
	attrToken   = regexp.MustCompile(` ([a-z-]+)(?:="([^"]*)")?`)
	reference   = regexp.MustCompile(`&(?:#\d+|amp|lt|gt|quot);`)
	voidElement = []string{"meta", "img", "link", "br", "hr", "input"}
)

// parseMarkup reads a page by a grammar so narrow that every browser must read it the same
// way: no comments, no unquoted values, no stray < or &, every element closed. Content
// that breaks out of its place in the template breaks this grammar or appears as an
// element or attribute of its own.
func parseMarkup(t testing.TB, page string) []element {
	t.Helper()
	rest, ok := strings.CutPrefix(page, "<!DOCTYPE html>")
	require.True(t, ok)
	var all []element
	var open []string
	for rest != "" {
		if n := strings.IndexByte(rest, '<'); n != 0 {
			if n < 0 {
				n = len(rest)
			}
			requireText(t, rest[:n])
			rest = rest[n:]
			continue
		}
		tag := rest[:strings.IndexByte(rest, '>')+1]
		rest = rest[len(tag):]
		if m := endToken.FindStringSubmatch(tag); m != nil {
			require.True(t, len(open) > 0 && open[len(open)-1] == m[1], tag)
			open = open[:len(open)-1]
			continue
		}
		m := startToken.FindStringSubmatch(tag)
		require.NotNil(t, m, "not the page's own markup: %.60q before %.60q", tag, rest)
		e := element{name: m[1], attrs: parseAttrs(t, m[2])}
		if e.name == "script" || e.name == "style" {
			e.raw, rest, ok = strings.Cut(rest, "</"+e.name+">")
			require.True(t, ok)
			if e.attr("type") != "" { // in the page's own script a < is an operator
				require.NotContains(t, e.raw, "<")
			}
		} else if !slices.Contains(voidElement, e.name) {
			open = append(open, e.name)
		}
		all = append(all, e)
	}
	require.Empty(t, open)
	return all
}

// requireText fails when s has an ampersand that starts no reference, or a NUL.
func requireText(t testing.TB, s string) {
	t.Helper()
	if strings.ContainsAny(s, "&\x00") {
		require.NotRegexp(t, `[&\x00]`, reference.ReplaceAllString(s, ""))
	}
}

func parseAttrs(t testing.TB, s string) []attr {
	t.Helper()
	var attrs []attr
	for _, a := range attrToken.FindAllStringSubmatch(s, -1) {
		requireText(t, a[2])
		attrs = append(attrs, attr{a[1], html.UnescapeString(a[2])})
	}
	return attrs
}

var (
	elementNames = strings.Fields("html head meta title style body a header h1 h2 dl div dt dd nav aside main p button input dialog kbd footer noscript script")
	attrNames    = strings.Fields("lang charset http-equiv content name class href id aria-label aria-pressed aria-expanded aria-controls aria-live dir title type role tabindex placeholder autocomplete spellcheck hidden data-theme data-filter")
)

// pageScript is the code that a reader's browser may run.
type pageScript struct{ policy, style, script string }

// requireInert fails unless the page is the viewer and data: no content of the session adds an element, an attribute
// or a script to it.
func requireInert(t testing.TB, page string) {
	t.Helper()
	count, ids := map[string]int{}, map[string]bool{}
	var own pageScript
	for _, e := range parseMarkup(t, page) {
		require.True(t, slices.Contains(elementNames, e.name), e.name)
		count[e.name]++
		for _, a := range e.attrs {
			require.True(t, slices.Contains(attrNames, a.name), a.name)
		}
		if id := e.attr("id"); id != "" {
			require.False(t, ids[id], "id %q twice", id)
			ids[id] = true
		}
		switch e.name {
		case "a":
			require.Equal(t, "#conversation", e.attr("href"))
		case "html":
			require.Contains(t, []string{"auto", "light", "dark"}, e.attr("data-theme"))
		case "script":
			requireScript(t, e, &own)
		case "style":
			own.style = e.raw
		case "meta":
			if e.attr("http-equiv") != "" {
				require.Equal(t, "Content-Security-Policy", e.attr("http-equiv"))
				own.policy = e.attr("content")
			}
		}
	}
	require.Equal(t, 1, count["style"])
	require.True(t, ids["session-data"] && ids["session-end"])
	requirePolicy(t, own)
}

// requireScript checks the script elements: the viewer, which has no attributes, and data, which is never run.
func requireScript(t testing.TB, e element, own *pageScript) {
	t.Helper()
	switch {
	case len(e.attrs) == 0:
		require.Empty(t, own.script, "a second script")
		own.script = e.raw
	case e.attr("class") != "":
		require.Equal(t, []attr{{"class", "entries"}, {"type", "application/jsonl"}}, e.attrs)
	default:
		require.Contains(t, []string{"session-data", "session-end"}, e.attr("id"))
		require.Equal(t, []attr{{"id", e.attr("id")}, {"type", "application/json"}}, e.attrs)
	}
}

func requirePolicy(t testing.TB, own pageScript) {
	t.Helper()
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	require.Equal(t, "default-src 'none'; script-src "+hash(own.script)+"; style-src "+hash(own.style)+
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'", own.policy)
	require.NotContains(t, own.style, "url(")
	require.NotContains(t, own.style, "@import")
	for _, text := range []string{own.style, own.script} {
		require.NotContains(t, text, "\r")
		require.NotContains(t, text, "<!--")
		require.NotContains(t, text, "<script")
	}
	// highlight.js sets innerHTML in a function that is never called, and contains eval as a
	// keyword.
	bundle, err := os.ReadFile("viewer/rendering.gen.js")
	require.NoError(t, err)
	require.NotRegexp(t, `outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|fetch\(|XMLHttpRequest|import\(`, string(bundle))
	ours := strings.ReplaceAll(own.script, strings.ReplaceAll(string(bundle), "\r", ""), "")
	require.NotRegexp(t, `innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|fetch\(|XMLHttpRequest|import\(`, ours)
}
