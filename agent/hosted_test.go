package agent_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/playedengine"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

const piRoot = "/home/u/.pi/agent"

// catalog has one program, pi, that the test plays.
type catalog struct {
	t       *testing.T
	fs      afero.Fs
	chosen  string
	prepare func(p *playedengine.Program) // nil changes nothing

	mu       sync.Mutex
	programs []*playedengine.Program // guarded by mu
}

var pi = engine.Program{Name: "pi", Path: "/bin/pi", Version: "1.5.2", Protocol: engine.PiRPC}

func (c *catalog) List(context.Context, []string) []engine.Program { return []engine.Program{pi} }

func (c *catalog) Find(_ context.Context, name string, _ []string) (engine.Program, error) {
	if name != "pi" {
		return engine.Program{}, fault.New(fault.NotFound, "%s is not installed.", name)
	}
	return pi, nil
}

func (c *catalog) Default() string       { return c.chosen }
func (c *catalog) Offered() bool         { return true }
func (c *catalog) Remember(string) error { return nil }

func (c *catalog) Engine(engine.Program) (engine.Engine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := playedengine.New(c.t, c.fs, len(c.programs)+1)
	if c.prepare != nil {
		c.prepare(p)
	}
	c.programs = append(c.programs, p)
	return p, nil
}

func (c *catalog) started() []*playedengine.Program {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*playedengine.Program(nil), c.programs...)
}

// hostedWorld is a world with pi, whose sessions are a root of their own.
func hostedWorld(t *testing.T, options ...option) (*world, *catalog) {
	t.Helper()
	fs := afero.NewMemMapFs()
	c := &catalog{t: t, fs: fs, chosen: "pi"}
	w := newWorld(t, fs, append([]option{func(cfg *agent.Config) {
		finder := cfg.Finder
		finder.Roots = append(finder.Roots, library.Root{Places: library.AgentPlaces(piRoot), Dialect: session.Pi})
		cfg.Finder = finder
		cfg.Store = session.NewStore(session.StoreConfig{Fs: fs, Now: finder.Now, DirFor: finder.DirFor, RootFor: finder.FileRoot, LockDir: "/locks"})
		cfg.Programs, cfg.Workspace = c, tool.Local{Fs: fs}
	}}, options...)...)
	t.Cleanup(func() { require.NoError(t, w.Close(context.Background())) })
	return w, c
}

func say(t *testing.T, s *agent.Session, text string) agent.Turn {
	t.Helper()
	turn, err := s.Prompt(t.Context(), agent.Input{Text: text})
	require.NoError(t, err)
	return turn
}

func runEvents[E event.Event](w *world) (all []E) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if run, ok := e.(agent.RunEvent); ok {
			if e, ok := run.Event.(E); ok {
				all = append(all, e)
			}
		}
	}
	return all
}

func TestTheUsersProgramAnswersInANewSession(t *testing.T) {
	t.Parallel()
	w, c := hostedWorld(t)
	s := w.live(t, "/w")
	before := state(t, s)
	assert.Equal(t, "pi", before.Engine.Name)
	assert.Equal(t, engine.Known, before.Engine.State)
	assert.Nil(t, before.File, "the program chooses the name")
	assert.Empty(t, c.started(), "looking at a session starts nothing")
	turn := say(t, s, "hello")
	assert.Equal(t, provider.StopEnd, turn.StopReason)
	after := state(t, s)
	assert.Equal(t, before.SessionID, after.SessionID)
	require.NotNil(t, after.File)
	assert.True(t, strings.HasPrefix(*after.File, piRoot+"/sessions/--w--/"), *after.File)
	assert.Equal(t, 2, after.MessageCount)
	assert.Equal(t, engine.Ready, after.Engine.State)
	assert.Equal(t, "1.5.2", after.Engine.Version)
	require.NotNil(t, after.Model)
	ends := runEvents[event.MessageEnd](w)
	require.Len(t, ends, 2)
	assert.Equal(t, *after.LeafID, ends[1].EntryID)
	assert.Len(t, runEvents[event.AgentStart](w), 1)
	require.Len(t, runEvents[event.AgentEnd](w), 1)
	assert.Empty(t, runEvents[event.AgentEnd](w)[0].Unanswered)
}

