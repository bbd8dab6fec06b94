package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// notation describes how a language writes types.
type notation struct {
	prefix   string            // before the name of a type of this project
	words    map[string]string // type names that differ from those of JSON Schema
	unknown  string            // the type that allows any value
	mapOf    string            // format of a map from strings to %s
	or       string            // between the alternatives of a union
	then     string            // between the members of an object
	compound string            // a type that contains this is parenthesized as a list element
}

var typeScriptNotation = notation{
	words: map[string]string{"integer": "number"}, unknown: "unknown",
	mapOf: "Record<string, %s>", or: " | ", then: "; ", compound: " ",
}

// luaNotation is the notation of Lua annotations. null is a value of its own on the wire, which Neovim
// may leave out.
var luaNotation = notation{
	prefix: luaPrefix, words: map[string]string{"null": "nil"}, unknown: "any",
	mapOf: "table<string, %s>", or: "|", then: ", ", compound: "|",
}

// typeOf returns the type of the values that match s.
func (n notation) typeOf(s *jsonschema.Schema) string {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	var parts []string
	if s.Ref != "" {
		parts = append(parts, n.prefix+s.Ref)
	}
	none := ""
	for _, t := range types {
		if t == "null" {
			none = n.word(t) // null reads better after the other alternatives
			continue
		}
		parts = append(parts, n.one(t, s))
	}
	if none != "" {
		parts = append(parts, none)
	}
	if len(parts) == 0 {
		return n.unknown
	}
	return strings.Join(parts, n.or)
}

// one returns the type of the values that match s and have the JSON type t.
func (n notation) one(t string, s *jsonschema.Schema) string {
	switch t {
	case "array":
		item := n.typeOf(s.Items)
		if strings.Contains(item, n.compound) {
			item = "(" + item + ")"
		}
		return item + "[]"
	case "object":
		return n.object(s)
	}
	return n.word(t)
}

func (n notation) word(t string) string {
	if word, ok := n.words[t]; ok {
		return word
	}
	return t
}

func (n notation) object(s *jsonschema.Schema) string {
	if len(s.Properties) == 0 {
		of := n.unknown
		if s.AdditionalProperties != nil {
			of = n.typeOf(s.AdditionalProperties)
		}
		return fmt.Sprintf(n.mapOf, of)
	}
	var members []string
	for _, name := range s.PropertyOrder {
		mark := ""
		if !slices.Contains(s.Required, name) {
			mark = "?"
		}
		members = append(members, name+mark+": "+n.typeOf(s.Properties[name]))
	}
	return "{ " + strings.Join(members, n.then) + " }"
}
