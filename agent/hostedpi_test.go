package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
	pirpc "github.com/xcsh-ls/xcsh-ls/agent/engine/pi"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// processes is a catalog whose pi is a process that behaves like the real one.
type processes struct {
	catalog
	program engine.Program
}

func (c *processes) Find(context.Context, string, []string) (engine.Program, error) {
	return c.program, nil
}

func (c *processes) Engine(p engine.Program) (engine.Engine, error) {
	return pirpc.New(p, pirpc.Options{}), nil
}

// piWorld is a world on disk, where the double of pi answers. It returns the folder.
func piWorld(t *testing.T, mode approval.Mode, faults ...string) (w *world, cwd string) {
	t.Helper()
	double := enginetest.Pi(t, faults...)
	return processWorld(t, mode, session.Pi, engine.Program{Name: "pi", Path: double.Path, Args: double.Args, Env: double.Env, Protocol: engine.PiRPC})
}

// processWorld is a world on disk, where a program with a form of its own answers.
func processWorld(t *testing.T, mode approval.Mode, form session.Dialect, p engine.Program) (w *world, cwd string) {
	t.Helper()
	w, cwd, _ = processWorldOf(t, mode, form, p)
	return w, cwd
}

// processWorldOf is processWorld with a program that the test can change.
func processWorldOf(t *testing.T, mode approval.Mode, form session.Dialect, p engine.Program, options ...option) (w *world, cwd string, c *processes) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	cwd = filepath.Join(dir, "work")
	require.NoError(t, os.MkdirAll(cwd, 0o700))
	c = &processes{catalog{chosen: p.Name}, p}
	fs := afero.NewOsFs()
	w = newWorld(t, fs, append(options, func(cfg *agent.Config) {
		finder := library.Finder{
			Fs: fs, Home: dir, Temp: dir, Now: cfg.Finder.Now,
			Roots: []library.Root{
				library.OwnRoot(library.AgentPlaces(filepath.Join(dir, "own"))),
			},
		}
		if form != session.Xcsh { // that is the form of our own root
			finder.Roots = append(finder.Roots, library.Root{Places: library.AgentPlaces(filepath.Join(dir, "other")), Dialect: form})
		}
		cfg.Finder = finder
		cfg.Store = session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot, LockDir: filepath.Join(dir, "locks")})
		cfg.Programs, cfg.Workspace, cfg.Approval = c, tool.Local{Fs: fs}, mode
		cfg.Sensitive = func(path string) bool { return strings.HasSuffix(path, ".pem") }
	})...)
	t.Cleanup(func() { require.NoError(t, w.Close(context.Background())) })
	return w, cwd, c
}

func TestAProcessAnswers(t *testing.T) {
	t.Parallel()
	w, cwd := piWorld(t, approval.Yolo)
	s := w.live(t, cwd)
	turn := say(t, s, `[[think]] [[tool:write {"path":"a.txt","content":"one\n"}]] [[tool:bash {"command":"cat a.txt"}]] [[say:Done.]]`)
	assert.Equal(t, provider.StopEnd, turn.StopReason)
	content, err := os.ReadFile(filepath.Join(cwd, "a.txt"))
	require.NoError(t, err)
	assert.Equal(t, "one\n", string(content))
	ends := runEvents[event.MessageEnd](w)
	require.Len(t, ends, 6, "the prompt, three answers and two results")
	require.NoError(t, s.View(func(d *session.Document, at session.Leaf) error {
		for _, end := range ends {
			_, err := d.Index(end.EntryID)
			require.NoError(t, err)
		}
		assert.Empty(t, d.Problems())
		return nil
	}))
	assert.Empty(t, runEvents[event.NotSaved](w))
	assert.Empty(t, runEvents[event.Notice](w))
}

func TestAProcessAsksBeforeItChangesSomething(t *testing.T) {
	t.Parallel()
	w, cwd := piWorld(t, approval.Ask)
	path := filepath.Join(cwd, "a.txt")
	require.NoError(t, os.WriteFile(path, []byte("one\ntwo\n"), 0o600))
	s := w.live(t, cwd)
	var diffs []string
	cancel := w.Subscribe(func(e agent.Event) {
		run, ok := e.(agent.RunEvent)
		if _, changed := run.Event.(event.ApprovalsChanged); !ok || !changed {
			return
		}
		go func() {
			snap, err := s.Snapshot(context.Background())
			if err != nil || len(snap.Approvals) == 0 {
				return
			}
			p := snap.Approvals[0]
			if p.Tool == "bash" {
				_ = s.Deny(p.ID, "not today")
				return
			}
			diffs = append(diffs, p.Preview.Diff)
			_ = s.Approve(p.ID, approval.Once)
		}()
	})
	defer cancel()
	say(t, s, `[[tool:edit {"path":"a.txt","edits":[{"oldText":"two","newText":"three"}]}]] [[tool:bash {"command":"rm a.txt"}]] [[say:Done.]]`)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "one\nthree\n", string(content))
	require.Len(t, diffs, 1)
	assert.Contains(t, diffs[0], "+three")
	var results []string
	for _, end := range runEvents[event.ToolEnd](w) {
		results = append(results, string(end.Result))
	}
	require.Len(t, results, 2)
	assert.Contains(t, results[1], "not today")
}

