package approval_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

func edit(id, path string) approval.Request {
	return approval.Request{ID: id, Tool: "edit", Args: []byte(`{}`), Preview: tool.Preview{Title: "Edit", Paths: []string{path}}}
}

func command(id, line string) approval.Request {
	r := bash(line)
	r.ID = id
	return r
}

// answer is the result of a request for approval.
type answer struct {
	id       string
	decision approval.Decision
	err      error
}

// asking calls Ask in another goroutine.
func asking(ctx context.Context, g *approval.Gate, r approval.Request, answers chan<- answer) {
	go func() {
		d, err := g.Ask(ctx, r)
		answers <- answer{r.ID, d.Decision, err}
	}()
	synctest.Wait()
}

// screen is a client. shown holds the displayed prompt until the prompt is removed.
type screen struct {
	shown  atomic.Pointer[string]
	max    atomic.Int64 // the most that were shown at a time
	now    atomic.Int64
	answer chan approval.Decision
}

func newScreen() *screen { return &screen{answer: make(chan approval.Decision)} }

func (s *screen) ask(ctx context.Context, p approval.Prompt) (approval.Decision, error) {
	s.max.Store(max(s.max.Load(), s.now.Add(1)))
	s.shown.Store(&p.ID)
	defer func() {
		s.shown.Store(nil)
		s.now.Add(-1)
	}()
	select {
	case d := <-s.answer:
		return d, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (s *screen) requireShows(t *testing.T, id string) {
	t.Helper()
	synctest.Wait()
	got := s.shown.Load()
	if id == "" {
		require.Nil(t, got)
		return
	}
	require.NotNil(t, got)
	require.Equal(t, id, *got)
}

func ids(g *approval.Gate) (ids []string) {
	for _, p := range g.Pending() {
		ids = append(ids, p.ID)
	}
	return ids
}

func TestModes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	here, elsewhere := filepath.Join(root, "x"), filepath.Join(filepath.Dir(root), "y")
	require.NoError(t, os.Symlink(filepath.Dir(root), filepath.Join(root, "up")))
	other := approval.Request{ID: "o", Tool: "mcp_x_y", Args: []byte(`{}`)}
	for _, c := range []struct {
		mode approval.Mode
		r    approval.Request
		asks bool
	}{
		{approval.Ask, edit("e", here), true},
		{approval.Ask, command("c", "ls"), true},
		{approval.Ask, other, true},
		{approval.AutoEdit, edit("e", here), false},
		{approval.AutoEdit, edit("e", filepath.Join(root, "new", "dir", "x")), false},
		{approval.AutoEdit, edit("e", elsewhere), true},
		{approval.AutoEdit, edit("e", filepath.Join(root, "up", "y")), true},
		{approval.AutoEdit, edit("e", filepath.Join(root, ".git", "config")), true},
		{approval.AutoEdit, approval.Request{ID: "w", Tool: "write"}, true},
		{approval.AutoEdit, command("c", "ls"), true},
		{approval.AutoEdit, other, true},
		{approval.Yolo, edit("e", elsewhere), false},
		{approval.Yolo, command("c", "rm -rf x"), false},
		{approval.Yolo, other, false},
	} {
		require.Equal(t, c.asks, asks(t, approval.Config{Root: root, Mode: c.mode}, c.r), "%s %s", c.mode, c.r.Tool)
	}
	for _, r := range []approval.Request{edit("e", here), command("c", "ls"), other} {
		d, err := approval.NewGate(approval.Config{Root: root, Mode: approval.ReadOnly}).Ask(t.Context(), r)
		require.Equal(t, approval.Deny, d.Decision)
		require.EqualError(t, err, "The approval mode is read-only: edits and commands are not allowed.")
		require.True(t, fault.Is(err, fault.Denied))
	}
}

// A link with a missing target is written through all the same.
func TestDanglingLink(t *testing.T) {
	t.Parallel()
	root, elsewhere := t.TempDir(), t.TempDir()
	for name, to := range map[string]string{
		"out": filepath.Join(elsewhere, "new"), "far": "out", "in": "new", "loop": "loop", "up": filepath.Join("..", "new"),
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(root, name)))
	}
	for name, asked := range map[string]bool{"out": true, "far": true, "in": false, "loop": true, "up": true, "out/x": true, "in/x": false} {
		cfg := approval.Config{Root: root, Mode: approval.AutoEdit}
		require.Equal(t, asked, asks(t, cfg, edit("e", filepath.Join(root, name))), name)
		require.Equal(t, asked, asks(t, cfg, bash("echo text > "+name)), name)
	}
}

