package acp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// methodElicit is the request of an agent to fill in a form.
const methodElicit = "elicitation/create"

// maxFields bounds the fields of a form that are asked for.
const maxFields = 20

// field is one input of a form.
type field struct {
	name, kind, title string
	choices           []string // nil for a free input
}

// elicit handles a form of the agent, and returns the rest of its work. One with the two buttons of a permission is
// such a question, whatever else it says; others are questions of the agent. The caller has serial.
func (e *Engine) elicit(params json.RawMessage) func() (any, error) {
	session, _ := rawjson.GetString(params, "sessionId")
	mode, _ := rawjson.GetString(params, "mode")
	if !e.kind.forms || mode != "form" || session != e.sessionID() {
		return failing(wire.Refusal(wire.CodeInvalidParams, "invalidArgument", "This form is not supported."))
	}
	t := e.turn
	ctx := context.Background()
	if t != nil {
		ctx = t.ctx
	}
	message, _ := rawjson.GetString(params, "message")
	fields := fieldsOf(rawjson.Get(params, "requestedSchema", "properties"))
	if len(fields) == 1 && slices.Equal(fields[0].choices, []string{approve, deny}) {
		if t == nil {
			return func() (any, error) { return answered(fields[0].name, deny), nil }
		}
		if changesFiles(message) {
			return func() (any, error) { return answered(fields[0].name, approve), nil }
		}
		call := e.gated(t, message)
		return func() (any, error) {
			answer := approve
			if err := e.host.Permit(ctx, call); err != nil {
				answer = deny
			}
			return answered(fields[0].name, answer), nil
		}
	}
	return func() (any, error) { return e.fill(ctx, message, fields), nil }
}

// The buttons of omp's question whether a tool may run.
const (
	approve = "Approve"
	deny    = "Deny"
)

var allowTool = regexp.MustCompile(`^Allow tool: (\w[\w.-]{0,99})(?:\nPath: xd://(\w[\w.-]{0,99})\nContent:|\n|$)`)

// changesFiles reports whether a question is about nothing but changes of files, which omp makes through the client: the user is asked
// there, and sees the change. A path with a colon may be that of a tool, another machine or a part of an archive, and one in brackets or
// parentheses, or that was shortened, is not understood.
func changesFiles(message string) bool {
	tool, rest, _ := strings.Cut(strings.TrimPrefix(message, "Allow tool: "), "\n")
	var paths []string
	switch tool {
	case "write":
		path, content, ok := strings.Cut(rest, "\n")
		if path, named := strings.CutPrefix(path, "Path: "); ok && named && strings.HasPrefix(content, "Content:\n") {
			paths = append(paths, path)
		}
	case "edit":
		for line := range strings.SplitSeq(rest, "\n") {
			paths = append(paths, strings.TrimPrefix(line, "File: "))
		}
	}
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool {
		return p == "" || strings.ContainsAny(strings.TrimPrefix(p, filepath.VolumeName(p)), ":[](…")
	})
}

// gated is the call that a question for permission is about. The question does not name it: with several that wait, and before
// the call is reported, the user sees the text of the question in place of the arguments. The caller has serial.
func (e *Engine) gated(t *turn, message string) engine.Call {
	ask := engine.Call{ID: e.unique("gate"), Tool: "tool", Effect: engine.Runs, Args: new(rawjson.Object).String("message", message).Bytes()}
	if m := allowTool.FindStringSubmatch(message); m != nil {
		if ask.Tool = m[1]; m[2] != "" { // a tool behind the one that writes files, such as that of an MCP server
			ask.Tool = m[2]
		} else if ask.Tool == "write" || ask.Tool == "edit" {
			ask.Tool = "tool" // a permission to change files is none for this
		}
	}
	if len(t.pending) == 1 && !t.pending[0].asked {
		c := t.pending[0]
		t.close("", "")
		c.asked = true
		ask.ID, ask.Args = c.id, c.arguments()
	}
	return ask
}

// answered is the answer to a form with one field.
func answered(name string, value any) any {
	return map[string]any{"action": "accept", "content": map[string]any{name: value}}
}

// fieldsOf decodes the fields of a form.
func fieldsOf(properties json.RawMessage) (fields []field) {
	rawjson.Members(properties, func(key, value []byte) bool {
		var f field
		f.name, _ = rawjson.String(key)
		f.kind, _ = rawjson.GetString(value, "type")
		f.title, _ = rawjson.GetString(value, "title")
		_ = json.Unmarshal(rawjson.Get(value, "enum"), &f.choices)
		rawjson.Elements(rawjson.Get(value, "oneOf"), func(item []byte) bool {
			if choice, ok := rawjson.GetString(item, "const"); ok {
				f.choices = append(f.choices, choice)
			}
			return len(f.choices) < maxChoices
		})
		fields = append(fields, f)
		return len(fields) < maxFields
	})
	return fields
}

// fill asks the user for the fields of a form, one after the other. A field that the user skips ends it.
func (e *Engine) fill(ctx context.Context, message string, fields []field) any {
	content := map[string]any{}
	for _, f := range fields {
		if base, other := strings.CutSuffix(f.name, "__other"); other && content[base] != nil {
			continue // the free alternative to a choice that was made
		}
		q := event.Question{Method: "input", Title: message}
		if f.title != "" && f.title != message && len(fields) > 1 {
			q.Title = message + "\n" + f.title
		}
		switch {
		case f.kind == "string" && f.choices != nil:
			q.Method, q.Options = "select", f.choices
		case f.kind == "boolean":
			q.Method = "confirm"
		case f.kind != "string":
			continue
		}
		a := e.host.Ask(ctx, q)
		switch {
		case q.Method == "confirm" && !a.Cancelled:
			content[f.name] = a.Confirmed
		case !a.Cancelled:
			content[f.name] = a.Value
		case len(fields) == 1 || q.Method != "select":
			return map[string]any{"action": "cancel"}
		}
	}
	if len(content) == 0 {
		return map[string]any{"action": "cancel"}
	}
	return map[string]any{"action": "accept", "content": content}
}
