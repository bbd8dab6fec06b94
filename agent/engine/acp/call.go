package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// The bounds of tool calls.
const (
	maxCalls  = 10_000   // of a prompt; further ones are not shown
	maxIDs    = 100_000  // that are remembered
	maxOutput = 1 << 20  // text of a result, in bytes
	maxImages = 20       // of a result
	maxKept   = 64 << 20 // arguments, changes and images of the calls of a prompt, in bytes
)

// call is a tool call of the agent.
type call struct {
	agentID, id string // the agent may use an id again; ours are unique
	name, kind  string
	index       int // of the block in its answer

	input     json.RawMessage // nil until it is known
	locations []wire.Location
	diffs     []change
	blocks    []provider.Block // of the output
	output    string           // as the model gets it, "" if unknown
	details   json.RawMessage  // of the result; nil for those of its change

	started bool   // the answer is complete
	ended   bool   //
	asked   bool   // the user was asked
	permits string // the file that it may change, "" for none
	writes  int    // by fs/write_text_file
}

// change is a change of a file as the agent shows it: of the whole file, or of a part.
type change struct {
	path     string
	old      *string // nil for a new file
	text     string
	complete bool // text is the whole file
}

// called handles a tool call, or a change of one.
func (t *turn) called(u toolCall, content json.RawMessage, begins bool) {
	t.accept()
	if u.ID == "" || len(u.ID) > maxName || t.silent {
		return
	}
	c := t.calls[u.ID]
	if c != nil && c.ended && !begins {
		return // late
	}
	if c == nil || c.ended {
		if c = t.newCall(u); c == nil {
			return
		}
		t.calls[u.ID] = c
	}
	t.absorb(c, u, content)
	if c.started {
		t.progressed(c, u)
		return
	}
	switch u.Status {
	case wire.StatusRunning, wire.StatusCompleted, wire.StatusFailed:
		t.close("", "")
		t.progressed(c, u)
	default:
		t.settleSoon()
	}
}

// newCall adds a call to the answer, nil if there are too many.
func (t *turn) newCall(u toolCall) *call {
	if t.count++; t.count > t.e.bounds.calls {
		t.e.link.once("calls", "too many tool calls in a turn")
		return nil
	}
	a := t.opened("")
	t.closeBlock()
	c := &call{agentID: u.ID, id: t.e.unique(u.ID), name: nameOf(u), kind: u.ToolKind, index: len(a.blocks)}
	a.blocks = append(a.blocks, provider.Block{Type: provider.TypeToolCall, ID: c.id, Name: c.name})
	a.calls = append(a.calls, c)
	t.pending = append(t.pending, c)
	t.e.host.Emit(event.MessageUpdate{Update: event.Update{
		Type: event.ToolCallStart, ContentIndex: c.index, ToolCallID: c.id, ToolName: c.name,
	}})
	return c
}

// nameOf returns the name of a tool. Not all agents say it.
func nameOf(u toolCall) string {
	if n := name(u.Name); n != "" {
		return n
	}
	if k := name(u.ToolKind); k != "" {
		return k
	}
	return "tool"
}

// unique makes an id of a call one that the session has not had. The caller has serial.
func (e *Engine) unique(id string) string {
	if len(e.ids) >= maxIDs {
		clear(e.ids)
	}
	id = name(id)
	e.ids[id]++
	if n := e.ids[id]; n > 1 {
		return fmt.Sprintf("%s#%d", id, n)
	}
	return id
}

// keep reports whether n more bytes can be kept.
func (t *turn) keep(n int) bool {
	if t.kept+n > t.e.bounds.kept {
		t.e.link.once("kept", "the tool calls of a turn are too large")
		return false
	}
	t.kept += n
	return true
}

// absorb takes over the members of an update of a call.
func (t *turn) absorb(c *call, u toolCall, content json.RawMessage) {
	if !isEmpty(u.RawInput) && (c.input == nil || !c.started) && t.keep(len(u.RawInput)) {
		c.input = bytes.Clone(u.RawInput)
	}
	if u.ToolKind != "" {
		c.kind = u.ToolKind
	}
	if len(u.Locations) > 0 {
		c.locations = slices.Clone(u.Locations[:min(len(u.Locations), 100)])
	}
	if output, ok := outputOf(u.RawOutput); ok {
		c.output = output
	}
	if data := u.Meta.Terminal.Data; data != "" && len(c.output) < maxOutput {
		c.output = cut(c.output+data, maxOutput)
	}
	if rawjson.Kind(content) != '[' {
		return
	}
	c.blocks = nil
	var diffs []change
	rawjson.Elements(content, func(item []byte) bool {
		var part wire.ToolContent
		lenient(item, &part)
		switch {
		case part.Type == "content" && part.Content != nil:
			t.addBlock(c, *part.Content)
		case part.Type == "diff" && part.NewText != nil && t.keep(len(item)):
			diffs = append(diffs, change{path: part.Path, old: part.OldText, text: *part.NewText})
		}
		return len(c.blocks) < 1000 && len(diffs) < 1000
	})
	if diffs != nil {
		c.diffs = diffs
	}
}

// addBlock adds a part of the output.
func (t *turn) addBlock(c *call, b wire.ContentBlock) {
	if b.Type == "image" && b.Data != "" {
		images := 0
		for _, other := range c.blocks {
			if other.Type == provider.TypeImage {
				images++
			}
		}
		if images < maxImages && t.keep(len(b.Data)) {
			c.blocks = append(c.blocks, provider.Block{Type: provider.TypeImage, Data: b.Data, MimeType: b.MimeType})
		}
		return
	}
	raw, _ := json.Marshal(b) // it was decoded from JSON
	if text := textOfBlock(raw); text != "" {
		c.blocks = append(c.blocks, provider.Text(cut(text, maxOutput)))
	}
}

