package commands_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// machine is a machine with a fixed list of programs.
type machine struct {
	programs []engine.Program
	fails    error // of Remember
	engine   func(engine.Program) (engine.Engine, error)

	mu         sync.Mutex
	listed     int    // how often the programs were looked for; guarded by mu
	settings   string // the engine in the settings; guarded by mu
	remembered string // guarded by mu
}

func (c *machine) List(_ context.Context, _ []string) []engine.Program {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed++
	return c.programs
}

func (c *machine) Find(_ context.Context, name string, _ []string) (engine.Program, error) {
	for _, p := range c.programs {
		if p.Name == name && p.Usable() {
			return p, nil
		}
	}
	return engine.Program{}, fault.New(fault.NotFound, "%s is not installed.", name)
}

func (c *machine) Default() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings
}

func (c *machine) Offered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.remembered != ""
}

func (c *machine) Remember(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails == nil {
		c.remembered = name
	}
	return c.fails
}

func (c *machine) Engine(p engine.Program) (engine.Engine, error) {
	if c.engine == nil {
		return nil, errors.New("no engine can be made in this test")
	}
	return c.engine(p)
}

var (
	pi  = engine.Program{Name: "pi", Path: "/usr/bin/pi", Version: "1.5.2", Protocol: engine.PiRPC, Login: []string{"/usr/bin/pi"}}
	omp = engine.Program{Name: "omp", Path: "/usr/bin/omp", Version: "17.0.0", Problem: "omp 17.0.0 is too old;\nomp 18 is needed.", Protocol: engine.ACP}
)

// hosting returns an environment in which the programs of c are found.
func hosting(c *machine, options ...func(*agent.Config)) *commands.Env {
	env := newEnv(afero.NewMemMapFs(), append(options, func(cfg *agent.Config) { cfg.Programs = c })...)
	return env
}

// The list says what can be chosen and why the rest cannot, and what to ask the user once.
func TestTheListOfEngines(t *testing.T) {
	t.Parallel()
	env := hosting(&machine{programs: []engine.Program{pi, omp, {Name: "xcsh"}}})
	got := do(t, env, "xcsh.engines", nil)
	can := map[string]any{
		"steer": true, "branch": true, "compact": true, "images": true, "files": true, "permission": true, "models": true, "login": false,
	}
	require.Equal(t, map[string]any{
		"current": "own",
		"engines": []any{
			map[string]any{"name": "own", "state": "current", "usable": true, "can": can},
			map[string]any{"name": "pi", "version": "1.5.2", "path": "/usr/bin/pi", "state": "available", "usable": true, "login": []any{"/usr/bin/pi"}},
			map[string]any{
				"name": "omp", "version": "17.0.0", "path": "/usr/bin/omp", "state": "unusable", "usable": false,
				"problem": `omp 17.0.0 is too old;\nomp 18 is needed.`,
			},
			map[string]any{"name": "xcsh", "state": "unusable", "usable": false, "problem": "xcsh is not installed."},
		},
		"offer": map[string]any{"engine": "pi", "text": "pi 1.5.2 is installed. Use it for your sessions?"},
	}, got)

	got = do(t, newEnv(afero.NewMemMapFs()), "xcsh.engines", nil)
	require.Len(t, got["engines"], 1)
	require.NotContains(t, got, "offer")
}

// The question of the first use needs exactly one usable program, and is asked until it is answered.
func TestWhenAnEngineIsOffered(t *testing.T) {
	t.Parallel()
	xcsh := engine.Program{Name: "xcsh", Path: "/usr/bin/xcsh"}
	for name, tc := range map[string]struct {
		c    *machine
		want bool
	}{
		"one":                    {&machine{programs: []engine.Program{pi, omp}}, true},
		"two":                    {&machine{programs: []engine.Program{pi, xcsh}}, false},
		"none":                   {&machine{programs: []engine.Program{omp}}, false},
		"answered":               {&machine{programs: []engine.Program{pi}, remembered: engine.Own}, false},
		"chosen in the settings": {&machine{programs: []engine.Program{pi}, settings: engine.Own}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, offered := do(t, hosting(tc.c), "xcsh.engines", nil)["offer"]
			require.Equal(t, tc.want, offered)
		})
	}
}

