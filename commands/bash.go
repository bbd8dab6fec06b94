package commands

import (
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

var bash = New(Spec{
	Name: "xcsh.bash", Title: "Run Command…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "command",
	Doc: "Run a command in the folder and record it, so that the model sees it with the next prompt.",
}, runBash)

// BashArgs are the arguments of xcsh.bash.
type BashArgs struct {
	Folder
	Command            string `json:"command" jsonschema:"A command line for the shell."`
	ExcludeFromContext bool   `json:"excludeFromContext,omitempty" jsonschema:"Record it, but never send it to a model."`
}

// BashResult is the message that records the command.
type BashResult struct {
	Role               string           `json:"role"`
	Command            string           `json:"command"`
	Output             string           `json:"output"`
	ExitCode           *int             `json:"exitCode,omitempty" jsonschema:"Absent if the command was stopped."`
	Cancelled          bool             `json:"cancelled"`
	Truncated          bool             `json:"truncated"`
	FullOutputPath     string           `json:"fullOutputPath,omitempty" jsonschema:"A file with the whole output, if it was truncated."`
	Meta               *tool.OutputMeta `json:"meta,omitempty" jsonschema:"Which part of a long output is included."`
	Timestamp          int64            `json:"timestamp" jsonschema:"Milliseconds since the Unix epoch."`
	ExcludeFromContext bool             `json:"excludeFromContext,omitempty"`
}

func runBash(ctx context.Context, env *Env, a BashArgs) (BashResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return BashResult{}, err
	}
	if a.Command == "" {
		if a.Command, err = env.ask().text(ctx, need{
			question: "Command to run", nothing: "No command entered", input: InputText, field: "command",
		}, "", ""); err != nil {
			return BashResult{}, err
		}
	}
	progress := env.UI.Progress(ctx, a.Command)
	defer progress.End("")
	message, err := live.Bash(ctx, a.Command, a.ExcludeFromContext)
	if err != nil {
		return BashResult{}, err
	}
	var r BashResult
	err = json.Unmarshal(message, &r)
	return r, err
}
