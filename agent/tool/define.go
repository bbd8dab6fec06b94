package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/schema"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// definition is a tool over typed arguments: the struct A is its schema.
type definition[A any] struct {
	name    string
	doc     string
	changes bool
	alone   bool

	// accept converts the arguments of other programs' models into the tool's own form. It may be
	// nil.
	accept func(arguments) error
	// check validates constraints that the types cannot express. It may be nil.
	check   func(A) error
	preview func(ctx context.Context, env Env, a A) (Preview, error)
	run     func(ctx context.Context, env Env, a A) (Result, error)
}

// define makes a tool. It panics when A has no schema, which every test shows.
func define[A any](d definition[A]) Tool {
	schema, err := jsonschema.For[A](nil)
	if err == nil {
		schema.AdditionalProperties = nil // parse rejects others, and services that enforce schemas add it
		for _, p := range schema.Properties {
			plainSchema(p)
		}
	}
	raw, marshalErr := json.Marshal(schema)
	if err = errors.Join(err, marshalErr); err != nil {
		panic("tool: no schema for " + d.name + ": " + err.Error())
	}
	p := parser[A]{definition: d, schema: schema}
	t := Tool{
		Tool:    provider.Tool{Name: d.name, Description: strings.TrimSpace(d.doc), Parameters: raw},
		Changes: d.changes, Alone: d.alone,
		Check: func(args json.RawMessage) (json.RawMessage, error) {
			a, err := p.parse(args)
			if err != nil {
				return nil, err
			}
			return jsonv2.Marshal(a, jsontext.EscapeForHTML(false))
		},
		Run: func(ctx context.Context, env Env, args json.RawMessage) (Result, error) {
			a, err := p.parse(args)
			if err != nil {
				return Result{}, err
			}
			return d.run(ctx, env, a)
		},
	}
	if d.preview != nil {
		t.Preview = func(ctx context.Context, env Env, args json.RawMessage) (Preview, error) {
			a, err := p.parse(args)
			if err != nil {
				return Preview{}, err
			}
			return d.preview(ctx, env, a)
		}
	}
	return t
}

// plainSchema makes the schema of a parameter one that services understand, with everything in it.
func plainSchema(s *jsonschema.Schema) {
	plainType(s)
	if s.Items != nil {
		s.Items.AdditionalProperties = nil
		plainSchema(s.Items)
	}
	for _, p := range s.Properties {
		plainSchema(p)
	}
}

// plainType turns "null or a list" into "a list": services handle two types differently, and an
// absent parameter is just left out.
func plainType(s *jsonschema.Schema) {
	if len(s.Types) == 2 && slices.Contains(s.Types, "null") {
		s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
		s.Type, s.Types = s.Types[0], nil
	}
}

// parser reads a tool's arguments.
type parser[A any] struct {
	definition[A]
	schema *jsonschema.Schema
}

func (p parser[A]) parse(raw json.RawMessage) (a A, err error) {
	args, err := readObject(p.name, raw)
	if err != nil {
		return a, err
	}
	p.dropIntent(args, func(v jsontext.Value) bool { return v.Kind() == '"' })
	if p.accept != nil {
		if err := p.accept(args); err != nil {
			return a, err
		}
	}
	p.dropIntent(args, func(jsontext.Value) bool { return true })
	for _, name := range slices.Sorted(maps.Keys(args)) {
		property := p.schema.Properties[name]
		switch {
		case string(args[name]) == "null" && !slices.Contains(p.schema.Required, name):
			delete(args, name) // how some models leave a parameter out
		case property == nil:
			return a, badArgument(name, "%s has no parameter %q; it takes %s.", p.name, name, strings.Join(p.schema.PropertyOrder, ", "))
		default:
			args[name] = plainValue(property, args[name])
		}
	}
	if err := missing(p.name, p.schema, args); err != nil {
		return a, err
	}
	for name, v := range args {
		if err := missingInList(p.name, name, p.schema.Properties[name].Items, v); err != nil {
			return a, err
		}
	}
	object, err := jsonv2.Marshal(map[string]jsontext.Value(args), jsontext.AllowInvalidUTF8(true))
	if err == nil {
		err = jsonv2.Unmarshal(object, &a, jsonv2.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true))
	}
	if err != nil {
		return a, p.wrongType(err)
	}
	if p.check != nil {
		err = p.check(a)
	}
	return a, err
}

