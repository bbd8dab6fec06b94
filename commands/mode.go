package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
)

var setMode = New(Spec{
	Name: "xcsh.setMode", Title: "Set Session Mode…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "mode",
	Doc: "Turn plan mode on or off, or pause it. In plan mode the model may edit only its plan file, in every approval mode.",
}, runSetMode)

// SetModeArgs are the arguments of xcsh.setMode.
type SetModeArgs struct {
	Folder
	Mode string `json:"mode" jsonschema:"plan, plan_paused or none."`
}

// SetModeResult is the mode of the session.
type SetModeResult struct {
	Mode    string `json:"mode"`
	Changed bool   `json:"changed" jsonschema:"False if the session was already in this mode."`
}

var sessionModes = []string{agent.PlanMode, agent.PlanPaused, agent.NoMode}

var sessionModeTitles = map[string]string{
	agent.PlanMode: "Plan mode", agent.PlanPaused: "Pause plan mode: the model may make changes, and planning continues later",
	agent.NoMode: "No mode: the model may make changes",
}

func runSetMode(ctx context.Context, env *Env, a SetModeArgs) (SetModeResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return SetModeResult{}, err
	}
	if a.Mode == "" {
		if a.Mode, err = choose(ctx, env.ask(), need{
			question: "Select a session mode", nothing: "No session mode selected", input: InputText, field: "mode", choices: sessionModes,
		}, sessionModes, func(m string) string { return sessionModeTitles[m] }); err != nil {
			return SetModeResult{}, err
		}
	}
	changed, err := live.SetMode(ctx, a.Mode)
	return SetModeResult{Mode: a.Mode, Changed: changed}, err
}
