package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Flag says where a command may be offered and what it may do.
type Flag uint

// The flags of a command.
const (
	Palette        Flag = 1 << iota // offered to people by name (VS Code palette, :Xcsh completion)
	ReadOnly                        // never changes a byte on disk
	NeedIdle                        // refused with kind busy while a turn runs
	NeedPersistent                  // refused with kind notPersistent for an in-memory session
)

// Has reports whether every bit of g is set in f.
func (f Flag) Has(g Flag) bool { return f&g == g }

// Input names what an editor asks a person for when a command is called without
// its main argument.
type Input string

// The inputs that a picker can supply.
const (
	InputNone    Input = ""
	InputSession Input = "session" // one of xcsh.list
	InputPath    Input = "path"    // a file to write
	InputText    Input = "text"    // free text
	InputEntry   Input = "entry"   // one node of xcsh.tree
	InputModel   Input = "model"   // one of xcsh.models
)

// Spec describes a command to people and programs. Args and Result are filled by [New].
type Spec struct {
	Name   string // "xcsh.resume"
	Title  string // what a palette shows
	Doc    string // one sentence for docs and completion
	Flags  Flag
	Input  Input  // what is asked for when the main argument is missing
	Arg    string // the argument that words typed behind the command fill; "" for none
	Args   reflect.Type
	Result reflect.Type
}

// Command is one row of the table: a Spec and the typed function behind it.
type Command struct {
	Spec
	run func(ctx context.Context, env *Env, args json.RawMessage) (any, error)
}

// New makes a command of a function over typed arguments. The argument struct is
// the schema: unknown fields are refused, and absent arguments mean its zero value.
func New[A, R any](s Spec, run func(context.Context, *Env, A) (R, error)) Command {
	s.Args, s.Result = reflect.TypeFor[A](), reflect.TypeFor[R]()
	return Command{Spec: s, run: func(ctx context.Context, env *Env, raw json.RawMessage) (any, error) {
		args, err := decodeArgs[A](s.Name, raw)
		if err != nil {
			return nil, err
		}
		return run(ctx, env, args)
	}}
}

// Table is the one list of commands. It is immutable and safe for concurrent use.
type Table struct {
	order  []Command
	byName map[string]int
}

// NewTable returns a table of commands in the order given. It panics on a
// duplicate name, which is a mistake in the program and shows at start.
func NewTable(commands ...Command) *Table {
	t := &Table{order: commands, byName: make(map[string]int, len(commands))}
	for i, c := range commands {
		if _, dup := t.byName[c.Name]; dup {
			panic("commands: duplicate command " + c.Name)
		}
		t.byName[c.Name] = i
	}
	return t
}

// Names returns the command names in table order.
func (t *Table) Names() []string {
	names := make([]string, len(t.order))
	for i, c := range t.order {
		names[i] = c.Name
	}
	return names
}

// Specs returns the description of every command in table order.
func (t *Table) Specs() []Spec {
	specs := make([]Spec, len(t.order))
	for i, c := range t.order {
		specs[i] = c.Spec
	}
	return specs
}

// Execute runs the command called name. args holds at most one JSON object, as
// workspace/executeCommand carries it. The result marshals to the shape of
// docs/commands.md; an error is (or wraps) a [fault.Error].
func (t *Table) Execute(ctx context.Context, env *Env, name string, args []json.RawMessage) (any, error) {
	i, ok := t.byName[name]
	if !ok {
		return nil, fault.New(fault.InvalidArgument, "Unknown command %q.", name).With("field", "command")
	}
	if len(args) > 1 {
		return nil, fault.New(fault.InvalidArgument, "%s takes one JSON object, not %d arguments.", name, len(args)).With("field", "arguments")
	}
	var raw json.RawMessage
	if len(args) == 1 {
		raw = args[0]
	}
	res, err := t.order[i].run(ctx, env, raw)
	if err != nil && errors.Is(err, context.Canceled) && fault.KindOf(err) == fault.Internal {
		return nil, fault.New(fault.Cancelled, "%s was cancelled.", name)
	}
	return res, err
}

// Call is [Table.Execute] for callers in Go: args is marshalled, and the result is an R.
func Call[R any](ctx context.Context, t *Table, env *Env, name string, args any) (R, error) {
	var none R
	raw, err := json.Marshal(args)
	if err != nil {
		return none, err
	}
	result, err := t.Execute(ctx, env, name, []json.RawMessage{raw})
	if err != nil {
		return none, err
	}
	r, ok := result.(R)
	if !ok {
		return none, fmt.Errorf("%s answered with %T", name, result)
	}
	return r, nil
}

func decodeArgs[A any](command string, raw json.RawMessage) (A, error) {
	var args A
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return args, nil
	}
	// Lua clients cannot tell an empty table from an empty list.
	if bytes.Equal(raw, []byte("[]")) {
		return args, nil
	}
	if raw[0] != '{' {
		return args, fault.New(fault.InvalidArgument, "%s takes one JSON object.", command).With("field", "arguments")
	}
	// encoding/json would take field names in any case, and so hide a misspelling.
	err := jsonv2.Unmarshal(raw, &args, jsonv2.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return args, argumentError(command, err)
	}
	return args, nil
}

// argumentError says which field was wrong in words a person can act on.
func argumentError(command string, err error) error {
	wrong, ok := errors.AsType[*jsonv2.SemanticError](err)
	if !ok {
		return fault.New(fault.InvalidArgument, "%s takes one JSON object.", command).With("field", "arguments")
	}
	field := strings.ReplaceAll(strings.TrimPrefix(string(wrong.JSONPointer), "/"), "/", ".")
	if errors.Is(err, jsonv2.ErrUnknownName) {
		return fault.New(fault.InvalidArgument, "%s has no argument %q.", command, field).With("field", field)
	}
	return fault.New(fault.InvalidArgument, "%s: argument %q must be %s, not %s.",
		command, field, jsonTypeName(wrong.GoType), jsonKindName(wrong.JSONKind)).With("field", field)
}

func jsonKindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "a number"
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

func jsonTypeName(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[EntryRef]() {
		return "a string or null"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return fmt.Sprintf("of type %s", t.Kind())
	}
}
