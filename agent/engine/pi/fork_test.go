package pi_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/pi"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const forkID = "01a202b1-f0b4-74f1-a829-bdc95815a193"

// forkWorld is a user of a double of omp or xcsh. It is also the session: it keeps messages and notices.
type forkWorld struct {
	quietHost
	t       *testing.T
	place   engine.Place
	program engine.Program

	permit  func(ctx context.Context, c engine.Call) error
	unsaved []string

	mu       sync.Mutex
	messages []json.RawMessage // guarded by mu
	shown    []string          // guarded by mu
	asked    chan struct{}     // has an element after the first question
}

func newForkWorld(t *testing.T, name string, faults ...string) *forkWorld {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &forkWorld{t: t, asked: make(chan struct{}, 1)}
	w.began = make(chan struct{}, 1)
	for _, dir := range []string{"home", "work", "sessions"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o700))
	}
	w.place = engine.Place{Cwd: filepath.Join(root, "work"), Dir: filepath.Join(root, "sessions"), ID: forkID, Permit: true, Files: true}
	w.place.File = filepath.Join(w.place.Dir, "2026-01-02T03-04-05-678Z_"+forkID+".jsonl")
	header, err := json.Marshal(map[string]any{"type": "session", "version": 3, "id": forkID, "timestamp": "2026-01-02T03:04:05.678Z", "cwd": w.place.Cwd})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.place.File, append(header, '\n'), 0o600))
	double := enginetest.Fork(t, name, faults...)
	w.program = engine.Program{
		Name: name, Path: double.Path, Args: double.Args, Protocol: engine.OmpRPC,
		Env: append(double.Env, "HOME="+filepath.Join(root, "home")),
	}
	return w
}

func (w *forkWorld) start() (*pi.Engine, engine.Opened, error) {
	w.t.Helper()
	e := pi.New(w.program, pi.Options{})
	w.t.Cleanup(func() { require.NoError(w.t, e.Close(context.Background())) })
	opened, err := e.Open(w.t.Context(), w.place, w)
	return e, opened, err
}

func (w *forkWorld) open() *pi.Engine {
	w.t.Helper()
	e, _, err := w.start()
	require.NoError(w.t, err)
	return e
}

func (w *forkWorld) run(e *pi.Engine, prompt string) loop.Outcome {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	return e.Run(ctx, engine.Input{Text: prompt})
}

// begin starts a run and returns how to stop it, and its outcome.
func (w *forkWorld) begin(e *pi.Engine, prompt string) (stop context.CancelFunc, done <-chan loop.Outcome) {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	w.t.Cleanup(cancel)
	ch := make(chan loop.Outcome, 1)
	go func() { ch <- e.Run(ctx, engine.Input{Text: prompt}) }()
	return cancel, ch
}

func (w *forkWorld) Emit(e event.Event) {
	if n, ok := e.(event.Notice); ok {
		w.mu.Lock()
		w.shown = append(w.shown, n.Text)
		w.mu.Unlock()
	}
	w.quietHost.Emit(e)
}

// Message keeps a message with whether the file has it.
func (w *forkWorld) Message(_ context.Context, m json.RawMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages = append(w.messages, m)
}

func (w *forkWorld) Permit(ctx context.Context, c engine.Call) error {
	select {
	case w.asked <- struct{}{}:
	default:
	}
	if w.permit == nil {
		return nil
	}
	return w.permit(ctx, c)
}

// Unsaved implements [engine.Desk].
func (w *forkWorld) Unsaved(context.Context) []string { return w.unsaved }

// said returns the roles and texts of the messages.
func (w *forkWorld) said() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, raw := range w.messages {
		m, err := provider.DecodeMessage(raw)
		require.NoError(w.t, err)
		list = append(list, m.Role+": "+m.PlainText())
	}
	return list
}

func (w *forkWorld) notices() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.shown, "\n")
}

func (w *forkWorld) text() string {
	w.t.Helper()
	raw, err := os.ReadFile(w.place.File)
	require.NoError(w.t, err)
	return string(raw)
}

// both runs a test with the double of each fork.
func both(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	for _, name := range []string{"omp", "xcsh"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name)
		})
	}
}

