package acp_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

func TestContentOfPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a b.txt", "one\ntwo\nthree\n")
	w.file(t, "/w/bin", "\x00")
	w.file(t, "/w/huge", strings.Repeat("x", 300<<10))
	link := func(uri string) object { return object{"type": "resource_link", "uri": uri, "name": "n"} }
	for name, tc := range map[string]struct {
		blocks []any
		text   string
		images int
	}{
		"text":              {[]any{text("hello"), text(" you")}, "hello you", 0},
		"a linked file":     {[]any{text("look at "), link("file:///w/a%20b.txt"), text(" please")}, "<file path=\"/w/a b.txt\">\none\ntwo\nthree\n</file>\n\nlook at a b.txt please", 0},
		"lines of a file":   {[]any{link("file:///w/a%20b.txt#L2:3")}, "<file path=\"/w/a b.txt\" lines=\"2-3\">\ntwo\nthree\n</file>\n\na b.txt:2", 0},
		"one line":          {[]any{link("file:///w/a%20b.txt#L2")}, "<file path=\"/w/a b.txt\" lines=\"2-2\">\ntwo\n</file>\n\na b.txt:2", 0},
		"no such line":      {[]any{link("file:///w/a%20b.txt#L9-12")}, "<file path=\"/w/a b.txt\">\none\ntwo\nthree\n</file>\n\na b.txt:9", 0},
		"a link elsewhere":  {[]any{link("https://example.org/x")}, "https://example.org/x", 0},
		"a missing file":    {[]any{link("file:///w/none")}, "none", 0},
		"a directory":       {[]any{link("file:///w")}, ".", 0},
		"a binary file":     {[]any{link("file:///w/bin")}, "bin", 0},
		"a large file":      {[]any{link("file:///w/huge")}, "huge", 0},
		"outside":           {[]any{link("file:///v/x")}, "/v/x", 0},
		"an odd link":       {[]any{link("file://elsewhere/x")}, "file://elsewhere/x", 0},
		"an embedded text":  {[]any{object{"type": "resource", "resource": object{"uri": "file:///w/buffer.txt", "text": "unsaved"}}}, "<file path=\"/w/buffer.txt\">\nunsaved\n</file>\n\nbuffer.txt", 0},
		"an embedded blob":  {[]any{object{"type": "resource", "resource": object{"uri": "file:///w/x.zip", "blob": "AAAA", "mimeType": "application/zip"}}}, "x.zip", 0},
		"an embedded image": {[]any{object{"type": "resource", "resource": object{"uri": "file:///w/x.png", "blob": "AAAA", "mimeType": "image/png"}}}, "x.png", 1},
		"an image":          {[]any{text("see"), object{"type": "image", "data": "AAAA", "mimeType": "image/png"}}, "see", 1},
		"an image alone":    {[]any{object{"type": "image", "data": "AAAA", "mimeType": "image/png"}}, "", 1},
		"an unknown slash":  {[]any{text("/etc/hosts is what?")}, "/etc/hosts is what?", 0},
		"a slash and words": {[]any{text("/dump it all")}, "/dump it all", 0},
		"a slash and files": {[]any{text("/compact "), link("https://x")}, "/compact https://x", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{fs: w.fs, models: &models{}, model: "p/m"}
			w.models.Script("m", providertest.Reply{Text: "Yes."})
			c := w.connect(t, object{})
			require.Equal(t, "end_turn", stopOf(t, c.answered(c.say(c.open(), tc.blocks...))))
			sent := w.models.Requests()[0].Messages[0]
			images := 0
			for _, b := range sent.Content {
				if b.Type == provider.TypeImage {
					images++
				}
			}
			assert.Equal(t, tc.text, sent.PlainText())
			assert.Equal(t, tc.images, images)
		})
	}
}

// The text of a PDF file is attached, whether the client embeds the file or links it, or the reason why it has none.
func TestPDFsInPrompts(t *testing.T) {
	t.Parallel()
	const pdf, damaged = "%PDF-1.7 one", "%PDF-1.7 damaged"
	reads := func(_ context.Context, cwd, name string, content []byte) (string, bool, error) {
		switch {
		case string(content) == damaged:
			return "", true, fault.New(fault.InvalidArgument, "The PDF file %s cannot be read: it is damaged.", name)
		case string(content) == pdf && cwd == "/w":
			return "[Page 1]\none\n", true, nil
		}
		return "", false, nil
	}
	embedded := func(content, mime string) object {
		blob := base64.StdEncoding.EncodeToString([]byte(content))
		return object{"type": "resource", "resource": object{"uri": "file:///w/x.pdf", "blob": blob, "mimeType": mime}}
	}
	link := object{"type": "resource_link", "uri": "file:///w/on-disk.pdf", "name": "n"}
	for name, tc := range map[string]struct {
		block object
		text  string
	}{
		"embedded":       {embedded(pdf, "application/pdf"), "<file path=\"/w/x.pdf\">\n[Page 1]\none\n</file>\n\nx.pdf"},
		"without a type": {embedded(pdf, ""), "<file path=\"/w/x.pdf\">\n[Page 1]\none\n</file>\n\nx.pdf"},
		"damaged":        {embedded(damaged, "application/pdf"), "<file path=\"/w/x.pdf\">\n[The PDF file x.pdf cannot be read: it is damaged.]\n</file>\n\nx.pdf"},
		"called so":      {embedded("PK", "application/pdf"), "x.pdf"},
		"linked":         {link, "<file path=\"/w/on-disk.pdf\">\n[Page 1]\none\n</file>\n\non-disk.pdf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.pdf = reads
			w.file(t, "/w/on-disk.pdf", pdf)
			w.models.Script("m", providertest.Reply{Text: "Yes."})
			c := w.connect(t, object{})
			require.Equal(t, "end_turn", stopOf(t, c.answered(c.say(c.open(), tc.block))))
			require.Equal(t, tc.text, w.models.Requests()[0].Messages[0].PlainText())
		})
	}
}

func TestPromptsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.connect(t, object{})
	id := c.open()
	for name, blocks := range map[string][]any{
		"nothing":               {},
		"nothing to read":       {text(" \n")},
		"sound":                 {object{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}},
		"an unknown kind":       {object{"type": "smell"}},
		"no kind":               {object{}},
		"an empty resource":     {object{"type": "resource"}},
		"a blob in no encoding": {object{"type": "resource", "resource": object{"uri": "file:///w/x.pdf", "blob": "%PDF", "mimeType": "application/pdf"}}},
		"no image":              {object{"type": "image", "data": "!", "mimeType": "image/png"}},
		"another kind of file":  {object{"type": "image", "data": "AAAA", "mimeType": "image/tiff"}},
	} {
		m := c.answered(c.say(id, blocks...))
		require.NotNil(t, m.Error, name)
		require.Equal(t, -32602, m.Error.Code, name)
	}
	require.Empty(t, w.models.Requests())
}

// Proves: ACP-04
func TestUnsavedTextIsAttached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a", "old\n")
	w.models.Script("m", providertest.Reply{Text: "Yes."})
	c := w.connect(t, bothFiles)
	(&editor{buffers: map[string]string{"/w/a": "unsaved\n"}}).serve(c)
	c.answered(c.say(c.open(), object{"type": "resource_link", "uri": "file:///w/a", "name": "a"}))
	require.Contains(t, w.models.Requests()[0].Messages[0].PlainText(), "unsaved")
}

func TestSlashCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	c := w.connect(t, object{})
	c.ok("session/load", object{"sessionId": id1, "cwd": "/w"})
	offered := c.awaitUpdate(id1, "the commands", func(u update) bool { return u.Kind == "available_commands_update" })
	var names []any
	for _, command := range offered.Commands {
		names = append(names, command["name"])
		require.NotEmpty(t, command["description"])
	}
	require.Equal(t, []any{"compact", "export", "dump", "share", "fork", "rename", "branch", "plan", "changes", "rewind", "redo", "stats"}, names)
	answer := func(words0 string) string {
		before := len(words(c.updates(id1), "agent_message_chunk"))
		require.Equal(t, "end_turn", c.prompt(id1, words0))
		return words(c.updates(id1), "agent_message_chunk")[before:]
	}
	content := w.read(t, file1)
	require.Contains(t, answer("/dump"), "## User\n\none")
	require.Equal(t, "Exported to: /w/talk.md", answer("/export talk.md"))
	require.Contains(t, w.read(t, "/w/talk.md"), "two")
	require.Contains(t, answer("  /stats\n"), "assistant: 1")
	require.Equal(t, content, w.read(t, file1), "nothing of it is recorded")
	require.Equal(t, `Renamed to "A new name".`, answer("/rename  A new name "))
	c.awaitUpdate(id1, "the name", func(u update) bool { return u.Kind == "session_info_update" && u.Title == "A new name" })
	require.Equal(t, "Plan mode is off.", answer("/plan"))
	require.Contains(t, answer("/plan on"), "Plan mode is on")
	require.Contains(t, answer("/plan"), "Plan mode is on")
	require.Contains(t, answer("/plan pause"), "Plan mode is paused")
	require.Contains(t, answer("/plan"), "Plan mode is paused")
	require.Contains(t, answer("/plan on"), "Plan mode is on")
	require.Equal(t, "Plan mode is off.", answer("/plan off"))
	require.Contains(t, w.read(t, file1), `"mode":"plan","data":{"planFilePath":"local://PLAN.md"}`)
	require.Contains(t, w.read(t, file1), `"mode":"plan_paused"}`)
	c.refused("session/prompt", object{"sessionId": id1, "prompt": []any{text("/plan maybe")}}, -32602, "")
	require.Empty(t, w.models.Requests())
	c.refused("session/prompt", object{"sessionId": id1, "prompt": []any{text("/export talk.md")}}, -32603, "/w/talk.md")
	c.refused("session/prompt", object{"sessionId": id1, "prompt": []any{text("/rename")}}, -32603, "")
}

func TestCompacting(t *testing.T) {
	t.Parallel()
	for name, capabilities := range map[string]object{"plain": {}, "compaction": {"session": object{"compaction": object{}}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.models.Script("m", providertest.Reply{Text: strings.Repeat("A long answer. ", 10000)}, providertest.Reply{Text: "Short."}, providertest.Reply{Text: "All in short."}, providertest.Reply{Text: "All in short."})
			c := w.connect(t, capabilities)
			id := c.open()
			c.prompt(id, "one")
			c.prompt(id, "two")
			m := c.answered(c.say(id, text("/compact the beginning")))
			require.Nil(t, m.Error, m.line)
			require.Contains(t, words(c.updates(id), "agent_message_chunk"), "tokens. The summary:")
			if name == "compaction" {
				c.awaitUpdate(id, "the compaction", func(u update) bool { return u.Kind == "compaction_update" && u.Status == "completed" })
			} else {
				require.Contains(t, words(c.updates(id), "agent_thought_chunk"), "was summarized")
			}
		})
	}
}
