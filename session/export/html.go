package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// HTMLOptions is what a page says about its own making.
type HTMLOptions struct {
	AppName     string // the program, in the footer
	GeneratedAt string // when, in any form; a fixed text makes pages reproducible
	Theme       string // light or dark; anything else follows the reader's system
}

// chunkSize is about how many bytes of entries one data block holds. A reader's browser decodes a block at a time.
const chunkSize = 512 << 10

// HTML writes d as one self-contained page: the session as data, and a viewer that draws of it what is looked at.
// The entries are written in one pass, as they are but for the bytes that HTML would not leave alone, so that
// a page costs the time of a copy and the memory of its largest entry.
//
// The viewer stands between what is known of the session and its entries, and reads them as they come.
//
// The data blocks are `script` elements of types that no browser runs: session-data is an object of header,
// leafId and what else there is of title, fileName, model, thinkingLevel, systemPrompt, tools, damaged and
// redacting; each block of class entries holds whole entries, one JSON value per line, in file order;
// session-end is an object of entries (how many) and redacted (how often each kind of secret was replaced).
// A leafId of "" is before the first entry, null is the last one.
//
// Differs: the original's page has its data as base64 of one JSON value, which no browser can hold for a session
// of some hundred megabytes, loads two libraries from a CDN and allows every script.
func HTML(w io.Writer, d Doc, o HTMLOptions) error {
	p := &page{doc: d, out: bufio.NewWriterSize(w, 1<<16)}
	for _, step := range []func() error{
		func() error { return p.shell(o) }, p.about, p.script, p.entries, p.ending, p.out.Flush,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// page is one rendering.
type page struct {
	doc   Doc
	out   *bufio.Writer
	count int    // entries written
	line  []byte // reused for lines that have to change
}

const dataEnd = "</script>\n"

// about writes what is known of the session besides its entries.
func (p *page) about() error {
	d := p.doc
	var o rawjson.Object
	o.Raw("header", valueOrNull(d.Header))
	o.Raw("leafId", d.leaf())
	for _, m := range []struct{ key, val string }{
		{"title", d.title()},
		{"fileName", d.FileName},
		{"model", d.Model},
		{"thinkingLevel", d.ThinkingLevel},
		{"systemPrompt", d.SystemPrompt},
	} {
		if m.val != "" {
			o.String(m.key, m.val)
		}
	}
	if len(d.Tools) > 0 {
		o.Raw("tools", toolsJSON(d.Tools))
	}
	if d.Damaged > 0 {
		o.Raw("damaged", fmt.Appendf(nil, "%d", d.Damaged))
	}
	if d.Redacted != nil {
		o.Raw("redacting", []byte("true"))
	}
	return p.data("session-data", o.Bytes())
}

// leaf returns the entry up to which the conversation goes.
func (d *Doc) leaf() []byte {
	switch {
	case d.LeafID != "":
		return rawjson.Quote(d.LeafID)
	case d.PathIDs != nil && len(d.PathIDs) == 0:
		return []byte(`""`)
	}
	return []byte("null")
}

func (d *Doc) title() string {
	h := parseObject(d.Header)
	return or(preview(or(d.Title, h.str("title"), d.FileName, h.str("id")), 200), "Session")
}

func valueOrNull(v json.RawMessage) []byte {
	if !rawjson.Valid(v) {
		return []byte("null")
	}
	return v
}

func toolsJSON(tools []Tool) []byte {
	list := make([][]byte, len(tools))
	for i, t := range tools {
		var o rawjson.Object
		o.String("name", t.Name).String("description", t.Description)
		if rawjson.Valid(t.Parameters) {
			o.Raw("parameters", t.Parameters)
		}
		list[i] = o.Bytes()
	}
	return rawjson.Array(list)
}

// data writes a data block of one JSON value.
func (p *page) data(id string, v []byte) error {
	if _, err := fmt.Fprintf(p.out, "<script id=%q type=\"application/json\">", id); err != nil {
		return err
	}
	if err := p.value(v); err != nil {
		return err
	}
	_, err := p.out.WriteString(dataEnd)
	return err
}

// entries writes every entry of the file.
func (p *page) entries() error {
	left := 0 // of the chunk that is open; none is at 0
	for raw, err := range p.doc.entries() {
		if err != nil {
			return fmt.Errorf("export: read entry %d: %w", p.count, err)
		}
		if left <= 0 {
			if err := p.nextChunk(); err != nil {
				return err
			}
			left = chunkSize
		}
		left -= len(raw)
		p.count++
		if err := p.value(raw); err != nil {
			return err
		}
		if err := p.out.WriteByte('\n'); err != nil {
			return err
		}
	}
	if p.count == 0 {
		return nil
	}
	_, err := p.out.WriteString(dataEnd)
	return err
}

func (p *page) nextChunk() error {
	if p.count > 0 {
		if _, err := p.out.WriteString(dataEnd); err != nil {
			return err
		}
	}
	_, err := p.out.WriteString("<script class=\"entries\" type=\"application/jsonl\">\n")
	return err
}

// value writes JSON so that HTML reads the same: see [inertJSON].
func (p *page) value(v []byte) error {
	if !needsCare(v) {
		_, err := p.out.Write(v)
		return err
	}
	p.line = inertJSON(p.line[:0], v)
	_, err := p.out.Write(p.line)
	if cap(p.line) > 4*chunkSize {
		p.line = nil // what one enormous entry needed is not kept for the others
	}
	return err
}

// ending writes what is only known at the end.
func (p *page) ending() error {
	var o rawjson.Object
	o.Raw("entries", fmt.Appendf(nil, "%d", p.count))
	if p.doc.Redacted != nil {
		counts, err := json.Marshal(p.doc.Redacted())
		if err != nil {
			return err
		}
		o.Raw("redacted", counts)
	}
	if err := p.data("session-end", o.Bytes()); err != nil {
		return err
	}
	_, err := p.out.WriteString("</body>\n</html>\n")
	return err
}