// dropIntent removes the description of the call, unless the tool has such a parameter.
func (p parser[A]) dropIntent(args arguments, which func(jsontext.Value) bool) {
	for _, name := range schema.Intents {
		if v, ok := args[name]; ok && p.schema.Properties[name] == nil && which(v) {
			delete(args, name)
		}
	}
}

// missing is an error when a member that must be there is not.
func missing(where string, schema *jsonschema.Schema, args arguments) error {
	for _, name := range schema.Required {
		if _, ok := args[name]; !ok {
			return badArgument(name, "%s needs the parameter %q.", where, name)
		}
	}
	return nil
}

// missingInList looks for missing members in a list of objects. A value that is not such a list
// fails later, when it is decoded.
func missingInList(tool, name string, item *jsonschema.Schema, v jsontext.Value) error {
	var list []arguments
	if item == nil || jsonv2.Unmarshal(v, &list, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	for i, object := range list {
		if err := missing(fmt.Sprintf("%s: %s[%d]", tool, name, i), item, object); err != nil {
			return err
		}
	}
	return nil
}

func (p parser[A]) wrongType(err error) error {
	wrong, ok := errors.AsType[*jsonv2.SemanticError](err)
	if !ok {
		return badArgument("", "The arguments of %s are not JSON: %v.", p.name, err)
	}
	at := strings.ReplaceAll(strings.TrimPrefix(string(wrong.JSONPointer), "/"), "/", ".")
	if errors.Is(err, jsonv2.ErrUnknownName) {
		return badArgument(at, "%s has no parameter %q.", p.name, at)
	}
	return badArgument(at, "%s: %q must be %s, not %s.", p.name, at, typeName(wrong.GoType), kindName(wrong.JSONKind))
}

// arguments are the members of the object that a model sent.
type arguments map[string]jsontext.Value

func readObject(tool string, raw json.RawMessage) (arguments, error) {
	args := arguments{}
	if len(bytes.TrimSpace(raw)) == 0 {
		return args, nil
	}
	err := jsonv2.Unmarshal(raw, &args, jsontext.AllowInvalidUTF8(true))
	if err != nil || args == nil {
		return nil, badArgument("", "The arguments of %s must be one JSON object.", tool)
	}
	return args, nil
}

// rename accepts other names of a parameter. The own name wins.
func (a arguments) rename(name string, others ...string) {
	for _, other := range others {
		if v, ok := a[other]; ok {
			if _, has := a[name]; !has {
				a[name] = v
			}
			delete(a, other)
		}
	}
}

// drop removes parameters of other programs that have no effect here.
func (a arguments) drop(names ...string) {
	for _, name := range names {
		delete(a, name)
	}
}

// text returns a string and takes it out.
func (a arguments) text(name string) (s string, ok bool) {
	v, ok := a[name]
	if !ok || v.Kind() != '"' || jsonv2.Unmarshal(v, &s) != nil {
		return "", false
	}
	delete(a, name)
	return s, true
}

// set reports whether a parameter is present and not empty or false.
func (a arguments) set(name string) bool {
	switch string(a[name]) {
	case "", "null", "false", "0", `""`, "[]", "{}":
		return false
	}
	return true
}

// refuse returns an error if a parameter requests an unsupported feature.
func (a arguments) refuse(tool, name, instead string) error {
	if !a.set(name) {
		delete(a, name)
		return nil
	}
	return badArgument(name, "%s has no parameter %q; %s.", tool, name, instead)
}

// plainValue makes a number or a bool of a string that holds one, as many models write
// them.
func plainValue(property *jsonschema.Schema, v jsontext.Value) jsontext.Value {
	var s string
	if v.Kind() != '"' || jsonv2.Unmarshal(v, &s) != nil {
		return v
	}
	switch property.Type {
	case "integer":
		if _, err := strconv.Atoi(s); err == nil {
			return jsontext.Value(s)
		}
	case "number":
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return jsontext.Value(strconv.FormatFloat(f, 'g', -1, 64))
		}
	case "boolean":
		if s == "true" || s == "false" {
			return jsontext.Value(s)
		}
	}
	return v
}

func badArgument(name, format string, args ...any) error {
	return fault.New(fault.InvalidArgument, format, args...).With("field", name)
}

func typeName(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	default:
		return fmt.Sprintf("of type %s", t.Kind())
	}
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "this number"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	case '[':
		return "a list"
	default:
		return "an object"
	}
}