func TestAnotherSessionEndsTheProgramOfTheFirst(t *testing.T) {
	t.Parallel()
	w, c := hostedWorld(t)
	s := w.live(t, "/w")
	say(t, s, "one")
	first := s.File()
	_, err := s.New(t.Context(), session.NewOptions{})
	require.NoError(t, err)
	<-c.started()[0].Done()
	say(t, s, "two")
	require.Len(t, c.started(), 2)
	assert.NotEqual(t, first, s.File())
	_, err = s.Switch(t.Context(), first)
	require.NoError(t, err)
	say(t, s, "three")
	assert.Equal(t, first, c.started()[2].At.File)
	assert.Len(t, lines(t, w.fs, s), 5)
	_, _, err = s.ForkAt(t.Context(), *state(t, s).LeafID, session.AtIt)
	require.NoError(t, err)
	assert.Equal(t, "pi", s.Engine().Name)
	say(t, s, "four")
	assert.Len(t, c.started(), 4)
}

func TestWritingOurselvesEndsTheProgram(t *testing.T) {
	t.Parallel()
	w, c := hostedWorld(t)
	s := w.live(t, "/w")
	say(t, s, "one")
	_, err := s.Describe(t.Context(), "what it is about")
	require.NoError(t, err)
	<-c.started()[0].Done()
	assert.Equal(t, engine.Known, s.Engine().State)
	say(t, s, "two")
	assert.Len(t, c.started(), 2)
	require.NoError(t, w.CloseFolder(t.Context(), "/w"))
	<-c.started()[1].Done()
}

func TestEnginesTakeTurnsOnOneFile(t *testing.T) {
	t.Parallel()
	w, c := hostedWorld(t, func(cfg *agent.Config) { cfg.Models = nil })
	s := w.live(t, "/w")
	say(t, s, "one")
	status, err := s.SetEngine(t.Context(), engine.Own)
	require.NoError(t, err)
	assert.Equal(t, engine.Own, status.Name)
	<-c.started()[0].Done()
	_, err = s.Prompt(t.Context(), agent.Input{Text: "no model"})
	require.ErrorContains(t, err, "Choose a model to start.")
	_, err = s.Label(t.Context(), *state(t, s).LeafID, "ours")
	require.NoError(t, err, "the file is ours")
	_, err = s.SetEngine(t.Context(), "pi")
	require.NoError(t, err)
	say(t, s, "two")
	assert.Len(t, lines(t, w.fs, s), 6)
	require.NoError(t, s.View(func(d *session.Document, at session.Leaf) error {
		assert.Len(t, d.PathTo(at), 5, "it continues behind our entry")
		return nil
	}))
	_, err = s.SetEngine(t.Context(), "nope")
	require.True(t, fault.Is(err, fault.NotFound), err)
	assert.Equal(t, "pi", s.Engine().Name)
}

func TestAPromptThatCouldNotBeSentComesBack(t *testing.T) {
	t.Parallel()
	w, c := hostedWorld(t)
	c.prepare = func(p *playedengine.Program) {
		p.Opens = func(*playedengine.Program) error {
			return fault.New(fault.Provider, "pi needs Node 22.").With("class", "engine")
		}
	}
	s := w.live(t, "/w")
	_, err := s.Prompt(t.Context(), agent.Input{Text: "hello"})
	require.EqualError(t, err, "pi needs Node 22.")
	require.True(t, fault.Is(err, fault.Provider))
	end := runEvents[event.AgentEnd](w)
	require.Len(t, end, 1)
	assert.Equal(t, []string{"hello"}, end[0].Unanswered)
	assert.Equal(t, "pi needs Node 22.", end[0].ErrorMessage)
	exists, err := afero.DirExists(w.fs, piRoot)
	require.NoError(t, err)
	assert.False(t, exists, "nothing was written")
}

