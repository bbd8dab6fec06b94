package pi

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Proves: EF-36, EF-38
func TestModelsAndThinkingLevelsArePiS(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	e := f.open(newHost(t))
	f.on(func(c fakeCommand) bool {
		switch c.typ() {
		case "get_available_models":
			f.ok(c, object{"models": []any{"x", object{"id": 1}, object{
				"id": "m", "provider": "fake", "reasoning": true, "contextWindow": 1000, "cost": object{"input": 3},
				"headers": object{"x-api-key": "secret"}, "thinkingLevelMap": object{"high": nil},
			}}})
		case "get_available_thinking_levels":
			f.ok(c, object{"levels": []string{"off", "low"}})
		default:
			return false
		}
		return true
	})
	models, err := e.Models(t.Context())
	require.NoError(t, err)
	require.Len(t, models, 1)
	require.True(t, models[0].Available)
	require.Equal(t, 1000, models[0].ContextWindow)
	require.InDelta(t, 3, models[0].Cost.Input, 0)
	require.NotContains(t, models[0].SupportedLevels(), provider.High)
	require.Empty(t, models[0].Headers, "a header may be a key")
	_, err = e.Models(t.Context())
	require.NoError(t, err)
	require.Len(t, f.commands("get_available_models"), 2, "the user may have logged in or out elsewhere")

	_, err = e.SetModel(t.Context(), provider.Ref{Provider: "fake", ID: "none"})
	require.True(t, fault.Is(err, fault.NotFound))
	require.Empty(t, f.commands("set_model"))
	choice, err := e.SetModel(t.Context(), provider.Ref{Provider: "fake", ID: "m"})
	require.NoError(t, err)
	require.Equal(t, engine.Choice{Model: provider.Ref{Provider: "fake", ID: "m"}, Thinking: "medium"}, choice)
	_, err = e.SetThinking(t.Context(), "extreme")
	require.True(t, fault.Is(err, fault.InvalidArgument))
	require.Empty(t, f.commands("set_thinking_level"))
	_, err = e.SetThinking(t.Context(), "low")
	require.NoError(t, err)
}

func TestCommandsOfTheBridgeAreHidden(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	e := f.open(newHost(t))
	f.on(func(c fakeCommand) bool {
		if c.typ() == "get_commands" {
			f.ok(c, object{"commands": []object{{"name": "xcsh-ls-label"}, {"name": "fix", "description": "a\x1b[2Jb", "source": "prompt"}, {"name": ""}, {}}})
		}
		return c.typ() == "get_commands"
	})
	commands, err := e.Commands(t.Context())
	require.NoError(t, err)
	require.Equal(t, []engine.Command{{Name: "fix", Description: `a\u001b[2Jb`, Source: "prompt"}}, commands)
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	f.on(func(c fakeCommand) bool {
		if c.typ() == "compact" {
			f.send(object{"type": "compaction_start", "reason": "manual"})
			f.ok(c, object{"summary": "s", "firstKeptEntryId": "e", "tokensBefore": 1234, "details": object{}})
			require.Equal(t, "focus", c["customInstructions"])
		}
		return c.typ() == "compact"
	})
	got, err := e.Compact(t.Context(), "focus")
	require.NoError(t, err)
	require.Equal(t, engine.Compaction{Summary: "s", FirstKeptEntryID: "e", TokensBefore: 1234}, got)
	require.True(t, has(h.all(), "auto_compaction_start", "manual"))

	f.on(func(c fakeCommand) bool {
		if c.typ() == "compact" {
			f.no(c, "Nothing to compact (session too small)")
		}
		return c.typ() == "compact"
	})
	_, err = e.Compact(t.Context(), "")
	require.True(t, fault.Is(err, fault.InvalidArgument))
}

// bridgeCommands makes the fake answer commands of the bridge.
func (f *fakePi) bridgeCommands(answer func(name string, args fakeCommand) object) {
	f.on(func(c fakeCommand) bool {
		name, text, ok := strings.Cut(strings.TrimPrefix(c.message(), "/"+commandPrefix), " ")
		if c.typ() != "prompt" || !ok {
			return false
		}
		var args fakeCommand
		require.NoError(f.t, json.Unmarshal([]byte(text), &args))
		if reply := answer(name, args); reply != nil {
			reply["op"], reply["n"] = "answer", args["n"]
			f.report(reply)
		}
		f.ok(c, object{"disposition": "handled"})
		return true
	})
}