// Permission to edit files is no permission to write the rules themselves.
func TestProtectedDirectories(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	agentDir := filepath.Join(home, ".xcsh", "agent")
	require.NoError(t, os.Symlink(agentDir, filepath.Join(home, "link")))
	cfg := approval.Config{Root: home, Mode: approval.AutoEdit, Protected: []string{filepath.Join(home, "nowhere"), agentDir}}
	for name, asked := range map[string]bool{
		".xcsh/agent/xcsh-ls/allowed.json": true, ".xcsh/agent": true, ".XCSH/agent/auth.json": true, "link/auth.json": true,
		".xcsh/agents": true, "x": false,
	} {
		require.Equal(t, asked, asks(t, cfg, edit("e", filepath.Join(home, filepath.FromSlash(name)))), name)
		require.Equal(t, asked, asks(t, cfg, bash("echo text > "+name)), name)
	}
}

// The user is shown the real target of a change.
func TestTargetOfAChange(t *testing.T) {
	t.Parallel()
	root, elsewhere := t.TempDir(), t.TempDir()
	real, err := filepath.EvalSymlinks(elsewhere)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "new"), filepath.Join(root, "out")))
	g := approval.NewGate(approval.Config{Root: root, Mode: approval.Ask})
	var got []approval.Prompt
	g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
		got = append(got, p)
		return approval.Once, nil
	})
	for _, name := range []string{"out", "in"} {
		_, err := g.Ask(t.Context(), edit(name, filepath.Join(root, name)))
		require.NoError(t, err)
	}
	require.Equal(t, []string{filepath.Join(real, "new")}, got[0].Outside)
	require.Empty(t, got[0].Rules)
	require.Empty(t, got[1].Outside)
}

func TestOnePromptAtATimeInTheOrderTheyCame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask})
		s := newScreen()
		g.Attach(s.ask)
		answers := make(chan answer, 3)
		asking(t.Context(), g, command("a", "rm a"), answers)
		s.requireShows(t, "a")
		asking(t.Context(), g, command("b", "rm b"), answers)
		asking(t.Context(), g, command("c", "rm c"), answers)
		s.requireShows(t, "a")
		require.Equal(t, []string{"a", "b", "c"}, ids(g))
		require.True(t, g.Pending()[0].Shown)
		require.False(t, g.Pending()[1].Shown)

		s.answer <- approval.Once
		require.Equal(t, answer{"a", approval.Once, nil}, <-answers)
		s.requireShows(t, "b")
		s.answer <- approval.Deny
		denied := <-answers
		require.Equal(t, approval.Deny, denied.decision)
		require.True(t, fault.Is(denied.err, fault.Denied))
		require.EqualError(t, denied.err, "The user denied this bash call. Ask what to do instead, or continue without it.")
		s.requireShows(t, "c")
		s.answer <- approval.Once
		require.Equal(t, "c", (<-answers).id)
		s.requireShows(t, "")
		require.Empty(t, g.Pending())
		require.EqualValues(t, 1, s.max.Load())
	})
}

func TestAPromptIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask})
		s := newScreen()
		g.Attach(s.ask)
		answers := make(chan answer, 2)
		asking(t.Context(), g, command("a", "rm a"), answers)
		asking(t.Context(), g, command("b", "rm b"), answers)
		err := g.Answer("a", "maybe")
		require.True(t, fault.Is(err, fault.InvalidArgument))
		require.NoError(t, g.Answer("a", approval.Once))
		require.EqualError(t, g.Answer("a", approval.Deny), `No pending approval has the id "a"; it may have been answered already.`)
		require.True(t, fault.Is(g.Answer("z", approval.Deny), fault.NotFound))
		require.Equal(t, answer{"a", approval.Once, nil}, <-answers)
		s.requireShows(t, "b") // the first left the screen when it was answered elsewhere

		require.EqualValues(t, 1, s.max.Load(), "it was removed before the next one arrived")
		require.NoError(t, g.Answer("b", approval.Once))
		require.Equal(t, "b", (<-answers).id)
		s.requireShows(t, "")
	})
}

