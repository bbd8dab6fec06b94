package export

import (
	"bufio"
	"io"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/markup"
)

// Markdown writes d as Markdown: the information of the page's header, then the active path in file order. Messages
// are written as the Markdown they are, except for markup that would be live in a viewer: HTML, images, links to
// anything but the web. Output of programs is in fences that nothing in it can end. Images are named, not embedded:
// Markdown viewers seldom show images of this kind.
//
// Entries are prepared on several processors, some at a time.
func Markdown(w io.Writer, d Doc) error {
	out := bufio.NewWriterSize(w, 1<<16)
	p := passes{doc: d}
	if err := p.survey(); err != nil {
		return err
	}
	m := markdown{passes: &p}
	m.head()
	shown := 0
	write := func(m *markdown) error {
		_, err := out.Write(m.out)
		shown += m.shown
		return err
	}
	if err := write(&m); err != nil {
		return err
	}
	entries := lots[markdown]{work: func(l *lot, m *markdown) { m.write(&p, l) }, take: write}
	if err := entries.run(d.entries(), readFault); err != nil {
		return err
	}
	m.out = m.out[:0]
	if shown == 0 {
		m.text("\nThis conversation has no entries.\n")
	}
	m.foot()
	if err := write(&m); err != nil {
		return err
	}
	return out.Flush()
}

// markdown collects a part of the text.
type markdown struct {
	*passes
	out   []byte
	shown int   // entries
	entry entry // used again
}

// write replaces the text by that of the entries in l.
func (m *markdown) write(p *passes, l *lot) {
	const mostKept = 4 * batchSize
	if cap(m.out) > mostKept {
		m.out = nil
	}
	m.passes, m.out, m.shown = p, m.out[:0], 0
	l.each(func(n int, line []byte) {
		if p.entry(&m.entry, line, n); m.entry.onPath {
			m.shown++
			m.item(itemOf(&m.entry))
		}
	})
}

func (m *markdown) text(ss ...string) {
	for _, s := range ss {
		m.out = append(m.out, s...)
	}
}

func (m *markdown) head() {
	m.text("# ", markup.Plain(m.doc.title()), "\n\n")
	for _, f := range m.facts() {
		m.text("- **", f.Name, ":** ", markup.Plain(oneLine(f.Value)), "\n")
	}
	if m.doc.Damaged > 0 {
		m.text("\n> ", count(m.doc.Damaged, "damaged line", "damaged lines"), " of the session file couldn't be read.\n")
	}
	if m.doc.SystemPrompt != "" {
		m.text("\n## System prompt\n\n")
		m.fence("", clean(m.doc.SystemPrompt))
	}
	if len(m.doc.Tools) > 0 {
		m.text("\n## Tools\n")
	}
	for _, t := range m.doc.Tools {
		m.text("\n### ", markup.Plain(oneLine(clean(t.Name))), "\n\n", markup.Markdown(clean(t.Description)), "\n")
		if len(t.Parameters) > 0 {
			m.text("\n")
			m.fence("json", clean(indented(t.Parameters)))
		}
	}
}

// item writes one entry: a heading for a message, one line in italics for a setting.
func (m *markdown) item(it *item) {
	small := make([]string, 0, len(it.Flags)+len(it.Meta)+2)
	for _, f := range it.Flags {
		small = append(small, f.Text)
	}
	if it.Label != "" {
		small = append(small, "label: "+it.Label)
	}
	small = append(append(small, it.Meta...), it.Time.Text)
	if it.Kind == "note" {
		m.text("\n*", markup.Plain(oneLine(it.Title)), "*\n")
	} else {
		m.text("\n## ", markup.Plain(oneLine(it.Title)), "\n")
		if about := join(" · ", small...); about != "" {
			m.text("\n*", markup.Plain(oneLine(about)), "*\n")
		}
	}
	for _, b := range it.Blocks {
		m.text("\n")
		m.block(b)
	}
}

func (m *markdown) block(b block) {
	switch b.Kind {
	case "text":
		m.text(markup.Markdown(b.Text), "\n")
	case "code", "shell":
		m.fence(map[string]string{"shell": "sh", "code": "python"}[b.Kind], b.Text)
	case "error":
		m.text("**Error**\n\n")
		m.fence("", b.Text)
	case "image", "note", "empty":
		m.text("*", markup.Plain(oneLine(b.Note+b.Text)), "*\n")
	case "call":
		m.call(b)
	case "thinking":
		m.text("> *Thinking*\n>\n> ", strings.ReplaceAll(markup.Markdown(b.Text), "\n", "\n> "), "\n")
	default:
		if b.Title != "" {
			m.text("**", markup.Plain(oneLine(b.Title)), "**\n\n")
		}
		m.fence("", b.Text)
	}
}

func (m *markdown) call(b block) {
	m.text("**", markup.Plain(oneLine(b.Title)), "**")
	if b.Note != "" {
		m.text(" ", markup.Plain(oneLine(b.Note)))
	}
	m.text("\n")
	for _, a := range b.Args {
		if a.Multi {
			m.text("\n", markup.Plain(oneLine(a.Key)), ":\n\n")
			m.fence("", a.Value)
		} else {
			m.text("\n- ", markup.Plain(oneLine(a.Key)), ": ", markup.Code(a.Value), "\n")
		}
	}
}

func (m *markdown) foot() {
	if m.doc.Redacted == nil {
		return
	}
	if notice := redactedText(m.doc.Redacted()); notice != "" {
		m.text("\n---\n\n", notice, "\n")
	}
}

func (m *markdown) fence(lang, s string) {
	m.text(markup.Block(lang, s), "\n")
}
