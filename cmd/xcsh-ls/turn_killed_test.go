package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// The results of calls whose own result was lost.
const (
	unknownOutcome = "outcome is unknown"
	neverRun       = "was not run"
)

// resumption is the prompt after a crash, which is in no other text of a request.
const resumption = "continue-after-the-crash"

// bashCall is a call of bash with an id of its own.
func bashCall(n int, command string) providertest.Call {
	return providertest.Call{Name: "bash", ID: fmt.Sprintf("call_%d", n), Args: map[string]any{"command": command}}
}

// resultsByCall returns the results that the newest request has, by the number of the call.
func resultsByCall(m *machine) map[string]string {
	results := map[string]string{}
	requests := m.Requests()
	for _, message := range requests[len(requests)-1].Messages {
		if message.Role == provider.RoleToolResult { // in the order of the calls; not every service has ids
			results[fmt.Sprint(len(results)+1)] = message.PlainText()
		}
	}
	return results
}

// startedCalls counts the entries that record the start of a call.
func startedCalls(file string) int { return strings.Count(file, `"customType":"xcsh-ls.toolStart"`) }

// A process that is killed during the first, second or third of three commands leaves a file with the
// results before it, and the model reads exactly what happened to each call.
// Proves: A-016
func TestRunIsKilledDuringEachCommand(t *testing.T) {
	t.Parallel()
	skipWithoutSignals(t)
	forEachFormat(t, func(t *testing.T, m *machine) {
		for killed := 1; killed <= 3; killed++ {
			m := newMachine(t, m.api(t))
			makePipe(t, m.path("running"))
			makePipe(t, m.path("blocked"))
			var batch []providertest.Call
			for n := 1; n <= 3; n++ {
				command := fmt.Sprintf("echo output %d; touch ran%d", n, n)
				if n == killed {
					command += "; echo $$ >running; exec cat blocked"
				}
				batch = append(batch, bashCall(n, command))
			}
			m.Script("m", providertest.Reply{Text: "I run.", ToolCalls: batch})
			r := m.begin("I run.", "run", "--model", "fake/m", "--approval", "yolo", "first")
			require.NotEmpty(t, m.read(m.path("running"))) // waits for the command
			require.NoError(t, r.Process.Kill())
			_, _, _ = r.end()
			m.write(m.path("blocked"), "") // lets the command end

			file := m.sessionFile()
			before := m.read(file)
			require.Equal(t, strings.TrimSpace("user assistant:toolUse "+strings.Repeat("toolResult ", killed-1)), roles(m.messages(file)))
			require.Equal(t, killed, startedCalls(before))

			m.Script("m", providertest.Reply{Text: "Going on."})
			code, _, stderr := m.run("run", "--continue", "second")
			require.Zero(t, code, stderr)
			require.True(t, strings.HasPrefix(m.read(file), before), "existing lines are unchanged")
			require.Equal(t, "user assistant:toolUse toolResult toolResult toolResult user assistant:stop", roles(m.messages(file)))
			for n, text := range resultsByCall(m) {
				switch {
				case n < fmt.Sprint(killed):
					require.Contains(t, text, "output "+n)
				case n == fmt.Sprint(killed):
					require.Contains(t, text, unknownOutcome)
				default:
					require.Contains(t, text, neverRun)
				}
			}
			require.Len(t, resultsByCall(m), 3)
		}
	})
}

// A process that is killed after any of its events leaves a file that is true: a command that ran is not
// said to have been left out, and one whose result is recorded did run. Between two events the process
// continues, so the test asks the world what happened.
func TestRunIsKilledAfterEachEvent(t *testing.T) {
	t.Parallel()
	skipWithoutSignals(t)
	forEachFormat(t, func(t *testing.T, m *machine) {
		m.scriptBatch()
		complete := m.killAfter(-1)
		answer := slices.Index(complete, "tool_execution_start") - 1 // the calls are recorded
		for n := answer; n < len(complete); n++ {
			if complete[n] == "message_update" {
				continue
			}
			m := newMachine(t, m.api(t))
			m.scriptBatch()
			seen := m.killAfter(n + 1)
			m.requireTruth(t, fmt.Sprintf("after event %d, %s", n, seen[n]))
		}
		for _, event := range []string{"message_end", "tool_execution_start", "tool_execution_end", "turn_end", "agent_end"} {
			require.Contains(t, complete[answer:], event)
		}
	})
}