func TestForksAnswer(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name)
		e, opened, err := w.start()
		require.NoError(t, err)
		require.Equal(t, w.place.File, opened.File)
		require.True(t, opened.Loose)
		require.Equal(t, engine.Can{Steer: true, Branch: true, Compact: true, Images: true, Permission: true, Models: true, Login: true}, e.Can())
		out := w.run(e, `[[think]][[tool:write {"path":"a.txt","content":"x"}]][[tool:bash {"command":"env | grep -c XCSH_LS_; true"}]][[say:done]]`)
		require.NoError(t, out.Err)
		require.Equal(t, "done", out.Message.PlainText())
		require.Empty(t, out.Unanswered)
		require.FileExists(t, filepath.Join(w.place.Cwd, "a.txt"))
		require.Equal(t, "toolResult: 0\n", w.said()[4], "the mark")
		require.Equal(t, "again", w.run(e, "[[say:again]]").Message.PlainText())
	})
}

func TestForksWithoutTheirFirstLine(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name, "no-ready")
		require.NoError(t, w.run(w.open(), "[[say:hi]]").Err)
	})
}

// A prompt is acknowledged and then refused: by a program without a login, and in row 40 of the failures.
func TestForksRefuseAPromptAfterwards(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name, "refuse-later:The model is on holiday.")
		out := w.run(w.open(), "[[say:hi]]")
		require.ErrorContains(t, out.Err, name+" refused: The model is on holiday.")
		require.Len(t, out.Unanswered, 1)
		require.Empty(t, w.said())

		w = newForkWorld(t, name, "no-login")
		out = w.run(w.open(), "[[say:hi]]")
		require.ErrorContains(t, out.Err, "is not logged in")
		require.NotNil(t, out.Rejection)
		require.Len(t, out.Unanswered, 1)
	})
}

// Long lines come in pieces from omp, which announces that.
func TestForksSendLongLines(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name)
		out := w.run(w.open(), "[[big:1500000]]")
		require.NoError(t, out.Err)
		require.Len(t, out.Message.PlainText(), 1_500_000)
	})
}

// A command that a fork doesn't have, or that fails, is answered without its id.
func TestForksRefuseWithoutAnID(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name)
		e := w.open()
		_, err := e.Compact(t.Context(), "")
		require.ErrorContains(t, err, "There is nothing to compact yet.")
		_, err = e.SetThinking(t.Context(), "great")
		require.True(t, fault.Is(err, fault.InvalidArgument))
		choice, err := e.SetThinking(t.Context(), provider.High)
		require.NoError(t, err)
		require.Equal(t, provider.High, choice.Thinking)
		_, err = e.SetThinking(t.Context(), provider.XHigh)
		require.True(t, fault.Is(err, fault.InvalidArgument), "the double doesn't have it")
		commands, err := e.Commands(t.Context())
		require.NoError(t, err)
		require.Equal(t, name == "omp", len(commands) > 0)
		_, err = e.Bash(t.Context(), "true", false, nil)
		require.True(t, fault.Is(err, fault.Denied))
		require.True(t, fault.Is(e.Annotate(t.Context(), engine.Annotation{Title: "x"}), fault.Denied))
		require.NoError(t, e.Reread(t.Context()))
	})
}

// The entries of a new session appear with its first answer: the prompt is reported when they are there.
func TestForksWriteTheFileLate(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name, "late-file")
		e := w.open()
		out := w.run(e, "[[say:one]]")
		require.NoError(t, out.Err)
		require.Empty(t, out.Unanswered)
		require.Equal(t, []string{"user: [[say:one]]", "assistant: one"}, w.said())
		require.Equal(t, 5, strings.Count(w.text(), "\n"))
	})
}

func TestForksThatAreKilledBeforeTheFileHasThePrompt(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name, "late-file")
		out := w.run(w.open(), "[[fault:crash]]")
		require.ErrorContains(t, out.Err, "ended unexpectedly (signal: killed)")
		require.Len(t, out.Unanswered, 1)
		require.Empty(t, w.said())
		require.NotContains(t, w.text(), "crash")

		w = newForkWorld(t, name)
		out = w.run(w.open(), "[[fault:crash]]")
		require.ErrorContains(t, out.Err, "ended unexpectedly (signal: killed)")
		require.Empty(t, out.Unanswered, "the file has it")
		require.Contains(t, w.text(), "crash")
	})
}