// Proves: EF-18
func TestAProcessThatIsKilledLosesNothing(t *testing.T) {
	t.Parallel()
	w, cwd := piWorld(t, approval.Yolo)
	s := w.live(t, cwd)
	say(t, s, "[[say:one]]")
	_, err := s.Prompt(t.Context(), agent.Input{Text: "[[fault:crash]] [[say:two]]"})
	require.Error(t, err)
	assert.Equal(t, engine.Failed, s.Engine().State)
	say(t, s, "[[say:three]]")
	raw, err := os.ReadFile(s.File())
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(raw), `"type":"session"`))
	require.NoError(t, s.View(func(d *session.Document, _ session.Leaf) error {
		assert.Empty(t, d.Problems())
		return nil
	}))
}

// The user sees that a program failed before its run is over, and can start it again at once.
func TestAFailedProgramIsStartedAgainAtOnce(t *testing.T) {
	t.Parallel()
	w, cwd := piWorld(t, approval.Yolo)
	s := w.live(t, cwd)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, err := s.Prompt(t.Context(), agent.Input{Text: "[[fault:crash]] [[say:one]]"})
		assert.Error(t, err)
	}()
	failed := func() bool {
		changes := runEvents[event.EngineChanged](w)
		return len(changes) > 0 && changes[len(changes)-1].State == string(engine.Failed)
	}
	for !failed() { // without a pause, to be as early as possible
		require.NoError(t, t.Context().Err())
	}
	require.NoError(t, s.CheckIdle("changing the engine"))
	_, err := s.SetEngine(t.Context(), "pi")
	require.NoError(t, err)
	<-ended
	say(t, s, "[[say:two]]")
}

func TestTheTreeLabelsAndTitlesOfAProcess(t *testing.T) {
	t.Parallel()
	w, cwd := piWorld(t, approval.Yolo)
	s := w.live(t, cwd)
	say(t, s, "[[say:one]]")
	first := *state(t, s).LeafID
	say(t, s, "[[say:two]]")
	require.NoError(t, s.Rename(t.Context(), "A title"))
	assert.Equal(t, "A title", state(t, s).Title)
	_, err := s.Label(t.Context(), first, "here")
	require.NoError(t, err)
	_, err = s.Branch(t.Context(), first, agent.BranchOptions{})
	require.NoError(t, err)
	assert.Equal(t, first, *state(t, s).LeafID)
	say(t, s, "[[say:three]]")
	require.NoError(t, s.View(func(d *session.Document, at session.Leaf) error {
		var roles []string
		for _, i := range d.PathTo(at) {
			if role := d.Role(i); role != "" {
				roles = append(roles, role)
			}
		}
		assert.Equal(t, []string{"system", "user", "assistant", "user", "assistant"}, roles)
		return nil
	}))
	message, err := s.Bash(t.Context(), "echo out", false)
	require.NoError(t, err)
	assert.Contains(t, string(message), "out")
	ends := runEvents[event.BashEnd](w)
	require.Len(t, ends, 1)
	assert.NotEmpty(t, ends[0].EntryID)
	list, err := s.Models(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, list)
	choice, err := s.SetModel(t.Context(), list[len(list)-1].Ref(), "")
	require.NoError(t, err)
	assert.Equal(t, list[len(list)-1].Ref(), choice.Model)
	commands, err := s.Commands(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, commands)
	for _, c := range commands {
		assert.False(t, strings.HasPrefix(c.Name, "xcsh-ls-"), c.Name)
	}
}

// A program reads by itself, but a file that may hold secrets only with the user's permission.
func TestAProcessAsksBeforeItReadsSecrets(t *testing.T) {
	t.Parallel()
	w, cwd := piWorld(t, approval.Ask)
	for _, name := range []string{"a.txt", "key.pem"} {
		require.NoError(t, os.WriteFile(filepath.Join(cwd, name), []byte("text of "+name), 0o600))
	}
	s := w.live(t, cwd)
	asked := make(chan string, 10)
	cancel := w.Subscribe(func(e agent.Event) {
		run, ok := e.(agent.RunEvent)
		if _, changed := run.Event.(event.ApprovalsChanged); !ok || !changed {
			return
		}
		go func() {
			snap, err := s.Snapshot(context.Background())
			if err != nil || len(snap.Approvals) == 0 {
				return
			}
			asked <- snap.Approvals[0].Tool + " " + filepath.Base(snap.Approvals[0].Preview.Paths[0])
			_ = s.Deny(snap.Approvals[0].ID, "not that")
		}()
	})
	defer cancel()
	say(t, s, `[[tool:read {"path":"a.txt"}]] [[tool:read {"path":"./key.pem"}]] [[say:Done.]]`)
	require.Len(t, asked, 1)
	assert.Equal(t, "read key.pem", <-asked)
	results := runEvents[event.ToolEnd](w)
	require.Len(t, results, 2)
	assert.Contains(t, string(results[0].Result), "text of a.txt")
	assert.Contains(t, string(results[1].Result), "not that")
}
