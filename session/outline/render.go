package outline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// maxRendered is how much of one line is shown, in UTF-16 units.
const maxRendered = 8000

// Line renders one JSON object of a session file, be it the header, a title slot or an entry,
// as Markdown.
//
// What was said may be Markdown and is shown as such, but nothing in it loads an image or a
// page: the text may be a stranger's.
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
	return harmless(strings.TrimSpace(r.b.String()))
}

// blockCost is what a block counts for besides its text, so that many without any are cut too.
const blockCost = 40

// maxNested is how many lists and objects a value may hold that is shown with its lines broken.
const maxNested = 100

type renderer struct {
	b    strings.Builder
	left int // UTF-16 units that may still be shown
}

// title writes the heading of an entry: what it is, when, and its id.
func (r *renderer) title(what string, raw []byte) {
	fmt.Fprintf(&r.b, "**%s**", escape(what))
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

// content writes what a message says: a text, or a list of blocks.
func (r *renderer) content(content []byte) {
	if rawjson.Kind(content) == '"' {
		r.text(content)
		return
	}
	rawjson.Elements(content, func(block []byte) bool { return r.block(block, false) })
}

// block writes one block. verbatim is for what a tool printed, which is no Markdown.
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
		fmt.Fprintf(&r.b, "*%s*\n\n", escape(oneLine(typ)))
	}
	return r.left > 0
}

// text writes a JSON text as it is.
func (r *renderer) text(v []byte) {
	if s := r.take(v); s != "" {
		r.b.WriteString(s + "\n\n")
	}
}

// fence writes a JSON text as a block of code.
func (r *renderer) fence(language string, v []byte) {
	if s := r.take(v); s != "" {
		r.fenced(language, s)
	}
}

// object writes a JSON value with its lines broken, for a person to read.
func (r *renderer) object(v []byte) {
	if len(v) == 0 || r.left <= 0 {
		return
	}
	text := v[:min(len(v), 4*maxRendered)]
	var indented bytes.Buffer
	// A value that is cut is no JSON any more; it is shown as it is. So is one that is nested
	// so deep that the white space would be most of it.
	if len(text) == len(v) && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= maxNested && json.Indent(&indented, text, "", "  ") == nil {
		text = indented.Bytes()
	}
	r.fenced("json", r.cut(string(text)))
}

func (r *renderer) fenced(language, s string) {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	fmt.Fprintf(&r.b, "%s%s\n%s\n%s\n\n", fence, language, strings.TrimSuffix(s, "\n"), fence)
}

// take returns as much of a JSON text as may still be shown.
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

// code makes inline code of a short text.
func code(s string) string {
	s = strings.ReplaceAll(oneLine(s), "`", "'")
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

var markdownSigns = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#|~!]")

// escape keeps a name from being Markdown.
func escape(s string) string { return markdownSigns.ReplaceAllString(s, `\$0`) }

// loading matches what would make a Markdown viewer load something: an image, or an element
// of HTML that has an address.
var loading = regexp.MustCompile(`(?i)!\[|<(/?(?:a|audio|base|embed|form|frame|iframe|image|img|input|link|meta|object|picture|script|source|style|svg|track|video)\b)`)

// harmless takes from Markdown what loads something. It does so within code too: what a viewer
// takes for code depends on the viewer.
func harmless(s string) string {
	return loading.ReplaceAllStringFunc(strings.ToValidUTF8(s, "\uFFFD"), func(m string) string {
		if m == "![" {
			return `!\[`
		}
		return "&lt;" + m[1:]
	})
}