func TestForksAreSteered(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name)
		e := w.open()
		require.True(t, fault.Is(e.Queue(t.Context(), loop.Steering, engine.Input{Text: "x"}), fault.Stale))
		_, done := w.begin(e, "[[slow:20]][[say:"+strings.Repeat("word ", 50)+"]]")
		<-w.began
		require.NoError(t, e.Queue(t.Context(), loop.Steering, engine.Input{Text: "[[say:steered]]"}))
		require.NoError(t, e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "[[say:followed]]"}))
		out := <-done
		require.NoError(t, out.Err)
		require.Empty(t, out.Unanswered)
		require.Equal(t, "followed", out.Message.PlainText())
		require.Len(t, w.said(), 6)
	})
}

// A message that waits is given back, and no abort delivers it.
func TestForksAreAbortedWhileAMessageWaits(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name)
		e := w.open()
		stop, done := w.begin(e, "[[slow:50]][[say:"+strings.Repeat("word ", 1000)+"]]")
		<-w.began
		require.NoError(t, e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "left"}))
		stop()
		out := <-done
		require.Equal(t, provider.StopAborted, out.StopReason)
		require.NoError(t, out.Err)
		require.Len(t, out.Unanswered, 1)
		require.Equal(t, "left", out.Unanswered[0].PlainText())
		<-e.Done()
		require.NoError(t, e.Err())
		require.NotContains(t, w.text(), "left")
		require.Equal(t, "again", w.run(w.open(), "[[say:again]]").Message.PlainText())
	})
}

// A message that the program keeps for the next prompt is given back too.
func TestForksKeepAMessage(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name)
		e := w.open()
		_, done := w.begin(e, "[[fault:keeps-queue]][[slow:20]][[say:"+strings.Repeat("word ", 50)+"]]")
		<-w.began
		require.NoError(t, e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "kept"}))
		out := <-done
		require.NoError(t, out.Err)
		require.Len(t, out.Unanswered, 1)
		require.Equal(t, "kept", out.Unanswered[0].PlainText())
		<-e.Done()
		require.NoError(t, e.Err())
	})
}

// xcsh reads no answer while it aborts, so that the question has to be answered before.
func TestForksAreAbortedWhileTheyAsk(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name)
		w.permit = func(ctx context.Context, _ engine.Call) error {
			<-ctx.Done()
			return ctx.Err()
		}
		e := w.open()
		stop, done := w.begin(e, `[[tool:bash {"command":"touch made"}]]`)
		<-w.asked
		stop()
		require.Equal(t, provider.StopAborted, (<-done).StopReason)
		require.NoFileExists(t, filepath.Join(w.place.Cwd, "made"))
		w.permit = nil
		require.Equal(t, "again", w.run(e, "[[say:again]]").Message.PlainText(), "it was not ended")
	})
}

func TestForksMove(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name)
		e := w.open()
		require.NoError(t, w.run(e, "[[say:one]]").Err)
		require.NoError(t, w.run(e, "[[say:two]]").Err)
		var second, first string
		for line := range strings.Lines(w.text()) {
			var entry struct{ ID, ParentID string }
			require.NoError(t, json.Unmarshal([]byte(line), &entry))
			if strings.Contains(line, "say:two") {
				second, first = entry.ID, entry.ParentID
			}
		}
		moved, err := e.Move(t.Context(), second, engine.Summary{})
		require.NoError(t, err)
		require.Equal(t, engine.Moved{LeafID: first, Text: "[[say:two]]"}, moved)
		_, err = e.Move(t.Context(), "none", engine.Summary{})
		require.ErrorContains(t, err, "Entry none not found")
	})
}

// A command of an extension asks the model nothing.
func TestForksRunCommandsOfExtensions(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name)
		e := w.open()
		out := w.run(e, "/boom")
		require.NoError(t, out.Err)
		require.Nil(t, out.Message)
		require.Empty(t, out.Unanswered)
		require.Contains(t, w.notices(), "boom")
		require.Equal(t, "again", w.run(e, "[[say:again]]").Message.PlainText())
	})
}

