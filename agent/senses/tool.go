package senses

import (
	"context"
	_ "embed" // the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

//go:embed lsp.md
var doc string

// Options configure a [Senses].
type Options struct {
	Editor    Editor // nil: there is none
	Files     tool.Files
	AfterEdit func() bool // reports whether results of edits get the new errors of the file; nil: they do
}

// Senses is what an editor knows about code, for the model's tools. It is safe for concurrent use.
type Senses struct {
	o        Options
	unheeded atomic.Int32 // requests after edits without an answer, since the last answer
}

// New returns the senses with these options.
func New(o Options) *Senses { return &Senses{o: o} }

// actions returns the actions of the tool, none if the editor cannot be asked for anything.
func (s *Senses) actions() (actions []string) {
	for _, action := range order {
		if s.can(requestOf[action]) {
			actions = append(actions, action)
		}
	}
	if len(actions) > 0 {
		actions = append(actions, status)
	}
	return actions
}

// Tool returns the tool lsp. readOnly makes one that applies no edits. ok is false if the editor cannot be asked for
// anything.
func (s *Senses) Tool(readOnly bool) (t tool.Tool, ok bool) {
	if s == nil {
		return t, false
	}
	actions := s.actions()
	if readOnly {
		actions = slices.DeleteFunc(actions, func(a string) bool { return a == "rename" || a == "code_actions" })
	}
	if len(actions) == 0 || len(actions) == 1 && actions[0] == status {
		return t, false
	}
	c := &calls{s: s, actions: actions, planned: map[string]*plan{}}
	t = tool.Tool{
		Tool:  provider.Tool{Name: Name, Description: strings.TrimSpace(doc), Parameters: parameters(actions)},
		Check: func(raw json.RawMessage) (json.RawMessage, error) { return c.check(raw) },
		Run:   c.run,
	}
	if slices.Contains(actions, "rename") || slices.Contains(actions, "code_actions") {
		t.Changes, t.Edits = true, true
		t.Reads = func(args json.RawMessage) bool { return !c.changes(args) }
		t.Preview = c.preview
	}
	return t, true
}

// calls are the calls of one [tool.Tool].
type calls struct {
	s       *Senses
	actions []string

	mu      sync.Mutex
	planned map[string]*plan // the edits that were last shown for some arguments; guarded by mu
}

// check returns checked arguments in the tool's own form.
func (c *calls) check(raw json.RawMessage) (json.RawMessage, error) {
	a, err := parse(raw, c.actions)
	if err != nil {
		return nil, err
	}
	return encode(a), nil
}

func (c *calls) changes(raw json.RawMessage) bool {
	a, err := parse(raw, c.actions)
	return err != nil || a.changes()
}

// details are those of xcsh and oh-my-pi.
type details struct {
	Action  string     `json:"action"`
	Success bool       `json:"success"`
	Request *arguments `json:"request,omitempty"`
}

// run makes a call. The result of a failed one says why.
func (c *calls) run(ctx context.Context, env tool.Env, raw json.RawMessage) (tool.Result, error) {
	a, err := parse(raw, c.actions)
	if err != nil {
		return tool.Result{}, err
	}
	text, err := c.answer(ctx, env, raw, a)
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	if err != nil {
		text = err.Error()
	}
	r := tool.TextResult(text)
	r.IsError = err != nil
	r.Details = encode(details{a.Action, err == nil, &a})
	return r, nil
}

// answer returns the text of a result.
func (c *calls) answer(ctx context.Context, env tool.Env, raw json.RawMessage, a arguments) (string, error) {
	q := question{s: c.s, env: env, a: a}
	switch a.Action {
	case status:
		return "The editor can be asked for " + strings.Join(c.actions[:len(c.actions)-1], ", ") + ".", nil
	case "diagnostics":
		return q.diagnostics(ctx)
	case "hover":
		return q.hover(ctx)
	case "symbols":
		return q.symbols(ctx)
	case "rename", "code_actions":
		if a.changes() {
			return c.apply(ctx, env, raw)
		}
		return q.edits(ctx)
	case "editors":
		return q.editors(ctx)
	case "selection":
		return q.selection(ctx)
	default:
		return q.places(ctx)
	}
}

// question is one call of the tool.
type question struct {
	s   *Senses
	env tool.Env
	a   arguments
}

// ask sends a request. Its errors are sentences for the model.
func (q question) ask(ctx context.Context, request string, params any) (json.RawMessage, error) {
	raw, err := q.s.ask(ctx, request, q.a.limit(), params)
	if err == nil {
		q.s.unheeded.Store(0)
	}
	return raw, err
}

func (s *Senses) ask(ctx context.Context, request string, limit time.Duration, params any) (json.RawMessage, error) {
	if !s.can(request) {
		return nil, fault.New(fault.NotFound, "The user's editor can't be asked for %s any more.", request)
	}
	raw, err := s.o.Editor.Ask(ctx, request, limit, params)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, ErrUnsupported):
		return nil, fault.New(fault.NotFound, "The user's editor can't be asked for %s.", request)
	case errors.Is(err, ErrNoAnswer):
		return nil, fault.New(fault.Limit, "The editor did not answer within %s. A language server may still be starting: try again later, or go on without it.", limit)
	case err != nil:
		return nil, fault.New(fault.IO, "The editor couldn't answer: %s", shown(err.Error(), maxMessage))
	case len(raw) > maxAnswer:
		return nil, fault.New(fault.TooLarge, "The editor's answer is larger than %d MB. Ask for less, such as the problems of one file.", maxAnswer>>20)
	}
	return raw, nil
}

// path returns the file of the call and its text. It fails for a file with credentials.
func (q question) file(ctx context.Context) (path, text string, err error) {
	if tool.Scheme(q.a.File) != "" {
		return "", "", badArgument("file", "lsp works on files; %s is none.", shown(q.a.File, maxName))
	}
	path = q.s.o.Files.Path(q.env, q.a.File)
	f, err := q.s.o.Files.Read(ctx, q.env, path)
	return path, string(f.Content), err
}

// name returns a path as the model knows it.
func (q question) name(path string) string { return nameOf(q.env.Cwd, path) }

func nameOf(cwd, path string) string {
	if inside(cwd, path) {
		if rel, err := filepath.Rel(cwd, path); err == nil {
			path = filepath.ToSlash(rel)
		}
	}
	return shown(path, 4*maxName)
}

// inside reports whether a path is in the folder.
func inside(cwd, path string) bool {
	rel, err := filepath.Rel(cwd, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// more is the line for what a list leaves out.
func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("\n… and %d more", n)
}

// encode marshals a value of this package.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("senses: " + err.Error())
	}
	return raw
}
