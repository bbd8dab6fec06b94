package hosting_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hosting"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/playedengine"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// plays makes each program of a world run prompts with a function.
func (w *world) plays(run func(ctx context.Context, p *playedengine.Program, in engine.Input) loop.Outcome) {
	w.makes = func(w *world) *playedengine.Program {
		p := played(w)
		p.Runs = run
		return p
	}
}

// fails makes each program fail at its start.
func (w *world) fails(reason string) {
	w.makes = func(w *world) *playedengine.Program {
		p := played(w)
		p.Opens = func(*playedengine.Program) error {
			return fault.New(fault.Provider, "no").With("class", "engine").With("reason", reason)
		}
		return p
	}
}

// titles returns the ways to continue after the last failure.
func (w *world) titles() (titles []string) {
	changes := of[event.EngineChanged](w)
	for _, a := range changes[len(changes)-1].Actions {
		titles = append(titles, a.Title)
	}
	return titles
}

// A program that reports a message and does not write it, as on a full disk, is not believed.
// Proves: EF-23
func TestAMessageWithoutAnEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plays(func(ctx context.Context, p *playedengine.Program, in engine.Input) loop.Outcome {
		p.Say(ctx, playedengine.UserMessage(in.Text))
		p.Host.Message(ctx, json.RawMessage(playedengine.AnswerMessage("never written")))
		return loop.Outcome{StopReason: provider.StopEnd}
	})
	began := time.Now()
	require.NoError(t, w.run("hello").Err)
	assert.GreaterOrEqual(t, time.Since(began), 2*time.Second)
	lost := of[event.NotSaved](w)
	require.Len(t, lost, 1)
	assert.Equal(t, "The program reported a message, but did not write it to the session file.", lost[0].ErrorMessage)
	ends := of[event.MessageEnd](w)
	require.Len(t, ends, 2)
	assert.NotEmpty(t, ends[0].EntryID)
	assert.Empty(t, ends[1].EntryID)
	assert.Len(t, w.lines(), 2)
}

// A file that another program put in the place of the lent one, or cut, ends the program. The session is then that file.
// Proves: EF-25
func TestAFileThatWasReplacedOrCut(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world, was []byte){
		"replaced": func(w *world, was []byte) {
			other := bytes.Replace(was, []byte("one"), []byte("two"), 1)
			require.NoError(w.t, afero.WriteFile(w.fs, w.log.Path()+".new", append(other, other...), 0o600))
			require.NoError(w.t, w.fs.Rename(w.log.Path()+".new", w.log.Path()))
		},
		"cut": func(w *world, was []byte) {
			lines := w.lines()
			require.NoError(w.t, afero.WriteFile(w.fs, w.log.Path(), was[:len(was)-len(lines[len(lines)-1])-1], 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			require.NoError(t, w.run("one").Err)
			was, err := afero.ReadFile(w.fs, w.log.Path())
			require.NoError(t, err)
			change(w, was)
			now := w.lines()
			w.seat.Caught()
			select {
			case <-w.program(0).Done():
			case <-time.After(20 * time.Second):
				require.FailNow(t, "the program goes on")
			}
			w.await("the notice", func() bool {
				for _, e := range w.events {
					if n, ok := e.(event.Notice); ok {
						return assert.Contains(w.t, n.Text, "was replaced or truncated")
					}
				}
				return false
			})
			assert.Equal(t, now, w.lines(), "nothing of it was overwritten")
			require.NoError(t, w.run("two").Err)
			after := w.lines()
			require.Len(t, after, len(now)+2)
			assert.Equal(t, now, after[:len(now)])
			assert.Len(t, w.programs, 2)
		})
	}
}

// Proves: EF-07
func TestAnExtensionThatDoesNotLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fails(engine.ReasonExtension)
	require.Error(t, w.run("hello").Err)
	assert.Equal(t, []string{"Start Again", "Start without Extensions", "Use xcsh-ls"}, w.titles())
	changes := of[event.EngineChanged](w)
	assert.Equal(t, map[string]any{"engine": "pi", "withoutExtensions": true}, changes[len(changes)-1].Actions[1].Arguments)
	assert.False(t, w.program(0).At.Plain)

	w.cfg.Plain = true
	plain := hosting.New(w.cfg)
	require.Error(t, plain.Run(t.Context(), engine.Input{Text: "hello"}).Err)
	assert.True(t, w.program(1).At.Plain)
	assert.Equal(t, []string{"Start Again", "Use xcsh-ls"}, w.titles(), "it had none")
}

// Proves: EF-01
func TestAProgramThatIsGoneIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	missing := 0
	w.cfg.Missing = func() { missing++ }
	w.seat = hosting.New(w.cfg)
	w.fails("node")
	require.Error(t, w.run("hello").Err)
	assert.Zero(t, missing)
	w.fails(engine.ReasonMissing)
	require.Error(t, w.run("hello").Err)
	assert.Equal(t, 1, missing)
}

