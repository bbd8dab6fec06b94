package enginetest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
)

func TestARunWithATool(t *testing.T) {
	t.Parallel()
	h := host(t, enginetest.Pi(t))
	require.Empty(t, h.files())
	got := h.run(`read it [[tool:read {"path":"README.md"}]]`)
	require.Equal(t, []string{
		"response prompt", "agent_start", "turn_start",
		"message_start system", "message_end system", "message_start user", "message_end user",
		"message_start assistant", "text_start", "text_delta", "text_end", "toolcall_start", "toolcall_delta", "toolcall_end", "message_end assistant/toolUse",
		"tool_execution_start", "tool_execution_end", "message_start toolResult", "message_end toolResult", "turn_end assistant",
		"turn_start", "message_start assistant", "text_start", "text_delta", "text_end", "message_end assistant/stop", "turn_end assistant",
		"agent_end", "agent_settled",
	}, got)
	require.Equal(t, [][]string{{"session", "model_change", "thinking_level_change", "system", "user", "assistant/toolUse", "toolResult", "assistant/stop"}}, h.files())
}

// The bridge asks before each tool, and the editor's text is what a tool reads and changes.
func TestTheBridgeAsksTheHost(t *testing.T) {
	t.Parallel()
	program, args := bridged(t, enginetest.Pi(t))
	h := host(t, program, args...)
	hello := h.until(func(l line) bool { return l.StatusKey == mark })
	require.Contains(t, hello.StatusText, `"op":"hello"`)
	require.Contains(t, hello.StatusText, `"reason":"startup"`)
	h.prompt(`[[tool:edit {"path":"README.md","edits":[{"oldText":"unsaved","newText":"changed"}]}]][[tool:bash {"command":"env | grep XCSH_LS; echo ok"}]]`)
	require.Equal(t, []string{"permit", "open", "read", "write", "permit"}, h.bridge(map[string]string{
		"open": `{"here":true}`, "read": `{"here":true,"text":"unsaved text"}`, "write": `{"here":true}`, "permit": `{"allow":true}`,
	}))
	text, err := os.ReadFile(filepath.Join(h.cwd, "README.md"))
	require.NoError(t, err)
	require.Equal(t, "# demo\nline2\n", string(text), "it is changed in the editor only")
	require.Contains(t, h.results(), `[{"type":"text","text":"ok\n"}]`)
	write := h.seen[slices.IndexFunc(h.seen, func(l line) bool { return strings.Contains(l.Placeholder, `"op":"write"`) })]
	require.Contains(t, write.Placeholder, `"text":"changed text"`)
}

func TestARefusalIsTheResultOfTheTool(t *testing.T) {
	t.Parallel()
	program, args := bridged(t, enginetest.Pi(t))
	h := host(t, program, args...)
	h.prompt(`[[tool:bash {"command":"echo hi"}]]`)
	require.Equal(t, []string{"permit"}, h.bridge(map[string]string{"permit": `{"allow":false,"reason":"Not here."}`}))
	require.Equal(t, []string{`[{"type":"text","text":"Not here."}]`}, h.results())
}

func TestCommandsOfTheBridgeAreAnsweredByNumber(t *testing.T) {
	t.Parallel()
	program, args := bridged(t, enginetest.Pi(t))
	h := host(t, program, args...)
	h.run("[[say:one]]")
	h.run("[[say:two]]")
	var entries struct {
		Entries []struct{ ID string }
		LeafID  string
	}
	require.NoError(t, json.Unmarshal(h.call(`{"type":"get_entries"}`), &entries))
	second := entries.Entries[len(entries.Entries)-2].ID
	answer := func(text string) string {
		h.prompt(text)
		return h.until(func(l line) bool { return strings.Contains(l.StatusText, `"op":"answer"`) }).StatusText
	}
	before := entries.Entries[len(entries.Entries)-3].ID
	require.JSONEq(t, `{"op":"answer","n":1,"value":{"cancelled":false,"leafId":"`+before+`","text":"[[say:two]]"}}`, answer(`/xcsh-ls-navigate {"n":1,"to":"`+second+`"}`))
	require.Contains(t, answer(`/xcsh-ls-navigate {"n":2,"to":"none"}`), `"error"`)
	require.Contains(t, answer(`/xcsh-ls-label {"n":3,"entry":"`+before+`","text":"mark"}`), `"n":3,"value"`)
	h.prompt(`/xcsh-ls-reload {"n":4}`)
	h.until(func(l line) bool { return strings.Contains(l.StatusText, `"reason":"reload"`) })
}

