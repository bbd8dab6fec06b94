package main_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	events "github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/playedengine"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// playedMachine is a machine on which pi is installed if the conversation has a directory of its sessions.
type playedMachine struct {
	t        testing.TB
	fs       afero.Fs
	made     atomic.Int64 // engines
	answered atomic.Bool  // the question of the first use
}

// playedEngines returns the engines of a conversation.
func playedEngines(t testing.TB, fs afero.Fs, s lsp.Settings) agent.Engines {
	t.Helper()
	for _, root := range s.Roots {
		if strings.Contains(root, ".pi") {
			return agent.Engines{Programs: &playedMachine{t: t, fs: fs}}
		}
	}
	return agent.Engines{}
}

var playedPi = engine.Program{Name: "pi", Path: "/usr/bin/pi", Version: "1.5.2", Protocol: engine.PiRPC, Login: []string{"/usr/bin/pi"}}

func (m *playedMachine) List(context.Context, []string) []engine.Program {
	return []engine.Program{playedPi, {Name: "omp"}}
}

func (m *playedMachine) Find(_ context.Context, name string, _ []string) (engine.Program, error) {
	if name != playedPi.Name {
		return engine.Program{}, fault.New(fault.NotFound, "%s is not installed.", name)
	}
	return playedPi, nil
}

func (m *playedMachine) Default() string { return "" }
func (m *playedMachine) Offered() bool   { return m.answered.Load() }

func (m *playedMachine) Remember(string) error {
	m.answered.Store(true)
	return nil
}

func (m *playedMachine) Engine(engine.Program) (engine.Engine, error) {
	p := playedengine.New(m.t, m.fs, int(m.made.Add(1)))
	p.Runs = playPrompt
	return playedCommands{p}, nil
}

// playPrompt answers a prompt. Its first word decides how.
func playPrompt(ctx context.Context, p *playedengine.Program, in engine.Input) loop.Outcome {
	answer := "ok"
	switch word, rest, _ := strings.Cut(in.Text, " "); word {
	case "choose":
		a := p.Host.Ask(ctx, events.Question{Method: "select", Title: "Which?", Options: strings.Fields(rest)})
		answer = "You chose " + a.Value + "."
	case "warn":
		p.Host.Emit(events.Notice{Text: rest, Level: events.Warning})
	case "status":
		p.Host.Emit(events.EngineStatus{Key: "weather", Lines: []string{rest}})
		p.Host.Emit(events.EngineStatus{Key: "weather"})
		p.Host.Emit(events.Prefill{Text: "say more"})
	case "login":
		return loop.Outcome{StopReason: provider.StopError, Err: fault.New(fault.Provider, "No API key found for the selected model.").With("class", "login")}
	}
	p.Say(ctx, playedengine.UserMessage(in.Text))
	p.Say(ctx, playedengine.AnswerMessage(answer))
	return loop.Outcome{StopReason: provider.StopEnd}
}

type playedCommands struct{ *playedengine.Program }

func (playedCommands) Commands(context.Context) ([]engine.Command, error) {
	return []engine.Command{{Name: "review", Description: "Review the changes", Source: "prompt"}}, nil
}

func (playedCommands) Models(context.Context) ([]provider.Info, error) {
	return []provider.Info{{Model: provider.Model{Provider: "mock", ID: "large", Name: "Large"}, Available: true}}, nil
}

// A client with its own interface gets questions as events, has them in the snapshot, and answers with a command.
func TestAnInterfaceAnswersTheQuestionsOfAnEngine(t *testing.T) {
	t.Parallel()
	ed := lsptest.Start(t, memoryServer(t, afero.NewMemMapFs()))
	ed.Initialize(lsptest.Fields{
		"workspaceFolders":      []lsptest.Fields{{"uri": lsptest.URI("/w"), "name": "w"}},
		"initializationOptions": lsptest.Fields{"roots": []string{"/home/u/.pi/agent"}, "ui": lsptest.Fields{"hooks": true, "pick": true}},
	})
	do(t, ed, "xcsh.setEngine", lsptest.Fields{"engine": "pi"})
	_, err := ed.Exec("xcsh.setEngine", nil)
	require.JSONEq(t, `{"kind":"argumentNeeded","input":"engine","field":"engine","choices":["own","pi"]}`, string(err.Data))

	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "choose red green"})
	ed.WaitEvent("question_asked")
	var snapshot struct{ Questions []events.Question }
	require.NoError(t, json.Unmarshal(do(t, ed, "xcsh.snapshot", nil), &snapshot))
	require.Equal(t, []events.Question{{ID: "q1", Method: "select", Title: "Which?", Options: []string{"red", "green"}}}, snapshot.Questions)
	_, err = ed.Exec("xcsh.answer", lsptest.Fields{"id": "q1", "value": "blue"})
	require.Equal(t, "invalidArgument", err.Kind())
	require.JSONEq(t, `{}`, string(do(t, ed, "xcsh.answer", lsptest.Fields{"id": "q1", "value": "red"})))
	_, err = prompt.Wait()
	require.Nil(t, err)
	require.Contains(t, string(do(t, ed, "xcsh.dump", nil)), "You chose red.")
	_, err = ed.Exec("xcsh.answer", lsptest.Fields{"id": "q1", "value": "red"})
	require.Equal(t, "notFound", err.Kind())
}
