package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// permission handles a request for permission, and returns the rest of its work. The caller has serial.
func (e *Engine) permission(params json.RawMessage) func() (any, error) {
	var p struct {
		SessionID string                  `json:"sessionId"`
		ToolCall  json.RawMessage         `json:"toolCall"`
		Options   []wire.PermissionOption `json:"options"`
	}
	lenient(params, &p)
	t := e.turn
	if p.SessionID != e.sessionID() {
		return failing(wire.Refusal(wire.CodeInvalidParams, "invalidArgument", "The session is unknown."))
	}
	if t == nil || t.ctx.Err() != nil {
		return func() (any, error) { return outcome(""), nil }
	}
	var u update
	lenient(p.ToolCall, &u)
	if u.ID == "" {
		return failing(wire.Refusal(wire.CodeInvalidParams, "invalidArgument", "The tool call has no id."))
	}
	u.Status = "" // the call waits
	t.called(u.toolCall, u.Content, false)
	c := t.calls[u.ID]
	if c == nil || c.ended { // of a silent turn, or one of too many
		return func() (any, error) { return outcome(optionOf(p.Options, "reject_once")), nil }
	}
	t.close("", "")
	c.asked = true
	ask, ctx := e.askOf(c, u.toolCall), t.ctx
	return func() (any, error) {
		err := e.host.Permit(ctx, ask)
		if ctx.Err() != nil {
			return outcome(""), nil
		}
		if err != nil {
			return outcome(optionOf(p.Options, "reject_once")), nil
		}
		e.serial.Lock()
		c.permits = ask.Path
		e.serial.Unlock()
		return outcome(optionOf(p.Options, "allow_once")), nil
	}
}

func failing(err error) func() (any, error) { return func() (any, error) { return nil, err } }

// optionOf returns the option of a kind, "" if there is none. Permission for more than one call is never given: what the agent
// would make of it is not known here.
func optionOf(options []wire.PermissionOption, kind string) string {
	for _, o := range options {
		if o.Kind == kind {
			return o.ID
		}
	}
	return ""
}

// outcome is the answer to a request for permission: an option, or that it was cancelled.
func outcome(option string) any {
	type selected struct {
		Outcome string `json:"outcome"`
		Option  string `json:"optionId,omitempty"`
	}
	o := selected{"selected", option}
	if option == "" {
		o.Outcome = "cancelled"
	}
	return map[string]selected{"outcome": o}
}

// askOf is a call as the user sees it in the question. The caller has serial.
func (e *Engine) askOf(c *call, u toolCall) engine.Call {
	args := c.arguments()
	if string(args) == "{}" && u.Title != "" { // better than nothing
		args = new(rawjson.Object).String("title", name(u.Title)).Bytes()
	}
	ask := engine.Call{ID: c.id, Tool: toolOf(c), Args: args, Effect: engine.Runs}
	if path, ok := onePath(c.diffs); ok && c.kind == "edit" {
		if target, err := e.target(path); err == nil {
			diffs := c.diffs
			ask.Effect, ask.Path = engine.Changes, target
			ask.Apply = func(was tool.File) ([]byte, error) { return applied(diffs, was) }
		}
	} else if c.kind == "read" || c.kind == "search" {
		ask.Effect = e.readsOf(c)
	}
	return ask
}

// toolOf returns the name of the tool of ours that does the same, so that the user's rules apply.
func toolOf(c *call) string {
	command, _ := rawjson.GetString(c.input, "command")
	switch {
	case c.kind == "execute" && command != "":
		return "bash"
	case c.kind == "edit" && len(c.diffs) == 1 && c.diffs[0].old == nil:
		return "write"
	case c.kind == "edit":
		return "edit"
	default:
		return c.name
	}
}

// readsOf is the effect of a call that reads: it needs no question within the folder. An agent that asks about other files
// has a reason to.
func (e *Engine) readsOf(c *call) engine.Effect {
	folder, err := e.target(e.place.Cwd)
	if err != nil || len(c.locations) == 0 {
		return engine.Runs
	}
	for _, l := range c.locations {
		path, err := e.target(l.Path)
		if err != nil {
			return engine.Runs
		}
		if rel, err := filepath.Rel(folder, path); err != nil || !filepath.IsLocal(rel) {
			return engine.Runs
		}
	}
	return engine.Reads
}

var errPath = errors.New("the path is not absolute")

// target returns the file that a path of the agent leads to, with its links followed.
func (e *Engine) target(path string) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) || len(path) > 4096 {
		return "", errPath
	}
	return sensitive.Target(e.o.Fs, path)
}

// onePath returns the file of changes of one file.
func onePath(diffs []change) (path string, ok bool) {
	for _, d := range diffs {
		if path != "" && d.path != path {
			return "", false
		}
		path = d.path
	}
	return path, path != ""
}

// applied returns a file after changes. Agents show either whole files, or the parts that they replace.
func applied(diffs []change, was tool.File) ([]byte, error) {
	text := string(was.Content)
	for _, d := range diffs {
		switch {
		case d.complete || d.old == nil || *d.old == text:
			text = d.text
		case *d.old != "" && strings.Count(text, *d.old) == 1:
			text = strings.Replace(text, *d.old, d.text, 1)
		default:
			return nil, fmt.Errorf("the change does not fit the file")
		}
	}
	return []byte(text), nil
}

// permitted asks for a write of the agent, unless it was asked for before.
func (e *Engine) permitted(ctx context.Context, c engine.Call, before string) error {
	if before == c.Path {
		return nil
	}
	return e.host.Permit(ctx, c)
}