// isEmpty reports whether arguments are not known yet: some agents report a call before they know them.
func isEmpty(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "{}":
		return true
	}
	return false
}

// outputOf returns the text of a tool's own result. ok is false if it has none.
func outputOf(raw json.RawMessage) (text string, ok bool) {
	if text, ok := rawjson.String(raw); ok {
		return cut(text, maxOutput), true
	}
	var parts []string
	rawjson.Elements(rawjson.Get(raw, "content"), func(item []byte) bool {
		if part, ok := rawjson.GetString(item, "text"); ok {
			parts = append(parts, part)
		}
		return len(parts) < 1000
	})
	return cut(strings.Join(parts, "\n"), maxOutput), parts != nil
}

// arguments returns the arguments of the call, always an object.
func (c *call) arguments() json.RawMessage {
	switch {
	case isEmpty(c.input):
		return json.RawMessage("{}")
	case rawjson.Kind(c.input) == '{':
		return c.input
	default:
		return new(rawjson.Object).Raw("input", c.input).Bytes()
	}
}

// settleSoon completes the answer if all of its calls are known and nothing follows.
func (t *turn) settleSoon() {
	a := t.answer
	if a == nil {
		return
	}
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	if slices.ContainsFunc(a.calls, func(c *call) bool { return c.input == nil }) {
		return
	}
	a.timer = time.AfterFunc(settleWithin, func() {
		t.e.serial.Lock()
		defer t.e.serial.Unlock()
		if t.e.turn == t && t.answer == a {
			t.close("", "")
		}
	})
}

// progressed reports the state of a call that runs.
func (t *turn) progressed(c *call, u toolCall) {
	switch u.Status {
	case wire.StatusCompleted, wire.StatusFailed:
		t.ended(c, u.Status == wire.StatusFailed)
	default:
		if u.Status != wire.StatusRunning && u.RawOutput == nil {
			return // about the call, not about its output
		}
		if m := t.result(c, false); len(m.Content) > 0 {
			t.e.host.Emit(event.ToolUpdate{ToolCallID: c.id, ToolName: c.name, PartialResult: resultOf(m)})
		}
	}
}

// ended records the result of a call.
func (t *turn) ended(c *call, failed bool) {
	c.ended = true
	t.pending = slices.DeleteFunc(t.pending, func(other *call) bool { return other == c })
	t.noteUnasked(c, failed)
	m := t.result(c, failed)
	if c.details != nil {
		m.Details = c.details
	}
	t.e.host.Emit(event.ToolEnd{ToolCallID: c.id, ToolName: c.name, Result: resultOf(m), IsError: failed})
	raw := m.Encode()
	t.record(raw, true)
	t.results = append(t.results, raw)
	c.input, c.blocks, c.diffs, c.output = nil, nil, nil, ""
}

// abandon records that a call has no result.
func (t *turn) abandon(c *call) {
	c.ended = true
	m := t.result(c, true)
	m.Content = []provider.Block{provider.Text("The call was not finished.")}
	t.e.host.Emit(event.ToolEnd{ToolCallID: c.id, ToolName: c.name, Result: resultOf(m), IsError: true})
	if t.e.kind.native {
		return
	}
	raw := m.Encode()
	t.record(raw, true)
	t.results = append(t.results, raw)
}

// result is the message of a result.
func (t *turn) result(c *call, failed bool) provider.Message {
	blocks := slices.Clone(c.blocks)
	if c.output != "" {
		blocks = slices.DeleteFunc(blocks, func(b provider.Block) bool { return b.Type == provider.TypeText })
		blocks = append([]provider.Block{provider.Text(c.output)}, blocks...)
	}
	if blocks == nil {
		blocks = []provider.Block{}
	}
	return provider.Message{
		Role: provider.RoleToolResult, ToolCallID: c.id, ToolName: c.name, Content: blocks, Details: t.details(c),
		IsError: &failed, Timestamp: t.e.now().UnixMilli(),
	}
}

// details returns the change that a call made, if it is one of one file.
func (t *turn) details(c *call) json.RawMessage {
	if len(c.diffs) != 1 || len(c.diffs[0].text) > maxOutput {
		return nil
	}
	d, before := c.diffs[0], ""
	if d.old != nil {
		before = *d.old
	}
	if len(before) > maxOutput {
		return nil
	}
	return tool.EditDetails(t.e.shown(d.path), before, d.text)
}

// shown is a path as it is shown: relative to the folder if it is inside.
func (e *Engine) shown(path string) string {
	if rel, err := filepath.Rel(e.place.Cwd, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return name(path)
}

// resultOf is a result as events have it.
func resultOf(m provider.Message) json.RawMessage {
	raw := m.Encode()
	o := new(rawjson.Object).Raw("content", rawjson.Get(raw, "content"))
	if d := rawjson.Get(raw, "details"); d != nil {
		o.Raw("details", d)
	}
	return o.Bytes()
}

// noteUnasked reports once per turn that a file was changed without a question. The agent's own settings allow it to.
func (t *turn) noteUnasked(c *call, failed bool) {
	changes := c.kind == "edit" || c.kind == "delete" || c.kind == "move"
	if !changes || failed || c.asked || !t.e.place.Permit || t.silent {
		return
	}
	what := "a file"
	if len(c.diffs) > 0 {
		what = t.e.shown(c.diffs[0].path)
	} else if len(c.locations) > 0 {
		what = t.e.shown(c.locations[0].Path)
	}
	t.e.host.Emit(event.Notice{Text: t.e.program.Name + " changed " + what + " without asking, as its own settings allow."})
}
