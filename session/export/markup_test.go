package export_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
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

// parseMarkup reads a page by a grammar so narrow that every browser must read it the
// same way: no comments, no unquoted values, no stray < or &, every element closed.
// Whatever breaks out of its place in the template breaks this grammar or shows up
// as an element or attribute of its own.
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
			require.NotContains(t, e.raw, "<")
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
	elementNames = strings.Fields("html head meta title style body a header h1 h2 h3 dl div dt dd nav ol ul li span p main details summary section pre article b img time footer script")
	attrNames    = strings.Fields("lang charset http-equiv content name class href id aria-label dir src alt loading title datetime open type")
	fragment     = regexp.MustCompile(`^#[A-Za-z0-9_.-]+$`)
	anchorID     = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	className    = regexp.MustCompile(`^[a-z]+(?: [a-z]+)?$`)
	imageSource  = regexp.MustCompile(`^data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$`)
	base64Only   = regexp.MustCompile(`^[A-Za-z0-9+/]*=*$`)
)

// requireInert fails unless page runs nothing, loads nothing and links to nothing but
// itself.
func requireInert(t testing.TB, page string) {
	t.Helper()
	count := map[string]int{}
	ids, targets := map[string]bool{}, map[string]bool{}
	var policy, style string
	for _, e := range parseMarkup(t, page) {
		require.True(t, slices.Contains(elementNames, e.name), e.name)
		count[e.name]++
		for _, a := range e.attrs {
			requireHarmless(t, e, a)
		}
		if id := e.attr("id"); id != "" {
			require.False(t, ids[id], "id %q twice", id)
			ids[id] = true
		}
		if href := e.attr("href"); href != "" {
			targets[href[1:]] = true
		}
		switch e.name {
		case "script":
			require.Equal(t, []attr{{"id", "session-data"}, {"type", "application/json"}}, e.attrs)
			require.True(t, base64Only.MatchString(e.raw), e.raw)
		case "style":
			style = e.raw
		case "meta":
			if e.attr("http-equiv") != "" {
				require.Equal(t, "Content-Security-Policy", e.attr("http-equiv"))
				policy = e.attr("content")
			}
		}
	}
	require.Equal(t, 1, count["script"])
	require.Equal(t, 1, count["style"])
	for target := range targets {
		require.True(t, ids[target], "nothing has the id %q", target)
	}
	requirePolicy(t, policy, style)
}

func requireHarmless(t testing.TB, e element, a attr) {
	t.Helper()
	require.True(t, slices.Contains(attrNames, a.name), a.name)
	switch a.name {
	case "href":
		require.Equal(t, "a", e.name)
		require.True(t, fragment.MatchString(a.value), a.value)
	case "src":
		require.Equal(t, "img", e.name)
		require.True(t, imageSource.MatchString(a.value), a.value)
	case "id":
		require.True(t, anchorID.MatchString(a.value), a.value)
	case "class":
		require.True(t, className.MatchString(a.value), a.value)
	case "type":
		require.Equal(t, "script", e.name)
	}
}

func requirePolicy(t testing.TB, policy, style string) {
	t.Helper()
	sum := sha256.Sum256([]byte(style))
	require.Equal(t, "default-src 'none'; script-src 'none'; style-src 'sha256-"+
		base64.StdEncoding.EncodeToString(sum[:])+"'; img-src data:; base-uri 'none'; form-action 'none'", policy)
	require.NotContains(t, style, "\r")
	require.NotContains(t, style, "url(")
	require.NotContains(t, style, "@import")
}
