package commands_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/playedengine"
)

// played is a program with models and commands.
type played struct {
	*playedengine.Program
	can engine.Can
}

func (p played) Can() engine.Can { return p.can }

func (p played) Models(context.Context) ([]provider.Info, error) {
	return []provider.Info{{Model: provider.Model{Provider: "mock", ID: "large"}, Available: true}}, nil
}

func (p played) Commands(context.Context) ([]engine.Command, error) {
	return []engine.Command{{Name: "review", Description: "Review the changes", Source: "prompt"}}, nil
}

var allCan = engine.Can{Steer: true, Branch: true, Compact: true, Images: true, Files: true, Permission: true, Models: true}

// playing returns an environment in which pi is found, and played by what makes prepares.
func playing(t *testing.T, can engine.Can, makes func(p *playedengine.Program)) (*commands.Env, *machine) {
	t.Helper()
	m := &machine{programs: []engine.Program{pi}}
	env := hosting(m)
	m.engine = func(engine.Program) (engine.Engine, error) {
		p := playedengine.New(t, env.Fs, 1)
		if makes != nil {
			makes(p)
		}
		return played{p, can}, nil
	}
	t.Cleanup(func() { require.NoError(t, env.Sessions.Close(context.Background())) })
	return env, m
}

// The yes to the question of the first use is remembered, and the prompt goes on: the program answers it.
func TestTheFirstPromptGoesOnWithTheProgram(t *testing.T) {
	t.Parallel()
	env, m := playing(t, allCan, nil)
	who := &respondent{answers: []string{"Use pi"}}
	env.UI = who
	r := do(t, env, "xcsh.prompt", args{"text": "hello"})
	require.Equal(t, "stop", r["stopReason"])
	require.Equal(t, "pi", m.remembered)
	who.requireAsked(t, []string{"pi 1.5.2 is installed. Use it for your sessions? Use pi|Not now|Never ask"})
	require.Contains(t, do(t, env, "xcsh.dump", nil)["text"], "ok")

	list := do(t, env, "xcsh.engines", nil)
	require.Equal(t, "pi", list["current"])
	require.NotContains(t, list, "offer")
	state, ok := do(t, env, "xcsh.state", nil)["engine"].(map[string]any)
	require.True(t, ok)
	require.Equal(t, "pi", state["name"])
	require.Equal(t, "ready", state["state"])

	require.Equal(t, "own", do(t, env, "xcsh.setEngine", args{"engine": "own"})["name"])
	_, err := run(t.Context(), env, "xcsh.prompt", args{"text": "again"})
	requireKind(t, fault.Provider, err)
	require.Len(t, who.asked, 1, "the question was answered")
}

// The models and the slash commands are those of the engine.
func TestTheEngineHasModelsAndCommands(t *testing.T) {
	t.Parallel()
	env, _ := playing(t, allCan, nil)
	do(t, env, "xcsh.setEngine", args{"engine": "pi"})
	slashes, ok := do(t, env, "xcsh.commands", nil)["commands"].([]any)
	require.True(t, ok)
	require.Equal(t, map[string]any{"name": "review", "description": "Review the changes", "source": "prompt"}, slashes[0])
	require.Len(t, slashes, 1+len(commands.Slashes()), "its own come first")
	list, ok := do(t, env, "xcsh.models", nil)["models"].([]any)
	require.True(t, ok)
	require.Len(t, list, 1)
	who := &respondent{answers: []string{"mock/large"}}
	env.UI = who
	require.Equal(t, map[string]any{"provider": "mock", "id": "large"}, do(t, env, "xcsh.setModel", nil)["model"])
	who.requireAsked(t, []string{"Select a model mock/large"})
}

// A question of an extension waits in the snapshot until it is answered.
func TestAQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	answers := make(chan engine.Answer, 1)
	env, _ := playing(t, allCan, func(p *playedengine.Program) {
		p.Runs = func(ctx context.Context, p *playedengine.Program, in engine.Input) loop.Outcome {
			answers <- p.Host.Ask(ctx, event.Question{Method: "select", Title: "Which?", Options: []string{"a", "b"}})
			p.Say(ctx, playedengine.UserMessage(in.Text))
			p.Say(ctx, playedengine.AnswerMessage("done"))
			return loop.Outcome{StopReason: provider.StopEnd}
		}
	})
	do(t, env, "xcsh.setEngine", args{"engine": "pi"})
	asked := make(chan event.Question, 1)
	gone := make(chan string, 1)
	defer env.Sessions.Subscribe(func(e agent.Event) {
		if run, ok := e.(agent.RunEvent); ok {
			switch e := run.Event.(type) {
			case event.QuestionAsked:
				asked <- e.Question
			case event.QuestionGone:
				gone <- e.ID
			}
		}
	})()
	ended := make(chan error, 1)
	go func() {
		_, err := run(context.WithoutCancel(t.Context()), env, "xcsh.prompt", args{"text": "hello"})
		ended <- err
	}()
	q := <-asked
	questions, ok := do(t, env, "xcsh.snapshot", nil)["questions"].([]any)
	require.True(t, ok)
	require.Equal(t, []any{map[string]any{"id": q.ID, "method": "select", "title": "Which?", "options": []any{"a", "b"}}}, questions)

	env.Pick = true
	_, err := run(t.Context(), env, "xcsh.answer", nil)
	require.Equal(t, []string{q.ID}, requireKind(t, fault.ArgumentNeeded, err).Data["choices"])
	_, err = run(t.Context(), env, "xcsh.answer", args{"id": q.ID, "value": "c"})
	requireKind(t, fault.InvalidArgument, err)
	require.Equal(t, map[string]any{}, do(t, env, "xcsh.answer", args{"id": q.ID, "value": "b"}))
	require.Equal(t, engine.Answer{Value: "b"}, <-answers)
	require.Equal(t, q.ID, <-gone)
	require.NoError(t, <-ended)
	_, err = run(t.Context(), env, "xcsh.answer", args{"id": q.ID, "value": "b"})
	requireKind(t, fault.NotFound, err)
}