// Proves: EF-30
func TestAProgramThatDoesNotAskIsNotStartedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.gate.SetMode(approval.Ask))
	w.cfg.Breaches = new(hosting.Breaches)
	w.seat = hosting.New(w.cfg)
	w.fails(engine.ReasonBreach)
	require.EqualError(t, w.run("hello").Err, "no")
	assert.Equal(t, []string{"Use xcsh-ls"}, w.titles())
	w.makes = played
	const refused = "pi ran something without permission, so it is not started again in the mode ask. Change the mode, or use another engine."
	out := w.run("hello")
	require.EqualError(t, out.Err, refused)
	assert.Len(t, out.Unanswered, 1)
	w.seat = hosting.New(w.cfg)
	require.EqualError(t, w.run("hello").Err, refused, "also not after another engine was used")
	assert.Len(t, w.programs, 1)
	require.NoError(t, w.gate.SetMode(approval.Yolo))
	require.NoError(t, w.run("hello").Err)
	assert.Len(t, w.programs, 2)
}

// permitted runs a function as a tool of the program that was permitted to write "shown" into a file.
func (w *world) permitted(path string, f func(h engine.Host)) {
	w.t.Helper()
	w.plays(func(ctx context.Context, p *playedengine.Program, in engine.Input) loop.Outcome {
		err := p.Host.Permit(ctx, engine.Call{
			ID: "c", Tool: "write", Args: json.RawMessage(`{}`), Effect: engine.Changes, Path: path,
			Apply: func(tool.File) ([]byte, error) { return []byte("shown"), nil },
		})
		if err != nil {
			w.t.Error(err)
		}
		f(p.Host)
		return loop.Outcome{StopReason: provider.StopEnd}
	})
	require.NoError(w.t, w.run("change it").Err)
}

// Proves: EF-31
func TestAWriteThatDiffersFromWhatWasShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/work/a.txt"
	w.files.open[path] = "was"
	w.permitted(path, func(h engine.Host) {
		_, err := h.Write(t.Context(), "c", path, "something else")
		assert.True(t, fault.Is(err, fault.Stale), "%v", err)
		for _, c := range []struct{ call, path string }{{"c", "/work/b.txt"}, {"another", path}} {
			_, err = h.Write(t.Context(), c.call, c.path, "shown")
			assert.True(t, fault.Is(err, fault.Denied), "%v", err)
		}
		assert.Equal(t, "was", w.files.open[path], "nothing was written")
		here, err := h.Write(t.Context(), "c", path, "shown")
		if err != nil {
			t.Error(err)
		}
		assert.True(t, here)
		assert.Equal(t, "shown", w.files.open[path])
	})
}

// The edits in the editor are saved before a command of the program, once it is permitted, and before nothing else.
func TestEditsAreSavedBeforeACommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plays(func(ctx context.Context, p *playedengine.Program, _ engine.Input) loop.Outcome {
		for _, c := range []engine.Call{
			{ID: "1", Tool: "read", Args: json.RawMessage(`{}`), Effect: engine.Reads, Path: "/work/a.txt"},
			{ID: "2", Tool: "edit", Args: json.RawMessage(`{}`), Effect: engine.Changes, Path: "/work/a.txt"},
		} {
			if err := p.Host.Permit(ctx, c); err != nil {
				t.Error(err)
			}
		}
		assert.Zero(t, w.files.saves)
		command := engine.Call{ID: "3", Tool: "bash", Args: json.RawMessage(`{"command":"go test"}`), Effect: engine.Changes}
		if err := p.Host.Permit(ctx, command); err != nil {
			t.Error(err)
		}
		assert.Equal(t, 1, w.files.saves)
		if err := w.gate.SetMode(approval.ReadOnly); err != nil {
			t.Error(err)
		}
		assert.True(t, fault.Is(p.Host.Permit(ctx, command), fault.Denied))
		assert.Equal(t, 1, w.files.saves)
		return loop.Outcome{StopReason: provider.StopEnd}
	})
	require.NoError(t, w.run("go").Err)
}

// A file that changes while the user decides is not written.
// Proves: EF-31
func TestAFileThatChangesWhileTheUserIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.gate.SetMode(approval.Ask))
	const path = "/work/a.txt"
	require.NoError(t, afero.WriteFile(w.fs, path, []byte("was"), 0o600))
	denied := make(chan error, 1)
	w.plays(func(ctx context.Context, p *playedengine.Program, in engine.Input) loop.Outcome {
		denied <- p.Host.Permit(ctx, engine.Call{
			ID: "c", Tool: "edit", Args: json.RawMessage(`{}`), Effect: engine.Changes, Path: path,
			Apply: func(f tool.File) ([]byte, error) { return append(f.Content, '!'), nil },
		})
		return loop.Outcome{StopReason: provider.StopEnd}
	})
	done := make(chan loop.Outcome, 1)
	go func() { done <- w.seat.Run(context.Background(), engine.Input{Text: "go"}) }()
	require.Eventually(t, func() bool { return len(w.gate.Pending()) == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, afero.WriteFile(w.fs, path, []byte("other"), 0o600))
	require.NoError(t, w.gate.Answer(w.gate.Pending()[0].ID, approval.Once))
	require.True(t, fault.Is(<-denied, fault.Stale))
	require.NoError(t, (<-done).Err)
}

