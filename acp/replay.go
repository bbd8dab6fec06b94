package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/todo"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// replay shows the whole branch again, oldest entry first, including the entries that a compaction
// removed from the context.
func (c *conversation) replay(ctx context.Context) error {
	if err := c.live.Settled(ctx); err != nil { // nothing corrects what was shown
		return err
	}
	state, err := c.live.State()
	if err != nil {
		return err
	}
	if state.IsStreaming || state.IsCompacting {
		return fault.New(fault.Busy, "Wait for the current response to finish or cancel it before loading the session again.")
	}
	r := replayer{c: c, view: newView(c.s, c.id, c.cwd), blobs: c.s.opts.Backend.Store.BlobsFor(c.live.File())}
	defer r.end()
	for {
		more, err := r.part(ctx)
		if err != nil || !more {
			return err
		}
		c.s.caughtUp(ctx) // the session is not locked meanwhile
	}
}

// part shows entries until the client has too many unread messages. It reports whether there are more.
func (r *replayer) part(ctx context.Context) (more bool, err error) {
	err = r.c.live.View(func(d *session.Document, leaf session.Leaf) error {
		if r.shown == 0 {
			r.leaf, r.omp = leaf, d.Dialect() == session.Omp
		}
		path := d.PathTo(r.leaf)
		for _, i := range path[min(r.shown, len(path)):] {
			if more = r.c.s.out.unread() > maxUnread; more {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			e, err := d.Entry(i)
			if err != nil {
				return err
			}
			r.entry(e)
			r.shown++
		}
		return nil
	})
	return more, err
}

// replayer shows entries. It has its own view, and so its own ids of tool calls.
type replayer struct {
	c     *conversation
	view  *view
	blobs session.BlobSource
	todos json.RawMessage // the newest plan
	omp   bool            // the session is one of oh-my-pi, whose user can change the plan
	leaf  session.Leaf    // the end of the branch
	shown int             // the number of its entries that were shown
}

func (r *replayer) entry(e session.Entry) {
	switch e.Type {
	case session.TypeMessage:
		r.message(e)
	case session.TypeCompaction:
		r.compaction(e)
	case session.TypeBranchSummary:
		r.view.sendText(updateThoughtChunk, e.ID, e.AsBranchSummary().Summary)
	case session.TypeCustom:
		c := e.AsCustom()
		if phases, ok := todo.ByUser(c.CustomType, c.Data); ok && r.omp {
			r.todos = phases
		}
	case session.TypeCustomMessage:
		if custom := e.AsCustom(); custom.Display {
			r.view.sendText(updateAgentChunk, e.ID, session.MessageText(e.Raw))
		}
	}
}

func (r *replayer) message(e session.Entry) {
	m, err := provider.DecodeMessage(e.Message())
	if err != nil {
		return // not a message
	}
	switch m.Role {
	case provider.RoleUser:
		r.showMessage(updateUserChunk, e.ID, m)
	case provider.RoleAssistant:
		r.showMessage(updateAgentChunk, e.ID, m)
	case provider.RoleToolResult:
		r.result(e.Message(), m)
	case "bashExecution":
		r.command(e)
	default:
		r.showMessage(updateAgentChunk, e.ID, m)
	}
}

// showMessage shows a message.
func (r *replayer) showMessage(kind, id string, m provider.Message) {
	for _, b := range m.Content {
		switch b.Type {
		case provider.TypeThinking:
			r.view.sendText(updateThoughtChunk, id, b.Thinking)
		case provider.TypeToolCall:
			r.view.mu.Lock()
			r.view.callLocked(b.ID, b.Name, b.Arguments)
			r.view.mu.Unlock()
		case provider.TypeText:
			r.view.sendText(kind, id, b.Text)
		case provider.TypeImage:
			if block, ok := shownBlock(r.resolved(b)); ok {
				r.view.update(chunkUpdate{kind, block, id})
			}
		}
	}
	if m.StopReason == provider.StopError && m.ErrorMessage != "" {
		r.view.sendText(kind, id, "\n\n"+m.ErrorMessage)
	}
}

// result shows the result of a tool call.
func (r *replayer) result(raw json.RawMessage, m provider.Message) {
	v := r.view
	v.mu.Lock()
	defer v.mu.Unlock()
	call := v.calls[m.ToolCallID]
	if call == nil { // its call is on no branch, but the result is still useful
		v.callLocked(m.ToolCallID, m.ToolName, nil)
		call = v.calls[m.ToolCallID]
	}
	failed := m.IsError != nil && *m.IsError
	u := resultOf(v.cwd, call, raw, failed)
	u.Content = nil
	for _, b := range m.Content {
		if block, ok := shownBlock(r.resolved(b)); ok {
			u.Content = append(u.Content, toolContent{Type: "content", Content: &block})
		}
	}
	if !failed {
		u.Content = append(diffsOf(v.cwd, call, rawjson.Get(raw, "details")), u.Content...)
	}
	v.updateCallLocked(m.ToolCallID, u)
	v.dropLocked(m.ToolCallID)
	if phases, ok := todo.Of(raw); ok {
		r.todos = phases
	}
}

// command shows a command that the user ran.
func (r *replayer) command(e session.Entry) {
	line, _ := rawjson.GetString(e.Message(), "command")
	output, _ := rawjson.GetString(e.Message(), "output")
	args, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		return // strings only
	}
	status := statusCompleted
	if code, ok := rawjson.Float(rawjson.Get(e.Message(), "exitCode")); ok && code != 0 {
		status = statusFailed
	}
	u := r.view.described(&shownCall{id: e.ID, name: "bash", args: args})
	u.Status = status
	if output != "" {
		block := textBlock(output)
		u.Content = []toolContent{{Type: "content", Content: &block}}
	}
	r.view.update(u)
}

