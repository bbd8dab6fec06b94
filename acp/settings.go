package acp

import (
	"context"
	"encoding/json"
	"slices"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The options of a session.
const (
	optionMode     = "mode"
	optionModel    = "model"
	optionThinking = "thinking"

	// optionApprovals is what “always” in a permission prompt means. The protocol has one kind of option for it, and clients
	// with a key for each kind would bind it to both meanings.
	optionApprovals = "approvals"
)

// noModel is the value of the option while no model is chosen.
const noModel = "none"

// modes returns the approval modes as session modes.
func modes() []mode {
	return []mode{
		{ID: string(approval.ReadOnly), Name: "Read-only", Description: "No edits, no commands."},
		{ID: string(approval.Ask), Name: "Ask first", Description: "Ask before every edit and command."},
		{ID: string(approval.AutoEdit), Name: "Auto-edit", Description: "Edit files in the folder without asking; ask before commands."},
		{ID: string(approval.Yolo), Name: "Full access", Description: "Edit files and run commands without asking."},
	}
}

// settings are the settings of a session and their choices.
type settings struct {
	mode    string
	options []configOption
}

// settingsLocked returns the current settings. c.sending must be held, so that they are not older than
// the settings that were sent.
func (c *conversation) settingsLocked(ctx context.Context) (settings, error) {
	state, err := c.live.State()
	if err != nil {
		return settings{}, err
	}
	state = c.live.WithReadiness(ctx, state)
	set := settings{mode: string(c.live.ApprovalMode())}
	set.options = []configOption{modeOption(set.mode)}
	if c.models == nil || state.Model != nil && indexOf(c.models, *state.Model) < 0 {
		c.models = c.knownModels(ctx)
	}
	set.options = append(set.options, modelOption(c.models, state))
	if option, ok := thinkingOption(c.models, state); ok {
		set.options = append(set.options, option)
	}
	set.options = append(set.options, c.approvalsOption())
	return set, nil
}

func (c *conversation) approvalsOption() configOption {
	o := configOption{
		Type: "select", ID: optionApprovals, Name: "Allow similar actions", Current: string(approval.Session),
		Description: "How long an action stays allowed if you choose more than Allow.",
		Options: []configChoice{
			{Value: string(approval.Session), Name: "For this session"},
			{Value: string(approval.Workspace), Name: "Always", Description: "In this folder, for all sessions, until you remove the rule."},
		},
	}
	if c.lasting.Load() {
		o.Current = string(approval.Workspace)
	}
	return o
}

func modeOption(current string) configOption {
	o := configOption{
		Type: "select", ID: optionMode, Category: "mode", Name: "Permissions",
		Description: "What the agent may do without asking.", Current: current,
	}
	for _, m := range modes() {
		o.Options = append(o.Options, configChoice{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	return o
}

// modelOption offers the models that are available now, and the current one.
func modelOption(known []provider.Info, state agent.State) configOption {
	o := configOption{
		Type: "select", ID: optionModel, Category: "model", Name: "Model",
		Description: "The model that answers prompts.", Current: noModel, Options: []configChoice{},
	}
	if state.Model != nil {
		o.Current = state.Model.String()
	}
	listed := false
	for _, m := range known {
		ref := m.Ref().String()
		if !m.Available && ref != o.Current {
			continue
		}
		listed = listed || ref == o.Current
		name := m.Name
		if name == "" {
			name = m.ID
		}
		o.Options = append(o.Options, configChoice{Value: ref, Name: name, Description: m.Provider})
	}
	if !listed {
		name := o.Current
		if name == noModel {
			name = "No model is chosen"
		}
		o.Options = slices.Insert(o.Options, 0, configChoice{Value: o.Current, Name: name})
	}
	return o
}

// thinkingOption offers the thinking levels, if the model supports thinking.
func thinkingOption(known []provider.Info, state agent.State) (configOption, bool) {
	if state.Model == nil {
		return configOption{}, false
	}
	i := indexOf(known, *state.Model)
	if i < 0 || !known[i].Reasoning {
		return configOption{}, false
	}
	o := configOption{
		Type: "select", ID: optionThinking, Category: "thought_level", Name: "Thinking",
		Description: "How long the model thinks before it answers.", Current: string(known[i].Clamp(provider.Level(state.ThinkingLevel))),
	}
	for _, level := range known[i].SupportedLevels() {
		o.Options = append(o.Options, configChoice{Value: string(level), Name: string(level)})
	}
	return o, true
}

func indexOf(known []provider.Info, ref provider.Ref) int {
	return slices.IndexFunc(known, func(m provider.Info) bool { return m.Ref() == ref })
}

// recordSentLocked records the settings that the client knows and reports which changed. c.sending must be held.
func (c *conversation) recordSentLocked(set settings) (mode, options bool) {
	raw, err := json.Marshal(set.options)
	if err != nil { // strings only
		c.log.Error("options could not be encoded", zap.Error(err))
	}
	mode, options = c.modeID != set.mode, c.options != string(raw)
	c.modeID, c.options = set.mode, string(raw)
	return mode, options
}

// sendSettings sends the changed settings to the client.
func (c *conversation) sendSettings(ctx context.Context) {
	c.sending.Lock()
	defer c.sending.Unlock()
	set, err := c.settingsLocked(ctx)
	if err != nil {
		c.log.Warn("the settings of a session cannot be read", zap.String("session", c.id), zap.Error(err))
		return
	}
	mode, options := c.recordSentLocked(set)
	if mode {
		c.s.conn.update(c.id, modeUpdate{updateMode, set.mode})
	}
	if options {
		c.s.conn.update(c.id, optionsUpdate{updateOptions, set.options})
	}
}

// setMode answers session/set_mode.
func (s *server) setMode(ctx context.Context, _ *call, p setModeParams) (any, []any, error) {
	c, err := s.conversation(p.SessionID)
	if err != nil {
		return nil, nil, err
	}
	if err := c.live.SetApproval(approval.Mode(p.Mode)); err != nil {
		return nil, nil, err
	}
	c.sendSettings(ctx)
	return struct{}{}, nil, nil
}

// setOption answers session/set_config_option with all options, because one can change others.
func (s *server) setOption(ctx context.Context, _ *call, p setOptionParams) (any, []any, error) {
	c, err := s.conversation(p.SessionID)
	if err != nil {
		return nil, nil, err
	}
	var value string
	if json.Unmarshal(p.Value, &value) != nil {
		return nil, nil, fault.New(fault.InvalidArgument, "The value of the option %q must be a string.", p.Option).With("field", "value")
	}
	if err := c.choose(ctx, p.Option, value); err != nil {
		return nil, nil, err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	set, err := c.settingsLocked(ctx)
	if err != nil {
		return nil, nil, err
	}
	if mode, _ := c.recordSentLocked(set); mode {
		c.s.conn.update(c.id, modeUpdate{updateMode, set.mode})
	}
	return setOptionResult{set.options}, nil, nil
}

// choose sets one option.
func (c *conversation) choose(ctx context.Context, option, value string) error {
	switch option {
	case optionMode:
		return c.live.SetApproval(approval.Mode(value))
	case optionModel:
		ref, ok := provider.ParseRef(value)
		if !ok {
			return fault.New(fault.InvalidArgument, "%q is not a model. Use the form provider/id.", value).With("field", "value")
		}
		_, err := c.live.SetModel(ctx, ref, "")
		return err
	case optionThinking:
		if !slices.Contains(provider.Levels, provider.Level(value)) {
			return fault.New(fault.InvalidArgument, "%q is not a thinking level.", value).With("field", "value")
		}
		_, err := c.live.SetThinking(ctx, provider.Level(value))
		return err
	case optionApprovals:
		d := approval.Decision(value)
		if d != approval.Session && d != approval.Workspace {
			return fault.New(fault.InvalidArgument, "%q is not session or workspace.", value).With("field", "value")
		}
		c.lasting.Store(d == approval.Workspace)
		return nil
	}
	return fault.New(fault.InvalidArgument, "There is no option %q. The options are mode, model, thinking and approvals.", option).With("field", "configId")
}
