package tool

import (
	"context"
	_ "embed" // the tools' descriptions
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

//go:embed bash.md
var bashDoc string

type bashArgs struct {
	Command string  `json:"command"`
	Timeout float64 `json:"timeout,omitzero" jsonschema:"In seconds. Default: 300."`

	Background bool `json:"background,omitzero" jsonschema:"Go on after the call, such as a server."`
}

// bashDetails are pi's, and Meta is that of xcsh and oh-my-pi.
type bashDetails struct {
	Truncation     *Truncation     `json:"truncation,omitempty"`
	FullOutputPath string          `json:"fullOutputPath,omitempty"`
	Meta           json.RawMessage `json:"meta,omitempty"`
}

func newBash(o Options) Tool { return newBashOf(NewShell(o)) }

func newBashOf(shell Shell) Tool {
	t := define(definition[bashArgs]{
		name: "bash", doc: bashDoc, changes: true,
		accept: acceptBash,
		check: func(a bashArgs) error {
			switch {
			case strings.TrimSpace(a.Command) == "":
				return badArgument("command", "bash needs a command.")
			case a.Timeout < 0 || a.Timeout > math.MaxInt32:
				return badArgument("timeout", "bash: timeout must be a number of seconds above 0.")
			case a.Background && a.Timeout > 0:
				return badArgument("timeout", "bash: a background command has no timeout; stop it with process.")
			}
			return nil
		},
		preview: func(_ context.Context, _ Env, a bashArgs) (Preview, error) {
			if a.Background {
				return Preview{Title: "Run in the background: " + a.Command}, nil
			}
			return Preview{Title: "Run " + a.Command}, nil
		},
		run: func(ctx context.Context, env Env, a bashArgs) (Result, error) {
			unsaved, err := SaveEdits(ctx, env.Files, env.Cwd, true)
			if err != nil {
				return Result{}, err
			}
			note := unsavedNote(env.Cwd, unsaved)
			if a.Background {
				r, err := runBackground(ctx, shell, a.Command, env)
				return r.withNote(note), err
			}
			var update func(Output)
			if env.Update != nil {
				update = func(o Output) { env.Update(o.result("")) }
			}
			cmd := Command{Line: a.Command, Shell: env.Shell, Cwd: env.Cwd, Timeout: time.Duration(a.Timeout * float64(time.Second)), Keep: env.Keep}
			out, err := runPermitted(ctx, shell, cmd, env, update)
			if err != nil {
				return Result{}, err
			}
			r := out.result("(no output)")
			r.IsError = out.ExitCode == nil || *out.ExitCode != 0
			return r.withNote(note), nil
		},
	})
	t.Limit = func(json.RawMessage) time.Duration { return 0 } // each command has a timeout
	return t
}

// The default timeouts of commands.
//
// Differs: pi has none. A command that waits for ever would keep the turn waiting until the user looks.
const (
	defaultTimeout = 5 * time.Minute
	strictTimeout  = 2 * time.Minute // without approval
)

// runPermitted runs a command with its permission. A command that failed because of the sandbox is
// run again with more rights if the user agrees.
func runPermitted(ctx context.Context, shell Shell, cmd Command, env Env, update func(Output)) (Output, error) {
	p := env.Permission
	for {
		once := cmd
		once.Level = p.Level
		if once.Timeout == 0 {
			once.Timeout = defaultTimeout
		}
		if p.Level == sandbox.Strict {
			once.Timeout = min(once.Timeout, strictTimeout)
		}
		out, err := runGuarded(ctx, shell, once, p, env.Background, update)
		if err != nil || len(out.Blocked) == 0 || p.Widen == nil {
			return out, err
		}
		wider, err := p.Widen(ctx, out.Blocked)
		switch {
		case fault.Is(err, fault.Denied):
			out.refused = true
			return out, nil
		case err != nil:
			return Output{}, err
		}
		p = wider
	}
}

// runGuarded runs a command. Its changes to the folder's protected files are undone unless the user
// wants to keep them.
func runGuarded(ctx context.Context, shell Shell, cmd Command, p Permission, b *Background, update func(Output)) (out Output, err error) {
	changed, err := guarded(ctx, cmd.Cwd, cmd.Level, p, b, func() (err error) {
		out, err = shell.Run(ctx, cmd, update)
		return err
	})
	out.protected = changed
	return out, err
}

// acceptBash converts the extra arguments of oh-my-pi's tool. A directory and variables become part
// of the command line, so that the permission prompt shows them.
func acceptBash(args arguments) error {
	args.drop("description", "name", "head", "tail") // the output is cut here in any case
	args.rename("background", "async", "run_in_background")
	if err := args.refuse("bash", "pty", "commands have no terminal"); err != nil {
		return err
	}
	if err := args.refuse("bash", "ready", "a background command returns at once; look at its output with process"); err != nil {
		return err
	}
	var before []string
	if dir, ok := args.text("cwd"); ok && dir != "" {
		before = append(before, "cd "+shellQuote(dir))
	}
	if v, ok := args["env"]; ok {
		delete(args, "env")
		set, err := exports(v)
		if err != nil {
			return err
		}
		before = append(before, set...)
	}
	if len(before) == 0 {
		return nil
	}
	command, ok := args.text("command")
	if !ok {
		return badArgument("command", "bash needs a command.")
	}
	line, err := jsonv2.Marshal(strings.Join(before, " && ") + " &&\n" + command)
	args["command"] = line
	return err
}

func exports(v jsontext.Value) ([]string, error) {
	var env map[string]string
	if err := jsonv2.Unmarshal(v, &env); err != nil {
		return nil, badArgument("env", "bash: env must be an object of strings.")
	}
	var set []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !isVariable(name) {
			return nil, badArgument("env", "bash: %q is not a valid variable name.", name)
		}
		set = append(set, "export "+name+"="+shellQuote(env[name]))
	}
	return set, nil
}