func TestMovesAndLabelsGoThroughTheBridge(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	f.bridgeCommands(func(name string, args fakeCommand) object {
		switch {
		case args["to"] == "bad":
			return object{"error": "Entry bad not found"}
		case args["to"] == "no":
			return object{"value": object{"cancelled": true}}
		case args["to"] == "mute":
			return nil
		case name == "navigate":
			require.Equal(t, map[string]any{"summarize": true, "customInstructions": "i"}, args["options"])
			return object{"value": object{"cancelled": false, "leafId": "parent", "text": "prompt"}}
		}
		require.Equal(t, "label", name)
		require.Equal(t, "L", args["text"])
		return object{"value": object{"leafId": "labelled"}}
	})
	moved, err := e.Move(t.Context(), "e", engine.Summary{Write: true, Instructions: "i"})
	require.NoError(t, err)
	require.Equal(t, engine.Moved{LeafID: "parent", Text: "prompt"}, moved)
	_, err = e.Move(t.Context(), "bad", engine.Summary{})
	require.EqualError(t, err, "pi refused: Entry bad not found")
	_, err = e.Move(t.Context(), "no", engine.Summary{})
	require.True(t, fault.Is(err, fault.Denied))
	_, err = e.Move(t.Context(), "mute", engine.Summary{})
	require.EqualError(t, err, "pi did not answer the command navigate.")
	require.NoError(t, e.Annotate(t.Context(), engine.Annotation{EntryID: "e", Label: "L"}))
	require.True(t, has(h.all(), "leaf labelled"))
	require.NoError(t, e.Annotate(t.Context(), engine.Annotation{Title: "T"}))
	require.Equal(t, "T", f.commands("set_session_name")[0]["name"])
	require.True(t, fault.Is(e.Annotate(t.Context(), engine.Annotation{Title: " "}), fault.Denied))
}

// Proves: EF-33
func TestRereadLooksForTheFileFirst(t *testing.T) {
	t.Parallel()
	f, fs := newFake(t), afero.NewMemMapFs()
	e := f.engineOf(Options{Fs: fs})
	_, err := e.Open(t.Context(), testPlace(t), newHost(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	require.NoError(t, e.Reread(t.Context()))
	require.Empty(t, f.commands("switch_session"), "a missing file would become a session")
	require.NoError(t, e.Run(t.Context(), engine.Input{Text: "hi"}).Err)
	require.True(t, fault.Is(e.Reread(t.Context()), fault.NotFound))
	require.NoError(t, afero.WriteFile(fs, f.file(), nil, 0o600))
	require.NoError(t, e.Reread(t.Context()))
	require.Equal(t, f.file(), f.commands("switch_session")[0]["sessionPath"])
	f.on(func(c fakeCommand) bool {
		if c.typ() == "switch_session" {
			f.ok(c, object{"cancelled": true})
		}
		return c.typ() == "switch_session"
	})
	var cancelled *fault.Error
	require.ErrorAs(t, e.Reread(t.Context()), &cancelled)
	require.Equal(t, fault.Denied, cancelled.Kind)
	require.Equal(t, "pi extension", cancelled.Data["cancelledBy"])
}

// Proves: EF-09
func TestAReloadWithoutTheBridgeEndsTheEngine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, h := newFake(t), newHost(t)
		e := f.engineOf(Options{})
		_, err := e.Open(t.Context(), engine.Place{Cwd: dir, Dir: dir, ID: fakeID, Permit: true}, h)
		require.NoError(t, err)
		f.on(func(c fakeCommand) bool {
			if c.typ() == "prompt" {
				f.ok(c, object{"disposition": "handled"})
				time.AfterFunc(time.Second, func() { f.hello(object{"reason": "reload", "leafId": "new"}) })
			}
			return c.typ() == "prompt"
		})
		require.NoError(t, e.Reload(t.Context()))
		synctest.Wait()
		require.True(t, has(h.all(), "leaf new"))
		f.on(func(c fakeCommand) bool {
			if c.typ() == "prompt" {
				f.ok(c, object{"disposition": "handled"})
			}
			return c.typ() == "prompt"
		})
		require.EqualError(t, e.Reload(t.Context()), "pi did not load the extension of xcsh-ls again.")
		<-e.Done()
	})
}

// Proves: EF-32
func TestASessionThatAnExtensionHasSwitched(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	f.hold()
	_, done := f.start(e, h, "hi")
	f.hello(object{"file": "/other/s.jsonl", "reason": "new"})
	f.message(f.assistant("of the other session", "stop"))
	out := <-done
	require.NoError(t, out.Err)
	require.True(t, has(h.all(), "left /other/s.jsonl"))
	require.False(t, has(h.all(), "of the other session"))
	require.True(t, fault.Is(e.usable(), fault.Stale))
}

