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

// viewerScripts are the parts of the viewer's script; each uses only those before it.
var viewerScripts = []string{"text", "markdown", "highlight", "diff", "index", "items", "dom", "reading", "conversation", "sidebar", "search", "facts", "app"}

// viewer is what every page has in common.
type viewer struct {
	style, script, markup, policy string
}

// theViewer is made when the first page is: it would be a part of every start.
var theViewer = sync.OnceValue(func() viewer {
	var script strings.Builder
	script.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range viewerScripts {
		script.WriteString(viewerFile(name + ".js"))
	}
	script.WriteString("})();\n")
	v := viewer{style: viewerFile("style.css"), script: script.String(), markup: viewerFile("page.html")}
	// The page's own script and style sheet and inline images; nothing is loaded, sent or embedded, and no text
	// can become markup even by a mistake of the script (trusted types).
	v.policy = "default-src 'none'; script-src '" + cspHash(v.script) + "'; style-src '" + cspHash(v.style) +
		"'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	return v
})

// viewerFile has no carriage returns, whatever the checkout made of the file: browsers drop them before they compare
// the hash.
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

// shell writes everything in front of the data.
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

// script writes the viewer. It stands before the entries, so that it shows the first ones while a browser is still
// reading the others, and shows what there is of a page that was cut off.
func (p *page) script() error {
	_, err := fmt.Fprintf(p.out, "<script>%s</script>\n", theViewer().script)
	return err
}