func TestDialogsAreAnsweredOrTimeOut(t *testing.T) {
	t.Parallel()
	h := host(t, enginetest.Pi(t))
	for command, answer := range map[string]string{"sel": `"value":"b"`, "con": `"confirmed":true`, "inp": `"value":"x"`, "edi": `"cancelled":true`, "selt": ""} {
		h.prompt("/" + command)
		dialog := h.event("extension_ui_request")
		if answer != "" {
			h.send(`{"type":"extension_ui_response","id":"` + dialog.ID + `",` + answer + `}`)
		}
		require.Equal(t, "notify", h.event("extension_ui_request").Method, command)
		require.True(t, h.response("p").Success)
	}
	h.prompt(`[[ask:select {"title":"T","options":["a"]}]]`)
	h.event("extension_ui_request")
	h.call(`{"type":"abort"}`) // the dialog of a run ends with it
	require.Contains(t, h.kinds(), "message_end assistant/aborted")
}

// Each fault of a prompt shows, and the double goes on where a program could.
func TestFaultsOfAPrompt(t *testing.T) {
	t.Parallel()
	for fault, shows := range map[string]func(line) bool{
		"garbage:3": func(l line) bool { return strings.Contains(l.raw, "not JSON") },
		"half-line": func(l line) bool { return strings.HasPrefix(l.raw, `{"half": {"type"`) },
		"line:10":   func(l line) bool { return len(l.raw) > 10<<20 },
		"unknown":   func(l line) bool { return l.Type == "mock_event" },
		"flood:1":   func(l line) bool { return l.Type == "agent_settled" },
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			h := host(t, enginetest.Pi(t))
			h.prompt("[[fault:" + fault + "]]")
			if l := h.until(shows); l.Type != "agent_settled" {
				h.event("agent_settled")
			}
			require.NotEmpty(t, h.call(`{"type":"get_state"}`))
		})
	}
}

func TestFaultsThatEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults []string
		prompt string
		exit   child.Exit
		stderr string
		file   []string
	}{
		"at the start":  {faults: []string{"exit:3", `stderr:Error: no\nreason`}, exit: child.Exit{Code: 3}, stderr: "Error: no\nreason"},
		"a dialog":      {faults: []string{"dialog-at-start"}},
		"an extension":  {faults: []string{"extension-fails"}, exit: child.Exit{Code: 1}, stderr: "Failed to load extension"},
		"null":          {prompt: "null", exit: child.Exit{Code: 1}, stderr: "TypeError"},
		"in an answer":  {prompt: "[[fault:crash]]", exit: killed, file: []string{"session", "model_change", "thinking_level_change", "system", "user"}},
		"with a code":   {prompt: "[[fault:exit:4]]", exit: child.Exit{Code: 4}},
		"in a command":  {prompt: `[[fault:crash-in-tool]][[tool:bash {"command":"sleep 1000"}]]`, exit: killed, file: []string{"session", "model_change", "thinking_level_change", "system", "user", "assistant/toolUse"}},
		"no such model": {faults: []string{"no-login"}, prompt: "end", stderr: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := host(t, enginetest.Pi(t, c.faults...))
			switch c.prompt {
			case "":
			case "null":
				h.send("null")
			case "end":
				h.prompt("hi")
				require.Contains(t, h.response("p").Error, "No API key found")
				require.NoError(t, h.Close(t.Context()))
			default:
				h.prompt(c.prompt)
			}
			for range h.Lines() { // to their end
			}
			require.Equal(t, c.exit, h.Exit())
			require.Contains(t, h.Stderr(), c.stderr)
			if c.file != nil {
				require.Equal(t, [][]string{c.file}, h.files())
			}
		})
	}
}

var killed = child.Exit{Code: -1, Signal: "killed"}

