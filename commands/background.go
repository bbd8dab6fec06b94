package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/background"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

var stopBackground = New(Spec{
	Name: "xcsh.stopBackground", Title: "Stop Background Command…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "id",
	Doc: "Stop a command that the model runs in the background. xcsh.snapshot and the event background_changed list them.",
}, runStopBackground)

// StopBackgroundArgs are the arguments of xcsh.stopBackground.
type StopBackgroundArgs struct {
	Folder
	ID string `json:"id" jsonschema:"The ID of the command."`
}

// StopBackgroundResult is the command that was stopped.
type StopBackgroundResult struct {
	ID string `json:"id"`
}

func runStopBackground(ctx context.Context, env *Env, a StopBackgroundArgs) (StopBackgroundResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return StopBackgroundResult{}, err
	}
	if a.ID == "" {
		running := live.Background()
		if len(running) == 0 {
			return StopBackgroundResult{}, fault.New(fault.NotFound, "No commands are running in the background in %s.", live.Cwd())
		}
		ids := make([]string, len(running))
		for i, c := range running {
			ids[i] = c.ID
		}
		picked, err := choose(ctx, env.ask(), need{
			question: "Select a background command to stop", nothing: "No command selected", input: InputText, field: "id", choices: ids,
		}, running, backgroundTitle)
		if err != nil {
			return StopBackgroundResult{}, err
		}
		a.ID = picked.ID
	}
	return StopBackgroundResult{ID: a.ID}, live.StopBackground(ctx, a.ID)
}

func backgroundTitle(c background.Info) string {
	return rawjson.UTF16Prefix(fault.OneLine(c.Command), choiceLength) + " · " + c.ID
}
