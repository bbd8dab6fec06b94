package commands

import (
	"context"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The answers to the question of the first use, in this order.
const (
	useEngine = iota
	notNow
	neverAsk
)

// firstUse asks the user of a prompt that no model could answer whether the only usable program should answer it. After a yes, the
// engine answers the prompt. It returns the offer if it still stands.
func (env *Env) firstUse(ctx context.Context, live *agent.Session) (*EngineOffer, error) {
	offer := env.offerTo(ctx, live)
	if offer == nil {
		return nil, nil
	}
	answer, err := env.ask().question(ctx, offer.Text, "Use "+offer.Engine, "Not now", "Never ask")
	if err != nil {
		return nil, err
	}
	switch answer {
	case useEngine:
		if _, err := env.setEngine(ctx, live, SetEngineArgs{Engine: offer.Engine}); err != nil {
			return nil, err
		}
		return nil, env.Sessions.Programs().Remember(offer.Engine)
	case neverAsk:
		return nil, env.Sessions.Programs().Remember(engine.Own)
	}
	return offer, nil
}

// offerTo returns the question of the first use if a prompt in live would be refused. Programs are looked for only then.
func (env *Env) offerTo(ctx context.Context, live *agent.Session) *EngineOffer {
	if !env.mayOffer(live.Engine()) || live.CheckIdle("") != nil || !fault.Is(live.Ready(ctx), fault.Provider) {
		return nil
	}
	return env.offer(env.programs(ctx), live.Engine())
}

// mayOffer reports whether the user has neither chosen an engine nor answered the question of the first use.
func (env *Env) mayOffer(current engine.Status) bool {
	return env.Sessions.Programs() != nil && !env.restricted() && current.Name == engine.Own && env.Sessions.Programs().Default() == "" && !env.Sessions.Programs().Offered()
}

// offer returns the question of the first use if exactly one of the programs is usable.
func (env *Env) offer(programs []engine.Program, current engine.Status) (found *EngineOffer) {
	if !env.mayOffer(current) {
		return nil
	}
	for _, p := range programs {
		switch {
		case p.Name == engine.Own || !p.Usable():
		case found != nil:
			return nil
		default:
			found = &EngineOffer{Engine: p.Name, Text: engineTitle(p) + " is installed. Use it for your sessions?"}
		}
	}
	return found
}

// The classes of the failures of an engine, in the data of a Provider error.
const (
	ClassEngine = "engine" // the program could not be started, or has ended
	ClassLogin  = "login"  // the user is not logged in to it
)

// withActions returns the error of a prompt with the ways to continue, unless it has some.
func withActions(err error, current engine.Status, offer *EngineOffer) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Provider || f.Data["actions"] != nil {
		return err
	}
	reason := provider.NeedOf(err)
	var actions []event.Action
	class, _ := f.Data["class"].(string)
	switch {
	case class == ClassLogin:
		actions = append(actions, event.Action{Title: "Log In", Command: "xcsh.login", Arguments: map[string]any{}})
	case class == ClassEngine && current.Name != engine.Own:
		actions = append(actions,
			event.Action{Title: "Start Again", Command: "xcsh.setEngine", Arguments: map[string]any{"engine": current.Name}},
			event.Action{Title: "Use xcsh-ls", Command: "xcsh.setEngine", Arguments: map[string]any{"engine": engine.Own}})
	case class == "" && (offer != nil || reason != ""):
		program, _ := f.Data["program"].(string) // which is signed in
		if offer != nil {
			actions = append(actions, event.Action{
				Title: "Use " + offer.Engine, Command: "xcsh.setEngine", Arguments: map[string]any{"engine": offer.Engine, "remember": true},
			})
		}
		if program != "" && (offer == nil || offer.Engine != program) {
			actions = append(actions, event.Action{Title: "Use " + program, Command: "xcsh.setEngine", Arguments: map[string]any{"engine": program}})
		}
		actions = append(actions, waysIn(reason, f)...)
	default:
		return err
	}
	return f.With("actions", actions)
}

// withRejectedKey adds to the error of a service that rejected the API key of live's model the ways to continue.
func withRejectedKey(err error, live *agent.Session) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Data["class"] != string(provider.Auth) || f.Data["actions"] != nil || live.Engine().Name != engine.Own {
		return err
	}
	state, stateErr := live.State()
	if stateErr != nil || state.Model == nil {
		return err
	}
	f = f.With("provider", state.Model.Provider)
	return f.With("actions", waysIn(provider.NeedsKey, f))
}

// waysIn returns the ways to get a model that can answer.
func waysIn(reason provider.Need, f *fault.Error) []event.Action {
	chooses := event.Action{Title: "Choose Model", Command: "xcsh.setModel", Arguments: map[string]any{}}
	switch reason {
	case provider.NeedsKey:
		chooses.Title = "Choose Another Model"
		return []event.Action{{Title: "Enter Key…", Command: "xcsh.setKey", Arguments: map[string]any{"provider": f.Data["provider"]}}, chooses}
	case provider.NeedsModel:
		return []event.Action{chooses, {Title: "Add API Key", Command: "xcsh.setKey", Arguments: map[string]any{}}}
	case provider.NeedsOtherModel:
		return []event.Action{chooses}
	}
	return nil
}

// The functions that an engine may lack, and the sentences about it.
var (
	steering   = ability{func(c engine.Can) bool { return c.Steer }, "%s cannot be steered. Wait, or stop it first."}
	images     = ability{func(c engine.Can) bool { return c.Images }, "%s takes no images."}
	branching  = ability{func(c engine.Can) bool { return c.Branch }, "%s cannot go back. Fork the session instead."}
	compacting = ability{func(c engine.Can) bool { return c.Compact }, "%s does not compact a conversation on request."}
	choosing   = ability{func(c engine.Can) bool { return c.Models }, "%s chooses its model itself."}
)

type ability struct {
	in     func(engine.Can) bool
	lacked string // sentence of the Denied error, with the name of the engine
}

// of returns a Denied error if the engine is known to lack the ability, so that the user is not asked for arguments in vain. What
// an engine that is not running can do is certain only after its start; it refuses then by itself.
func (a ability) of(current engine.Status) error {
	known := current.State == engine.Ready || current.State == engine.Running
	if current.Name == engine.Own || !known || a.in(current.Can) {
		return nil
	}
	return fault.New(fault.Denied, a.lacked, engineTitle(engine.Program{Name: current.Name}))
}
