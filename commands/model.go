package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var models = New(Spec{
	Name: "xcsh.models", Title: "List Models", Flags: ReadOnly,
	Doc: "The models that can be chosen, those that can be used now first.",
}, runModels)

var setModel = New(Spec{
	Name: "xcsh.setModel", Title: "Choose Model…", Flags: Palette, Input: InputModel, Arg: "model",
	Doc: "Choose the model that the folder's session asks from the next request on.",
}, runSetModel)

var setThinking = New(Spec{
	Name: "xcsh.setThinking", Title: "Set Thinking Level…", Flags: Palette, Input: InputText, Arg: "level",
	Doc: "Set how much the model thinks before it answers. A level that it does not have becomes the nearest.",
}, runSetThinking)

// ModelItem describes one model.
type ModelItem struct {
	Provider       string           `json:"provider"`
	ID             string           `json:"id"`
	Name           string           `json:"name"`
	ContextWindow  int              `json:"contextWindow" jsonschema:"In tokens."`
	Reasoning      bool             `json:"reasoning"`
	ThinkingLevels []provider.Level `json:"thinkingLevels"`
	Cost           *provider.Cost   `json:"cost" jsonschema:"US dollars for a million tokens; null when unknown."`
	Available      bool             `json:"available" jsonschema:"It can be used now: there is a key, or none is needed."`
}

// ModelsResult is the list of models.
type ModelsResult struct {
	Models []ModelItem `json:"models"`
}

// SetModelArgs are the arguments of xcsh.setModel.
type SetModelArgs struct {
	Folder
	Model string `json:"model" jsonschema:"provider/id"`
	Role  string `json:"role,omitempty" jsonschema:"What the model is used for; absent: default."`
}

// SetThinkingArgs are the arguments of xcsh.setThinking.
type SetThinkingArgs struct {
	Folder
	Level string `json:"level" jsonschema:"off, minimal, low, medium, high, xhigh or max."`
}

// ChoiceResult is what the session asks from now on.
type ChoiceResult struct {
	Model         *provider.Ref  `json:"model"`
	ThinkingLevel provider.Level `json:"thinkingLevel"`
}

func runModels(ctx context.Context, env *Env, _ Folder) (ModelsResult, error) {
	result := ModelsResult{Models: []ModelItem{}}
	list := env.Sessions.Models(ctx)
	if err := ctx.Err(); err != nil {
		return ModelsResult{}, err
	}
	for _, m := range list {
		result.Models = append(result.Models, ModelItem{
			Provider: m.Provider, ID: m.ID, Name: m.Name, ContextWindow: m.Window(), Reasoning: m.Reasoning,
			ThinkingLevels: m.SupportedLevels(), Cost: m.Cost, Available: m.Available,
		})
	}
	return result, nil
}

func runSetModel(ctx context.Context, env *Env, a SetModelArgs) (ChoiceResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return ChoiceResult{}, err
	}
	if a.Model == "" {
		if a.Model, err = env.pickModel(ctx); err != nil {
			return ChoiceResult{}, err
		}
	}
	ref, ok := provider.ParseRef(a.Model)
	if !ok {
		return ChoiceResult{}, fault.New(fault.InvalidArgument, "%q does not name a model; the form is provider/id.", a.Model).With("field", "model")
	}
	choice, err := live.SetModel(ctx, ref, a.Role)
	return choiceResult(choice), err
}

func runSetThinking(ctx context.Context, env *Env, a SetThinkingArgs) (ChoiceResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return ChoiceResult{}, err
	}
	switch level := provider.Level(a.Level); {
	case level == "":
		level, err := choose(ctx, env, need{
			question: "Which thinking level?", nothing: "No thinking level selected",
			input: InputText, field: "level", choices: provider.Levels,
		}, provider.Levels, func(l provider.Level) string { return string(l) })
		if err != nil {
			return ChoiceResult{}, err
		}
		a.Level = string(level)
	case !slices.Contains(provider.Levels, level):
		return ChoiceResult{}, fault.New(fault.InvalidArgument, "%q is no thinking level; the levels are %s.", a.Level, levelNames()).With("field", "level")
	}
	choice, err := live.SetThinking(ctx, provider.Level(a.Level))
	return choiceResult(choice), err
}

func levelNames() string {
	names := make([]string, len(provider.Levels))
	for i, l := range provider.Levels {
		names[i] = string(l)
	}
	return strings.Join(names, ", ")
}

func choiceResult(c agent.Choice) ChoiceResult {
	return ChoiceResult{Model: &c.Model, ThinkingLevel: c.Thinking}
}

// pickModel asks which of the models that can be used now.
func (env *Env) pickModel(ctx context.Context) (string, error) {
	choices := []string{}
	for _, m := range env.Sessions.Models(ctx) {
		if m.Available {
			choices = append(choices, m.Ref().String())
		}
	}
	needed := need{question: "Which model?", nothing: "No model selected", input: InputModel, field: "model", choices: choices}
	if len(choices) == 0 && !env.Pick {
		return "", fault.New(fault.NotFound, "No model can be used now; set an API key, or start a local server.")
	}
	return choose(ctx, env, needed, choices, func(ref string) string { return ref })
}