func TestSteeringAndAbortingAProgram(t *testing.T) {
	t.Parallel()
	w, c := hostedWorld(t)
	running, queued := make(chan struct{}), make(chan engine.Input, 1)
	c.prepare = func(p *playedengine.Program) {
		p.Queues = func(when loop.When, in engine.Input) error {
			assert.Equal(t, loop.Steering, when)
			p.Host.Queued([]string{in.Text}, nil)
			queued <- in
			return nil
		}
		p.Runs = func(ctx context.Context, p *playedengine.Program, in engine.Input) loop.Outcome {
			p.Say(ctx, playedengine.UserMessage(in.Text))
			close(running)
			<-ctx.Done()
			back := provider.Message{Role: provider.RoleUser, Content: []provider.Block{provider.Text("faster")}}
			return loop.Outcome{StopReason: provider.StopAborted, Unanswered: []provider.Message{back}}
		}
	}
	s := w.live(t, "/w")
	done := make(chan agent.Turn, 1)
	go func() {
		turn, err := s.Prompt(context.Background(), agent.Input{Text: "slow"})
		assert.NoError(t, err)
		done <- turn
	}()
	<-running
	assert.Equal(t, engine.Running, s.Engine().State)
	_, err := s.SetEngine(t.Context(), engine.Own)
	require.True(t, fault.Is(err, fault.Busy), err)
	turn, err := s.Prompt(t.Context(), agent.Input{Text: "faster", Queue: "steer"})
	require.NoError(t, err)
	assert.True(t, turn.Queued)
	assert.Equal(t, "faster", (<-queued).Text)
	assert.Equal(t, 1, state(t, s).Queued.Steering)
	aborted, unanswered, err := s.Abort(t.Context())
	require.NoError(t, err)
	assert.True(t, aborted)
	assert.Equal(t, []string{"faster"}, unanswered)
	assert.Equal(t, provider.StopAborted, (<-done).StopReason)
	assert.Zero(t, state(t, s).Queued.Steering)
}

// Proves: EF-28
func TestQuestionsOfExtensions(t *testing.T) {
	t.Parallel()
	w, c := hostedWorld(t)
	answers := make(chan engine.Answer, 2)
	asked := make(chan struct{})
	c.prepare = func(p *playedengine.Program) {
		p.Runs = func(ctx context.Context, p *playedengine.Program, _ engine.Input) loop.Outcome {
			go func() {
				answers <- p.Host.Ask(ctx, event.Question{Method: "select", Title: "Which\u202e?", Options: []string{"a", "b"}})
				close(asked)
			}()
			answers <- p.Host.Ask(ctx, event.Question{Method: "confirm", Title: "Sure?"})
			<-asked
			return loop.Outcome{StopReason: provider.StopEnd}
		}
	}
	seen := make(chan event.Question, 2)
	cancel := w.Subscribe(func(e agent.Event) {
		if run, ok := e.(agent.RunEvent); ok {
			if q, ok := run.Event.(event.QuestionAsked); ok {
				seen <- q.Question
			}
		}
	})
	defer cancel()
	s := w.live(t, "/w")
	go func() {
		_, err := s.Prompt(context.Background(), agent.Input{Text: "ask"})
		assert.NoError(t, err)
		close(answers)
	}()
	for range 2 {
		q := <-seen
		if q.Method == "confirm" {
			require.NoError(t, s.Answer(q.ID, engine.Answer{Confirmed: true}))
			continue
		}
		assert.NotContains(t, q.Title, "\u202e")
		require.True(t, fault.Is(s.Answer(q.ID, engine.Answer{Value: "c"}), fault.InvalidArgument))
		require.NoError(t, s.Answer(q.ID, engine.Answer{Value: "b"}))
		require.True(t, fault.Is(s.Answer(q.ID, engine.Answer{Value: "b"}), fault.NotFound))
	}
	var got []engine.Answer
	for a := range answers {
		got = append(got, a)
	}
	assert.ElementsMatch(t, []engine.Answer{{Confirmed: true}, {Value: "b"}}, got)
	assert.Empty(t, s.Questions())
	assert.Len(t, runEvents[event.QuestionGone](w), 2)
}

// Proves: EF-32
func TestTheSessionFollowsAProgramThatLeaves(t *testing.T) {
	t.Parallel()
	w, c := hostedWorld(t)
	other := put(t, w.fs, "other", "0123456789abcdef", "/w")
	c.prepare = func(p *playedengine.Program) {
		p.Runs = func(context.Context, *playedengine.Program, engine.Input) loop.Outcome {
			p.Host.Left(other)
			return loop.Outcome{StopReason: provider.StopEnd}
		}
	}
	changed := make(chan agent.SessionChanged, 4)
	s := w.live(t, "/w")
	cancel := w.Subscribe(func(e agent.Event) {
		if e, ok := e.(agent.SessionChanged); ok {
			changed <- e
		}
	})
	defer cancel()
	say(t, s, "/other")
	assert.Equal(t, agent.ReasonResume, (<-changed).Reason)
	assert.Equal(t, other, s.File())
}