func TestForksWithADocumentThatIsNotSaved(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name)
		path := filepath.Join(w.place.Cwd, "main.go")
		require.NoError(t, os.WriteFile(path, []byte("on disk\n"), 0o600))
		w.unsaved = []string{path}
		var asked []string
		w.permit = func(_ context.Context, c engine.Call) error {
			asked = append(asked, c.Tool+" "+filepath.Base(c.Path))
			return nil
		}
		e := w.open()
		out := w.run(e, `[[tool:read {"path":"main.go"}]][[tool:write {"path":"./main.go","content":"x"}]][[tool:edit {"path":"main.go","edits":[{"oldText":"on","newText":"off"}]}]]`+
			`[[tool:write {"path":"other.go","content":"x"}]][[say:done]]`)
		require.NoError(t, out.Err)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "on disk\n", string(content))
		require.FileExists(t, filepath.Join(w.place.Cwd, "other.go"))
		require.Equal(t, []string{"read main.go", "write other.go"}, asked, "what is refused is not asked for")
		said := strings.Join(w.said(), "\n")
		require.Equal(t, 2, strings.Count(said, "toolResult: main.go has unsaved changes; save it first."))
		require.Equal(t, 1, strings.Count(w.notices(), name+" reads files from disk, and doesn't see the unsaved changes in main.go."))

		w.permit = func(context.Context, engine.Call) error { // the user types while the question is open
			w.unsaved = []string{filepath.Join(w.place.Cwd, "late.go")}
			return nil
		}
		w.run(e, `[[tool:write {"path":"late.go","content":"x"}]]`)
		require.NoFileExists(t, filepath.Join(w.place.Cwd, "late.go"))
	})
}

func TestForksThatRunAToolWithoutPermission(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		w := newForkWorld(t, name, "unpermitted")
		e := w.open()
		out := w.run(e, `[[tool:bash {"command":"sleep 0"}]]`)
		require.ErrorContains(t, out.Err, "without permission")
		<-e.Done()
	})
}

func TestForksDoNotRunCodeOfTheWorkspace(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		for _, code := range []string{".omp/extensions/a.ts", ".omp/settings.json", ".claude/tools/x.ts", ".mcp.json", ".vscode/mcp.json", ".gemini/settings.json"} {
			w := newForkWorld(t, name)
			path := filepath.Join(w.place.Cwd, filepath.FromSlash(code))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(`{"mcpServers":{}}`), 0o600))
			_, _, err := w.start()
			require.ErrorContains(t, err, "it would run code of this workspace", code)
			w.place.Trusted = true
			w.open()
		}
		w := newForkWorld(t, name)
		for _, harmless := range []string{".claude/settings.json", ".codex/config.toml", "opencode.json"} {
			path := filepath.Join(w.place.Cwd, filepath.FromSlash(harmless))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(`{"model":"x"}`), 0o600))
		}
		w.open()
	})
}

// The faults of a child that pi has, too.
func TestFaultsOfForks(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		for faults, says := range map[string]string{
			"exit:3;stderr:Error: nothing works": "Error: nothing works",
			"dialog-at-start":                    `an extension asks “At start?”`,
			"bridge-fails":                       "The extension of xcsh-ls could not be loaded",
			"slow-start:300":                     "",
			"half:get_state":                     "",
		} {
			w := newForkWorld(t, name, strings.Split(faults, ";")...)
			e, _, err := w.start()
			if says != "" {
				require.ErrorContains(t, err, says, faults)
				continue
			}
			require.NoError(t, err, faults)
			require.NoError(t, w.run(e, "[[say:hi]]").Err)
		}
		for prompt, says := range map[string]string{
			"[[fault:exit:7]]":               "ended unexpectedly",
			"[[fault:half-line]][[say:x]]":   "",
			"[[fault:unknown]][[say:x]]":     "",
			"[[fault:garbage:200]][[say:x]]": "could not be read",
			"[[fail:529:2]][[say:x]]":        "",
		} {
			w := newForkWorld(t, name)
			out := w.run(w.open(), prompt)
			if says == "" {
				require.NoError(t, out.Err, prompt)
				continue
			}
			require.ErrorContains(t, out.Err, says, prompt)
		}
	})
}