// Services use the ids of calls again. An answer to one prompt is never one to another.
func TestEveryPromptHasAnIDOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask})
		answers := make(chan answer, 5)
		asking(t.Context(), g, command("a", "rm a"), answers)
		asking(t.Context(), g, command("a", "rm b"), answers)
		asking(t.Context(), g, command("a#2", "rm c"), answers)
		asking(t.Context(), g, command("a", "rm d"), answers)
		require.Equal(t, []string{"a", "a#2", "a#2#2", "a#3"}, ids(g))
		require.NoError(t, g.Answer("a", approval.Once))
		require.True(t, fault.Is(g.Answer("a", approval.Once), fault.NotFound), "given twice")
		asking(t.Context(), g, command("a", "rm e"), answers)
		require.Equal(t, []string{"a#2", "a#2#2", "a#3", "a#4"}, ids(g))
		require.NoError(t, g.SetMode(approval.Yolo))
		for range 5 {
			require.NoError(t, (<-answers).err)
		}
	})
}

func TestPromptsWaitForAnAsker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask})
		answers := make(chan answer, 2)
		asking(t.Context(), g, command("a", "rm a"), answers)
		asking(t.Context(), g, command("b", "rm b"), answers)
		require.Equal(t, []string{"a", "b"}, ids(g))
		require.False(t, g.Pending()[0].Shown)

		first := newScreen()
		detach := g.Attach(first.ask)
		first.requireShows(t, "a")
		detach()
		first.requireShows(t, "")
		require.Len(t, ids(g), 2, "a client that goes away answers nothing")

		second, third := newScreen(), newScreen()
		detach = g.Attach(second.ask)
		second.requireShows(t, "a")
		g.Attach(third.ask)
		second.requireShows(t, "")
		third.requireShows(t, "a")
		detach() // of one that was replaced already
		third.requireShows(t, "a")
		third.answer <- approval.Once
		require.Equal(t, "a", (<-answers).id)
		third.requireShows(t, "b")
		require.NoError(t, g.Answer("b", approval.Deny))
		require.Error(t, (<-answers).err)
	})
}

func TestACancelledPromptLeavesTheScreen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		changes := 0
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask, Changed: func() { changes++ }})
		s := newScreen()
		g.Attach(s.ask)
		answers := make(chan answer, 2)
		ctx, cancel := context.WithCancel(t.Context())
		asking(ctx, g, command("a", "rm a"), answers)
		asking(t.Context(), g, command("b", "rm b"), answers)
		before := changes
		cancel()
		got := <-answers
		require.Equal(t, "a", got.id)
		require.ErrorIs(t, got.err, context.Canceled)
		require.True(t, fault.Is(got.err, fault.Cancelled))
		s.requireShows(t, "b")
		require.Greater(t, changes, before)
		_, err := g.Ask(ctx, command("c", "ls"))
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, g.Answer("b", approval.Once))
		<-answers
	})
}

