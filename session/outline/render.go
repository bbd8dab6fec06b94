package outline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/markup"
)

// maxRendered is the length of the part of a line that is shown, in UTF-16 units.
const maxRendered = 8000

// Line renders one JSON object of a session file, be it the header, a title slot or an entry,
// as Markdown.
//
// Messages may be Markdown and are shown as such, but nothing in them is live: they may come
// from an untrusted author. See package markup.
func Line(raw []byte) string {
	r := renderer{left: maxRendered}
	typ, _ := rawjson.GetString(raw, "type")
	switch session.Type(typ) {
	case "session":
		r.header(raw)
	case session.TypeMessage:
		r.message(raw)
	case session.TypeCustomMessage:
		r.title("Extension", raw)
		r.content(rawjson.Get(raw, "content"))
	case session.TypeCompaction, session.TypeBranchSummary:
		r.title(typeTitles[session.Type(typ)], raw)
		r.text(rawjson.Get(raw, "summary"))
	default:
		r.title(oneLine(typ), raw)
		r.object(raw)
	}
	return strings.TrimSpace(r.b.String())
}

// blockCost is added for each block to the length of its text, so that many empty blocks are
// cut too.
const blockCost = 40

// maxNested is the maximum number of lists and objects in a value that is shown with its lines
// broken.
const maxNested = 100

type renderer struct {
	b    strings.Builder
	left int // UTF-16 units that may still be shown
}

// title writes the heading of an entry: its kind, its time and its id.
func (r *renderer) title(what string, raw []byte) {
	fmt.Fprintf(&r.b, "**%s**", markup.Plain(what))
	for _, name := range []string{"timestamp", "id"} {
		if s := firstString(raw, name); s != "" {
			r.b.WriteString(" · " + code(s))
		}
	}
	r.b.WriteString("\n\n")
}

func (r *renderer) header(raw []byte) {
	r.title("Session", raw)
	for _, name := range []string{"title", "cwd", "version", "parentSession", "dialect"} {
		value := rawjson.Get(raw, name)
		s, ok := rawjson.StringPrefix(value, readLength)
		if !ok {
			s = string(value[:min(len(value), readLength)])
		}
		if s != "" {
			fmt.Fprintf(&r.b, "- %s: %s\n", name, code(s))
		}
	}
}

func (r *renderer) message(raw []byte) {
	m := rawjson.Get(raw, "message")
	role, _ := rawjson.GetString(m, "role")
	what := roleTitles[role]
	if what == "" {
		what = "Message " + oneLine(role)
	}
	if name := firstString(m, "toolName", "customType", "model"); name != "" {
		what += ": " + oneLine(name)
	}
	if rawjson.Truthy(rawjson.Get(m, "isError")) {
		what += " (error)"
	}
	r.title(what, raw)
	switch role {
	case "toolResult":
		rawjson.Elements(rawjson.Get(m, "content"), func(block []byte) bool { return r.block(block, true) })
	case "bashExecution":
		r.fence("sh", rawjson.Get(m, "command"))
		r.fence("", rawjson.Get(m, "output"))
	case "pythonExecution":
		r.fence("python", rawjson.Get(m, "code"))
		r.fence("", rawjson.Get(m, "output"))
	case "branchSummary", "compactionSummary":
		r.text(rawjson.Get(m, "summary"))
	case "fileMention":
		rawjson.Elements(rawjson.Get(m, "files"), func(file []byte) bool {
			fmt.Fprintf(&r.b, "- %s\n", code(firstString(file, "path")))
			r.left -= blockCost
			return r.left > 0
		})
	default:
		r.content(rawjson.Get(m, "content"))
		if s := firstString(m, "errorMessage"); s != "" {
			r.b.WriteString("\n\nFailed: " + code(s) + "\n")
		}
	}
}

// content writes the content of a message: a text, or a list of blocks.
func (r *renderer) content(content []byte) {
	if rawjson.Kind(content) == '"' {
		r.text(content)
		return
	}
	rawjson.Elements(content, func(block []byte) bool { return r.block(block, false) })
}

// block writes one block. verbatim is for output of tools, which is not Markdown.
func (r *renderer) block(block []byte, verbatim bool) (more bool) {
	r.left -= blockCost
	switch typ, _ := rawjson.GetString(block, "type"); typ {
	case "text":
		if verbatim {
			r.fence("", rawjson.Get(block, "text"))
		} else {
			r.text(rawjson.Get(block, "text"))
		}
	case "thinking":
		r.b.WriteString("*Thinking*\n\n")
		r.fence("", rawjson.Get(block, "thinking"))
	case "toolCall":
		fmt.Fprintf(&r.b, "*Calls* %s\n\n", code(firstString(block, "name")))
		r.object(rawjson.Get(block, "arguments"))
	case "image":
		fmt.Fprintf(&r.b, "*Image* %s\n\n", code(firstString(block, "mimeType")))
	default:
		fmt.Fprintf(&r.b, "*%s*\n\n", markup.Plain(oneLine(typ)))
	}
	return r.left > 0
}

// text writes a JSON text as Markdown.
func (r *renderer) text(v []byte) {
	if s := r.take(v); s != "" {
		r.b.WriteString(markup.Markdown(s) + "\n\n")
	}
}

// fence writes a JSON text as a block of code.
func (r *renderer) fence(language string, v []byte) {
	if s := r.take(v); s != "" {
		r.fenced(language, s)
	}
}

// object writes a JSON value with its lines broken, for a user to read.
func (r *renderer) object(v []byte) {
	if len(v) == 0 || r.left <= 0 {
		return
	}
	text := v[:min(len(v), 4*maxRendered)]
	var indented bytes.Buffer
	// A value that was cut is not JSON any more; it is shown as it is. So is one nested so
	// deep that most of it would be white space.
	if len(text) == len(v) && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= maxNested && json.Indent(&indented, text, "", "  ") == nil {
		text = indented.Bytes()
	}
	r.fenced("json", r.cut(string(text)))
}

func (r *renderer) fenced(language, s string) {
	r.b.WriteString(markup.Block(language, s) + "\n\n")
}

// take returns the part of a JSON text that may still be shown.
func (r *renderer) take(v []byte) string {
	if r.left <= 0 {
		return ""
	}
	s, _ := rawjson.StringPrefix(v, r.left+1)
	return r.cut(s)
}

func (r *renderer) cut(s string) string {
	short := rawjson.UTF16Prefix(s, max(r.left, 0))
	r.left -= rawjson.UTF16Len(short)
	if short != s {
		return short + " …"
	}
	return short
}

// code formats a short text as inline code.
func code(s string) string {
	if s = oneLine(s); s == "" {
		return ""
	}
	return markup.Code(s)
}
