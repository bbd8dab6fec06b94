package export

import (
	"bytes"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// messageShows fills the item of each message role.
var messageShows = map[string]func(*item, object){
	"user":              func(it *item, m object) { it.textMessage("user", "User", m) },
	"developer":         func(it *item, m object) { it.textMessage("developer", "Developer", m) },
	"system":            func(it *item, m object) { it.textMessage("developer", "System", m) },
	"assistant":         (*item).assistant,
	"toolResult":        (*item).toolResult,
	"bashExecution":     (*item).bash,
	"pythonExecution":   (*item).python,
	"custom":            (*item).custom,
	"hookMessage":       (*item).custom,
	"branchSummary":     (*item).branchSummary,
	"compactionSummary": (*item).compaction,
	"fileMention":       (*item).fileMention,
}

func (it *item) message(m object) {
	if show, ok := messageShows[m.str("role")]; ok {
		show(it, m)
		return
	}
	it.Kind, it.Title = "custom", "Message with role "+or(m.str("role"), "unknown")
	it.content(m.get("content"))
}

func (it *item) textMessage(kind, title string, m object) {
	it.Kind, it.Title = kind, title
	if m.truthy("synthetic") {
		it.flag("synthetic", false)
	}
	it.content(m.get("content"))
}

// content adds text and images; other blocks are shown by their type only.
func (it *item) content(content []byte) {
	eachBlock(content, func(typ string, b object) {
		switch typ {
		case "text":
			it.text(b.str("text"))
		default:
			it.otherBlock(typ, b)
		}
	})
}

func (it *item) otherBlock(typ string, b object) {
	if typ == "image" {
		it.image(b)
		return
	}
	it.add(block{Kind: "note", Text: "unsupported block type: " + or(preview(typ, 40), "unknown")})
}

func (it *item) image(b object) {
	it.add(block{Kind: "image", Note: imageNote(b)})
}

func (it *item) assistant(m object) {
	it.Kind, it.Title = "assistant", "Assistant"
	it.meta(join("/", m.str("provider"), m.str("model")))
	var u usage
	u.add(m.get("usage"))
	if u.Output > 0 {
		it.meta(grouped(u.Output) + " out")
	}
	if u.Cost > 0 {
		it.meta(dollars(u.Cost))
	}
	switch stop := m.str("stopReason"); stop {
	case "error", "aborted":
		it.flag(stop, true)
	case "length":
		it.flag("truncated at the token limit", true)
	}
	eachBlock(m.get("content"), it.assistantBlock)
	if err := m.str("errorMessage"); err != "" {
		it.add(block{Kind: "error", Text: err})
	}
}

func (it *item) assistantBlock(typ string, b object) {
	switch typ {
	case "text":
		it.text(b.str("text"))
	case "thinking":
		if s := b.str("thinking"); s != "" {
			it.add(block{Kind: "thinking", Text: s})
		}
	case "redactedThinking":
		it.add(block{Kind: "note", Text: "thinking withheld by the provider"})
	case "toolCall":
		args, intent := arguments(b.get("arguments"))
		name := or(preview(b.str("name"), 60), "unnamed tool")
		about := or(preview(or(b.str("intent"), intent), 100), argumentPreview(b.get("arguments")))
		it.add(block{Kind: "call", Title: name, Note: about, Args: args})
	default:
		it.otherBlock(typ, b)
	}
}

func (it *item) toolResult(m object) {
	it.Kind, it.Title = "tool", or(preview(m.str("toolName"), 80), "Tool result")
	if m.truthy("isError") {
		it.flag("error", true)
	}
	if m.truthy("isWarning") {
		it.flag("warning", true)
	}
	if m.truthy("prunedAt") {
		it.flag("pruned from the context", false)
	}
	eachBlock(m.get("content"), func(typ string, b object) {
		if typ == "text" {
			it.output("", b.str("text"))
		} else {
			it.otherBlock(typ, b)
		}
	})
	if len(it.Blocks) == 0 {
		it.output("", "")
	}
}

func (it *item) bash(m object) {
	it.execution("Shell", block{Kind: "shell", Text: m.str("command")}, m)
}

func (it *item) python(m object) { it.execution("Python", block{Kind: "code", Text: m.str("code")}, m) }

// execution shows a command run by the user.
func (it *item) execution(title string, source block, m object) {
	it.Kind, it.Title = "exec", title
	switch code := m.number("exitCode"); {
	case m.truthy("cancelled"):
		it.flag("cancelled", true)
	case code != "" && m.float("exitCode") != 0:
		it.flag("exit code "+preview(code, 20), true)
	}
	if m.truthy("truncated") {
		it.flag("output truncated", false)
	}
	if m.truthy("excludeFromContext") {
		it.flag("not in the context", false)
	}
	it.add(source)
	it.output("Output", m.str("output"))
	if notice := truncationNotice(m); notice != "" {
		it.add(block{Kind: "note", Text: notice})
	}
}

func (it *item) custom(m object) {
	it.Kind, it.Title = "custom", or(m.str("customType"), "Extension message")
	if rawjson.Kind(m.get("display")) == 'f' {
		it.flag("hidden", false)
	}
	it.content(m.get("content"))
	it.raw("Details", m.get("details"))
}

func (it *item) fileMention(m object) {
	it.Kind, it.Title = "file", "Files"
	rawjson.Elements(m.get("files"), func(v []byte) bool {
		f := parseObject(v)
		if f == nil {
			return true
		}
		text := f.str("content")
		note := count(lineCount(text), "line", "lines")
		if reason := f.str("skippedReason"); reason != "" {
			note = join(" · ", note, "skipped: "+preview(reason, 40))
		}
		it.add(block{Kind: "fold", Title: or(preview(f.str("path"), 200), "unnamed file"), Note: note, Text: or(text, "(no text)")})
		if img := f.object("image"); img != nil {
			it.image(img)
		}
		return true
	})
}

// indented returns v with line breaks, for reading.
func indented(v []byte) string {
	if len(v) <= 80 {
		return compact(v)
	}
	var buf bytes.Buffer
	if json.Indent(&buf, v, "", "  ") != nil {
		return compact(v)
	}
	return validUTF8(buf.String())
}