// A picker has the engines that can be chosen.
func TestAnEngineIsPicked(t *testing.T) {
	t.Parallel()
	env := hosting(&machine{programs: []engine.Program{pi, omp}})
	who := &respondent{answers: []string{"xcsh-ls"}}
	env.UI = who
	require.Equal(t, "own", do(t, env, "xcsh.setEngine", args{"cwd": "/w"})["name"])
	who.requireAsked(t, []string{"Select an engine xcsh-ls|pi 1.5.2"})
	_, err := run(t.Context(), env, "xcsh.setEngine", nil)
	requireKind(t, fault.Cancelled, err)
	require.EqualError(t, err, "No engine selected")

	env.Pick = true
	_, err = run(t.Context(), env, "xcsh.setEngine", nil)
	f := requireKind(t, fault.ArgumentNeeded, err)
	require.Equal(t, commands.InputEngine, f.Data["input"])
	require.Equal(t, "engine", f.Data["field"])
	require.Equal(t, []string{"own", "pi"}, f.Data["choices"])

	_, err = run(t.Context(), env, "xcsh.setEngine", args{"engine": "none"})
	requireKind(t, fault.NotFound, err)
}

// The choice for all folders is remembered once it was possible.
func TestAnEngineIsRemembered(t *testing.T) {
	t.Parallel()
	c := &machine{programs: []engine.Program{pi}}
	env := hosting(c)
	do(t, env, "xcsh.setEngine", args{"engine": "own"})
	require.False(t, c.Offered())
	_, err := run(t.Context(), env, "xcsh.setEngine", args{"engine": "none", "remember": true})
	requireKind(t, fault.NotFound, err)
	require.False(t, c.Offered())
	do(t, env, "xcsh.setEngine", args{"engine": "own", "remember": true})
	require.Equal(t, engine.Own, c.remembered)
	c.fails = fault.New(fault.IO, "The choice could not be saved.")
	_, err = run(t.Context(), env, "xcsh.setEngine", args{"engine": "own", "remember": true})
	require.EqualError(t, err, "The choice could not be saved.")
}

