package export

import (
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// item is one entry, prepared for Markdown. Every string is cleaned. Kind comes from
// this package, never from the transcript.
type item struct {
	Kind         string
	Title, Label string
	Time         moment
	Flags        []flag   // unusual properties: error, cancelled, …
	Meta         []string // small print: model, tokens
	Blocks       []block
}

type flag struct {
	Text string
	Bad  bool
}

// block is a part of an item. Kind selects its markup: text, fold (an output or a
// file), thinking, call, code, shell, note, image or error.
type block struct {
	Kind, Title, Note string
	Text              string
	Args              []argument
}

type argument struct {
	Key, Value string
	Multi      bool // on lines of its own
}

func (it *item) add(b block) {
	b.Title, b.Note, b.Text = clean(b.Title), clean(b.Note), clean(b.Text)
	it.Blocks = append(it.Blocks, b)
}

func (it *item) text(s string) {
	if s != "" {
		it.add(block{Kind: "text", Text: s})
	}
}

func (it *item) fold(title, s string) {
	if s != "" {
		it.add(block{Kind: "fold", Title: title, Text: s})
	}
}

func (it *item) flag(text string, bad bool) {
	it.Flags = append(it.Flags, flag{clean(text), bad})
}

func (it *item) meta(s string) {
	if s != "" {
		it.Meta = append(it.Meta, clean(s))
	}
}

// output adds the output of a program.
func (it *item) output(title, s string) {
	if s == "" {
		it.add(block{Kind: "empty", Note: "no output"})
		return
	}
	it.add(block{Kind: "fold", Title: title, Text: s})
}

// raw adds the entry as JSON, for entries without a better form.
func (it *item) raw(title string, v []byte) {
	if rawjson.Kind(v) != 0 {
		it.fold(title, indented(v))
	}
}

// itemOf returns the item of e.
func itemOf(e *entry) *item {
	it := &item{Label: clean(e.label), Time: instant(e.str("timestamp"))}
	if show, ok := entryShows[e.typ]; ok {
		show(it, e)
	} else {
		it.note("Entry of type " + or(e.typ, "unknown"))
		it.raw("Raw entry", e.raw)
	}
	it.Title = preview(it.Title, 160)
	return it
}

// entryShows fills the items of each entry type.
var entryShows = map[string]func(*item, *entry){
	"message":        func(it *item, e *entry) { it.message(e.object.object("message")) },
	"custom_message": func(it *item, e *entry) { it.custom(e.object) },
	"compaction":     func(it *item, e *entry) { it.compaction(e.object) },
	"branch_summary": func(it *item, e *entry) { it.branchSummary(e.object) },
	"model_change": func(it *item, e *entry) {
		model := or(e.str("model"), join("/", e.str("provider"), e.str("modelId")))
		it.note(join(" ", "Model", role(e.str("role")), "→", or(model, "none")))
	},
	"thinking_level_change": func(it *item, e *entry) { it.note("Thinking → " + or(e.str("thinkingLevel"), "off")) },
	"service_tier_change":   func(it *item, e *entry) { it.note("Service tier → " + or(scalar(e.get("serviceTier")), "none")) },
	"mode_change": func(it *item, e *entry) {
		it.note("Mode → " + or(e.str("mode"), "none"))
		it.raw("Details", e.get("data"))
	},
	"context_change": func(it *item, e *entry) {
		it.note("Context → " + or(join(" / ", e.str("contextName"), e.str("tenant"), e.str("namespace")), "none"))
	},
	"label": func(it *item, e *entry) {
		if label := e.str("label"); label != "" {
			it.note("Label “" + label + "” set")
		} else {
			it.note("Label removed")
		}
	},
	"session_info": func(it *item, e *entry) { it.note("Title → " + or(e.str("name"), "none")) },
	"title_change": func(it *item, e *entry) { it.note("Title → " + or(e.str("title"), "none")) },
	"custom": func(it *item, e *entry) {
		it.note("Extension state: " + or(e.str("customType"), "unnamed"))
		it.raw("Data", e.get("data"))
	},
	"session_init": func(it *item, e *entry) {
		it.note("Sub-agent started")
		it.fold("Task", e.str("task"))
		it.fold("System prompt", e.str("systemPrompt"))
		it.raw("Tools", e.get("tools"))
	},
	"mcp_tool_selection": func(it *item, e *entry) {
		it.note("MCP tools selected")
		it.raw("Tools", e.get("selectedToolNames"))
	},
	"ttsr_injection": func(it *item, e *entry) {
		it.note("Rules injected")
		it.raw("Rules", e.get("injectedRules"))
	},
}

// note makes the item a single line between messages.
func (it *item) note(title string) { it.Kind, it.Title = "note", title }

func (it *item) compaction(m object) {
	it.Kind, it.Title = "summary", "Compaction"
	if n := m.float("tokensBefore"); n > 0 {
		it.meta(grouped(n) + " tokens before")
	}
	it.text(m.str("summary"))
	it.raw("Details", m.get("details"))
}

func (it *item) branchSummary(m object) {
	it.Kind, it.Title = "summary", "Branch summary"
	if from := m.str("fromId"); from != "" {
		it.meta("from " + preview(from, 40))
	}
	it.text(m.str("summary"))
	it.raw("Details", m.get("details"))
}

func role(s string) string {
	if s == "" || s == "default" {
		return ""
	}
	return "(" + s + ")"
}

// scalar shows a JSON value on one line: strings as they are, null as nothing.
func scalar(v []byte) string {
	if s, ok := rawjson.String(v); ok {
		return s
	}
	if k := rawjson.Kind(v); k == 0 || k == 'n' {
		return ""
	}
	return compact(v)
}

// arguments lists the arguments of a tool call without the model's reason for it, which is
// returned separately.
func arguments(args []byte) (list []argument, intent string) {
	eachArgument(args, func(key string, val []byte) {
		text, ok := rawjson.String(val)
		if key == intentKey {
			intent = text
			return
		}
		if !ok {
			text = indented(val)
		}
		list = append(list, argument{clean(key), clean(text), len(text) > 80 || lineCount(text) > 1})
	})
	return list, intent
}

// argumentPreview returns the first string argument of a tool call: almost always the
// command, path or pattern that distinguishes the call from others.
func argumentPreview(args []byte) string {
	first := ""
	eachArgument(args, func(key string, val []byte) {
		if s, ok := rawjson.String(val); ok && first == "" && key != intentKey {
			first = preview(s, 100)
		}
	})
	return first
}
