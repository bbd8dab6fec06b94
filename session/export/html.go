package export

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
)

// HTMLOptions is what a page says about its own making.
type HTMLOptions struct {
	AppName     string // the program, in the footer
	GeneratedAt string // when, in any form; a fixed text makes pages reproducible
}

//go:embed template.html
var pageSource string

//go:embed style.css
var styleSource string

// style has no carriage returns, whatever the checkout made of the file: browsers
// drop them before they compare the hash.
var style = strings.ReplaceAll(styleSource, "\r", "")

// pages is made when the first page is: parsing it would be a twentieth of every start.
var pages = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageSource)) })

// policy forbids everything but the page's own style sheet and inline images. There
// is no script to allow: the data block is not one, so the policy leaves it alone.
var policy = "default-src 'none'; script-src 'none'; style-src '" + cspHash(style) +
	"'; img-src data:; base-uri 'none'; form-action 'none'"

func cspHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// HTML writes d as one self-contained page: who and what, a list of turns, all
// entries of the active path in file order, previews of the other branches, and the
// raw data for programs that read the page back.
//
// Differs: the original's page is drawn by scripts, two of them from a CDN, and
// allows everything; this one is readable without scripts or a network. It shows
// the whole path with compactions in place, not only what the model still sees.
func HTML(w io.Writer, d Doc, o HTMLOptions) error {
	if d.Entries == nil {
		d.Entries = func(func(json.RawMessage, error) bool) {}
	}
	p := &page{doc: d, options: o, out: bufio.NewWriterSize(w, 1<<16)}
	for _, step := range []func() error{
		p.survey, p.head, p.turns, p.about, p.conversation, p.otherBranches, p.foot, p.data, p.end, p.out.Flush,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// page is one rendering. Each part of the page is a pass over the entries.
type page struct {
	doc     Doc
	options HTMLOptions
	out     *bufio.Writer
	owner   map[string]int // id → ordinal of the entry that has it
	total   totals
}

// entry is one entry during a pass.
type entry struct {
	object
	raw     json.RawMessage
	ordinal int // place in the file, from 0
	id, typ string
	anchor  string // fit for an id attribute and a fragment, unique in the page
	onPath  bool
	label   string
}

// each calls f with every entry in file order. The entry is valid during the call.
func (p *page) each(f func(*entry) error) error {
	n := 0
	for raw, err := range p.doc.Entries {
		if err != nil {
			return fmt.Errorf("export: read entry %d: %w", n, err)
		}
		if err := f(p.entry(raw, n)); err != nil {
			return err
		}
		n++
	}
	return nil
}

// eachOnPath is [page.each] for the entries of the active path.
func (p *page) eachOnPath(f func(*entry) error) error {
	return p.each(func(e *entry) error {
		if !e.onPath {
			return nil
		}
		return f(e)
	})
}

func (p *page) entry(raw json.RawMessage, ordinal int) *entry {
	e := &entry{object: parseObject(raw), raw: raw, ordinal: ordinal}
	e.id, e.typ = e.str("id"), e.str("type")
	owner, known := p.owner[e.id]
	owns := known && owner == ordinal && e.id != ""
	e.onPath = p.doc.PathIDs == nil || owns && p.doc.PathIDs[e.id]
	if owns {
		e.label = p.doc.Labels[e.id]
	}
	e.anchor = anchorOf(e.id, owns, ordinal)
	return e
}

// anchorOf makes an anchor from an id that may be any string. One that is no plain
// word, or that another entry has, is replaced by the ordinal; the dot keeps such
// anchors apart from ids.
func anchorOf(id string, owns bool, ordinal int) string {
	if !owns || len(id) > 64 || strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != "" {
		return fmt.Sprintf("entry-.%d", ordinal)
	}
	return "entry-" + id
}

func (p *page) render(name string, data any) error { return pages().ExecuteTemplate(p.out, name, data) }
