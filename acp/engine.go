package acp

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxCommands limits the commands of an engine that a client gets.
const maxCommands = 500

// engineChanged follows the state of the engine: once it runs, its models and commands are known.
func (c *conversation) engineChanged(e event.EngineChanged) {
	switch engine.State(e.State) {
	case engine.Ready:
		c.s.background.Go(func() { c.sendEngine(c.s.ctx) })
	case engine.Failed:
		text := e.Message
		if e.Details != "" {
			text += "\n\n" + e.Details
		}
		c.shown.remark("error", text)
	}
}

// startEngine starts the engine of a new conversation, so that the client can complete its commands. A failure is an event.
func (c *conversation) startEngine() {
	if c.live.Engine().Name == engine.Own {
		return
	}
	c.s.background.Go(func() {
		if _, err := c.live.Commands(c.s.ctx); err != nil {
			c.log.Info("the engine could not be started", zap.String("session", c.id), zap.Error(err))
		}
	})
}

// sendEngine sends the models and the commands of the engine that runs.
func (c *conversation) sendEngine(ctx context.Context) {
	list, err := c.live.Commands(ctx)
	if err != nil {
		c.log.Info("the commands of the engine are unknown", zap.String("session", c.id), zap.Error(err))
		return
	}
	c.sending.Lock()
	c.models, c.offered = nil, list
	c.sending.Unlock()
	c.sendSettings(ctx)
	c.sendCommands(ctx)
}

// withEngine adds the commands of an engine, which are the user's own: one with the name of ours replaces it.
func withEngine(list []availableCommand, of []engine.Command) []availableCommand {
	list = slices.DeleteFunc(list, func(ours availableCommand) bool {
		return slices.ContainsFunc(of, func(c engine.Command) bool { return c.Name == ours.Name })
	})
	for _, command := range of[:min(len(of), maxCommands)] {
		name := command.Name
		known := slices.ContainsFunc(list, func(c availableCommand) bool { return c.Name == name })
		if name == "" || known || name != visible.Line(name) || strings.ContainsFunc(name, unicode.IsSpace) {
			continue
		}
		list = append(list, availableCommand{Name: name, Description: short(command.Description), Input: &commandInput{Hint: "arguments"}})
	}
	return list
}

// knownModels returns the models of the engine, if that is possible without starting it.
func (c *conversation) knownModels(ctx context.Context) []provider.Info {
	none := []provider.Info{}
	switch status := c.live.Engine(); {
	case status.Name == engine.Own:
		return c.env.Sessions.Models(ctx)
	case status.State != engine.Ready && status.State != engine.Running:
		return none
	}
	list, err := c.live.Models(ctx)
	if err != nil || list == nil {
		c.log.Info("the models of the engine are unknown", zap.String("session", c.id), zap.Error(err))
		return none
	}
	return list
}
