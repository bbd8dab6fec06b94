package commands

import (
	"context"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var setKey = New(Spec{
	Name: "xcsh.setKey", Title: "Add API Key…", Flags: Palette | NeedsTrust, Input: InputProvider, Arg: "provider",
	Doc: "Store the API key of a provider in auth.json, where the terminal programs read it, or remove it. Logins in that file are kept.",
}, runSetKey)

// SetKeyArgs are the arguments of xcsh.setKey.
type SetKeyArgs struct {
	Folder
	Provider string `json:"provider" jsonschema:"An id of xcsh.providers."`
	Key      string `json:"key,omitempty" jsonschema:"The key. Default: fail with argumentNeeded, so that the client asks for it."`
	Remove   bool   `json:"remove,omitempty" jsonschema:"Remove the stored key instead."`
}

// SetKeyResult is the place of a stored key, and what can be used now.
type SetKeyResult struct {
	Provider string `json:"provider"`
	Stored   string `json:"stored" jsonschema:"The path of the changed file."`
	Models   int    `json:"models" jsonschema:"The number of models of the provider."`
	Default  string `json:"default" jsonschema:"The model to begin with, as provider/id; empty if none is ready or the user has to choose."`
}

func (a SetKeyArgs) check() error {
	if a.Remove && a.Key != "" {
		return fault.New(fault.InvalidArgument, "Pass a key or remove, not both.").With("field", "remove")
	}
	return nil
}

func runSetKey(ctx context.Context, env *Env, a SetKeyArgs) (SetKeyResult, error) {
	err := ctx.Err()
	if err != nil {
		return SetKeyResult{}, err
	}
	if a.Provider == "" {
		if a.Provider, err = env.ask().provider(ctx, env.Sessions.Sources(ctx)); err != nil {
			return SetKeyResult{}, err
		}
	}
	if a.Remove {
		err = env.Sessions.RemoveKey(ctx, a.Provider)
	} else {
		err = env.storeKey(ctx, a.Provider, strings.TrimSpace(a.Key))
	}
	if err != nil {
		return SetKeyResult{}, err
	}
	s, _ := env.source(ctx, a.Provider) // none is left if only the key made it known
	return SetKeyResult{Provider: a.Provider, Stored: env.Sessions.KeyFile(), Models: s.Models, Default: s.Default}, nil
}

func (env *Env) storeKey(ctx context.Context, id, key string) error {
	s, ok := env.source(ctx, id)
	switch {
	case !ok:
		return fault.New(fault.NotFound, "There is no provider %q. Run xcsh.providers to list them.", id).With("field", "provider")
	case s.Kind == provider.DemoSource:
		return fault.New(fault.InvalidArgument, "The offline demo needs no API key.").With("field", "provider")
	case key == "": // never asked for in a text document, which may be stored
		question := "Enter the API key of " + s.Name
		if !env.Pick {
			question += ": pass it as \"key\", or run 'xcsh-ls login " + s.ID + "' in a terminal."
		}
		return need{question: question, input: InputSecret, field: "key"}.fault().
			With("provider", s.ID).With("providerName", s.Name).With("keyPage", s.KeyPage)
	}
	return env.Sessions.SetKey(ctx, id, key)
}

// provider asks for a provider that a key can be stored for.
func (p prompter) provider(ctx context.Context, sources []provider.Source) (string, error) {
	var services []provider.Source
	for _, s := range sources {
		if s.Kind == provider.ServiceSource {
			services = append(services, s)
		}
	}
	if len(services) == 0 && !p.clientPicks {
		return "", fault.New(fault.NotFound, "There is no provider that needs an API key.")
	}
	picked, err := choose(ctx, p, need{
		question: "Select a provider", nothing: "No provider selected", input: InputProvider, field: "provider", choices: services,
	}, services, func(s provider.Source) string { return s.Name })
	return picked.ID, err
}
