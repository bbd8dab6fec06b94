package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/hosting"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var engines = New(Spec{
	Name: "xcsh.engines", Title: "List Engines", Flags: NeedsTrust,
	Doc: "List the programs that can answer in the folder's session, xcsh-ls itself first.",
}, runEngines)

var setEngine = New(Spec{
	Name: "xcsh.setEngine", Title: "Choose Engine…", Flags: Palette | NeedsTrust | NeedsIdle, Input: InputEngine, Arg: "engine",
	Doc:     "Choose the program that answers in the folder, from the next prompt on: xcsh-ls itself, or an agent such as pi that is installed on this machine.",
	refusal: refusal{doing: "changing the engine"},
}, runSetEngine)

var engineCommands = New(Spec{
	Name: "xcsh.commands", Title: "List Slash Commands", Flags: NeedsTrust,
	Doc: "List the commands that a prompt can begin with, as in \"/name arguments\": those of the folder's engine, which is started if it is not running, or else the skills and templates of the folder's set-up, and those of xcsh-ls.",
}, runEngineCommands)

var login = New(Spec{
	Name: "xcsh.login", Title: "Log In to Engine…", Flags: Palette | NeedsTrust, Arg: "engine",
	Doc: "Return the command that logs in to an engine, for a terminal. Nothing is started.",
}, runLogin)

// EnginesResult is the list of engines.
type EnginesResult struct {
	Engines []EngineItem `json:"engines" jsonschema:"This program's own first."`
	Current string       `json:"current" jsonschema:"The name of the engine that answers in the folder."`
	Offer   *EngineOffer `json:"offer,omitempty" jsonschema:"Present if the user should be asked once whether to use the only usable program."`
}

// EngineOffer is the question whether the user wants to use a program that was found. Its answers are calls of xcsh.setEngine
// with remember: of the engine, or of own to never ask again. No answer is possible, too.
type EngineOffer struct {
	Engine string `json:"engine"`
	Text   string `json:"text" jsonschema:"The question."`
}

// EngineItem describes one engine.
type EngineItem struct {
	Name    string      `json:"name" jsonschema:"own, pi, omp, xcsh or the name in the user's settings."`
	Version string      `json:"version,omitempty" jsonschema:"Of the program; absent for own."`
	Path    string      `json:"path,omitempty" jsonschema:"Of the program; absent for own, and if it is not installed."`
	State   string      `json:"state" jsonschema:"current for the engine that answers in the folder, available, or unusable."`
	Usable  bool        `json:"usable" jsonschema:"True if it can be chosen."`
	Problem string      `json:"problem,omitempty" jsonschema:"Why it cannot be chosen."`
	Can     *engine.Can `json:"can,omitempty" jsonschema:"The functions that a client can offer; only for the current engine."`
	Login   []string    `json:"login,omitempty" jsonschema:"The command that logs in, for a terminal; absent if there is none."`
}

// The values of [EngineItem.State].
const (
	engineCurrent   = "current"
	engineAvailable = "available"
	engineUnusable  = "unusable"
)

// SetEngineArgs are the arguments of xcsh.setEngine.
type SetEngineArgs struct {
	Folder
	Engine   string `json:"engine" jsonschema:"own, or another name of xcsh.engines."`
	Remember bool   `json:"remember,omitempty" jsonschema:"Use the engine in all folders from now on, unless the settings name one."`
	Plain    bool   `json:"withoutExtensions,omitempty" jsonschema:"Start pi without the extensions of the user, until an engine is chosen again: for one that keeps it from starting."`
	Fork     bool   `json:"fork,omitempty" jsonschema:"Continue in a copy that the engine can read, if it cannot read the session's file. Default: fail with argumentNeeded."`
}

// CommandsResult is the list of slash commands. One of an engine replaces one of xcsh-ls with the same name.
type CommandsResult struct {
	Commands []engine.Command `json:"commands"`
}

// LoginArgs are the arguments of xcsh.login.
type LoginArgs struct {
	Folder
	Engine string `json:"engine,omitempty" jsonschema:"A name of xcsh.engines. Default: the engine of the folder."`
}

// LoginResult is the command that logs in to an engine.
type LoginResult struct {
	Engine  string   `json:"engine"`
	Command []string `json:"command" jsonschema:"A program and its arguments, to be run in a terminal."`
	Message string   `json:"message" jsonschema:"A sentence for a client that has no terminal."`
}

func runEngines(ctx context.Context, env *Env, a Folder) (EnginesResult, error) {
	live, err := env.live(ctx, a)
	if err != nil {
		return EnginesResult{}, err
	}
	current := live.Engine()
	result := EnginesResult{Engines: []EngineItem{}, Current: current.Name}
	programs := env.programs(ctx)
	for _, p := range programs {
		result.Engines = append(result.Engines, engineItem(p, current))
	}
	result.Offer = env.offer(programs, current)
	return result, ctx.Err()
}

// programs returns the engines that are known, this program's own first.
func (env *Env) programs(ctx context.Context) []engine.Program {
	var folders []string
	if env.Folders != nil {
		folders = env.Folders()
	}
	return env.Sessions.Engines(ctx, folders)
}

