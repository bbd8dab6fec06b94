package export

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"strings"
	"sync"
)

//go:embed viewer/*.js viewer/*.css viewer/*.html
var viewerFiles embed.FS

// viewerScripts are the parts of the viewer's script, in the order in which they depend on each other.
var viewerScripts = []string{"rendering.gen", "text", "markdown", "diff", "index", "items", "dom", "reading", "conversation", "sidebar", "search", "facts", "app"}

// viewer is the part of a page that does not depend on the session.
type viewer struct {
	style, script, markup, policy string
}

// theViewer is built for the first page, to keep it out of the program's start.
var theViewer = sync.OnceValue(func() viewer {
	var script strings.Builder
	script.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range viewerScripts {
		script.WriteString(viewerFile(name + ".js"))
	}
	script.WriteString("})();\n")
	v := viewer{style: viewerFile("style.css"), script: script.String(), markup: viewerFile("page.html")}
	// The policy allows the page's own script and style sheet and inline images. Nothing is loaded, sent or embedded,
	// and Trusted Types forbid that a string becomes markup, even by a mistake in the script.
	v.policy = "default-src 'none'; script-src '" + cspHash(v.script) + "'; style-src '" + cspHash(v.style) +
		"'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	return v
})

// viewerFile returns a file without carriage returns, which a checkout may add: browsers remove them before
// they compare the hash.
func viewerFile(name string) string {
	b, err := viewerFiles.ReadFile("viewer/" + name)
	if err != nil {
		panic(err) // the file is in the program
	}
	return strings.ReplaceAll(string(b), "\r", "")
}

func cspHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// shell writes everything before the data.
func (p *page) shell(o HTMLOptions) error {
	v := theViewer()
	theme := "auto"
	if o.Theme == "light" || o.Theme == "dark" {
		theme = o.Theme
	}
	title := html.EscapeString(p.doc.title())
	generated := ""
	if o.AppName != "" {
		generated = "Exported by " + o.AppName
	}
	footer := html.EscapeString(clean(join(" · ", generated, o.GeneratedAt)))
	for _, s := range []string{
		"<!DOCTYPE html>\n<html lang=\"en\" data-theme=\"", theme, "\">\n<head>\n<meta charset=\"utf-8\">\n",
		"<meta http-equiv=\"Content-Security-Policy\" content=\"", html.EscapeString(v.policy), "\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
		"<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n",
		"<title>", title, "</title>\n<style>", v.style, "</style>\n</head>\n<body>\n",
		strings.NewReplacer("{{title}}", title, "{{footer}}", footer).Replace(v.markup),
	} {
		if _, err := p.out.WriteString(s); err != nil {
			return err
		}
	}
	return nil
}

// script writes the viewer. It precedes the entries, so that it can show the first ones while the browser reads the
// others, and can show a page that is incomplete.
func (p *page) script() error {
	_, err := fmt.Fprintf(p.out, "<script>%s</script>\n", theViewer().script)
	return err
}
