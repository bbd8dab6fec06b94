package export

import (
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// turn is one line of the table of contents.
type turn struct {
	Anchor, Text, Label string
	Number              int // of a prompt; 0 for what is listed for its label or as a landmark
}

// turns writes the table of contents: prompts, compactions and labelled entries.
func (p *page) turns() error {
	if err := p.render("turns-start", nil); err != nil {
		return err
	}
	n := 0
	err := p.eachOnPath(func(e *entry) error {
		t := turn{Anchor: e.anchor, Label: clean(e.label)}
		switch {
		case isPrompt(e):
			n++
			t.Number = n
			t.Text = or(preview(e.text(), 90), "(no text)")
		case e.typ == "compaction":
			t.Text = "Compaction"
		case e.label != "":
			t.Text = or(preview(e.text(), 60), e.typ)
		default:
			return nil
		}
		return p.render("turn", t)
	})
	if err != nil {
		return err
	}
	return p.render("turns-end", n)
}

func isPrompt(e *entry) bool {
	if e.typ != "message" {
		return false
	}
	m := e.object.object("message")
	return m.str("role") == "user" && !m.truthy("synthetic")
}

// text returns the first text that says what the entry is about, "" when it has none.
func (e *entry) text() string {
	m := e.object
	if e.typ == "message" {
		m = m.object("message")
	}
	for _, key := range []string{"summary", "command", "code"} {
		if s := m.str(key); s != "" {
			return s
		}
	}
	var first, call string
	eachBlock(m.get("content"), func(typ string, b object) {
		switch {
		case first == "" && typ == "text":
			first = strings.TrimSpace(b.str("text"))
		case call == "" && typ == "toolCall":
			call = b.str("name") + " " + argumentPreview(b.get("arguments"))
		case call == "" && typ == "image":
			call = "[image]"
		}
	})
	return or(first, call, m.str("errorMessage"), firstPath(m.get("files")))
}

func firstPath(files []byte) string {
	path := ""
	rawjson.Elements(files, func(v []byte) bool {
		path, _ = rawjson.GetString(v, "path")
		return false
	})
	return path
}