func engineItem(p engine.Program, current engine.Status) EngineItem {
	item := EngineItem{
		Name: p.Name, Version: p.Version, Path: p.Path, State: engineAvailable, Usable: usable(p), Problem: fault.OneLine(p.Problem), Login: p.Login,
	}
	switch {
	case p.Name == current.Name:
		item.State, item.Can = engineCurrent, &current.Can
	case !item.Usable:
		item.State = engineUnusable
	}
	if !item.Usable && item.Problem == "" {
		item.Problem = p.Name + " is not installed."
	}
	return item
}

// usable reports whether p can be chosen. This program's own engine has no path.
func usable(p engine.Program) bool { return p.Name == engine.Own || p.Usable() }

func runSetEngine(ctx context.Context, env *Env, a SetEngineArgs) (engine.Status, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return engine.Status{}, err
	}
	if a.Engine == "" {
		if a.Engine, err = env.ask().engine(ctx, env.programs(ctx)); err != nil {
			return engine.Status{}, err
		}
	}
	status, err := env.setEngine(ctx, live, a)
	if programs := env.Sessions.Programs(); err == nil && a.Remember && programs != nil {
		err = programs.Remember(a.Engine)
	}
	return status, err
}

// setEngine chooses an engine. If it cannot continue the session in its file, the user decides about a copy that it can, unless the
// call has.
func (env *Env) setEngine(ctx context.Context, live *agent.Session, a SetEngineArgs) (engine.Status, error) {
	set := live.SetEngine
	if a.Plain {
		set = live.SetPlainEngine
	}
	status, err := set(ctx, a.Engine)
	if err == nil {
		env.Sessions.ModelsChanged() // another engine has other models
	}
	if !needsFork(err) {
		return status, err
	}
	if !a.Fork {
		declined := fault.New(fault.Cancelled, "The engine was not changed.")
		if err := env.ask().confirm(ctx, err.Error(), "Fork into "+withArticle(a.Engine)+" session", err, declined); err != nil {
			return status, err
		}
	}
	if out, err := live.ForkFor(ctx, a.Engine); err != nil || !out.Changed {
		if err == nil {
			err = fault.New(fault.Cancelled, "The session was not forked: cancelled by %s.", out.CancelledBy)
		}
		return status, err
	}
	return set(ctx, a.Engine)
}

// withArticle returns the name of an engine as in "an omp".
func withArticle(name string) string {
	if name != "" && strings.ContainsRune("aeioAEIO", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// needsFork reports whether an engine cannot continue the session in its file.
func needsFork(err error) bool {
	f, ok := asFault(err)
	return ok && f.Kind == fault.ArgumentNeeded && f.Data["field"] == hosting.FieldFork
}

// engine asks for one of the engines that can be used.
func (p prompter) engine(ctx context.Context, programs []engine.Program) (string, error) {
	programs = slices.DeleteFunc(programs, func(p engine.Program) bool { return !usable(p) })
	names := make([]string, len(programs))
	for i, program := range programs {
		names[i] = program.Name
	}
	picked, err := choose(ctx, p, need{
		question: "Select an engine", nothing: "No engine selected", input: InputEngine, field: "engine", choices: names,
	}, programs, engineTitle)
	return picked.Name, err
}

// engineTitle returns the choice for an engine: "pi 1.5.2".
func engineTitle(p engine.Program) string {
	if p.Name == engine.Own {
		return "xcsh-ls"
	}
	return fault.OneLine(strings.TrimSpace(p.Name + " " + p.Version))
}

func runEngineCommands(ctx context.Context, env *Env, a Folder) (CommandsResult, error) {
	live, err := env.live(ctx, a)
	if err != nil {
		return CommandsResult{}, err
	}
	list, err := namesIn(ctx, live)
	return CommandsResult{Commands: list}, err
}

func runLogin(ctx context.Context, env *Env, a LoginArgs) (LoginResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return LoginResult{}, err
	}
	name := a.Engine
	if name == "" {
		name = live.Engine().Name
	}
	if name == engine.Own {
		return LoginResult{}, fault.New(fault.Denied, "xcsh-ls needs no login. Enter the API key of a service with xcsh.setKey, or choose another engine with xcsh.setEngine.").
			With("field", "engine")
	}
	programs := env.programs(ctx)
	i := slices.IndexFunc(programs, func(p engine.Program) bool { return p.Name == name })
	switch {
	case i < 0:
		return LoginResult{}, fault.New(fault.NotFound, "There is no engine %q. Run xcsh.engines to list them.", name).With("field", "engine")
	case len(programs[i].Login) == 0:
		return LoginResult{}, fault.New(fault.Denied, "%s has no command that logs in. See its documentation.", name).With("field", "engine")
	}
	command := programs[i].Login
	message := "Log in to " + name + " in a terminal: " + strings.Join(command, " ")
	if programs[i].Protocol == engine.PiRPC || programs[i].Protocol == engine.OmpRPC {
		message += " and then /login"
	}
	return LoginResult{Engine: name, Command: command, Message: fault.OneLine(message)}, nil
}
