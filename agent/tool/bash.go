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
)

//go:embed bash.md
var bashDoc string

type bashArgs struct {
	Command string  `json:"command" jsonschema:"The command line."`
	Timeout float64 `json:"timeout,omitzero" jsonschema:"Seconds after which the command is ended (default: none)."`
}

// bashDetails are pi's, and Meta is what xcsh and oh-my-pi have.
type bashDetails struct {
	Truncation     *Truncation     `json:"truncation,omitempty"`
	FullOutputPath string          `json:"fullOutputPath,omitempty"`
	Meta           json.RawMessage `json:"meta,omitempty"`
}

func newBash(o Options) Tool {
	shell := NewShell(o)
	return define(definition[bashArgs]{
		name: "bash", doc: bashDoc, changes: true,
		accept: acceptBash,
		check: func(a bashArgs) error {
			switch {
			case strings.TrimSpace(a.Command) == "":
				return badArgument("command", "bash needs a command.")
			case a.Timeout < 0 || a.Timeout > math.MaxInt32:
				return badArgument("timeout", "bash: timeout must be a number of seconds above 0.")
			}
			return nil
		},
		preview: func(_ context.Context, _ Env, a bashArgs) (Preview, error) {
			return Preview{Title: "Run " + a.Command}, nil
		},
		run: func(ctx context.Context, env Env, a bashArgs) (Result, error) {
			var update func(Output)
			if env.Update != nil {
				update = func(o Output) { env.Update(o.result("")) }
			}
			cmd := Command{Line: a.Command, Cwd: env.Cwd, Timeout: time.Duration(a.Timeout * float64(time.Second)), Keep: env.Keep}
			out, err := shell.Run(ctx, cmd, update)
			if err != nil {
				return Result{}, err
			}
			r := out.result("(no output)")
			r.IsError = out.ExitCode == nil || *out.ExitCode != 0
			return r, nil
		},
	})
}

// acceptBash understands what oh-my-pi's tool takes beside the command. A directory and
// variables become part of the command line, so that whoever is asked for permission sees
// them.
func acceptBash(args arguments) error {
	args.drop("description", "head", "tail") // the output is cut here in any case
	for name, instead := range map[string]string{
		"async": "commands run to their end; put & behind the command and redirect its output to leave it running",
		"pty":   "commands have no terminal",
	} {
		if err := args.refuse("bash", name, instead); err != nil {
			return err
		}
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
			return nil, badArgument("env", "bash: %q is not the name of a variable.", name)
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
		notes = append(notes, fmt.Sprintf("Command timed out after %g seconds", o.timeout.Seconds()))
	case o.ExitCode != nil && *o.ExitCode != 0:
		notes = append(notes, fmt.Sprintf("Command exited with code %d", *o.ExitCode))
	}
	if o.Background {
		notes = append(notes, "[Something that the command started still runs in the background. Its further output is lost and may end it; redirect its output to a file to keep it running.]")
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

// cutNote says which part of the output is shown.
func (o Output) cutNote() string {
	where := "The whole output could not be kept."
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
