package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Text writes the dump of d: system prompt, configuration and tools, each if there is
// any, then d.Messages. The layout is the original's byte for byte, except where a
// comment says Differs. It needs the memory of the largest message.
func Text(w io.Writer, d Doc) error {
	var t dump
	out := trimmer{to: w}
	if d.SystemPrompt != "" {
		t.lines("## System Prompt\n", d.SystemPrompt, "\n")
	}
	t.lines(
		"## Configuration\n",
		"Model: "+oneLine(or(d.Model, "(not selected)")),
		"Thinking Level: "+oneLine(d.ThinkingLevel),
		"\n")
	if len(d.Tools) > 0 {
		t.lines("## Available Tools\n")
		for _, tool := range d.Tools {
			t.tool(tool)
		}
		t.lines("\n")
	}
	n := 0
	for m, err := range d.messages() {
		if err != nil {
			return fmt.Errorf("export: read message %d: %w", n, err)
		}
		n++
		if write, o, ok := dumperOf(m); ok {
			write(&t, o)
		}
		if err := t.passOn(&out); err != nil {
			return err
		}
	}
	return t.passOn(&out)
}

// dump collects lines. The original joins a list of strings with newlines, many of which
// end in one themselves; this preserves its odd spacing exactly.
type dump struct{ strings.Builder }

// passOn writes the lines so far and forgets them. Every line is valid UTF-8.
func (t *dump) passOn(out *trimmer) error {
	err := out.write(t.String())
	t.Reset()
	return err
}

func (t *dump) lines(lines ...string) {
	for _, s := range lines {
		t.WriteString(validUTF8(s))
		t.WriteByte('\n')
	}
}

// dumpers writes the messages of each role. Messages with other roles are omitted.
var dumpers = map[string]func(*dump, object){
	"user":              func(t *dump, m object) { t.textMessage("User", m) },
	"developer":         func(t *dump, m object) { t.textMessage("Developer", m) },
	"assistant":         (*dump).assistant,
	"toolResult":        (*dump).toolResult,
	"bashExecution":     (*dump).bash,
	"pythonExecution":   (*dump).python,
	"custom":            func(t *dump, m object) { t.textMessage(or(m.str("customType"), "custom"), m) },
	"hookMessage":       func(t *dump, m object) { t.textMessage(or(m.str("customType"), "custom"), m) },
	"branchSummary":     (*dump).branchSummary,
	"compactionSummary": (*dump).compactionSummary,
	"fileMention":       (*dump).fileMention,
}

// dumperOf returns how the message m is written; ok is false if it is omitted.
func dumperOf(m []byte) (write func(*dump, object), o object, ok bool) {
	o = parseObject(m)
	write, ok = dumpers[o.str("role")]
	switch o.str("role") {
	case "bashExecution", "pythonExecution":
		// The user ran these outside of the conversation, hidden from the model.
		ok = !o.truthy("excludeFromContext")
	}
	return write, o, ok
}

func (t *dump) tool(tool Tool) {
	t.lines(
		`<tool name="`+attribute(tool.Name)+`">`,
		guard(closesTool, tool.Description),
		"\nParameters:")
	t.parameters(closesTool, tool.Parameters)
	t.lines("</tool>\n")
}

// parameters writes one element per key, and an empty line when there are none.
func (t *dump) parameters(outer *closer, args []byte) {
	var parts []string
	eachArgument(args, func(key string, val []byte) {
		if key == intentKey {
			return
		}
		text, ok := rawjson.String(val)
		if !ok {
			text = compact(val)
		}
		text = guard(closesParameter, guard(outer, text))
		parts = append(parts, "\t<parameter name=\""+attribute(key)+"\">"+text+"</parameter>")
	})
	t.lines(strings.Join(parts, "\n"))
}

// textMessage writes a message with a heading, its text and its images.
func (t *dump) textMessage(title string, m object) {
	t.lines("## " + oneLine(title) + "\n")
	eachBlock(m.get("content"), func(typ string, b object) {
		switch typ {
		case "text":
			t.lines(b.str("text"))
		case "image":
			t.lines("[Image]")
		}
	})
	t.lines("\n")
}

func (t *dump) assistant(m object) {
	t.lines("## Assistant\n")
	eachBlock(m.get("content"), func(typ string, b object) {
		switch typ {
		case "text":
			t.lines(b.str("text"))
		case "thinking":
			t.lines("<thinking>", guard(closesThinking, b.str("thinking")), "</thinking>\n")
		case "toolCall":
			t.lines(`<invoke name="` + attribute(b.str("name")) + `">`)
			if args := b.get("arguments"); rawjson.Kind(args) == '{' || rawjson.Kind(args) == '[' {
				t.parameters(closesInvoke, args)
			}
			t.lines("</invoke>\n")
		}
	})
	t.lines("")
}

func (t *dump) toolResult(m object) {
	t.lines("### Tool Result: " + oneLine(m.str("toolName")))
	if m.truthy("isError") {
		t.lines("(error)")
	}
	eachBlock(m.get("content"), func(typ string, b object) {
		switch typ {
		case "text":
			t.lines(fenced("", b.str("text")))
		case "image":
			t.lines("[Image output]")
		}
	})
	t.lines("")
}

func (t *dump) branchSummary(m object) {
	t.lines("## Branch Summary\n")
	if from := m.str("fromId"); from != "" {
		t.lines("(from branch: " + oneLine(from) + ")\n")
	}
	t.lines(m.str("summary"), "\n")
}

func (t *dump) compactionSummary(m object) {
	t.lines("## Compaction Summary\n")
	if n := m.number("tokensBefore"); n != "" {
		t.lines("(" + n + " tokens before compaction)\n")
	}
	t.lines(m.str("summary"), "\n")
}

func (t *dump) fileMention(m object) {
	t.lines("## File Mention\n")
	rawjson.Elements(m.get("files"), func(v []byte) bool {
		if rawjson.Kind(v) != '{' {
			return true
		}
		f := parseObject(v)
		t.lines(`<file path="` + attribute(f.str("path")) + `">`)
		if content := f.str("content"); content != "" {
			t.lines(guard(closesFile, content))
		}
		if f.truthy("image") {
			t.lines("[Image attached]")
		}
		t.lines("</file>\n")
		return true
	})
	t.lines("\n")
}
