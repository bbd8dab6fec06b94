package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
)

var state = New(Spec{
	Name: "xcsh.state", Title: "Session State", Flags: ReadOnly, Early: true,
	Doc: "Return a summary of the folder's live session.",
}, runState)

func runState(ctx context.Context, env *Env, a Folder) (agent.State, error) {
	live, err := env.live(ctx, a)
	if err != nil {
		return agent.State{}, err
	}
	if r := live.Reading(); r != nil {
		return earlyStateOf(ctx, live, r)
	}
	return stateOf(ctx, live)
}