// A client that cannot ask gives no answer, and may be able to ask the next time.
func TestAnAskerThatFailsOnce(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]approval.Asker{
		"fails":            func(context.Context, approval.Prompt) (approval.Decision, error) { return "", errors.New("gone") },
		"panics":           func(context.Context, approval.Prompt) (approval.Decision, error) { panic("oops") },
		"answers nonsense": func(context.Context, approval.Prompt) (approval.Decision, error) { return "yes!", nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var reported []error
				g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask, Report: func(err error) { reported = append(reported, err) }})
				works := newScreen()
				g.Attach(func(ctx context.Context, p approval.Prompt) (approval.Decision, error) {
					if p.ID == "a" {
						return ask(ctx, p)
					}
					return works.ask(ctx, p)
				})
				answers := make(chan answer, 3)
				asking(t.Context(), g, command("a", "rm a"), answers)
				require.Len(t, reported, 1)
				require.Equal(t, []string{"a"}, ids(g))
				require.False(t, g.Pending()[0].Shown)
				asking(t.Context(), g, command("b", "rm b"), answers)
				works.requireShows(t, "b")
				require.Equal(t, []string{"a", "b"}, ids(g))
				require.False(t, g.Pending()[0].Shown)
				require.True(t, g.Pending()[1].Shown)
				asking(t.Context(), g, command("c", "rm c"), answers)
				works.answer <- approval.Once
				require.Equal(t, answer{"b", approval.Once, nil}, <-answers)
				works.requireShows(t, "c")
				require.Len(t, reported, 1, "a prompt that cannot be shown is not retried forever")

				s := newScreen()
				g.Attach(s.ask)
				works.requireShows(t, "")
				s.requireShows(t, "a")
				s.answer <- approval.Once
				require.Equal(t, answer{"a", approval.Once, nil}, <-answers)
				s.requireShows(t, "c")
				require.NoError(t, g.Answer("c", approval.Once))
				require.NoError(t, (<-answers).err)
			})
		})
	}
}

func TestForTheSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask})
		answers := make(chan answer, 4)
		asking(t.Context(), g, command("a", "go test ./a"), answers)
		asking(t.Context(), g, command("b", "go test ./b"), answers)
		asking(t.Context(), g, command("c", "go vet"), answers)
		require.NoError(t, g.Answer("a", approval.Session))
		require.ElementsMatch(t, []answer{{"a", approval.Session, nil}, {"b", approval.Once, nil}},
			[]answer{<-answers, <-answers}, "the second waited for the same thing")
		require.Equal(t, []string{"c"}, ids(g))
		d, err := g.Ask(t.Context(), command("d", "go test"))
		require.NoError(t, err)
		require.Equal(t, approval.Once, d.Decision)

		g.Forget()
		asking(t.Context(), g, command("e", "go test"), answers)
		require.Equal(t, []string{"c", "e"}, ids(g))

		asking(t.Context(), g, edit("f", "/w/x"), answers)
		require.NoError(t, g.Answer("f", approval.Session))
		<-answers
		_, err = g.Ask(t.Context(), edit("g", "/w/y"))
		require.NoError(t, err)
		asking(t.Context(), g, edit("h", "/etc/y"), answers)
		require.Equal(t, []string{"c", "e", "h"}, ids(g))
		require.Empty(t, g.Pending()[2].Rules, "no rule is offered")

		require.EqualError(t, g.SetMode("auto"), `"auto" is not an approval mode. Use read-only, ask, auto-edit or yolo.`)
		require.NoError(t, g.SetMode(approval.Yolo))
		require.Equal(t, approval.Yolo, g.Mode())
		for range 3 {
			require.NoError(t, (<-answers).err, "the mode allows the pending calls")
		}
		require.NoError(t, g.SetMode(approval.Ask))
		asking(t.Context(), g, command("i", "rm x"), answers)
		require.NoError(t, g.SetMode(approval.ReadOnly))
		require.True(t, fault.Is((<-answers).err, fault.Denied))
	})
}

func TestForTheWorkspace(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fsys afero.Fs) {
		memory := &approval.FileMemory{Fs: fsys, Path: "/home/me/approvals.json"}
		ask := func(root, line string, d approval.Decision) (asked bool) {
			g := approval.NewGate(approval.Config{Root: root, Mode: approval.Ask, Memory: memory})
			g.Attach(func(context.Context, approval.Prompt) (approval.Decision, error) {
				asked = true
				return d, nil
			})
			_, err := g.Ask(t.Context(), command("a", line))
			require.NoError(t, err)
			return asked
		}
		require.True(t, ask("/w", "go test ./a", approval.Workspace))
		require.False(t, ask("/w", "go test ./b", approval.Once), "another session in the folder")
		require.True(t, ask("/other", "go test", approval.Once))
		require.True(t, ask("/w", "rm <x> & y", approval.Workspace))
		require.NoError(t, memory.Add("/w", []approval.Rule{{Command: []string{"go", "test"}, Text: "x"}, {}}))
		content, err := afero.ReadFile(fsys, "/home/me/approvals.json")
		require.NoError(t, err)
		require.Equal(t, `{
  "/w": [
    {
      "command": [
        "go",
        "test"
      ]
    },
    {
      "line": "rm <x> & y"
    }
  ]
}
`, string(content))
	})
}

