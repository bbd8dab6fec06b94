package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// notation is how a language writes types.
type notation struct {
	prefix   string            // before the name of a type of ours
	words    map[string]string // where its word is not that of JSON Schema
	unknown  string            // what may be anything
	mapOf    string            // of texts to what %s is
	or       string            // between what a value may be
	then     string            // between the members of an object
	compound string            // a type that has this in it stands in brackets where it is one of a list
}

var typeScriptNotation = notation{
	words: map[string]string{"integer": "number"}, unknown: "unknown",
	mapOf: "Record<string, %s>", or: " | ", then: "; ", compound: " ",
}

// luaNotation is the language of annotations. null is a value of its own on the wire, which Neovim
// may leave out.
var luaNotation = notation{
	prefix: luaPrefix, words: map[string]string{"null": "nil"}, unknown: "any",
	mapOf: "table<string, %s>", or: "|", then: ", ", compound: "|",
}

// typeOf is the type of what fits s.
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
			none = n.word(t) // it reads better behind what else it may be
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

// one is the type of those that fit s and are of the JSON type t.
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
