package commands

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
)

var commandsList = New(Spec{
	Name: "xcsh.commandsList", Title: "List Skills and Templates", Flags: ReadOnly,
	Doc: "List the skills, the templates and the prompts of running MCP servers that a prompt can begin with, as in \"/name arguments\", \"/skill:name arguments\" and \"/server:name key=value\". " +
		"Slash commands of xcsh-ls come first; a template with the name of one is left out.",
}, runCommandsList)

func runCommandsList(ctx context.Context, env *Env, a Folder) ([]setup.Command, error) {
	cwd, err := env.cwd(ctx, a)
	if err != nil {
		return nil, err
	}
	found, err := env.foundIn(ctx, cwd)
	if err != nil {
		return nil, err
	}
	list := found.Commands()
	if live := env.Sessions.Live(cwd); live != nil {
		list = live.Invocable(found)
	}
	return notSlashes(list), ctx.Err()
}

// namesIn returns the names with which a prompt in a session can begin.
func namesIn(ctx context.Context, live *agent.Session) ([]engine.Command, error) {
	list, err := live.Commands(ctx)
	list = withSlashes(list)
	if live.Engine().Name == engine.Own {
		list = withInvocable(list, live.Invocable(live.Found(ctx)))
	}
	return list, err
}

// notSlashes leaves out the names of slash commands, which come first.
func notSlashes(list []setup.Command) []setup.Command {
	return slices.DeleteFunc(slices.Clone(list), func(c setup.Command) bool {
		return slices.ContainsFunc(Slashes(), func(s Slash) bool { return s.Name == c.Name })
	})
}

// withInvocable adds skills and templates to slash commands.
func withInvocable(list []engine.Command, invocable []setup.Command) []engine.Command {
	for _, c := range notSlashes(invocable) {
		list = append(list, engine.Command{Name: c.Name, Description: c.Description, ArgumentHint: c.Hint, Source: string(c.Source)})
	}
	return list
}
