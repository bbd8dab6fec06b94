package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/commands/composer"
)

// Expanded is the skill or template that a prompt was made of.
type Expanded struct {
	Name string `json:"name" jsonschema:"What the user typed behind the slash, without arguments."`
	Path string `json:"path,omitempty" jsonschema:"The file of the skill or template."`
}

// Expand replaces the text of in, "/name arguments" of a skill or template of the session's set-up or of a prompt of a server that
// runs, by its text. It returns nil and changes nothing for any other text, for the names of slash commands, and if another program
// answers, which expands its own.
func Expand(ctx context.Context, live *agent.Session, in *agent.Input) (*Expanded, error) {
	name, args, ok := composer.Slash(in.Text)
	if !ok || live.Engine().Name != engine.Own {
		return nil, nil
	}
	if _, _, own := SlashOf(in.Text); own {
		return nil, nil
	}
	made, err := expandIn(live.Found(ctx), in, name, args)
	if made != nil || err != nil {
		return made, err
	}
	return expandServer(ctx, live, in, name, args)
}

// expandServer replaces the text of in by a prompt of a server, "/SERVER:NAME key=value".
func expandServer(ctx context.Context, live *agent.Session, in *agent.Input, name, args string) (*Expanded, error) {
	text, ok, err := live.ServerCommand(ctx, name, args)
	if !ok || err != nil {
		return nil, err
	}
	in.Typed, in.Text = in.Text, text
	return &Expanded{Name: name}, nil
}

func expandIn(found *setup.Resolved, in *agent.Input, name, args string) (*Expanded, error) {
	made, ok, err := found.Expand(name, args)
	if !ok || err != nil {
		return nil, err
	}
	in.Typed, in.Text = in.Text, made.Text
	if made.Message != "" {
		in.Custom = &provider.Custom{Type: made.Message, Details: made.Details}
	}
	return &Expanded{Name: name, Path: made.Path}, nil
}
