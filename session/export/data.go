package export

import (
	"encoding/base64"
	"encoding/json"
	"io"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// data writes the session itself into the page: an object of header, entries, leafId,
// systemPrompt and tools, in base64 so that nothing in it can end the element. The
// raw values are unchanged. Its type makes it a data block, which is never executed.
func (p *page) data() error {
	if _, err := io.WriteString(p.out, "<script id=\"session-data\" type=\"application/json\">"); err != nil {
		return err
	}
	enc := base64.NewEncoder(base64.StdEncoding, p.out)
	if err := p.json(enc); err != nil {
		return err
	}
	if err := enc.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(p.out, "</script>\n")
	return err
}

func (p *page) json(w io.Writer) error {
	out := &joiner{w: w}
	out.text(`{"header":`)
	out.value(p.doc.Header)
	out.text(`,"entries":[`)
	sep := ""
	err := p.each(func(e *entry) error {
		if rawjson.Valid(e.raw) {
			out.text(sep)
			out.value(e.raw)
			sep = ","
		}
		return out.err
	})
	if err != nil {
		return err
	}
	out.text(`],"leafId":`)
	out.string(p.doc.LeafID)
	if p.doc.SystemPrompt != "" {
		out.text(`,"systemPrompt":`)
		out.string(p.doc.SystemPrompt)
	}
	if len(p.doc.Tools) > 0 {
		out.text(`,"tools":`)
		out.tools(p.doc.Tools)
	}
	out.text("}")
	return out.err
}

// joiner writes pieces of JSON and keeps the first error.
type joiner struct {
	w   io.Writer
	err error
}

func (j *joiner) text(s string) {
	if j.err == nil {
		_, j.err = io.WriteString(j.w, s)
	}
}

// value writes v, or null when it is no JSON value.
func (j *joiner) value(v json.RawMessage) {
	if !rawjson.Valid(v) {
		v = json.RawMessage("null")
	}
	if j.err == nil {
		_, j.err = j.w.Write(v)
	}
}

// string writes s, or null when it is empty.
func (j *joiner) string(s string) {
	if s == "" {
		j.text("null")
		return
	}
	j.value(rawjson.Quote(s))
}

func (j *joiner) tools(tools []Tool) {
	for i, t := range tools {
		j.text([]string{"[", ","}[min(i, 1)])
		var o rawjson.Object
		o.String("name", t.Name).String("description", t.Description)
		if rawjson.Valid(t.Parameters) {
			o.Raw("parameters", t.Parameters)
		}
		j.value(o.Bytes())
	}
	j.text("]")
}