// A program works in the folder that a session names, so it gets none of another folder.
// Proves: EF-34, EF-35
func TestASessionOfAnotherFolder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		home hosting.Home
		says string
	}{
		"another": {hosting.Home{Cwd: "/other"}, "This session is one of the folder /work, in which pi would work. Fork it into this one?"},
		"gone": {
			hosting.Home{Cwd: "/other", Exists: func(string) bool { return false }},
			"The folder /work of this session is gone. Fork it into this one?",
		},
		"the same by a link": {hosting.Home{Cwd: "/link", Same: func(a, b string) bool { return a == "/work" && b == "/link" }}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.home.Dir = "/sessions/pi"
			w.cfg.Home = func() (hosting.Home, error) { return c.home, nil }
			w.seat = hosting.New(w.cfg)
			out := w.run("hello")
			if c.says == "" {
				require.NoError(t, out.Err)
				return
			}
			require.EqualError(t, out.Err, c.says)
			require.True(t, fault.Is(out.Err, fault.ArgumentNeeded))
			var f *fault.Error
			require.ErrorAs(t, out.Err, &f)
			require.Equal(t, hosting.FieldFork, f.Data["field"])
			require.Len(t, out.Unanswered, 1)
			for _, p := range w.programs {
				require.Empty(t, p.At, "it was given to no program")
			}
			require.Equal(t, engine.Known, w.seat.Status().State, "nothing has failed")
		})
	}
}

// A question waits until it is answered, its time is over, the run ends or the program ends.
// Proves: EF-28
func TestHowAQuestionEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, cancel context.CancelFunc, id string){
		"answered": func(w *world, _ context.CancelFunc, id string) {
			require.NoError(w.t, w.seat.Answer(id, engine.Answer{Value: "x"}))
		},
		"the run ends":   func(_ *world, cancel context.CancelFunc, _ string) { cancel() },
		"pi ends":        func(w *world, _ context.CancelFunc, _ string) { w.program(0).Crash() },
		"its time is up": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			question := event.Question{Method: "input", Title: "Name?"}
			if end == nil {
				question.Until = time.Now().Add(50 * time.Millisecond).UnixMilli()
			}
			answers := make(chan engine.Answer, 1)
			w.plays(func(ctx context.Context, p *playedengine.Program, _ engine.Input) loop.Outcome {
				answers <- p.Host.Ask(ctx, question)
				return loop.Outcome{StopReason: provider.StopEnd}
			})
			done := make(chan loop.Outcome, 1)
			go func() { done <- w.seat.Run(ctx, engine.Input{Text: "ask"}) }()
			w.await("the question", func() bool {
				for _, e := range w.events {
					if _, ok := e.(event.QuestionAsked); ok {
						return true
					}
				}
				return false
			})
			if end != nil {
				waiting := w.seat.Questions()
				require.Len(t, waiting, 1, "it waits")
				end(w, cancel, waiting[0].ID)
			}
			require.Equal(t, name != "answered", (<-answers).Cancelled)
			<-done
			require.Empty(t, w.seat.Questions())
			require.Len(t, of[event.QuestionGone](w), 1)
		})
	}
}

// The leaf is what the program wrote last, also where it reported an older one after that was read, and where it could
// report nothing any more.
// Proves: EF-18, EF-19
func TestTheLeafAfterACrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.run("one").Err)
	before, written := w.log.LeafID(), make(chan string, 1)
	w.plays(func(ctx context.Context, p *playedengine.Program, in engine.Input) loop.Outcome {
		message := playedengine.UserMessage(in.Text)
		asked := p.Append(message)
		w.seat.MovedTo(before) // reads the file
		p.Host.Leaf(before)
		p.Host.Message(ctx, json.RawMessage(message))
		assert.Equal(t, asked, w.log.LeafID())
		answered := p.Append(playedengine.AnswerMessage("not reported"))
		w.seat.MovedTo(asked)
		p.Crash()
		written <- answered
		return loop.Outcome{StopReason: provider.StopError, Err: p.Err()}
	})
	require.NoError(t, w.seat.Close(t.Context()))
	require.Error(t, w.run("two").Err)
	assert.Equal(t, <-written, w.log.LeafID())
	w.makes = played
	require.NoError(t, w.run("three").Err)
	require.NoError(t, w.log.View(func(d *session.Document, at session.Leaf) error {
		assert.Len(t, d.PathTo(at), 6, "the next program continues there")
		return nil
	}))
}
