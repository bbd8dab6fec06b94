package strict

import (
	"encoding/json"
	"maps"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// deepest is how many objects and lists a schema may have within each other. OpenAI accepts ten.
const deepest = 10

// keywords are the members of a schema that every service can enforce.
var keywords = map[string]bool{
	"type": true, "description": true, "properties": true, "required": true, "additionalProperties": true, "items": true, "enum": true,
}

// Schema returns the schema of a tool in the form of OpenAI's strict mode: objects have no members
// but the listed ones, and all of them are required; an optional one may be null instead. ok is false
// for a schema that has no such form.
func Schema(raw json.RawMessage) (out json.RawMessage, ok bool) {
	return rewrite(raw, true)
}

// Closed returns the schema in the form of Anthropic's strict mode: objects have no members but the
// listed ones. Optional members stay optional. ok is false for a schema that has no such form.
func Closed(raw json.RawMessage) (out json.RawMessage, ok bool) {
	return rewrite(raw, false)
}

func rewrite(raw json.RawMessage, nullable bool) (json.RawMessage, bool) {
	root, ok := node(jsontext.Value(raw), nullable, deepest)
	if !ok || len(root.Type) != 1 || root.Type[0] != "object" {
		return nil, false
	}
	out, err := jsonv2.Marshal(root, jsontext.EscapeForHTML(false), jsontext.AllowInvalidUTF8(true))
	return out, err == nil
}

// schema is a schema that can be enforced. Its members have the order of the original ones.
type schema struct {
	Type        types          `json:"type,omitempty"`
	Description string         `json:"description,omitempty"`
	Enum        jsontext.Value `json:"enum,omitzero"`
	Items       *schema        `json:"items,omitzero"`
	Properties  *properties    `json:"properties,omitzero"`
	Required    []string       `json:"required,omitzero"`
	Additional  *bool          `json:"additionalProperties,omitzero"`
}

// node returns a schema and those within it in strict form.
func node(raw jsontext.Value, nullable bool, depth int) (s schema, ok bool) {
	var members map[string]jsontext.Value
	if depth == 0 || jsonv2.Unmarshal(raw, &members) != nil {
		return s, false
	}
	for name := range maps.Keys(members) {
		if !keywords[name] {
			return s, false
		}
	}
	var flat struct {
		Type        types          `json:"type"`
		Description string         `json:"description"`
		Enum        jsontext.Value `json:"enum"`
		Required    []string       `json:"required"`
		Additional  jsontext.Value `json:"additionalProperties"`
		Items       jsontext.Value `json:"items"`
		Properties  properties     `json:"properties"`
	}
	if jsonv2.Unmarshal(raw, &flat) != nil || len(flat.Type) == 0 {
		return s, false
	}
	s = schema{Type: flat.Type, Description: flat.Description, Enum: flat.Enum}
	if flat.Items != nil {
		item, ok := node(flat.Items, nullable, depth-1)
		if !ok {
			return s, false
		}
		s.Items = &item
	}
	if !slices.Contains(flat.Type, "object") {
		return s, flat.Properties.names == nil
	}
	if flat.Additional != nil && string(flat.Additional) != "false" {
		return s, false // any member would be admitted
	}
	s.Additional, s.Properties, s.Required = new(bool), &properties{}, []string{}
	for i, name := range flat.Properties.names {
		member, ok := node(flat.Properties.values[i], nullable, depth-1)
		if !ok {
			return s, false
		}
		required := slices.Contains(flat.Required, name)
		if nullable && !required {
			if member.Enum != nil {
				return s, false // null would have to be one of the values
			}
			member.Type = member.Type.orNull()
		}
		if nullable || required {
			s.Required = append(s.Required, name)
		}
		value, err := jsonv2.Marshal(member, jsontext.EscapeForHTML(false), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return s, false
		}
		s.Properties.names, s.Properties.values = append(s.Properties.names, name), append(s.Properties.values, value)
	}
	return s, true
}

// types is one type, or a list of alternatives.
type types []string

func (t types) orNull() types {
	if slices.Contains(t, "null") {
		return t
	}
	return append(slices.Clone(t), "null")
}

// MarshalJSONTo writes a single type as a string.
func (t types) MarshalJSONTo(enc *jsontext.Encoder) error {
	if len(t) == 1 {
		return enc.WriteToken(jsontext.String(t[0]))
	}
	return jsonv2.MarshalEncode(enc, []string(t))
}

// UnmarshalJSONFrom reads a string or a list of strings.
func (t *types) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		*t = types{""}
		return jsonv2.UnmarshalDecode(dec, &(*t)[0])
	}
	return jsonv2.UnmarshalDecode(dec, (*[]string)(t))
}

// properties are the members of an object in their order.
type properties struct {
	names  []string
	values []jsontext.Value
}

// MarshalJSONTo writes an object.
func (p *properties) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i, name := range p.names {
		if err := enc.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := enc.WriteValue(p.values[i]); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// UnmarshalJSONFrom reads an object.
func (p *properties) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '{' {
		return errNoObject
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		p.names = append(p.names, name.String())
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		p.values = append(p.values, value.Clone())
	}
	_, err := dec.ReadToken()
	return err
}