// scriptBatch adds the answer with three calls, and the one after it, for requests before the crash.
func (m *machine) scriptBatch() {
	m.t.Helper()
	m.write(m.path("a.txt"), "hello\n")
	first := func(r providertest.Request) bool { return !strings.Contains(string(r.Body), resumption) }
	m.Script(
		"m", providertest.Reply{When: first, Text: "I run.", ToolCalls: []providertest.Call{
			bashCall(1, "echo output 1; touch ran1"),
			{Name: "read", ID: "call_2", Args: map[string]any{"path": "a.txt"}},
			bashCall(3, "echo output 3; touch ran3"),
		}},
		providertest.Reply{When: first, Text: "Done."},
	)
}

// has reports whether the folder has a file.
func (m *machine) has(name string) bool {
	_, err := os.Stat(m.path(name))
	return err == nil
}

// api is the wire format of the machine's model.
func (m *machine) api(t *testing.T) provider.API {
	t.Helper()
	_, format, _ := strings.Cut(t.Name(), "/")
	return provider.API(format)
}

// killAfter runs a turn and kills the process after n events, or not if n is negative. It returns their
// types.
func (m *machine) killAfter(n int) (events []string) {
	m.t.Helper()
	cmd := m.command("run", "--json", "--model", "fake/m", "--approval", "yolo", "first")
	out, err := cmd.StdoutPipe()
	require.NoError(m.t, err)
	require.NoError(m.t, cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for len(events) != n && lines.Scan() {
		var e struct{ Type string }
		require.NoError(m.t, json.Unmarshal(lines.Bytes(), &e))
		if e.Type == "changes_changed" {
			continue // how often depends on the time
		}
		events = append(events, e.Type)
	}
	if n >= 0 {
		require.Len(m.t, events, n)
		_ = cmd.Process.Kill() // it may have exited
	}
	_ = cmd.Wait() // the exit code does not matter
	return events
}

// requireTruth compares the session of a killed process with the commands that ran, continues it, and
// compares the results that the model then reads.
func (m *machine) requireTruth(t *testing.T, moment string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.agentDir(), "sessions", "*", "*.jsonl"))
	require.NoError(t, err)
	if len(files) == 0 {
		return // a new session has no file before its first answer; the prompt is in the journal
	}
	require.Len(t, files, 1, moment)
	before := m.read(files[0])
	known := map[string]bool{}
	for line := range strings.Lines(before) {
		require.True(t, json.Valid([]byte(line)), "%s: %s", moment, line)
		if id, ok := rawjson.GetString([]byte(line), "message", "toolCallId"); ok {
			id, _, _ = strings.Cut(id, "|") // the Responses API has two ids
			known[id] = true
		}
	}
	answered := strings.Contains(before, `"stopReason":"toolUse"`)

	m.Script("m", providertest.Reply{Text: "Going on."})
	code, _, stderr := m.run("run", "--continue", "--model", "fake/m", resumption)
	require.Zero(t, code, "%s: %s", moment, stderr)
	require.True(t, strings.HasPrefix(m.read(files[0]), before), "%s: existing lines are unchanged", moment)
	results := resultsByCall(m)
	if !answered {
		require.Empty(t, results, moment)
		return
	}
	require.Len(t, results, 3, moment)
	for _, n := range []string{"1", "3"} {
		text, ran := results[n], m.has("ran"+n)
		switch {
		case known["call_"+n]:
			assert.Contains(t, text, "output "+n, moment)
			assert.True(t, ran, moment)
		case ran:
			assert.Contains(t, text, unknownOutcome, "%s: call %s ran", moment, n)
		default: // it may have been about to run
			assert.NotContains(t, text, "output", moment)
		}
		if strings.Contains(text, neverRun) {
			assert.False(t, ran, "%s: call %s ran", moment, n)
		}
	}
	if known["call_2"] {
		assert.Equal(t, "hello\n", results["2"], moment)
	}
}
