package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var models = New(Spec{
	Name: "xcsh.models", Title: "List Models", Flags: ReadOnly, Early: true,
	Doc: "List the models of the folder's engine, those that are ready to use first.",
}, runModels)

var setModel = New(Spec{
	Name: "xcsh.setModel", Title: "Choose Model…", Flags: Palette | NeedsTrust, Input: InputModel, Arg: "model",
	Doc: "Choose the model for the next requests of the folder's session.",
}, runSetModel)

var setThinking = New(Spec{
	Name: "xcsh.setThinking", Title: "Set Thinking Level…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "level",
	Doc: "Set how much the model thinks before it answers. The nearest level is used if the model does not support this one.",
}, runSetThinking)

// ModelItem describes one model.
type ModelItem struct {
	Provider       string           `json:"provider"`
	ID             string           `json:"id"`
	Name           string           `json:"name"`
	ContextWindow  int              `json:"contextWindow" jsonschema:"In tokens."`
	MaxOutput      int              `json:"maxOutput" jsonschema:"The longest answer, in tokens."`
	Images         bool             `json:"images" jsonschema:"True if the model accepts images."`
	Reasoning      bool             `json:"reasoning"`
	ThinkingLevels []provider.Level `json:"thinkingLevels"`
	Cost           *provider.Cost   `json:"cost" jsonschema:"In US dollars per million tokens; null if unknown."`
	Available      bool             `json:"available" jsonschema:"True if it is ready to use: an API key is set or none is needed."`
}

// ModelsResult is the list of models.
type ModelsResult struct {
	Models []ModelItem `json:"models"`
}

// SetModelArgs are the arguments of xcsh.setModel.
type SetModelArgs struct {
	Folder
	Model string `json:"model" jsonschema:"provider/id"`
	Role  string `json:"role,omitempty" jsonschema:"The role that the model is for. Default: default."`
}

// SetThinkingArgs are the arguments of xcsh.setThinking.
type SetThinkingArgs struct {
	Folder
	Level string `json:"level" jsonschema:"off, minimal, low, medium, high, xhigh or max."`
}

// ChoiceResult is the model and thinking level of the next request.
type ChoiceResult struct {
	Model         *provider.Ref  `json:"model"`
	ThinkingLevel provider.Level `json:"thinkingLevel"`
}

func runModels(ctx context.Context, env *Env, a Folder) (ModelsResult, error) {
	result := ModelsResult{Models: []ModelItem{}}
	list, err := env.models(ctx, a)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return ModelsResult{}, err
	}
	for _, m := range list {
		result.Models = append(result.Models, ModelItem{
			Provider: m.Provider, ID: m.ID, Name: m.Name, ContextWindow: m.Window(), MaxOutput: m.AnswerLimit(),
			Images: m.TakesImages(), Reasoning: m.Reasoning, ThinkingLevels: m.SupportedLevels(), Cost: m.Cost, Available: m.Available,
		})
	}
	return result, nil
}

// models returns the models of the engine of the folder's live session; without one, and where no other program may be started,
// those of this program.
func (env *Env) models(ctx context.Context, f Folder) ([]provider.Info, error) {
	if folders := env.foldersOf(f); len(folders) == 1 && !env.restricted() {
		if live := env.Sessions.Live(folders[0]); live != nil {
			return live.Models(ctx)
		}
	}
	return env.Sessions.Models(ctx), nil
}

func runSetModel(ctx context.Context, env *Env, a SetModelArgs) (ChoiceResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return ChoiceResult{}, err
	}
	if err := choosing.of(live.Engine()); err != nil {
		return ChoiceResult{}, err
	}
	if a.Model == "" {
		list, err := live.Models(ctx)
		if err != nil {
			return ChoiceResult{}, err
		}
		if a.Model, err = env.ask().model(ctx, list); err != nil {
			return ChoiceResult{}, err
		}
	}
	ref, ok := provider.ParseRef(a.Model)
	if !ok {
		return ChoiceResult{}, fault.New(fault.InvalidArgument, "%q is not a model. Use the form provider/id.", a.Model).With("field", "model")
	}
	choice, err := live.SetModel(ctx, ref, a.Role)
	return choiceResult(choice), err
}

func runSetThinking(ctx context.Context, env *Env, a SetThinkingArgs) (ChoiceResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return ChoiceResult{}, err
	}
	if err := choosing.of(live.Engine()); err != nil {
		return ChoiceResult{}, err
	}
	switch level := provider.Level(a.Level); {
	case level == "":
		level, err := choose(ctx, env.ask(), need{
			question: "Select a thinking level", nothing: "No thinking level selected",
			input: InputText, field: "level", choices: provider.Levels,
		}, provider.Levels, func(l provider.Level) string { return string(l) })
		if err != nil {
			return ChoiceResult{}, err
		}
		a.Level = string(level)
	case !slices.Contains(provider.Levels, level):
		return ChoiceResult{}, fault.New(fault.InvalidArgument, "%q is not a thinking level; use one of %s.", a.Level, levelNames()).With("field", "level")
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

// model asks for one of the models that are ready to use.
func (p prompter) model(ctx context.Context, models []provider.Info) (string, error) {
	choices := []string{}
	for _, m := range models {
		if m.Available {
			choices = append(choices, m.Ref().String())
		}
	}
	needed := need{question: "Select a model", nothing: "No model selected", input: InputModel, field: "model", choices: choices}
	if len(choices) == 0 && !p.clientPicks {
		return "", fault.New(fault.NotFound, "No model is ready to use. Set an API key or start a local model server.")
	}
	return choose(ctx, p, needed, choices, func(ref string) string { return ref })
}