func isVariable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// result is the output for a model. none stands for no output.
func (o Output) result(none string) Result {
	text := o.Output
	if text == "" {
		text = none
	}
	var notes []string
	if o.Truncated {
		notes = append(notes, o.cutNote())
	}
	switch {
	case o.Cancelled:
		notes = append(notes, "Command aborted")
	case o.TimedOut:
		notes = append(notes, fmt.Sprintf("Command timed out after %g seconds", o.timeout.Seconds()), o.timeoutNote())
	case o.ExitCode != nil && *o.ExitCode != 0:
		notes = append(notes, fmt.Sprintf("Command exited with code %d", *o.ExitCode))
	}
	notes = append(notes, o.protected.notes()...)
	if len(o.Blocked) > 0 {
		notes = append(notes, o.blockedNote())
	}
	if o.Background {
		notes = append(notes, "[A process started by the command is still running. Its further output is lost, and writing it may end the process; use background instead.]")
	}
	if len(notes) > 0 {
		text = strings.Join(append([]string{strings.TrimSuffix(text, "\n")}, notes...), "\n\n")
	}
	r := TextResult(text)
	if o.Truncated {
		r.Details = details(bashDetails{&o.Truncation, o.FullOutputPath, o.Meta()})
	}
	return r
}

// notAllowed is for a command that the user did not want to run outside the sandbox.
const notAllowed = "The user did not allow it to run with more rights. Do not try to work around the sandbox; explain what is needed and why."

// timeoutNote explains what to do after a timeout. A command without approval has a fixed limit.
func (o Output) timeoutNote() string {
	if o.fixed {
		return "[This is the limit of a command that runs without approval. Make it faster, for example by searching fewer files.]"
	}
	return "[Set a longer timeout, or background for a command that does not end by itself.]"
}

// blockedNote explains a failure that the sandbox caused.
func (o Output) blockedNote() string {
	note := "[The sandbox blocked this command: " + strings.Join(o.Blocked, " | ") + "."
	if o.refused {
		note += " " + notAllowed
	}
	return note + "]"
}

// cutNote returns a note about the part of the output that is shown.
func (o Output) cutNote() string {
	where := "The full output could not be saved."
	if o.FullOutputPath != "" {
		where = "Full output: " + o.FullOutputPath
	}
	t := o.Truncation
	part := fmt.Sprintf("lines %d-%d of %d", t.TotalLines-t.OutputLines+1, t.TotalLines, t.TotalLines) + limitNote(t)
	if t.LastLinePartial {
		part = "last " + sizeText(int64(t.OutputBytes)) + " of line " + strconv.Itoa(t.TotalLines) + " (line is " + sizeText(int64(o.lastLine)) + ")"
	}
	return "[Showing " + part + ". " + where + "]"
}
