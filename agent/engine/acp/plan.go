package acp

import (
	"encoding/json"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

const (
	maxSteps = 200

	// todoTool is the tool whose newest result is the plan of a session. Agents plan with a tool, too, and report its
	// result as a plan.
	todoTool = "todo_write"
)

// plan records a new plan as a call of the tool for plans. A native agent has recorded it.
func (t *turn) plan(entries json.RawMessage) {
	t.accept()
	if t.silent || t.e.kind.native {
		return
	}
	var tasks [][]byte
	rawjson.Elements(entries, func(item []byte) bool {
		content, _ := rawjson.GetString(item, "content")
		status, _ := rawjson.GetString(item, "status")
		if status != wire.StatusRunning && status != wire.StatusCompleted {
			status = wire.StatusPending
		}
		if content = name(content); content != "" {
			tasks = append(tasks, new(rawjson.Object).String("content", content).String("status", status).Bytes())
		}
		return len(tasks) < maxSteps
	})
	phase := new(rawjson.Object).String("name", "Plan").Raw("tasks", rawjson.Array(tasks)).Bytes()
	phases := rawjson.Array([][]byte{phase})
	if string(phases) == t.e.plan || len(tasks) == 0 && t.e.plan == "" {
		return
	}
	t.e.plan = string(phases)
	c := t.newCall(toolCall{ID: "plan", Name: todoTool, ToolKind: "think"})
	if c == nil {
		return
	}
	c.input = new(rawjson.Object).Raw("phases", phases).Bytes()
	t.close("", "")
	c.blocks = []provider.Block{provider.Text(fmt.Sprintf("The plan has %d steps.", len(tasks)))}
	c.details = new(rawjson.Object).Raw("phases", phases).Bytes()
	t.ended(c, false)
}
