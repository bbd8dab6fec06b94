package serving

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The actions of an answer to a server.
const (
	accepted  = "accept"
	declined  = "decline"
	cancelled = "cancel"
)

const (
	maxInputs = 20
	maxTitle  = 2000 // bytes of the text of an input

	// confirmation is the only field of a question without inputs.
	confirmation = "confirmation"
	yes, no      = "Yes", "No"
)

// property is an input that a server asks for.
type property struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []choice        `json:"oneOf"`
	Items       *items          `json:"items"`
	Default     json.RawMessage `json:"default"`
}

// items are the choices of an input that takes several.
type items struct {
	Enum  []string `json:"enum"`
	AnyOf []choice `json:"anyOf"`
	OneOf []choice `json:"oneOf"`
}

// choice is a value and the words for it.
type choice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// form is a question to the user, and how the answers become values.
type form struct {
	asking.Form
	values map[string]func(asking.Answer) any // by the names of inputs
}

// formOf returns the form for a question of a server. The texts are those of the server, which the message names.
func formOf(q mcp.Question) (form, error) {
	var schema struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if len(q.Schema) > 0 && string(q.Schema) != "null" && json.Unmarshal(q.Schema, &schema) != nil || len(schema.Properties) > maxInputs {
		return form{}, fault.New(fault.InvalidArgument, "The MCP server %q asks for an answer of an unknown form.", q.Server)
	}
	f := form{
		Form:   asking.Form{From: asking.Server, Message: "The MCP server " + shown(q.Server) + " asks: " + tool.Printable(q.Message)},
		values: map[string]func(asking.Answer) any{},
	}
	if len(schema.Properties) == 0 {
		f.Fields = []asking.Field{{ID: confirmation, Title: "Continue?", Options: []asking.Option{{Label: yes}, {Label: no}}}}
		return f, nil
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		field, value := schema.Properties[name].field(name)
		field.Optional = !slices.Contains(schema.Required, name)
		f.Fields, f.values[name] = append(f.Fields, field), value
	}
	return f, nil
}

// shown returns a text of a server on one line.
func shown(text string) string {
	text = fault.OneLine(tool.Printable(text))
	if len(text) > maxTitle {
		text = strings.ToValidUTF8(text[:maxTitle], "") + "…"
	}
	return text
}

// field returns the field for an input, and what its answer becomes.
func (p property) field(name string) (f asking.Field, value func(asking.Answer) any) {
	f = asking.Field{ID: name, Title: cmp.Or(strings.TrimSpace(shown(p.Title)), shown(name), "?"), Kind: asking.Text}
	if about := shown(p.Description); about != "" {
		f.Title += ": " + about
	}
	choices := p.choices()
	switch {
	case p.Type == "array":
		f.Kind, f.Multi = asking.Choice, true
	case len(choices) > 0:
		f.Kind = asking.Choice
	case p.Type == "boolean":
		f.Kind = asking.Boolean
		return f, func(a asking.Answer) any { return slices.Contains(a.Selected, "true") }
	case p.Type == "integer":
		f.Kind, f.Initial = asking.Integer, p.initial()
		return f, func(a asking.Answer) any {
			n, _ := strconv.ParseInt(a.Custom, 10, 64) // it is checked
			return n
		}
	case p.Type == "number":
		f.Kind, f.Initial = asking.Number, p.initial()
		return f, func(a asking.Answer) any {
			n, _ := strconv.ParseFloat(a.Custom, 64) // it is checked
			return n
		}
	default:
		f.Initial = p.initial()
		return f, func(a asking.Answer) any { return a.Custom }
	}
	consts := map[string]string{}
	for _, c := range choices {
		label := cmp.Or(shown(c.Title), shown(c.Const), "(empty)")
		if _, taken := consts[label]; taken {
			label += " (" + shown(c.Const) + ")"
		}
		consts[label] = c.Const
		f.Options = append(f.Options, asking.Option{Label: label})
	}
	return f, func(a asking.Answer) any {
		chosen := []string{}
		for _, label := range a.Selected {
			chosen = append(chosen, consts[label])
		}
		if f.Multi {
			return chosen
		}
		return strings.Join(chosen, "")
	}
}

// choices returns the values that an input can have, none if any can be written.
func (p property) choices() (list []choice) {
	enum, names, titled := p.Enum, p.EnumNames, p.OneOf
	if p.Type == "array" {
		if p.Items == nil {
			return nil
		}
		enum, names, titled = p.Items.Enum, nil, slices.Concat(p.Items.AnyOf, p.Items.OneOf)
	}
	for i, value := range enum {
		c := choice{Const: value}
		if i < len(names) {
			c.Title = names[i]
		}
		list = append(list, c)
	}
	return append(list, titled...)
}

// initial returns the proposed value as a text.
func (p property) initial() string {
	var text string
	if json.Unmarshal(p.Default, &text) == nil {
		return shown(text)
	}
	var number json.Number
	if json.Unmarshal(p.Default, &number) == nil {
		return number.String()
	}
	return ""
}

// answer returns the answer for the server. The user's refusal and a closed form are different answers.
func (f form) answer(got asking.Answers) mcp.Answer {
	switch {
	case got.Declined:
		return mcp.Answer{Action: declined}
	case got.Cancelled:
		return mcp.Answer{Action: cancelled}
	}
	content := map[string]any{}
	for _, a := range got.List {
		switch value := f.values[a.ID]; {
		case a.ID == confirmation && value == nil:
			if slices.Contains(a.Selected, no) {
				return mcp.Answer{Action: declined}
			}
		case value != nil && a.Given():
			content[a.ID] = value(a)
		}
	}
	return mcp.Answer{Action: accepted, Content: content}
}
