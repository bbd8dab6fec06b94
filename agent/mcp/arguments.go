package mcp

import (
	"bytes"
	"encoding/json"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/tool/schema"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	maxSchema   = 64 << 10 // bytes of the schema of one tool
	emptySchema = `{"type":"object","properties":{}}`
)

// intents are the parameters in which models of omp and xcsh describe a call. Their servers don't get them.
var intents = []string{"_i", "i"}

// checker validates the arguments of a tool.
type checker struct {
	tool     string
	known    map[string]json.RawMessage // the parameters; nil if the schema doesn't name them
	required []string
	full     *schema.Parameters // nil for a schema that is not understood in full
}

// newChecker reads the schema of a tool. A schema with references or of another draft is not applied to the values.
func newChecker(tool string, raw json.RawMessage) checker {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	_ = json.Unmarshal(raw, &s) // without them, every object is valid
	c := checker{tool: tool, known: s.Properties, required: s.Required}
	if p, err := schema.New(tool, withoutDraft(raw)); err == nil {
		c.full = &p
	}
	return c
}

// withoutDraft returns a schema that does not name its draft.
func withoutDraft(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw
	}
	delete(members, "$schema")
	out, err := json.Marshal(members)
	if err != nil {
		return raw
	}
	return out
}

// check returns valid arguments as one line. The error is a sentence for the model.
func (c checker) check(raw json.RawMessage) (json.RawMessage, error) {
	raw = c.withoutIntents(raw)
	if c.full != nil {
		return c.full.Check(raw)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	var args map[string]any
	if err := json.Unmarshal(bytes.ToValidUTF8(raw, []byte("\uFFFD")), &args); err != nil || args == nil || !schema.Shallow(args, schema.MaxDepth) {
		return nil, fault.New(fault.InvalidArgument, "The arguments of %s must be one JSON object.", c.tool)
	}
	for _, name := range c.required {
		if _, ok := args[name]; !ok {
			return nil, fault.New(fault.InvalidArgument, "%s needs the parameter %q.", c.tool, name)
		}
	}
	return oneLine(raw)
}

// withoutIntents removes the parameters of intents that the tool does not have.
func (c checker) withoutIntents(raw json.RawMessage) json.RawMessage {
	if !slices.ContainsFunc(intents, func(name string) bool { return bytes.Contains(raw, []byte(`"`+name+`"`)) }) {
		return raw
	}
	var args map[string]jsontext.Value
	if jsonv2.Unmarshal(raw, &args, jsontext.AllowInvalidUTF8(true)) != nil {
		return raw
	}
	for _, name := range intents {
		if _, has := c.known[name]; !has {
			delete(args, name)
		}
	}
	out, err := jsonv2.Marshal(args, jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return raw
	}
	return json.RawMessage(out)
}

func oneLine(raw json.RawMessage) (json.RawMessage, error) {
	var line bytes.Buffer
	if err := json.Compact(&line, bytes.ToValidUTF8(raw, []byte("\uFFFD"))); err != nil {
		return nil, err
	}
	return line.Bytes(), nil
}

// declared returns the schema of a tool as models get it, and false if it is too large. One that is not of an object is replaced.
func declared(v any) (json.RawMessage, bool) {
	raw, err := jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.EscapeForHTML(false))
	if err != nil {
		return json.RawMessage(emptySchema), true
	}
	var s map[string]any
	if json.Unmarshal(raw, &s) != nil || s["type"] != "object" {
		return json.RawMessage(emptySchema), true
	}
	return json.RawMessage(raw), len(raw) <= maxSchema
}
