package commands

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

var providers = New(Spec{
	Name: "xcsh.providers", Title: "List Providers", Flags: ReadOnly, Early: true,
	Doc: "List the services and local servers that models come from: local servers that are running first, then services that are ready to use. " +
		"Keys are never returned.",
}, runProviders)

// ProvidersResult is the list of providers.
type ProvidersResult struct {
	Providers []provider.Source `json:"providers"`
	AuthFile  string            `json:"authFile" jsonschema:"The file in which xcsh.setKey stores keys; empty if it cannot."`
}

func runProviders(ctx context.Context, env *Env, _ Folder) (ProvidersResult, error) {
	r := ProvidersResult{Providers: env.Sessions.Sources(ctx), AuthFile: env.Sessions.KeyFile()}
	if r.Providers == nil {
		r.Providers = []provider.Source{}
	}
	return r, ctx.Err()
}

// source returns the provider called id.
func (env *Env) source(ctx context.Context, id string) (provider.Source, bool) {
	all := env.Sessions.Sources(ctx)
	i := slices.IndexFunc(all, func(s provider.Source) bool { return s.ID == id })
	if i < 0 {
		return provider.Source{}, false
	}
	return all[i], true
}

// stateOf returns the state of a live session, and whether a prompt could be answered.
func stateOf(ctx context.Context, live *agent.Session) (agent.State, error) {
	state, err := live.State()
	if err != nil {
		return state, err
	}
	return live.WithReadiness(ctx, state), nil
}

// earlyStateOf is stateOf for a session that is still being read.
func earlyStateOf(ctx context.Context, live *agent.Session, r *agent.Reading) (agent.State, error) {
	state, err := r.State()
	if err != nil {
		return state, err
	}
	return live.WithReadiness(ctx, state), nil
}
