package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// answerable returns an error if no model can answer a prompt. Its advice is for a shell.
func answerable(ctx context.Context, live *agent.Session) error {
	err := live.Ready(ctx)
	if provider.NeedOf(err) != provider.NeedsOtherModel {
		return modelAdvice(err)
	}
	state, stateErr := live.State()
	if stateErr != nil {
		return stateErr
	}
	name := state.Models["default"]
	if state.Model != nil {
		name = state.Model.String()
	}
	return fault.New(fault.Provider, "Model %s is not available. Pass --model PROVIDER/ID; 'xcsh-ls models' lists them.", name)
}

// modelAdvice returns the error of a prompt that no model can answer, with advice for a shell.
func modelAdvice(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	switch provider.NeedOf(err) {
	case provider.NeedsModel:
		return advised(f, "No model is selected. "+noModelAdvice, true)
	case provider.NeedsKey:
		id, _ := f.Data["provider"].(string)
		advice := fmt.Sprintf("Run 'xcsh-ls login %s'", id)
		if variable, _ := f.Data["variable"].(string); variable != "" {
			advice += ", set " + variable
		}
		if login, _ := f.Data["login"].(string); login != "" { // the message names the commands of an editor
			return advised(f, fmt.Sprintf("%s %s, let %v answer with --engine %[3]v, or pass another model with --model.", login, advice, f.Data["program"]), true)
		}
		return advised(f, advice+", or pass another model with --model.", false)
	}
	return err
}

// rejectedKeyAdvice adds the advice for a shell to the error of a service that rejected the API key of live's model.
func rejectedKeyAdvice(err error, live *agent.Session) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Provider || f.Data["class"] != string(provider.Auth) || live.Engine().Name != engine.Own {
		return err
	}
	state, stateErr := live.State()
	if stateErr != nil || state.Model == nil {
		return err
	}
	return advised(f, fmt.Sprintf("Check the API key, or replace it with 'xcsh-ls login %s'.", state.Model.Provider), false)
}

// shellAdvice are the ways to go on after notices.
var shellAdvice = agent.Advice{
	TrustSetup: "'xcsh-ls setup' shows it. To use it, pass --trust all.",
	EndPlan:    "To turn it off, run: xcsh-ls run --continue '/plan off'",
	ResumePlan: "To continue planning, run: xcsh-ls run --continue '/plan on'",
	Reconnect:  "run this command again",
}

// noModelAdvice are the ways to get a model.
const noModelAdvice = "Run 'xcsh-ls login' to use a service or an installed agent, start a local model server such as Ollama, " +
	"or pass --model PROVIDER/ID. offline/demo needs no API key; it answers from a script."
