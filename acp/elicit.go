package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// methodElicit is the request to fill in a form.
const methodElicit = "elicitation/create"

// ownText ends the name of the input for an answer that is none of the options of a question, as in oh-my-pi.
const ownText = "__other"

// elicitParams are the parameters of elicitation/create.
type elicitParams struct {
	Mode      string     `json:"mode"` // always form
	SessionID string     `json:"sessionId"`
	Message   string     `json:"message"`
	Schema    formSchema `json:"requestedSchema"`
}

// formSchema describes the inputs of a form.
type formSchema struct {
	Type       string          `json:"type"`       // always object
	Properties json.RawMessage `json:"properties"` // of inputs, in their order
	Required   []string        `json:"required,omitempty"`
}

// input is an input of a form.
type input struct {
	Type    string       `json:"type"`
	Title   string       `json:"title"`
	OneOf   []formChoice `json:"oneOf,omitempty"` // of a string
	Items   *formItems   `json:"items,omitempty"` // of an array
	Default any          `json:"default,omitempty"`
}

// formItems are the choices of an input that takes several.
type formItems struct {
	AnyOf []formChoice `json:"anyOf"`
}

// formChoice is one choice of an input.
type formChoice struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
}

// elicitResult is the answer of the user.
type elicitResult struct {
	Action  string                     `json:"action"` // accept, decline or cancel
	Content map[string]json.RawMessage `json:"content"`
}

// canAsk reports whether the client can show forms.
func (s *server) canAsk() bool { return s.client.forms }

// askForm asks the user with a form of the client.
func (c *conversation) askForm(ctx context.Context, a agent.Asked) (agent.Answers, error) {
	if !c.s.client.forms {
		return agent.Answers{}, asking.ErrElsewhere
	}
	var result elicitResult
	if err := c.s.conn.call(ctx, methodElicit, c.formOf(a.Question), &result); err != nil {
		return agent.Answers{}, err
	}
	switch result.Action {
	case "accept":
		return agent.Answers{List: formAnswers(a.Question, result.Content)}, nil
	case "decline":
		return agent.Answers{Declined: true}, nil
	}
	return agent.Answers{Cancelled: true}, nil
}

// formOf returns the form for a question. Its inputs are q0, q1 and so on.
func (c *conversation) formOf(q agent.Question) elicitParams {
	p := elicitParams{Mode: "form", SessionID: c.id, Message: visible.Text(q.Message), Schema: formSchema{Type: "object"}}
	inputs := new(rawjson.Object)
	var titles []string
	for i, f := range q.Fields {
		name := "q" + strconv.Itoa(i)
		titles = append(titles, visible.Line(f.Title))
		inputs.Raw(name, encoded(inputOf(f)))
		if f.Other && len(f.Options) > 0 {
			inputs.Raw(name+ownText, encoded(input{Type: "string", Title: "Other (type your own)"}))
		} else if !f.Optional && !f.Multi {
			p.Schema.Required = append(p.Schema.Required, name)
		}
	}
	p.Schema.Properties = inputs.Bytes()
	if p.Message == "" {
		p.Message = strings.Join(titles, "\n")
	}
	return p
}

func encoded(in input) json.RawMessage {
	raw, err := encode(in)
	if err != nil { // inputs consist of texts
		return json.RawMessage("{}")
	}
	return bytes.TrimSpace(raw)
}

// inputOf returns the input for a field.
func inputOf(f asking.Field) input {
	in := input{Type: "string", Title: visible.Line(f.Title)}
	var choices []formChoice
	for _, o := range f.Options {
		choices = append(choices, formChoice{Const: o.Label, Title: visible.Line(o.Label), Description: visible.Text(o.Description)})
	}
	switch {
	case f.Kind == asking.Boolean, f.Kind == asking.Number, f.Kind == asking.Integer:
		in.Type = string(f.Kind)
	case len(choices) > 0 && f.Multi:
		in.Type, in.Items = "array", &formItems{AnyOf: choices}
	case len(choices) > 0:
		in.OneOf = choices
		if i := f.Recommended; i != nil && *i >= 0 && *i < len(f.Options) {
			in.Default = f.Options[*i].Label
		}
	case f.Initial != "":
		in.Default = visible.Text(f.Initial)
	}
	return in
}

// formAnswers returns the answers in the content of a form.
func formAnswers(q agent.Question, content map[string]json.RawMessage) (list []asking.Answer) {
	for i, f := range q.Fields {
		name := "q" + strconv.Itoa(i)
		a := asking.Answer{ID: f.ID}
		value := content[name]
		text, isText := rawjson.String(value)
		switch {
		case f.Kind == asking.Boolean && len(value) > 0:
			a.Selected = []string{string(value)}
		case (f.Kind == asking.Number || f.Kind == asking.Integer) && !isText:
			a.Custom = string(value)
		case len(f.Options) == 0:
			a.Custom = text
		case isText:
			a.Selected = []string{text}
		default:
			rawjson.Elements(value, func(label []byte) bool {
				if text, ok := rawjson.String(label); ok {
					a.Selected = append(a.Selected, text)
				}
				return true
			})
		}
		if own, _ := rawjson.String(content[name+ownText]); f.Other && strings.TrimSpace(own) != "" {
			a.Custom = own
			if !f.Multi { // the form has the recommended option selected
				a.Selected = nil
			}
		}
		list = append(list, a)
	}
	return list
}
