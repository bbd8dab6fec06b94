package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
)

// luaPrefix separates the names of wire types from those of the plugin.
const luaPrefix = "xcsh.wire."

// luaWire renders the wire types as annotations for the Lua language server. The file contains no executable code.
func luaWire(t *commands.Table, _ []byte) ([]byte, error) {
	w := &wire{names: map[reflect.Type]string{}, taken: map[string]reflect.Type{}}
	var b strings.Builder
	fmt.Fprintf(&b, "---@meta\n-- %s\n", notice)
	for _, e := range wireEnums {
		w.names[e.of], w.taken[e.name] = e.name, e.of
		fmt.Fprintf(&b, "\n---@alias %s%s %s\n", luaPrefix, e.name, strings.ReplaceAll(union(e.values), " | ", "|"))
	}
	fmt.Fprintf(&b, "\n---A message as a session file has it: everything but the role may be missing.\n"+
		"---@class %sStoredMessage: %sMessage\n---@field content? string|%sContentBlock[]\n", luaPrefix, luaPrefix, luaPrefix)
	for _, s := range t.Specs() {
		w.name(s.Args)
		w.result(s.Result)
	}
	for _, m := range serverMethods {
		w.name(m.params)
		if m.result != nil {
			w.resultOf(m)
		}
	}
	for _, m := range clientMethods {
		w.name(m.params)
	}
	w.name(reflect.TypeFor[provider.Message]())
	w.name(reflect.TypeFor[commands.ListPart]())
	if err := w.luaEvent(&b); err != nil {
		return nil, err
	}
	if err := w.luaClasses(&b); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

// luaEvent writes one class for all types of events, because Lua's annotations have no unions
// discriminated by a member.
func (w *wire) luaEvent(b *strings.Builder) error {
	var names, fields []string
	for _, shape := range eventShapes {
		names = append(names, shape.of.Type())
		members, err := shape.schemas(w)
		if err != nil {
			return err
		}
		for _, m := range members {
			field := fmt.Sprintf("---@field %s? %s\n", m.key, w.luaMember(reflect.TypeOf(shape.of), m.key, m.schema))
			if !slices.Contains(fields, field) {
				fields = append(fields, field)
			}
		}
	}
	fmt.Fprintf(b, "\n---What happened in a session. A client ignores types that it does not know.\n---@class %sSessionEvent\n", luaPrefix)
	fmt.Fprintf(b, "---@field type %s\n%s", strings.ReplaceAll(union(names), " | ", "|"), strings.Join(fields, ""))
	return nil
}

// luaClasses writes every type that was named, and the types to which they refer.
func (w *wire) luaClasses(b *strings.Builder) error {
	for i := 0; i < len(w.order); i++ {
		t := w.order[i]
		s, err := w.schema(t)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "\n---@class %s%s\n", luaPrefix, w.names[t])
		for _, name := range s.PropertyOrder {
			p := s.Properties[name]
			mark := ""
			if !slices.Contains(s.Required, name) {
				mark = "?"
			}
			line := fmt.Sprintf("---@field %s%s %s %s", name, mark, w.luaMember(t, name, p), strings.ReplaceAll(p.Description, "\n", " "))
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return nil
}

// luaMembers is wireMembers for Lua.
var luaMembers = map[string]string{
	"Record<string, unknown>": "table<string, any>",
}

func (w *wire) luaMember(of reflect.Type, name string, s *jsonschema.Schema) string {
	fixed := wireMembers[w.owner(of)+"."+name]
	switch {
	case luaMembers[fixed] != "":
		return luaMembers[fixed]
	case fixed != "":
		return luaPrefix + fixed
	}
	return luaNotation.typeOf(s)
}
