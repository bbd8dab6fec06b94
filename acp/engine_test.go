package acp_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/acp"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/playedengine"
)

// machine is a machine on which pi is installed.
type machine struct{ engine func() engine.Engine }

var pi = engine.Program{Name: "pi", Path: "/usr/bin/pi", Version: "1.5.2", Protocol: engine.PiRPC}

func (m *machine) List(context.Context, []string) []engine.Program { return []engine.Program{pi} }

func (m *machine) Find(_ context.Context, name string, _ []string) (engine.Program, error) {
	if name != pi.Name {
		return engine.Program{}, fault.New(fault.NotFound, "%s is not installed.", name)
	}
	return pi, nil
}

func (m *machine) Default() string                              { return "" }
func (m *machine) Offered() bool                                { return true }
func (m *machine) Remember(string) error                        { return nil }
func (m *machine) Engine(engine.Program) (engine.Engine, error) { return m.engine(), nil }

// played is a program with models and commands.
type played struct{ *playedengine.Program }

func (played) Models(context.Context) ([]provider.Info, error) {
	return []provider.Info{{Model: provider.Model{Provider: "mock", ID: "large", Name: "Large"}, Available: true}}, nil
}

func (played) Commands(context.Context) ([]engine.Command, error) {
	return []engine.Command{
		{Name: "review", Description: "Review\nthe changes"},
		{Name: "compact", Description: "is theirs"},
		{Name: "two words"},
		{Name: "odd\x1b[2J"},
		{Name: ""},
	}, nil
}

func withEngine(o *acp.Options) { o.Engine = "pi" }

