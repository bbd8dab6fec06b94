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

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Flag describes what a command does and needs. [Table.Execute] enforces the Needs flags.
type Flag uint

// The flags of a command. Each command has exactly one of ReadOnly, WritesFile without
// NeedsTrust, and NeedsTrust: together, the first two are the commands of a restricted workspace.
const (
	Palette         Flag = 1 << iota // listed by name for users (VS Code palette, :Xcsh completion)
	ReadOnly                         // writes nothing anywhere but derived caches
	WritesFile                       // writes a file outside the session store and changes no session
	NeedsIdle                        // fails with busy while a turn runs in the folder's live session, unless the call names another
	NeedsPersistent                  // fails with notPersistent for an in-memory session
	NeedsTrust                       // fails with denied in a restricted workspace
)

// Has reports whether every bit of g is set in f.
func (f Flag) Has(g Flag) bool { return f&g == g }

// Input is the picker that an editor opens when a command is called without its main
// argument.
type Input string

// The inputs that a picker can supply.
const (
	InputNone    Input = ""
	InputSession Input = "session" // one of xcsh.list
	InputPath    Input = "path"    // a file to write
	InputText    Input = "text"    // free text
	InputEntry   Input = "entry"   // one node of xcsh.tree
	InputModel   Input = "model"   // one of xcsh.models
	InputEngine  Input = "engine"  // one of xcsh.engines that can be used

	InputProvider Input = "provider" // one of xcsh.providers
	InputSecret   Input = "secret"   // a text that is not shown and not stored by the client
)

// Spec describes a command to users and programs. Args and Result are filled by [New].
type Spec struct {
	Name   string // "xcsh.resume"
	Title  string // in a palette
	Doc    string // one or two sentences for docs and completion
	Flags  Flag
	Input  Input  // picker for the main argument
	Arg    string // the argument that words typed after the command fill; "" for none
	Early  bool   // it shows the newest context only, and so waits neither for the whole reading nor for [agent.Session.Settled]
	Args   reflect.Type
	Result reflect.Type

	refusal refusal
}

// refusal is the wording of the errors of NeedsIdle and NeedsPersistent. The messages for
// in-memory sessions are those of the terminal programs.
type refusal struct {
	doing         string // "forking", the end of the Busy error's message
	inMemory      string // message of the NotPersistent error
	inMemoryNamed string // the same for a call that names a session
	always        bool   // the command needs the folder's live session even if the call names another one
}

// Command is one row of the table: a Spec and the typed function behind it.
type Command struct {
	Spec
	decode func(raw json.RawMessage) (any, error)                     // returns a pointer to the arguments
	run    func(ctx context.Context, env *Env, args any) (any, error) // takes that pointer
}

// New returns a command that calls run with decoded arguments. The argument struct is the
// schema: unknown fields are errors, and missing arguments mean its zero value.
func New[A, R any](s Spec, run func(context.Context, *Env, A) (R, error)) Command {
	s.Args, s.Result = reflect.TypeFor[A](), reflect.TypeFor[R]()
	return Command{
		Spec: s,
		decode: func(raw json.RawMessage) (any, error) {
			args, err := decodeArgs[A](s.Name, raw)
			return &args, err
		},
		run: func(ctx context.Context, env *Env, args any) (any, error) {
			a, ok := args.(*A)
			if !ok {
				return nil, fmt.Errorf("%s takes %T, not %T", s.Name, a, args)
			}
			return run(ctx, env, *a)
		},
	}
}

// Table is a list of commands. It is immutable and safe for concurrent use.
type Table struct {
	order  []Command
	byName map[string]int
}

// NewTable returns a table of commands in the given order. It panics on a duplicate
// name, which is a programming error and shows at start.
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

// Execute runs the command called name. args holds at most one JSON object, as in
// workspace/executeCommand. The result marshals to the shape documented in
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
	res, err := t.order[i].execute(ctx, env, raw)
	if err != nil && errors.Is(err, context.Canceled) && fault.KindOf(err) == fault.Internal {
		return nil, fault.New(fault.Cancelled, "%s was cancelled.", name)
	}
	return res, err
}

func (c *Command) execute(ctx context.Context, env *Env, raw json.RawMessage) (any, error) {
	args, err := c.decode(raw)
	if err != nil {
		return nil, err
	}
	if err := c.check(ctx, env, args); err != nil {
		return nil, err
	}
	return c.run(needingRoom(ctx, c.Name), env, args)
}

// Call is [Table.Execute] for Go callers: it marshals args and returns an R.
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
		return none, fmt.Errorf("%s returned %T", name, result)
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
	// encoding/json ignores the case of field names, which would hide a misspelling.
	err := jsonv2.Unmarshal(raw, &args, jsonv2.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return args, argumentError(command, err)
	}
	return args, nil
}

// argumentError returns an error that names the wrong field and its expected type.
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
		return "another type"
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
