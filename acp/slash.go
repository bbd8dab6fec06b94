package acp

import (
	"context"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// slashList returns the commands of xcsh-ls for the client's menu.
func slashList() []availableCommand {
	all := commands.Slashes()
	list := make([]availableCommand, len(all))
	for i, s := range all {
		list[i] = availableCommand{Name: s.Name, Description: s.Doc}
		if s.Hint != "" {
			list[i].Input = &commandInput{Hint: s.Hint}
		}
	}
	return list
}

// slashCommand returns the command in a prompt and its arguments. ok is false for a prompt with content other than text,
// for an unknown command, and for one of the engine.
func (c *conversation) slashCommand(blocks []contentBlock) (command commands.Slash, args string, ok bool) {
	var text strings.Builder
	for _, b := range blocks {
		if b.Type != "text" {
			return commands.Slash{}, "", false
		}
		text.WriteString(b.Text)
	}
	command, args, ok = commands.SlashOf(text.String())
	c.sending.Lock()
	defer c.sending.Unlock()
	return command, args, ok && !command.ReplacedBy(c.offered)
}

// runSlash runs a slash command and returns its answer.
func (c *conversation) runSlash(ctx context.Context, s commands.Slash, args string) (answer string, err error) {
	switch s.Name {
	case "fork":
		return c.slashFork(ctx)
	case "changes":
		return c.slashChanges(ctx, args)
	}
	answer, err = s.Run(ctx, c.env, c.cwd, args)
	if err == nil && s.Name == "compact" {
		c.sendUsage(ctx)
	}
	return answer, err
}

// slashFork copies the session without opening the copy: the client stays in its session.
func (c *conversation) slashFork(ctx context.Context) (string, error) {
	fork, err := c.s.fork(ctx, openParams{SessionID: c.id, Cwd: c.cwd})
	if err != nil {
		return "", err
	}
	if err := c.s.leave(fork); err != nil {
		return "", err
	}
	return fmt.Sprintf("Forked to session %s, which is now in the session list. This conversation is unchanged.", fork.id), nil
}