// Nobody is asked for an argument that the engine could not use.
func TestAnEngineThatCannot(t *testing.T) {
	t.Parallel()
	env, _ := playing(t, engine.Can{}, nil)
	env.UI = noQuestions{t: t}
	do(t, env, "xcsh.setEngine", args{"engine": "pi"})
	do(t, env, "xcsh.prompt", args{"text": "hello"})
	image := []any{map[string]any{"data": "aGk=", "mimeType": "image/png"}}
	for name, tc := range map[string]struct {
		command string
		args    args
		text    string
	}{
		"image":    {"xcsh.prompt", args{"text": "look", "images": image}, "pi takes no images."},
		"steer":    {"xcsh.steer", nil, "pi cannot be steered. Wait, or stop it first."},
		"behavior": {"xcsh.prompt", args{"text": "x", "streamingBehavior": "steer"}, "pi cannot be steered. Wait, or stop it first."},
		"branch":   {"xcsh.branch", nil, "pi cannot go back. Fork the session instead."},
		"compact":  {"xcsh.compact", nil, "pi does not compact a conversation on request."},
		"model":    {"xcsh.setModel", nil, "pi chooses its model itself."},
		"thinking": {"xcsh.setThinking", nil, "pi chooses its model itself."},
	} {
		_, err := run(t.Context(), env, tc.command, tc.args)
		requireKind(t, fault.Denied, err)
		require.EqualError(t, err, tc.text, name)
	}
}

// A refusal for want of a login, and a program that cannot be started, come with the ways to continue.
func TestAPromptThatAnEngineRefuses(t *testing.T) {
	t.Parallel()
	for class, want := range map[string][]string{"login": {"xcsh.login"}, "engine": {"xcsh.setEngine", "xcsh.setEngine"}} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			env, _ := playing(t, allCan, func(p *playedengine.Program) {
				p.Opens = func(*playedengine.Program) error {
					return fault.New(fault.Provider, "No API key found for the selected model.").With("class", class)
				}
			})
			do(t, env, "xcsh.setEngine", args{"engine": "pi"})
			_, err := run(t.Context(), env, "xcsh.prompt", args{"text": "hello"})
			f := requireKind(t, fault.Provider, err)
			actions, ok := f.Data["actions"].([]event.Action)
			require.True(t, ok)
			var got []string
			for _, a := range actions {
				got = append(got, a.Command)
			}
			require.Equal(t, want, got)
		})
	}
}

// slotted is a session that omp wrote: its first line is a title, which pi cannot read.
func slotted(t *testing.T, env *commands.Env) string {
	t.Helper()
	path := "/home/u/.omp/agent/sessions/--w--/2026-01-01T00-00-00-000Z_" + id1 + ".jsonl"
	lines := talk(id1)
	title := `{"type":"title","v":1,"title":"T","updatedAt":"2026-01-01T00:00:00.000Z","pad":""}`
	write(t, env.Fs, path, append([]string{title}, lines...)...)
	return path
}

// A session that the engine cannot continue in its file is continued in a copy, when the user says so; the original stays.
func TestASessionOfAnotherForm(t *testing.T) {
	t.Parallel()
	const question = "pi cannot continue this session in its file."
	for _, ask := range []string{"chosen", "asked", "declined", "asked by the prompt", "nobody to ask"} {
		t.Run(ask, func(t *testing.T) {
			t.Parallel()
			env, _ := playing(t, allCan, nil)
			path := slotted(t, env)
			before := read(t, env.Fs, path)
			who := &respondent{answers: []string{"Fork into a pi session"}}
			env.UI = who
			if ask == "asked by the prompt" {
				do(t, env, "xcsh.setEngine", args{"engine": "pi"})
			}
			do(t, env, "xcsh.resume", args{"target": path, "onOtherProject": "open"})
			switch ask {
			case "chosen":
				do(t, env, "xcsh.setEngine", args{"engine": "pi", "fork": true})
				require.Empty(t, who.asked)
			case "asked":
				do(t, env, "xcsh.setEngine", args{"engine": "pi"})
				require.Len(t, who.asked, 1)
				require.Contains(t, who.asked[0].Text, question)
				require.Equal(t, []string{"Fork into a pi session", "Cancel"}, who.asked[0].Choices)
			case "declined":
				who.answers = []string{"Cancel"}
				_, err := run(t.Context(), env, "xcsh.setEngine", args{"engine": "pi"})
				requireKind(t, fault.Cancelled, err)
				require.Equal(t, "own", do(t, env, "xcsh.engines", nil)["current"])
				return
			case "nobody to ask":
				env.UI = commands.Headless{}
				_, err := run(t.Context(), env, "xcsh.setEngine", args{"engine": "pi"})
				f := requireKind(t, fault.ArgumentNeeded, err)
				require.Contains(t, f.Message, question)
				require.Equal(t, "fork", f.Data["field"])
				return
			}
			require.Equal(t, "stop", do(t, env, "xcsh.prompt", args{"text": "three"})["stopReason"])
			require.Equal(t, before, read(t, env.Fs, path))
			text, ok := do(t, env, "xcsh.dump", nil)["text"].(string)
			require.True(t, ok)
			for _, part := range []string{"one", "two", "three", "ok"} {
				require.Contains(t, text, part)
			}
			file, ok := do(t, env, "xcsh.state", nil)["file"].(string)
			require.True(t, ok)
			require.Contains(t, file, "/home/u/.pi/agent/sessions/")
		})
	}
}
