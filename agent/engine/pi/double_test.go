package pi_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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
)

func TestMain(m *testing.M) {
	enginetest.Main()
	os.Exit(m.Run())
}

// quietHost allows everything and keeps the types of reported events.
type quietHost struct {
	refuse error

	mu    sync.Mutex
	types []string
	began chan struct{} // has an element after the first message
}

func (h *quietHost) note(typ string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.types = append(h.types, typ)
}

func (h *quietHost) saw(typ string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.types, typ)
}

func (h *quietHost) Emit(e event.Event) {
	h.note(e.Type())
	if e.Type() == "message_update" || e.Type() == "tool_execution_start" {
		select {
		case h.began <- struct{}{}:
		default:
		}
	}
}
func (h *quietHost) Message(context.Context, json.RawMessage)           { h.note("message") }
func (h *quietHost) Leaf(string)                                        { h.note("leaf") }
func (h *quietHost) Left(string)                                        { h.note("left") }
func (h *quietHost) Permit(context.Context, engine.Call) error          { h.note("permit"); return h.refuse }
func (h *quietHost) Queued([]string, []string)                          { h.note("queued") }
func (h *quietHost) Read(context.Context, string) (string, bool, error) { return "", false, nil }
func (h *quietHost) Write(context.Context, string, string, string) (bool, error) {
	h.note("write")
	return false, nil
}

func (h *quietHost) Ask(ctx context.Context, _ event.Question) engine.Answer {
	<-ctx.Done()
	return engine.Answer{Cancelled: true}
}

// open starts an engine that runs the double with faults.
func open(t *testing.T, h *quietHost, faults ...string) (*pi.Engine, error) {
	t.Helper()
	h.began = make(chan struct{}, 1)
	root := t.TempDir()
	for _, dir := range []string{"home", "work", "sessions"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o700))
	}
	double := enginetest.Pi(t, faults...)
	env := append(double.Env, "HOME="+filepath.Join(root, "home"))
	e := pi.New(engine.Program{Name: "pi", Path: double.Path, Args: double.Args, Env: env}, pi.Options{})
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	_, err := e.Open(t.Context(), engine.Place{
		Cwd: filepath.Join(root, "work"), Dir: filepath.Join(root, "sessions"), ID: "01a202b1-f0b4-74f1-a829-bdc95815a193", Permit: true, Files: true,
	}, h)
	return e, err
}

func TestTheDoubleAnswers(t *testing.T) {
	t.Parallel()
	h := new(quietHost)
	e, err := open(t, h)
	require.NoError(t, err)
	out := e.Run(t.Context(), engine.Input{Text: `[[think]][[tool:write {"path":"a.txt","content":"x"}]][[tool:bash {"command":"true"}]][[say:done]]`})
	require.NoError(t, out.Err)
	require.Equal(t, "done", out.Message.PlainText())
	for _, typ := range []string{"permit", "write", "leaf", "message", "tool_execution_end"} {
		require.True(t, h.saw(typ), typ)
	}
}

// Each fault of the child process ends in one sentence, and in time.
// Proves: EF-04, EF-05, EF-07, EF-08, EF-12
func TestFaultsOfTheDouble(t *testing.T) {
	t.Parallel()
	for faults, says := range map[string]string{
		"exit:3;stderr:Error: nothing works": "Error: nothing works",
		"dialog-at-start":                    `an extension asks “At start?”`,
		"extension-fails":                    "could not be loaded into",
		"bridge-fails":                       "The extension of xcsh-ls could not be loaded",
		"slow-start:300":                     "",
		"half:get_state":                     "",
	} {
		t.Run(faults, func(t *testing.T) {
			t.Parallel()
			e, err := open(t, new(quietHost), strings.Split(faults, ";")...)
			if says == "" {
				require.NoError(t, err)
				require.NoError(t, e.Run(t.Context(), engine.Input{Text: "[[say:hi]]"}).Err)
				return
			}
			require.ErrorContains(t, err, says)
		})
	}
}

// Proves: EF-11, EF-13, EF-18
func TestFaultsOfTheDoubleInARun(t *testing.T) {
	t.Parallel()
	for prompt, says := range map[string]string{
		"[[fault:exit:7]]":               "ended unexpectedly",
		"[[fault:line:1]][[say:x]]":      "",
		"[[fault:crash]]":                "ended unexpectedly (signal: killed)",
		"[[fault:half-line]][[say:x]]":   "",
		"[[fault:unknown]][[say:x]]":     "",
		"[[fault:garbage:5]][[say:x]]":   "",
		"[[fault:garbage:200]][[say:x]]": "could not be read",
		"[[big:500000]]":                 "",
	} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()
			e, err := open(t, new(quietHost))
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			out := e.Run(ctx, engine.Input{Text: prompt})
			if says == "" {
				require.NoError(t, out.Err)
				require.Equal(t, "stop", out.StopReason)
				return
			}
			require.ErrorContains(t, out.Err, says)
			select {
			case <-e.Done():
			default:
				t.Error("the run has ended before the engine")
			}
		})
	}
}

func TestTheDoubleIsAborted(t *testing.T) {
	t.Parallel()
	h := new(quietHost)
	e, err := open(t, h)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan loop.Outcome, 1)
	go func() {
		done <- e.Run(ctx, engine.Input{Text: "[[slow:50]][[say:" + strings.Repeat("word ", 1000) + "]]"})
	}()
	<-h.began
	cancel()
	require.Equal(t, "aborted", (<-done).StopReason)
	require.NoError(t, e.Run(t.Context(), engine.Input{Text: "[[say:again]]"}).Err)
}

// Proves: EF-30
func TestAToolOfTheDoubleThatDoesNotAsk(t *testing.T) {
	t.Parallel()
	e, err := open(t, new(quietHost), "unpermitted")
	require.NoError(t, err)
	out := e.Run(t.Context(), engine.Input{Text: `[[tool:bash {"command":"sleep 0"}]]`})
	require.ErrorContains(t, out.Err, "without permission")
	<-e.Done()
}
