package acp

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// sendCommands sends the names with which a prompt can begin.
func (c *conversation) sendCommands(ctx context.Context) {
	c.sending.Lock()
	defer c.sending.Unlock()
	if c.usable.Load() {
		c.s.conn.update(c.id, commandsUpdate{updateCommands, c.commandsLocked(ctx)})
	}
}

// commandsLocked returns the names with which a prompt can begin: the commands of xcsh-ls, and those of the engine or else the skills
// and templates of the set-up.
func (c *conversation) commandsLocked(ctx context.Context) []availableCommand {
	list := slashList()
	if c.live.Engine().Name != engine.Own {
		return withEngine(list, c.offered)
	}
	for _, command := range c.live.Invocable(c.live.Found(ctx)) {
		name := command.Name
		known := slices.ContainsFunc(list, func(other availableCommand) bool { return other.Name == name })
		if len(list) >= maxCommands || known || name != visible.Line(name) || strings.ContainsFunc(name, unicode.IsSpace) {
			continue
		}
		item := availableCommand{Name: name, Description: short(command.Description)}
		if command.Hint != "" {
			item.Input = &commandInput{Hint: short(command.Hint)}
		}
		list = append(list, item)
	}
	return list
}

// askTrust asks the question about the set-up of the folder as one for permission, whose last choice rejects.
func (c *conversation) askTrust(ctx context.Context, q commands.Question) (int, error) {
	options := make([]permissionOption, len(q.Choices))
	for i, choice := range q.Choices {
		options[i] = permissionOption{ID: strconv.Itoa(i), Name: choice, Kind: "allow_always"}
	}
	options[len(options)-1].Kind = "reject_once"
	i, answered := c.chooseOption(ctx, "trust-"+strconv.FormatInt(c.questionsAsked.Add(1), 10), "Use the set-up of this folder?", q.Text, options)
	switch {
	case ctx.Err() != nil:
		return commands.Closed, ctx.Err()
	case !answered:
		return commands.Closed, nil
	}
	return i, nil
}
