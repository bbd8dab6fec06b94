package pi

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Models implements [engine.Engine]. pi lists the models that it has a login for.
func (e *Engine) Models(ctx context.Context) ([]provider.Info, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
	raw, err := e.call(ctx, "get_available_models", nil, answerLimit)
	if err != nil {
		return nil, err
	}
	models := []provider.Info{}
	rawjson.Elements(rawjson.Get(raw, "models"), func(v []byte) bool {
		if m, ok := modelOf(v); ok {
			models = append(models, provider.Info{Model: m, Available: true})
		}
		return len(models) < maxModels
	})
	return models, nil
}

// modelOf reads a model. Its address and headers stay with pi: they may hold keys.
func modelOf(v []byte) (provider.Model, bool) {
	for _, secret := range []string{"baseUrl", "headers", "compat"} {
		v = rawjson.Delete(v, secret)
	}
	var m provider.Model
	err := json.Unmarshal(v, &m)
	return m, err == nil && m.ID != "" && m.Provider != ""
}

// SetModel implements [engine.Engine]. A model that pi does not list is a NotFound error.
func (e *Engine) SetModel(ctx context.Context, ref provider.Ref) (engine.Choice, error) {
	models, err := e.Models(ctx)
	if err != nil {
		return engine.Choice{}, err
	}
	if !slices.ContainsFunc(models, func(m provider.Info) bool { return m.Ref() == ref }) {
		return engine.Choice{}, fault.New(fault.NotFound, "%s offers no model %s.", e.program.Name, ref)
	}
	if _, err := e.call(ctx, "set_model", object{"provider": ref.Provider, "modelId": ref.ID}, answerLimit); err != nil {
		return engine.Choice{}, err
	}
	return e.choice(ctx)
}

// SetThinking implements [engine.Engine]. A level that the model does not have is an InvalidArgument error; pi would
// turn thinking off.
func (e *Engine) SetThinking(ctx context.Context, level provider.Level) (engine.Choice, error) {
	if err := e.usable(); err != nil {
		return engine.Choice{}, err
	}
	if !e.d.levels {
		return e.tryThinking(ctx, level)
	}
	raw, err := e.call(ctx, "get_available_thinking_levels", nil, answerLimit)
	if err != nil {
		return engine.Choice{}, err
	}
	levels := stringsOf(rawjson.Get(raw, "levels"), len(provider.Levels)*4)
	if !slices.Contains(levels, string(level)) {
		return engine.Choice{}, fault.New(fault.InvalidArgument, "The model has no thinking level %q.", string(level)).With("field", "level")
	}
	if _, err := e.call(ctx, "set_thinking_level", object{"level": string(level)}, answerLimit); err != nil {
		return engine.Choice{}, err
	}
	return e.choice(ctx)
}

// tryThinking sets a level of a program that lists none. It takes another one for a level that the model does not have; then
// the previous one is restored.
func (e *Engine) tryThinking(ctx context.Context, level provider.Level) (engine.Choice, error) {
	bad := fault.New(fault.InvalidArgument, "The model has no thinking level %q.", string(level)).With("field", "level")
	if !slices.Contains(provider.Levels, level) {
		return engine.Choice{}, bad
	}
	before, err := e.choice(ctx)
	if err != nil {
		return engine.Choice{}, err
	}
	set := func(l provider.Level) (engine.Choice, error) {
		if _, err := e.call(ctx, "set_thinking_level", object{"level": string(cmp.Or(l, provider.Off))}, answerLimit); err != nil {
			return engine.Choice{}, err
		}
		return e.choice(ctx)
	}
	after, err := set(level)
	if err != nil || cmp.Or(after.Thinking, provider.Off) == level {
		return after, err
	}
	if _, err := set(before.Thinking); err != nil {
		return engine.Choice{}, err
	}
	return engine.Choice{}, bad
}

// choice returns the model and the level of the following requests.
func (e *Engine) choice(ctx context.Context) (engine.Choice, error) {
	s, err := e.state(ctx, answerLimit)
	if err != nil {
		return engine.Choice{}, err
	}
	return engine.Choice{Model: s.Model, Thinking: s.ThinkingLevel}, nil
}

// Commands implements [engine.Engine].
func (e *Engine) Commands(ctx context.Context) ([]engine.Command, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
	if e.d.commands == "" {
		return []engine.Command{}, nil // xcsh lists none
	}
	raw, err := e.call(ctx, e.d.commands, nil, answerLimit)
	if err != nil {
		return nil, err
	}
	return commandsOf(rawjson.Get(raw, "commands")), nil
}

// commandsOf reads a list of commands, without those of the bridge.
func commandsOf(raw json.RawMessage) []engine.Command {
	list := []engine.Command{}
	rawjson.Elements(raw, func(v []byte) bool {
		name, _ := rawjson.GetString(v, "name")
		if name == "" || len(name) > maxTitle || isOwnCommand(name) {
			return true
		}
		c := engine.Command{Name: brief(name, maxTitle)}
		description, _ := rawjson.GetString(v, "description")
		source, _ := rawjson.GetString(v, "source")
		c.Description, c.Source = brief(description, maxTitle), brief(source, maxTitle)
		list = append(list, c)
		return len(list) < maxCommands
	})
	return list
}
