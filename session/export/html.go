package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// HTMLOptions are the options of [HTML].
type HTMLOptions struct {
	AppName     string // the program's name, in the footer
	GeneratedAt string // time in any form; a fixed text makes pages reproducible
	Theme       string // light or dark; anything else follows the reader's system
}

// chunkSize is the approximate number of bytes of entries in one data block. The viewer decodes one block at a time.
const chunkSize = 512 << 10

// HTML writes d as one self-contained page: the session as data, and a viewer that displays the visible part of it.
// The entries are copied in one pass, and only bytes that HTML would change are escaped, so that an export
// takes the time of a copy and the memory of the largest entry.
//
// The viewer is between the description of the session and its entries, and reads them while the page loads.
//
// The data blocks are `script` elements of types that no browser runs: session-data is an object of header,
// leafId and, if known, title, fileName, model, thinkingLevel, systemPrompt, tools, damaged and
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

// about writes the description of the session.
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

// leaf returns the id of the last entry of the conversation.
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
	remaining := 0 // bytes until the open chunk is full; 0 before the first chunk
	for raw, err := range p.doc.entries() {
		if err != nil {
			return fmt.Errorf("export: read entry %d: %w", p.count, err)
		}
		if remaining <= 0 {
			if err := p.nextChunk(); err != nil {
				return err
			}
			remaining = chunkSize
		}
		remaining -= len(raw)
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

// value writes JSON such that HTML does not change it: see [inertJSON].
func (p *page) value(v []byte) error {
	if !needsCare(v) {
		_, err := p.out.Write(v)
		return err
	}
	p.line = inertJSON(p.line[:0], v)
	_, err := p.out.Write(p.line)
	if cap(p.line) > 4*chunkSize {
		p.line = nil // release the buffer of an enormous entry
	}
	return err
}

// ending writes the counts that are only known at the end.
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