// The message of a command is the one that pi has recorded.
func TestAShellCommandOfTheUser(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	recorded := object{"role": "bashExecution", "command": "ls", "output": "a\nb\n", "timestamp": 42}
	f.on(func(c fakeCommand) bool {
		switch c.typ() {
		case "bash":
			f.send(object{"type": "bash_execution_update", "id": c["id"], "delta": "a\n"})
			f.send(object{"type": "bash_execution_update", "id": "other", "delta": "x"})
			f.send(object{"type": "bash_execution_update", "id": c["id"], "delta": "b\n"})
			f.ok(c, object{"output": "a\nb\n", "exitCode": 0, "cancelled": false, "truncated": false})
		case "get_entries":
			if c["since"] != "leaf0" {
				t.Errorf("since %v", c["since"])
			}
			f.ok(c, object{"entries": []object{{"type": "message", "id": "e", "message": recorded}}})
		default:
			return false
		}
		return true
	})
	// Before the first prompt there is no file.
	raw, err := e.Bash(t.Context(), "ls", true, nil)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"output":"a\nb\n","exitCode":0,"cancelled":false,"truncated":false,"timestamp":`)
	require.Contains(t, string(raw), `"excludeFromContext":true`)
	require.True(t, has(h.all(), "bash_execution_end"))

	require.NoError(t, e.Run(t.Context(), engine.Input{Text: "hi"}).Err)
	raw, err = e.Bash(t.Context(), "ls", false, func(string) {})
	require.NoError(t, err)
	require.JSONEq(t, encoded(t, recorded), string(raw))
	require.Equal(t, []string{"user", "assistant", "bashExecution"}, h.roles())
}

func TestTheOutputOfACommandIsCollected(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	shown := make(chan string, 10)
	f.on(func(c fakeCommand) bool {
		switch c.typ() {
		case "bash":
			f.send(object{"type": "bash_execution_update", "id": c["id"], "delta": "a\n"})
			f.send(object{"type": "bash_execution_update", "id": c["id"], "delta": "b\n"})
		case "abort_bash":
			f.ok(f.commands("bash")[0], object{"output": "a\nb\n", "cancelled": true, "truncated": false})
			f.ok(c, object{})
		default:
			return false
		}
		return true
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for text := range shown {
			if text == "a\nb\n" {
				cancel()
			}
		}
	}()
	raw, err := e.Bash(ctx, "ls", false, func(output string) { shown <- output })
	close(shown)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"cancelled":true`)
}

func TestTheOutputOfACommandIsBounded(t *testing.T) {
	t.Parallel()
	o := &output{more: make(chan struct{}, 1)}
	for range 3 {
		o.add(strings.Repeat("ä", maxBash/3))
	}
	require.LessOrEqual(t, len(o.get()), maxBash)
	require.NotContains(t, o.get(), "\uFFFD")
}

// A command in a run is recorded at its end.
func TestAShellCommandInARun(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	n := 0
	f.on(func(c fakeCommand) bool {
		switch c.typ() {
		case "prompt":
			f.ok(c, object{"disposition": "started"})
			f.send(object{"type": "agent_start"})
			f.message(object{"role": "user", "content": c.message()})
		case "bash":
			f.ok(c, object{"output": "o", "cancelled": false, "truncated": false})
			if n++; n == 2 {
				f.send(object{"type": "agent_settled"})
			}
		case "get_entries":
			entries := []object{}
			for i := range 2 {
				entries = append(entries, object{"id": fmt.Sprint("e", i), "message": object{"role": "bashExecution", "command": "ls", "timestamp": i}})
			}
			if c["since"] == "e0" {
				entries = entries[1:]
			}
			f.ok(c, object{"entries": entries})
		default:
			return false
		}
		return true
	})
	_, done := f.start(e, h, "hi")
	for range 2 {
		_, err := e.Bash(t.Context(), "ls", false, nil)
		require.NoError(t, err)
	}
	require.NoError(t, (<-done).Err)
	require.True(t, has(h.all(), "message", `"timestamp":0`))
	require.True(t, has(h.all(), "message", `"timestamp":1`), "%q", h.all())
}

