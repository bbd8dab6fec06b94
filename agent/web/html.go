package web

import (
	"bytes"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// writer makes a text of a page. It reads tokens, not a tree: no nesting of elements costs more than its length.
type writer struct {
	base *url.URL

	out     strings.Builder
	newline int   // line breaks that are due before the next word
	space   bool  // a space is due
	pre     int   // depth of preformatted elements
	skip    int   // depth of elements that are not shown
	lists   []int // the next number of each open list; -1 for one without numbers
	link    *link // the open link
	title   strings.Builder
	inTitle bool
	written int // bytes of text
}

type link struct {
	target string
	start  int // of its text in the output
}

// maxListDepth bounds the lists within each other that are indented.
const maxListDepth = 8

// hidden are elements whose content is not text of the page.
var hidden = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Iframe: true, atom.Object: true,
	atom.Select: true, atom.Textarea: true, atom.Canvas: true, atom.Math: true,
}

// blocks are elements that begin a paragraph; those with 1 begin only a line.
var blocks = map[atom.Atom]int{
	atom.P: 2, atom.Div: 1, atom.Section: 2, atom.Article: 2, atom.Header: 2, atom.Footer: 2, atom.Main: 2, atom.Nav: 2, atom.Aside: 2, atom.Ul: 2, atom.Ol: 2,
	atom.Dl: 2, atom.Dt: 1, atom.Dd: 1, atom.Table: 2, atom.Tr: 1, atom.Blockquote: 2, atom.Figure: 2, atom.Figcaption: 1, atom.Form: 2, atom.Fieldset: 2,
	atom.Details: 2, atom.Summary: 1, atom.Address: 2, atom.Hr: 2, atom.H1: 2, atom.H2: 2, atom.H3: 2, atom.H4: 2, atom.H5: 2, atom.H6: 2, atom.Pre: 2,
	atom.Li: 1, atom.Option: 1, atom.Caption: 1, atom.Body: 2, atom.Title: 2, atom.Head: 2,
}

// headings are the marks of headings.
var headings = map[atom.Atom]string{atom.H1: "# ", atom.H2: "## ", atom.H3: "### ", atom.H4: "#### ", atom.H5: "##### ", atom.H6: "###### "}

// text returns the text of a page as simple Markdown. base resolves its links.
func text(page []byte, base *url.URL) string {
	w := &writer{base: base}
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken: // the end
			return w.finish()
		case html.TextToken:
			w.text(string(z.Text()))
		case html.StartTagToken:
			name, attributes := z.TagName()
			w.start(atom.Lookup(name), z, attributes)
		case html.SelfClosingTagToken:
			name, attributes := z.TagName()
			a := atom.Lookup(name)
			if w.start(a, z, attributes); a != atom.Br && a != atom.Hr && a != atom.Img && a != atom.Input {
				w.end(a)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			w.end(atom.Lookup(name))
		}
	}
}

func attribute(z *html.Tokenizer, more bool, names ...string) map[string]string {
	values := map[string]string{}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		for _, name := range names {
			if string(key) == name {
				values[name] = string(value)
			}
		}
	}
	return values
}

func (w *writer) start(a atom.Atom, z *html.Tokenizer, attributes bool) {
	switch {
	case hidden[a]:
		w.skip++
		return
	case w.skip > 0:
		return
	}
	w.newline = max(w.newline, blocks[a])
	switch a {
	case atom.Title:
		w.inTitle = w.title.Len() == 0
	case atom.Br:
		w.newline = max(w.newline, 1)
	case atom.Hr:
		w.word("---")
		w.newline = 2
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.mark(headings[a])
	case atom.Pre:
		w.mark("```")
		w.newline = 1
		w.pre++
	case atom.Code:
		if w.pre == 0 {
			w.word("`")
		}
	case atom.Ul:
		w.lists = append(w.lists, -1)
	case atom.Ol:
		w.lists = append(w.lists, 1)
	case atom.Li:
		w.mark(w.item())
	case atom.Td, atom.Th:
		if w.newline == 0 && w.written > 0 {
			w.word(" |")
			w.space = true
		}
	case atom.A:
		w.endLink() // a link in a link ends it
		w.link = &link{w.target(attribute(z, attributes, "href")["href"]), -1}
	case atom.Img:
		if alt := strings.TrimSpace(attribute(z, attributes, "alt")["alt"]); alt != "" {
			w.text("[image: " + alt + "]")
		}
	}
}