// Answers get lost, come behind half a line and come twice.
func TestFaultsOfAnswers(t *testing.T) {
	t.Parallel()
	h := host(t, enginetest.Pi(t, "eat:get_state", "half:get_commands", "twice:prompt"))
	h.send(`{"id":"1","type":"get_state"}`)
	h.send(`{"id":"2","type":"get_state"}`)
	require.Equal(t, "2", h.event("response").ID)
	h.send(`{"id":"3","type":"get_commands"}`)
	h.until(func(l line) bool { return strings.HasPrefix(l.raw, `{"half": {"id":"3"`) })
	h.prompt("hi")
	require.True(t, h.response("p").Success)
	require.False(t, h.response("p").Success)
	h.event("agent_settled")
}

// The file is continued behind its leaf, and a missing one is made where it was named.
func TestASessionIsContinued(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := hostIn(t, p, enginetest.Pi(t), "--session-id", "11111111-2222-7333-8444-555555555555")
	h.run("[[say:one]]")
	file := h.sessionFile()
	require.True(t, strings.HasSuffix(file, "_11111111-2222-7333-8444-555555555555.jsonl"), file)
	require.NoError(t, h.Close(t.Context()))
	h = hostIn(t, p, enginetest.Pi(t), "--session", file)
	h.run("[[say:two]]")
	require.Equal(t, [][]string{{"session", "model_change", "thinking_level_change", "system", "user", "assistant/stop", "user", "assistant/stop"}}, h.files())
	require.NoError(t, h.Close(t.Context()))
	require.NoError(t, os.WriteFile(file, []byte("{}\n"), 0o600))
	h = hostIn(t, p, enginetest.Pi(t), "--session", file)
	require.Equal(t, child.Exit{Code: 1}, h.Exit())
	require.Contains(t, h.Stderr(), "Session file is not a valid pi session")
}

// The end of the input ends a run, which is recorded, and its command.
func TestTheEndOfTheInputIsRecorded(t *testing.T) {
	t.Parallel()
	h := host(t, enginetest.Pi(t))
	h.prompt(`[[tool:bash {"command":"sleep 1000"}]]`)
	h.event("tool_execution_update")
	require.NoError(t, h.Close(t.Context()))
	require.Equal(t, child.Exit{}, h.Exit())
	kinds := h.files()[0]
	require.Equal(t, []string{"assistant/toolUse", "toolResult", "assistant/aborted"}, kinds[len(kinds)-3:])
}

func TestTheExecutableIsFoundByItsName(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it is built")
	}
	path := enginetest.Build(t, "pi")
	out, err := exec.CommandContext(t.Context(), path, "--version").Output()
	require.NoError(t, err)
	require.Equal(t, "1.5.2\n", string(out))
	h := host(t, enginetest.Program{Path: path})
	h.run("[[say:hi]]")
}

// bridge answers the bridge to the end of the run, and returns its questions.
func (h *hosted) bridge(answers map[string]string) (asked []string) {
	h.t.Helper()
	for {
		l := h.until(func(l line) bool { return l.Type == "agent_settled" || l.Title == mark })
		if l.Type == "agent_settled" {
			return asked
		}
		var q struct{ Op string }
		require.NoError(h.t, json.Unmarshal([]byte(l.Placeholder), &q))
		asked = append(asked, q.Op)
		value, err := json.Marshal(answers[q.Op])
		require.NoError(h.t, err)
		h.send(`{"type":"extension_ui_response","id":"` + l.ID + `","value":` + string(value) + `}`)
	}
}

// results returns the results of tools.
func (h *hosted) results() (all []string) {
	for _, l := range h.seen {
		var m struct {
			Role    string
			Content json.RawMessage
		}
		_ = json.Unmarshal(l.Message, &m) // without a message
		if l.Type == "message_end" && m.Role == "toolResult" {
			all = append(all, string(m.Content))
		}
	}
	return all
}

func TestACommandOfTheUserCanBeAborted(t *testing.T) {
	t.Parallel()
	h := host(t, enginetest.Pi(t))
	h.run("[[say:hi]]")
	h.send(`{"id":"b","type":"bash","command":"echo out; sleep 1000"}`)
	h.send(`{"id":"a","type":"abort_bash"}`)
	r := h.response("b")
	require.True(t, r.Success)
	require.Contains(t, string(r.Data), `"cancelled":true`)
}