// Proves: EF-13
func TestDialogs(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	h.ask = func(_ context.Context, q event.Question) engine.Answer {
		switch q.Method {
		case "select":
			return engine.Answer{Value: q.Options[len(q.Options)-1]}
		case "confirm":
			return engine.Answer{Confirmed: true}
		case "editor":
			return engine.Answer{Cancelled: true}
		}
		return engine.Answer{Value: "typed"}
	}
	e := f.open(h)
	answers := make(chan fakeCommand, 10)
	f.on(func(c fakeCommand) bool {
		if c.typ() == "extension_ui_response" {
			answers <- c
		}
		return false
	})
	for _, c := range []struct {
		method  string
		members object
		answer  string
	}{
		{"select", object{"title": "T\x07", "options": []string{"a", "b\x1b[0m" + strings.Repeat("x", 2*maxTitle)}}, ""},
		{"confirm", object{"title": "T", "message": "m"}, `{"confirmed":true,"id":"confirm","type":"extension_ui_response"}`},
		{"input", object{"title": "T", "timeout": 1e9}, `{"id":"input","type":"extension_ui_response","value":"typed"}`},
		{"editor", object{"title": "T", "prefill": "p"}, `{"cancelled":true,"id":"editor","type":"extension_ui_response"}`},
		{"unknown", object{}, `{"cancelled":true,"id":"unknown","type":"extension_ui_response"}`},
	} {
		f.ui(c.method, c.method, c.members)
		got := <-answers
		if c.method == "select" {
			require.Equal(t, c.members["options"].([]string)[1], got["value"], "pi gets the option as it wrote it")
			continue
		}
		require.JSONEq(t, c.answer, encoded(t, got))
	}
	require.True(t, has(h.all(), `ask {"id":"select","method":"select","title":"T\\u0007"`))
	require.Equal(t, 0, e.openDialogs())
}

// What extensions show is bounded in number and size.
func TestTooManyDialogs(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	refused := make(chan struct{}, 1000)
	f.on(func(c fakeCommand) bool {
		if c.typ() == "extension_ui_response" {
			refused <- struct{}{}
		}
		return false
	})
	for i := range maxDialogs + 5 {
		f.ui(fmt.Sprint(i), "input", object{"title": "T"})
	}
	f.ui("0", "input", object{"title": "the same again"})
	for range 6 {
		<-refused
	}
	require.Equal(t, maxDialogs, e.openDialogs())
	for i := range maxShows + 50 {
		f.ui("s", "setStatus", object{"statusKey": fmt.Sprint(i), "statusText": "t"})
		f.ui("n", "notify", object{"message": "m"})
	}
	_, err := e.Models(t.Context())
	require.NoError(t, err)
	e.flush()
	shown := 0
	for _, r := range h.all() {
		if strings.Contains(r, "notice") || strings.Contains(r, "engine_status") {
			shown++
		}
	}
	require.LessOrEqual(t, shown, maxShows)
	require.Positive(t, shown)
}

// pi answers a dialog with a timeout itself, and a dialog of a run ends with it.
// Proves: EF-28
func TestDialogsAreTakenBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, h := newFake(t), newHost(t)
		e := f.engineOf(Options{})
		_, err := e.Open(t.Context(), engine.Place{Cwd: dir, Dir: dir, ID: fakeID, Permit: true}, h)
		require.NoError(t, err)
		f.ui("d", "input", object{"title": "with a timeout", "timeout": 3000})
		<-time.After(2 * time.Second)
		synctest.Wait()
		require.False(t, has(h.all(), "gone"))
		<-time.After(2 * time.Second)
		synctest.Wait()
		require.True(t, has(h.all(), "gone with a timeout"))

		f.hold()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out := make(chan loop.Outcome, 1)
		go func() { out <- e.Run(ctx, engine.Input{Text: "hi"}) }()
		synctest.Wait()
		f.ui("r", "input", object{"title": "of the run"})
		synctest.Wait()
		f.send(object{"type": "agent_settled"})
		require.Equal(t, "stop", (<-out).StopReason)
		synctest.Wait()
		require.True(t, has(h.all(), "gone of the run"))
		require.NoError(t, e.Close(t.Context()))
	})
}

func TestQuestionsOfTheBridgeAboutFiles(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	h.read = func(path string) (string, bool, error) {
		if path == "/bad" {
			return "", false, os.ErrPermission
		}
		return "text", path == "/open", nil
	}
	h.write = func(call, path, text string) (bool, error) {
		if text == "stale" {
			return false, fault.New(fault.Stale, "The file changed.")
		}
		return path == "/open" && call == "c", nil
	}
	e := f.open(h)
	for want, q := range map[string]question{
		`{"here":true}`:                         {Op: "open", Path: "/open"},
		`{"here":true,"text":"text"}`:           {Op: "read", Path: "/open"},
		`{"here":false}`:                        {Op: "read", Path: "/closed"},
		`{"error":"permission denied"}`:         {Op: "read", Path: "/bad"},
		`{"here":true} `:                        {Op: "write", Path: "/open", CallID: "c", Text: "new"},
		`{"error":"The file changed."}`:         {Op: "write", Path: "/open", Text: "stale"},
		`{"error":"This question is unknown."}`: {Op: "x"},
	} {
		require.JSONEq(t, want, encoded(t, e.answer(t.Context(), q)))
	}
}
