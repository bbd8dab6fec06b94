package outline

import (
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

const (
	nameLength = 80             // of a name, in UTF-16 units
	readLength = 4 * nameLength // how much text a name is made from
	longEntry  = 1 << 20        // size in bytes above which an entry is not read for its name
)

// Namer gives entries names. It reads entries up to its budget of bytes; later entries are
// named by their type only.
type Namer struct {
	View
	Bytes int
}

// Name distinguishes entry i from its neighbours, on one line and never empty.
func (n *Namer) Name(i int) string {
	from, to := n.Doc.Span(i)
	size := int(to - from)
	if size > longEntry || size > n.Bytes {
		return n.Kind(i)
	}
	n.Bytes -= size
	text := oneLine(entryText(n.Doc.Type(i), n.raw(i)))
	switch {
	case text == "":
		return n.Kind(i)
	case n.Doc.Role(i) == "user":
		return text
	}
	return n.Kind(i) + ": " + text
}

// Kind returns the kind of entry i. It reads nothing from disk.
func (v View) Kind(i int) string {
	if v.Doc.Type(i) == session.TypeMessage {
		if title := roleTitles[v.Doc.Role(i)]; title != "" {
			return title
		}
		return "Message"
	}
	if title := typeTitles[v.Doc.Type(i)]; title != "" {
		return title
	}
	return oneLine(string(v.Doc.Type(i)))
}

// roleTitles are the names of messages by role, including the roles of older files.
var roleTitles = map[string]string{
	"user": "Prompt", "developer": "Developer", "assistant": "Answer", "toolResult": "Tool result",
	"bashExecution": "Command", "pythonExecution": "Python", "custom": "Extension", "hookMessage": "Extension",
	"branchSummary": "Branch summary", "compactionSummary": "Compaction", "fileMention": "Files",
}

// typeTitles are the names of other entries.
var typeTitles = map[session.Type]string{
	session.TypeModelChange: "Model", session.TypeThinkingLevel: "Thinking", session.TypeModeChange: "Mode",
	session.TypeCompaction: "Compaction", session.TypeBranchSummary: "Branch summary", session.TypeLabel: "Label",
	session.TypeCustom: "Extension data", session.TypeCustomMessage: "Extension", session.TypeSessionInit: "Task",
	session.TypeSessionInfo: "Title", session.TypeTitleChange: "Title",
}

// entryText is the readable text of an entry, or the beginning of it.
func entryText(typ session.Type, raw []byte) string {
	e := session.Entry{Type: typ, Raw: raw}
	switch typ {
	case session.TypeMessage:
		return messageText(e.Message())
	case session.TypeCustomMessage:
		return session.MessageBeginning(raw, readLength)
	case session.TypeModelChange:
		return e.AsModelChange().Model
	case session.TypeThinkingLevel:
		return e.AsThinkingLevel()
	case session.TypeModeChange:
		return e.AsModeChange().Mode
	}
	return firstString(raw, "summary", "label", "customType", "task", "name", "title")
}

// messageText is the beginning of a message's text, or a description of its action.
func messageText(m []byte) string {
	text := session.MessageBeginning(m, readLength)
	if text == "" {
		text = firstString(m, "command", "code", "summary", "errorMessage", "toolName")
	}
	if text == "" {
		rawjson.Elements(rawjson.Get(m, "content"), func(block []byte) bool {
			if name := firstString(block, "name"); name != "" {
				text += name + " "
			}
			return len(text) < readLength
		})
	}
	return text
}

// firstString returns the beginning of the first of the named members that is a text with
// something in it.
func firstString(obj []byte, names ...string) string {
	for _, name := range names {
		if s, _ := rawjson.StringPrefix(rawjson.Get(obj, name), readLength); s != "" {
			return s
		}
	}
	return ""
}

// oneLine brings the beginning of a text onto one short line.
func oneLine(text string) string {
	line := visible.Line(strings.Join(strings.Fields(rawjson.UTF16Prefix(text, readLength)), " "))
	if short := rawjson.UTF16Prefix(line, nameLength); short != line {
		return visible.Line(short + "…") // the cut may have left half of an emoji
	}
	return line
}
