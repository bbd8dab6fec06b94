package main

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// schemaOf returns the schema of a command's arguments or result.
func schemaOf(s commands.Spec, t reflect.Type) *jsonschema.Schema {
	for _, m := range commands.Default.Manifest() {
		if m.Name == s.Name {
			if t == s.Args {
				return m.Args
			}
			return m.Result
		}
	}
	return &jsonschema.Schema{}
}

func commandsMarkdown(t *commands.Table, _ []byte) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- %s -->\n\n# Commands\n\n", notice)
	b.WriteString("Run a command with `workspace/executeCommand` and one JSON object as its argument. Unknown arguments are errors.\n" +
		"For errors, see [protocol.md](protocol.md#errors).\n")
	for _, s := range t.Specs() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s\n", s.Name, s.Doc, traits(s))
		writeFields(&b, "Argument", schemaOf(s, s.Args))
		result := schemaOf(s, s.Result)
		if result.Items != nil {
			writeFields(&b, "Each item of the result", result.Items)
		}
		writeFields(&b, "Result", result)
	}
	return []byte(b.String()), nil
}

func traits(s commands.Spec) string {
	var traits []string
	for _, f := range []struct {
		flag commands.Flag
		text string
	}{
		{commands.Palette, "in the command palette"},
		{commands.ReadOnly, "read-only"},
		{commands.WritesFile, "writes a file, changes no session"},
		{commands.NeedsIdle, "not while a turn is running"},
		{commands.NeedsPersistent, "not for in-memory sessions"},
		{commands.NeedsTrust, "not in a restricted workspace"},
	} {
		if s.Flags.Has(f.flag) {
			traits = append(traits, f.text)
		}
	}
	if s.Early {
		traits = append(traits, "does not wait for a [large session](protocol.md#large-sessions) to be read")
	}
	text := fmt.Sprintf("*%s", s.Title)
	if len(traits) > 0 {
		text += " — " + strings.Join(traits, ", ")
	}
	return text + ".*"
}

func writeFields(b *strings.Builder, heading string, s *jsonschema.Schema) {
	if len(s.Properties) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| %s | Type | |\n|---|---|---|\n", heading)
	names := s.PropertyOrder
	if len(names) == 0 {
		for name := range s.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	for _, name := range names {
		p := s.Properties[name]
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, typeName(p, slices.Contains(s.Required, name)), strings.ReplaceAll(p.Description, "|", `\|`))
	}
}

func typeName(s *jsonschema.Schema, required bool) string {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	if len(types) == 0 {
		types = []string{"any"}
	}
	name := strings.Join(types, ", ")
	if s.Items != nil {
		name += " of " + typeName(s.Items, true)
	}
	if !required {
		name += ", optional"
	}
	return name
}

const (
	beginMark = "<!-- generated: commands -->\n"
	endMark   = "<!-- end of generated -->\n"
)

// protocolMarkdown replaces the table between the marks.
func protocolMarkdown(t *commands.Table, old []byte) ([]byte, error) {
	var b strings.Builder
	b.WriteString("| Command | Arguments | |\n|---|---|---|\n")
	for _, s := range t.Specs() {
		args := schemaOf(s, s.Args)
		var names []string
		for _, name := range args.PropertyOrder {
			if name == "cwd" {
				continue
			}
			if !slices.Contains(args.Required, name) {
				name += "?"
			}
			names = append(names, "`"+name+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, strings.Join(names, ", "), s.Doc)
	}
	return between(old, beginMark, b.String(), endMark)
}

// between replaces the text between two marks and keeps every other byte.
func between(old []byte, begin, text, end string) ([]byte, error) {
	before, rest, ok := bytes.Cut(old, []byte(begin))
	if !ok {
		return nil, fmt.Errorf("the mark %q is missing", strings.TrimSpace(begin))
	}
	_, after, ok := bytes.Cut(rest, []byte(end))
	if !ok {
		return nil, fmt.Errorf("the mark %q is missing", strings.TrimSpace(end))
	}
	return slices.Concat(before, []byte(begin), []byte(text), []byte(end), after), nil
}