// playing returns a client of a server in which pi answers, played by what makes prepares.
func playing(t *testing.T, makes func(p *playedengine.Program)) *client {
	t.Helper()
	w := newWorld(t)
	w.model = "" // as for a user whose models are those of the program
	w.programs = &machine{engine: func() engine.Engine {
		p := playedengine.New(t, w.fs, 1)
		if makes != nil {
			makes(p)
		}
		return played{p}
	}}
	c := w.start(t, withEngine)
	c.ok("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
	return c
}

// A client gets the commands and the models of the engine once it runs, after the session is known, and its answers.
func TestAnEngineAnswersAClient(t *testing.T) {
	t.Parallel()
	c := playing(t, nil)
	id := c.open()
	u := c.awaitUpdate(id, "the commands of the engine", func(u update) bool {
		return u.Kind == "available_commands_update" && len(u.Commands) > len(commands.Slashes())
	})
	require.Len(t, u.Commands, len(commands.Slashes())+1, "ours, and two of the engine's, of which one replaces ours")
	require.Equal(t, object{"name": "review", "description": "Review the changes", "input": object{"hint": "arguments"}}, u.Commands[len(u.Commands)-2])
	require.Equal(t, object{"name": "compact", "description": "is theirs", "input": object{"hint": "arguments"}}, u.Commands[len(u.Commands)-1])
	c.awaitUpdate(id, "the models of the engine", func(u update) bool {
		return u.Kind == "config_option_update" && u.Options[1]["currentValue"] == "mock/large"
	})
	require.Equal(t, "end_turn", c.prompt(id, "/review this"))
	require.Equal(t, "end_turn", c.prompt(id, "hello"))
}

// The MCP servers of a client are those of the engine's session, whether it is new or continued.
func TestAnEngineGetsTheServersOfTheClient(t *testing.T) {
	t.Parallel()
	servers := []any{object{"name": "m", "command": "/bin/m", "args": []any{}, "env": []any{}}}
	want, err := json.Marshal(servers[0])
	require.NoError(t, err)
	places := make(chan engine.Place, 2)
	c := playing(t, func(p *playedengine.Program) {
		p.Opens = func(p *playedengine.Program) error {
			places <- p.At
			return nil
		}
	})
	id, _ := c.ok("session/new", object{"cwd": "/w", "mcpServers": servers})["sessionId"].(string)
	require.Equal(t, "end_turn", c.prompt(id, "hello"))
	c.ok("session/close", object{"sessionId": id})
	c.ok("session/resume", object{"sessionId": id, "cwd": "/w", "mcpServers": servers})
	require.Equal(t, "end_turn", c.prompt(id, "hello"))
	for range 2 {
		at := <-places
		require.Len(t, at.MCPServers, 1)
		require.JSONEq(t, string(want), string(at.MCPServers[0]))
	}
}

func TestAnUnknownEngine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.programs = &machine{}
	c := w.start(t, func(o *acp.Options) { o.Engine = "none" })
	c.ok("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
	c.refused("session/new", object{"cwd": "/w", "mcpServers": []any{}}, -32002, "none is not installed.")
}

// A program without a login is a client's reason to ask for one.
// Proves: EF-10
func TestAnEngineWithoutALogin(t *testing.T) {
	t.Parallel()
	c := playing(t, func(p *playedengine.Program) {
		p.Runs = func(context.Context, *playedengine.Program, engine.Input) loop.Outcome {
			return loop.Outcome{StopReason: provider.StopError, Err: fault.New(fault.Provider, "No API key found.").With("class", "login")}
		}
	})
	id := c.open()
	m := c.answered(c.say(id, text("hello")))
	require.NotNil(t, m.Error, m.line)
	require.Equal(t, -32000, m.Error.Code, m.line)
}

// The questions of extensions with few answers are requests for permission; others are cancelled, so that the extension goes on.
func TestAnExtensionAsksAClient(t *testing.T) {
	t.Parallel()
	selected := func(id string) any { return object{"outcome": object{"outcome": "selected", "optionId": id}} }
	many := make([]string, 51)
	for name, tc := range map[string]struct {
		question event.Question
		answer   any
		names    []string
		want     engine.Answer
	}{
		"select":    {event.Question{Method: "select", Title: "Which?", Options: []string{"a", "b\nc"}}, selected("1"), []string{"a", "b c", "Cancel"}, engine.Answer{Value: "b\nc"}},
		"cancel":    {event.Question{Method: "select", Title: "Which?", Options: []string{"a"}}, selected("1"), []string{"a", "Cancel"}, engine.Answer{Cancelled: true}},
		"closed":    {event.Question{Method: "select", Title: "Which?", Options: []string{"a"}}, object{"outcome": object{"outcome": "cancelled"}}, []string{"a", "Cancel"}, engine.Answer{Cancelled: true}},
		"beyond":    {event.Question{Method: "select", Title: "Which?", Options: []string{"a"}}, selected("7"), []string{"a", "Cancel"}, engine.Answer{Cancelled: true}},
		"negative":  {event.Question{Method: "select", Title: "Which?", Options: []string{"a"}}, selected("-1"), []string{"a", "Cancel"}, engine.Answer{Cancelled: true}},
		"no number": {event.Question{Method: "select", Title: "Which?", Options: []string{"a"}}, selected("a"), []string{"a", "Cancel"}, engine.Answer{Cancelled: true}},
		"yes":       {event.Question{Method: "confirm", Title: "Go?", Message: "Really."}, selected("0"), []string{"Yes", "No"}, engine.Answer{Confirmed: true}},
		"no":        {event.Question{Method: "confirm", Title: "Go?"}, selected("1"), []string{"Yes", "No"}, engine.Answer{}},
		"a text":    {event.Question{Method: "input", Title: "Name?"}, nil, nil, engine.Answer{Cancelled: true}},
		"a file":    {event.Question{Method: "editor", Title: "Text?"}, nil, nil, engine.Answer{Cancelled: true}},
		"too many":  {event.Question{Method: "select", Title: "Which?", Options: many}, nil, nil, engine.Answer{Cancelled: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := make(chan engine.Answer, 1)
			c := playing(t, func(p *playedengine.Program) {
				p.Runs = func(ctx context.Context, p *playedengine.Program, in engine.Input) loop.Outcome {
					answers <- p.Host.Ask(ctx, tc.question)
					p.Say(ctx, playedengine.UserMessage(in.Text))
					p.Say(ctx, playedengine.AnswerMessage("done"))
					return loop.Outcome{StopReason: provider.StopEnd}
				}
			})
			asked := make(chan json.RawMessage, 1)
			c.on("session/request_permission", func(p json.RawMessage) (any, *wireError) {
				asked <- p
				return tc.answer, nil
			})
			id := c.open()
			require.Equal(t, "end_turn", c.prompt(id, "hello"))
			require.Equal(t, tc.want, <-answers)
			if tc.names == nil {
				require.Empty(t, asked)
				return
			}
			var p struct {
				SessionID string
				ToolCall  struct{ ToolCallID, Title string }
				Options   []struct{ OptionID, Name, Kind string }
			}
			require.NoError(t, json.Unmarshal(<-asked, &p))
			require.Equal(t, id, p.SessionID)
			require.Equal(t, tc.question.Title, p.ToolCall.Title)
			var names []string
			for _, o := range p.Options {
				names = append(names, o.Name)
			}
			require.Equal(t, tc.names, names)
			c.awaitUpdate(id, "the end of the question", func(u update) bool {
				return u.CallID == p.ToolCall.ToolCallID && (u.Status == "completed" || u.Status == "failed")
			})
		})
	}
}

// A question ends with the run that asked it.
func TestAQuestionOfAnExtensionIsWithdrawn(t *testing.T) {
	t.Parallel()
	answers := make(chan engine.Answer, 1)
	c := playing(t, func(p *playedengine.Program) {
		p.Runs = func(ctx context.Context, p *playedengine.Program, _ engine.Input) loop.Outcome {
			answers <- p.Host.Ask(ctx, event.Question{Method: "confirm", Title: "Go?"})
			return loop.Outcome{StopReason: provider.StopAborted}
		}
	})
	c.on("session/request_permission", func(json.RawMessage) (any, *wireError) { return nil, nil })
	id := c.open()
	running := c.say(id, text("hello"))
	question := c.wait("the question", func(m message) bool { return m.Method == "session/request_permission" })
	c.notify("session/cancel", object{"sessionId": id})
	require.Equal(t, "cancelled", stopOf(t, c.answered(running)))
	require.Equal(t, engine.Answer{Cancelled: true}, <-answers)
	c.wait("the withdrawal", func(m message) bool {
		var p struct{ RequestID json.RawMessage }
		return m.Method == "$/cancel_request" && json.Unmarshal(m.Params, &p) == nil && string(p.RequestID) == string(question.ID)
	})
}

// A program that ends is reported, with its last words.
func TestAnEngineThatEnds(t *testing.T) {
	t.Parallel()
	c := playing(t, func(p *playedengine.Program) {
		p.Runs = func(_ context.Context, p *playedengine.Program, _ engine.Input) loop.Outcome {
			p.Crash()
			return loop.Outcome{StopReason: provider.StopError, Err: p.Err()}
		}
	})
	id := c.open()
	m := c.answered(c.say(id, text("hello")))
	require.NotNil(t, m.Error, m.line)
	require.Contains(t, m.Error.Message, "pi was killed.")
	c.wait("the last words", func(m message) bool {
		u, ok := updateIn(m, id)
		return ok && words([]update{u}, "agent_message_chunk") == "pi was killed.\n\nlast words\n\n"
	})
}