// item returns the mark of an item of a list.
func (w *writer) item() string {
	if len(w.lists) == 0 {
		return "- "
	}
	indent := strings.Repeat("  ", min(len(w.lists), maxListDepth)-1)
	last := &w.lists[len(w.lists)-1]
	if *last < 0 {
		return indent + "- "
	}
	*last++
	return indent + strconv.Itoa(*last-1) + ". "
}

func (w *writer) end(a atom.Atom) {
	switch {
	case hidden[a]:
		w.skip = max(w.skip-1, 0)
		return
	case w.skip > 0:
		return
	}
	switch a {
	case atom.Title:
		w.inTitle = false
	case atom.Pre:
		if w.pre > 0 {
			w.pre--
			w.newline = 1
			w.mark("```")
			w.newline = 2
		}
	case atom.Code:
		if w.pre == 0 && w.newline == 0 {
			w.out.WriteString("`")
		}
	case atom.Ul, atom.Ol:
		if len(w.lists) > 0 {
			w.lists = w.lists[:len(w.lists)-1]
		}
	case atom.A:
		w.endLink()
	}
	w.newline = max(w.newline, blocks[a])
}

// endLink writes the target of a link behind its text.
func (w *writer) endLink() {
	l := w.link
	w.link = nil
	if l == nil || l.target == "" || l.start < 0 || w.pre > 0 || w.out.Len() == l.start {
		return
	}
	if shown := w.out.String()[l.start:]; shown != l.target {
		w.out.WriteString(" (" + l.target + ")")
	}
}

// target returns the address of a link, "" for one that is no use to a reader.
func (w *writer) target(href string) string {
	const most = 1000
	href = strings.TrimSpace(href)
	if href == "" || strings.HasPrefix(href, "#") || len(href) > most {
		return ""
	}
	u, err := w.base.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}

// mark writes a mark at the beginning of what follows.
func (w *writer) mark(s string) {
	w.space = false
	w.breakLine()
	w.out.WriteString(s)
}

// breakLine writes the line breaks and the space that are due.
func (w *writer) breakLine() {
	if w.written > 0 && w.newline > 0 {
		w.out.WriteString(strings.Repeat("\n", w.newline))
	} else if w.space && w.written > 0 {
		w.out.WriteByte(' ')
	}
	w.newline, w.space = 0, false
	w.written++
	if w.link != nil && w.link.start < 0 {
		w.link.start = w.out.Len()
	}
}

func (w *writer) word(s string) {
	w.breakLine()
	w.out.WriteString(s)
}

var spaces = regexp.MustCompile(`[ \t\r\n\f\x{a0}]+`)

// text writes text.
func (w *writer) text(s string) {
	switch {
	case w.skip > 0:
		return
	case w.inTitle:
		w.title.WriteString(s)
		return
	case w.pre > 0:
		if s != "" {
			w.breakLine()
			w.out.WriteString(strings.ReplaceAll(s, "\r\n", "\n"))
		}
		return
	}
	s = spaces.ReplaceAllString(s, " ")
	trimmed := strings.Trim(s, " ")
	if trimmed == "" {
		w.space = w.space || s != ""
		return
	}
	w.space = w.space || s[0] == ' '
	w.word(trimmed)
	w.space = s[len(s)-1] == ' '
}

var manyLines = regexp.MustCompile(`[ \t]*\n([ \t]*\n){2,}`)

func (w *writer) finish() string {
	out := strings.TrimSpace(manyLines.ReplaceAllString(w.out.String(), "\n\n"))
	title := strings.TrimSpace(spaces.ReplaceAllString(w.title.String(), " "))
	if title != "" && !strings.HasPrefix(out, "# "+title) {
		out = "Title: " + title + "\n\n" + out
	}
	return out
}