func TestFailingMemoryIsReported(t *testing.T) {
	t.Parallel()
	disk := afero.NewMemMapFs()
	for at := 1; ; at++ {
		faulty := &st.FaultFs{Fs: disk, At: at}
		var reported []error
		g := approval.NewGate(approval.Config{
			Root: "/w", Mode: approval.Ask, Memory: &approval.FileMemory{Fs: faulty, Path: "/s/approvals.json"},
			Report: func(err error) { reported = append(reported, err) },
		})
		g.Attach(func(context.Context, approval.Prompt) (approval.Decision, error) { return approval.Workspace, nil })
		_, err := g.Ask(t.Context(), command("a", "go test"))
		require.NoError(t, err)
		if !faulty.Fired() {
			require.Empty(t, reported)
			require.Greater(t, at, 4)
			break
		}
		require.Len(t, reported, 1)
		require.ErrorIs(t, reported[0], st.ErrInjected)
		names, err := afero.Glob(disk, "/s/*")
		require.NoError(t, err)
		require.NotContains(t, names, "/s/approvals.json.tmp")
	}
	require.NoError(t, afero.WriteFile(disk, "/s/approvals.json", []byte("{"), 0o600))
	memory := &approval.FileMemory{Fs: disk, Path: "/s/approvals.json"}
	require.True(t, fault.Is(memory.Add("/w", nil), fault.Damaged))
	_, err := memory.Rules("/w")
	require.True(t, fault.Is(err, fault.Damaged))
	content, err := afero.ReadFile(disk, "/s/approvals.json")
	require.NoError(t, err)
	require.Equal(t, "{", string(content), "an unreadable store is not changed")
}

// broken is a memory that panics.
type broken struct{}

func (broken) Rules(string) ([]approval.Rule, error) { panic("rules") }
func (broken) Add(string, []approval.Rule) error     { panic("add") }

func TestPanickingMemoryIsReported(t *testing.T) {
	t.Parallel()
	var reported []string
	g := approval.NewGate(approval.Config{
		Root: "/w", Mode: approval.Ask, Memory: broken{}, Report: func(err error) { reported = append(reported, err.Error()) },
	})
	g.Attach(func(context.Context, approval.Prompt) (approval.Decision, error) { return approval.Workspace, nil })
	_, err := g.Ask(t.Context(), command("a", "go test"))
	require.NoError(t, err)
	require.Contains(t, reported, "approval: a rule could not be stored and applies to this session only: panic: add")
	require.Contains(t, reported[0], "panic: rules")
}

func TestAMemoryOfNull(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fsys, "/m/allowed.json", []byte("null\n"), 0o600))
	m := &approval.FileMemory{Fs: fsys, Path: "/m/allowed.json"}
	require.NoError(t, m.Add("/w", []approval.Rule{{Edit: true}}))
	rules, err := m.Rules("/w")
	require.NoError(t, err)
	require.Equal(t, []approval.Rule{{Edit: true}}, rules)
}

// Many at once, answered from both sides.
func TestEveryPromptGetsExactlyOneAnswer(t *testing.T) {
	t.Parallel()
	const n = 200
	g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask})
	var shown atomic.Int64
	g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
		shown.Add(1)
		return approval.Once, nil
	})
	answers := make(chan answer, n)
	for i := range n {
		go func() {
			id := string(rune(0x4e00 + i))
			d, err := g.Ask(t.Context(), command(id, "rm "+id))
			answers <- answer{id, d.Decision, err}
		}()
		go func() { _ = g.Answer(string(rune(0x4e00+i)), approval.Once) }()
	}
	seen := map[string]bool{}
	for range n {
		a := <-answers
		require.NoError(t, a.err)
		seen[a.id] = true
	}
	require.Len(t, seen, n)
	require.Empty(t, g.Pending())
}