// compaction shows that older entries were summarized.
func (r *replayer) compaction(e session.Entry) {
	summary := e.AsCompaction().Summary
	if r.c.s.client.compaction {
		r.view.update(compactionUpdate{Kind: updateCompaction, ID: e.ID, Status: "completed", Summary: []contentBlock{textBlock(summary)}})
		return
	}
	r.view.sendText(updateThoughtChunk, e.ID, "The older part of the conversation was summarized:\n\n"+summary)
}

// resolved returns an image with its data, which may be stored outside the session.
func (r *replayer) resolved(b provider.Block) provider.Block {
	hash, ok := strings.CutPrefix(b.Data, "blob:sha256:")
	if b.Type != provider.TypeImage || !ok || r.blobs == nil || len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return b
	}
	if data, err := r.blobs.Blob(hash); err == nil {
		b.Data = base64.StdEncoding.EncodeToString(data)
	}
	return b
}

// end shows the state at the end of the branch: the calls without a result, and the newest plan.
func (r *replayer) end() {
	r.view.mu.Lock()
	defer r.view.mu.Unlock()
	r.view.abandonLocked()
	if entries := planOf(r.todos); len(entries) > 0 {
		r.view.update(planUpdate{updatePlan, entries})
	}
}

// planOf converts the phases of a todo list to a plan.
func planOf(phases json.RawMessage) []planEntry {
	entries := []planEntry{}
	rawjson.Elements(phases, func(phase []byte) bool {
		rawjson.Elements(rawjson.Get(phase, "tasks"), func(task []byte) bool {
			content, _ := rawjson.GetString(task, "content")
			status, _ := rawjson.GetString(task, "status")
			switch status {
			case "abandoned":
				return true
			case statusCompleted, statusRunning, statusPending:
			default:
				status = statusPending
			}
			if content != "" {
				entries = append(entries, planEntry{Content: content, Priority: "medium", Status: status})
			}
			return true
		})
		return true
	})
	return entries
}
