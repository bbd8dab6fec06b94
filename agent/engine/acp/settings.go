package acp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// The categories of options that are settings here.
const (
	categoryMode     = "mode"
	categoryModel    = "model"
	categoryThinking = "thought_level"
)

// The bounds of what an agent offers.
const (
	maxOptions  = 100
	maxChoices  = 2000
	maxCommands = 1000
)

// option is a setting of the session.
type option struct {
	id, category, current string
	choices               []choice
}

type choice struct{ value, name string }

// optionsOf decodes options. It returns nil if there are none.
func optionsOf(raw json.RawMessage) (options []option) {
	rawjson.Elements(raw, func(item []byte) bool {
		o := option{}
		o.id, _ = rawjson.GetString(item, "id")
		o.category, _ = rawjson.GetString(item, "category")
		o.current, _ = rawjson.GetString(item, "currentValue")
		o.choices = choicesOf(rawjson.Get(item, "options"), nil)
		if o.id != "" {
			options = append(options, o)
		}
		return len(options) < maxOptions
	})
	return options
}

// choicesOf adds the choices of an option, some of which may be in groups.
func choicesOf(raw json.RawMessage, to []choice) []choice {
	rawjson.Elements(raw, func(item []byte) bool {
		if group := rawjson.Get(item, "options"); group != nil {
			rawjson.Elements(group, func(one []byte) bool {
				to = withChoice(to, one)
				return len(to) < maxChoices
			})
		} else {
			to = withChoice(to, item)
		}
		return len(to) < maxChoices
	})
	return to
}

func withChoice(to []choice, item []byte) []choice {
	value, ok := rawjson.GetString(item, "value")
	if !ok || value == "" || len(value) > maxName {
		return to
	}
	text, _ := rawjson.GetString(item, "name")
	return append(to, choice{value, name(text)})
}

func (e *Engine) optionLocked(category string) (option, bool) {
	for _, o := range e.options {
		if o.category == category {
			return o, true
		}
	}
	return option{}, false
}

// setOptionsLocked replaces the options. The mode is an option of some agents.
func (e *Engine) setOptionsLocked(options []option) {
	e.options = options
	if o, ok := e.optionLocked(categoryMode); ok {
		e.mode = o.current
		for _, c := range o.choices {
			e.modes[c.value] = c.name
		}
	}
}

// choice returns the model and the thinking level.
func (e *Engine) choice() engine.Choice {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.choiceLocked()
}

func (e *Engine) choiceLocked() (c engine.Choice) {
	if o, ok := e.optionLocked(categoryModel); ok {
		c.Model = e.refOf(o.current)
	}
	if o, ok := e.optionLocked(categoryThinking); ok && slices.Contains(provider.Levels, provider.Level(o.current)) {
		c.Thinking = provider.Level(o.current)
	}
	return c
}

// refOf returns the model of a value. That of a native agent names its provider.
func (e *Engine) refOf(value string) provider.Ref {
	if from, id, ok := strings.Cut(value, "/"); ok && e.kind.native {
		return provider.Ref{Provider: from, ID: id}
	}
	return provider.Ref{Provider: e.program.Name, ID: value}
}

func (e *Engine) valueOf(from, id string) string {
	if e.kind.native {
		return from + "/" + id
	}
	return id
}

// Models implements [engine.Engine].
func (e *Engine) Models(context.Context) ([]provider.Info, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	models, ok := e.optionLocked(categoryModel)
	if !ok {
		return nil, e.denied("%s chooses its model itself.", e.program.Name)
	}
	_, thinks := e.optionLocked(categoryThinking)
	var infos []provider.Info
	for _, c := range models.choices {
		ref := e.refOf(c.value)
		m := provider.Model{Provider: ref.Provider, ID: ref.ID, Name: c.name, Reasoning: thinks}
		if c.value == models.current {
			m.ContextWindow = e.window
		}
		infos = append(infos, provider.Info{Model: m, Available: true})
	}
	return infos, nil
}

// SetModel implements [engine.Engine].
func (e *Engine) SetModel(ctx context.Context, ref provider.Ref) (engine.Choice, error) {
	if !e.Can().Models {
		return engine.Choice{}, e.denied("%s chooses its model itself.", e.program.Name)
	}
	return e.choose(ctx, categoryModel, e.valueOf(ref.Provider, ref.ID))
}

// SetThinking implements [engine.Engine].
func (e *Engine) SetThinking(ctx context.Context, level provider.Level) (engine.Choice, error) {
	before := e.choice()
	after, err := e.choose(ctx, categoryThinking, string(level))
	if err == nil && after.Thinking != before.Thinking {
		e.host.Emit(event.ThinkingLevelChanged{ThinkingLevel: after.Thinking})
	}
	return after, err
}

// choose sets an option. Values that are not offered are not sent.
func (e *Engine) choose(ctx context.Context, category, value string) (engine.Choice, error) {
	e.mu.Lock()
	o, ok := e.optionLocked(category)
	session := e.session
	e.mu.Unlock()
	if !ok {
		return engine.Choice{}, e.denied("%s does not let its clients choose this.", e.program.Name)
	}
	if !slices.ContainsFunc(o.choices, func(c choice) bool { return c.value == value }) {
		return engine.Choice{}, fault.New(fault.InvalidArgument, "%s does not offer %q.", e.program.Name, value)
	}
	if o.current == value {
		return e.choice(), nil
	}
	raw, err := e.link.call(ctx, wire.MethodSetOption, map[string]string{"sessionId": session, "configId": o.id, "value": value})
	if err != nil {
		return engine.Choice{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if options := optionsOf(rawjson.Get(raw, "configOptions")); options != nil {
		e.setOptionsLocked(options)
	} else {
		for i := range e.options {
			if e.options[i].id == o.id {
				e.options[i].current = value
			}
		}
	}
	return e.choiceLocked(), nil
}

// setMode makes the session one in which the agent asks before it changes something.
func (e *Engine) setMode(ctx context.Context, mode string) error {
	e.mu.Lock()
	_, known := e.modes[mode]
	session, current := e.session, e.mode
	_, isOption := e.optionLocked(categoryMode)
	e.mu.Unlock()
	if !known || current == mode {
		return nil
	}
	if isOption {
		_, err := e.choose(ctx, categoryMode, mode)
		return err
	}
	if _, err := e.link.call(ctx, wire.MethodSetMode, wire.SetModeParams{SessionID: session, Mode: mode}); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mode = mode
	return nil
}