func TestTheCommandThatLogsIn(t *testing.T) {
	t.Parallel()
	hostile := engine.Program{Name: "odd", Path: "/bin/odd", Login: []string{"/bin/odd", "\x1b[2J"}}
	env := hosting(&machine{programs: []engine.Program{pi, omp, hostile}})
	require.Equal(t, map[string]any{
		"engine": "pi", "command": []any{"/usr/bin/pi"}, "message": "Log in to pi in a terminal: /usr/bin/pi and then /login",
	}, do(t, env, "xcsh.login", args{"engine": "pi"}))
	require.Equal(t, `Log in to odd in a terminal: /bin/odd \u001b[2J`, do(t, env, "xcsh.login", args{"engine": "odd"})["message"])
	for name, want := range map[string]fault.Kind{"": fault.Denied, "own": fault.Denied, "omp": fault.Denied, "none": fault.NotFound} {
		_, err := run(t.Context(), env, "xcsh.login", args{"engine": name})
		requireKind(t, want, err)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	for name, tc := range map[string]struct {
		args args
		want fault.Kind
	}{
		"without an id": {args{"value": "x"}, fault.NotFound},
		"two":           {args{"id": "q1", "value": "x", "confirmed": false}, fault.InvalidArgument},
		"three":         {args{"id": "q1", "value": "x", "confirmed": true, "cancelled": true}, fault.InvalidArgument},
		"unknown":       {args{"id": "q1", "value": ""}, fault.NotFound},
		"no answer":     {args{"id": "q1"}, fault.NotFound},
	} {
		_, err := run(t.Context(), env, "xcsh.answer", tc.args)
		require.Equal(t, tc.want, fault.KindOf(err), name)
	}
}

// No program is looked for, started or chosen in a workspace that the user has not trusted.
func TestEnginesInARestrictedWorkspace(t *testing.T) {
	t.Parallel()
	c := &machine{programs: []engine.Program{pi}}
	env := hosting(c)
	do(t, env, "xcsh.state", nil)
	env.Restricted = func() bool { return true }
	for name, a := range map[string]args{
		"xcsh.engines": nil, "xcsh.setEngine": {"engine": "pi"}, "xcsh.commands": nil, "xcsh.login": nil, "xcsh.answer": {"id": "q1"},
		"xcsh.prompt": {"text": "hello"},
	} {
		_, err := run(t.Context(), env, name, a)
		requireKind(t, fault.Denied, err)
	}
	require.Equal(t, []any{}, do(t, env, "xcsh.models", nil)["models"])
	require.Zero(t, c.listed)
}

func TestOwnSlashCommandsAreListed(t *testing.T) {
	t.Parallel()
	list, ok := do(t, newEnv(afero.NewMemMapFs()), "xcsh.commands", nil)["commands"].([]any)
	require.True(t, ok)
	require.Len(t, list, len(commands.Slashes()))
	require.Equal(t, map[string]any{
		"name": "compact", "description": "Summarize the older part of the conversation to free up context",
		"argumentHint": "focus of the summary", "source": "xcsh",
	}, list[0])
}

// A prompt that no model could answer asks once whether the program that was found should. It is refused as ever otherwise, with
// a way to continue.
func TestThePromptOfTheFirstUse(t *testing.T) {
	t.Parallel()
	const asked = "pi 1.5.2 is installed. Use it for your sessions? Use pi|Not now|Never ask"
	c := &machine{programs: []engine.Program{pi, omp}}
	env := hosting(c)
	who := &respondent{answers: []string{"Not now", "closed", "Never ask"}}
	env.UI = who
	for range 2 { // not now, and closed
		_, err := run(t.Context(), env, "xcsh.prompt", args{"text": "hello"})
		f := requireKind(t, fault.Provider, err)
		require.Equal(t, []event.Action{
			{Title: "Use pi", Command: "xcsh.setEngine", Arguments: map[string]any{"engine": "pi", "remember": true}},
			{Title: "Choose Model", Command: "xcsh.setModel", Arguments: map[string]any{}},
			{Title: "Add API Key", Command: "xcsh.setKey", Arguments: map[string]any{}},
		}, f.Data["actions"])
		require.False(t, c.Offered())
	}
	_, err := run(t.Context(), env, "xcsh.prompt", args{"text": "hello"})
	require.Len(t, requireKind(t, fault.Provider, err).Data["actions"], 2, "without an engine")
	require.Equal(t, engine.Own, c.remembered)
	_, err = run(t.Context(), env, "xcsh.prompt", args{"text": "hello"})
	requireKind(t, fault.Provider, err)
	who.requireAsked(t, []string{asked, asked, asked})

	c = &machine{programs: []engine.Program{pi}}
	_, err = run(t.Context(), hosting(c), "xcsh.prompt", args{"text": "hello"}) // nobody to ask
	require.Contains(t, requireKind(t, fault.Provider, err).Data, "actions")
}

// Who can prompt a model is not asked, and no program is looked for.
func TestAModelThatIsReadyComesFirst(t *testing.T) {
	t.Parallel()
	c := &machine{programs: []engine.Program{pi}}
	env := hosting(c, withDemo(afero.NewMemMapFs()))
	who := &respondent{}
	env.UI = who
	do(t, env, "xcsh.prompt", args{"text": "hello"})
	require.Empty(t, who.asked)
	require.Zero(t, c.listed)
}
