package commands

import (
	_ "embed" // the generated manifest
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// ManifestEntry describes a command's arguments and result to a client.
type ManifestEntry struct {
	Name   string             `json:"name"`
	Title  string             `json:"title"`
	Input  Input              `json:"input,omitempty"`
	Args   *jsonschema.Schema `json:"args"`
	Result *jsonschema.Schema `json:"result"`
}

// ManifestJSON is [Table.Manifest] of [Default] as JSON. It is generated because deriving a
// hundred schemas takes longer than the rest of the startup.
//
//go:embed manifest.gen.json
var ManifestJSON json.RawMessage

// Manifest describes every command in table order. It panics if a type has no schema, which
// is a programming error and shows in every test.
func (t *Table) Manifest() []ManifestEntry {
	entries := make([]ManifestEntry, len(t.order))
	for i, c := range t.order {
		entries[i] = ManifestEntry{Name: c.Name, Title: c.Title, Input: c.Input, Args: schemaOf(c.Args), Result: schemaOf(c.Result)}
	}
	return entries
}

// schemaTypes holds the schemas of types with their own JSON form.
var schemaTypes = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[EntryRef]():        {Types: []string{"string", "null"}},
}

func schemaOf(t reflect.Type) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: schemaTypes})
	if err != nil {
		panic("commands: no schema for " + t.String() + ": " + err.Error())
	}
	return s
}
