package main

import (
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

var osFs = afero.NewOsFs()

// A turn with tools, in each format, by the process that users run.
// Proves: P-001
func TestRunUsesToolsAndContinues(t *testing.T) {
	t.Parallel()
	forEachFormat(t, func(t *testing.T, m *machine) {
		m.write(m.path("a.txt"), "hello there\n")
		m.Script(
			"m", providertest.Reply{Text: "I look.", ToolCalls: calls("read", map[string]any{"path": "a.txt"})},
			providertest.Reply{ToolCalls: calls("edit", map[string]any{
				"path": "a.txt", "edits": []any{map[string]any{"oldText": "there", "newText": "<you> & \"me\" 😀"}},
			})},
			providertest.Reply{ToolCalls: calls("bash", map[string]any{"command": "yes | head -1; echo $PPID >/dev/null; wc -l <a.txt"})},
			providertest.Reply{Text: "Changed 😀."},
		)
		code, stdout, stderr := m.run("run", "--model", "fake/m", "--approval", "yolo", "change", "a.txt")
		require.Zero(t, code, stderr)
		require.Equal(t, "I look.\nChanged 😀.\n", stdout)
		require.Equal(t, 3, strings.Count(stderr, "→"), stderr)
		require.NotContains(t, stderr, "✗")
		require.Equal(t, "hello <you> & \"me\" 😀\n", m.read(m.path("a.txt")))

		reqs := m.Requests()
		require.Len(t, reqs, 4)
		require.Contains(t, reqs[0].System, m.work)
		require.Equal(t, "change a.txt", reqs[0].LastText())
		require.Contains(t, lastResult(t, reqs[1]), "hello there")
		require.Contains(t, lastResult(t, reqs[2]), "Successfully replaced 1 block")
		require.Regexp(t, `^y\n\s*1\n$`, lastResult(t, reqs[3]), "a closed pipe is not an error")
		require.Equal(t, roleOf(reqs[0]), roleOf(reqs[3])[:1], "later requests repeat earlier messages")

		messages := m.messages(m.sessionFile())
		require.Equal(t, "user assistant:toolUse toolResult assistant:toolUse toolResult assistant:toolUse toolResult assistant:stop", roles(messages))
		require.Equal(t, "fake", messages[1].Provider)
		require.Equal(t, "m", messages[1].Model)
		require.Positive(t, messages[7].Usage.Output)
		require.NotContains(t, m.read(m.sessionFile()), fakeKey)

		m.Script("m", providertest.Reply{Text: "Again."})
		code, stdout, stderr = m.run("run", "--continue", "and now?")
		require.Zero(t, code, stderr)
		require.Equal(t, "Again.\n", stdout)
		reqs = m.Requests()
		require.Len(t, reqs[4].Messages, 9)
		require.Equal(t, reqs[3].Messages, reqs[4].Messages[:7], "earlier messages are sent unchanged")
	})
}

// lastResult returns the text of the newest tool result.
func lastResult(t *testing.T, r providertest.Request) string {
	t.Helper()
	last := r.Messages[len(r.Messages)-1]
	require.Equal(t, provider.RoleToolResult, last.Role)
	return last.PlainText()
}

func roleOf(r providertest.Request) (all []string) {
	for _, m := range r.Messages {
		all = append(all, m.Role)
	}
	return all
}

// A failure of the service prints one sentence, exits with code 1, and is in the file with the partial answer.
func TestRunFails(t *testing.T) {
	t.Parallel()
	forEachFormat(t, func(t *testing.T, m *machine) {
		m.Script("m", providertest.Reply{Fault: providertest.BadKey})
		code, stdout, stderr := m.run("run", "--model", "fake/m", "hello")
		require.Equal(t, 1, code)
		require.Empty(t, stdout)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		require.Contains(t, stderr, "fake rejected the API key")

		m.Script("m", providertest.Reply{Text: "half of an answer", Stop: provider.StopError})
		code, stdout, stderr = m.run("run", "--continue", "--json", "hello")
		require.Equal(t, 1, code)
		require.Contains(t, stdout, `{"type":"agent_end","stopReason":"error","errorMessage":"m refused to answer`)
		require.Contains(t, stderr, "m refused to answer")

		m.Script("m", providertest.Reply{Text: "too long", Stop: provider.StopLength})
		code, stdout, stderr = m.run("run", "--continue", "hello")
		require.Equal(t, 3, code, "an incomplete answer is a failure")
		require.Equal(t, "too long\n", stdout)
		require.Equal(t, "The answer is incomplete: length.\n", stderr)

		messages := m.messages(m.sessionFile())
		require.Equal(t, "user assistant:error user assistant:error user assistant:length", roles(messages))
		require.Contains(t, messages[1].ErrorMessage, "fake rejected the API key")
		require.NotEmpty(t, messages[3].PlainText(), "the partial answer")
	})
}

// A session with an entry that the service rejects is continued with the flags that the error names.
func TestRunContinuesAfterARejectedEntry(t *testing.T) {
	t.Parallel()
	forEachFormat(t, func(t *testing.T, m *machine) {
		m.Limit("m", providertest.Limits{Reject: func(r providertest.Request) string {
			if strings.Contains(string(r.Body), "poison") {
				return "this content is not acceptable"
			}
			return ""
		}})
		m.Script("m", providertest.Reply{Text: "Fine."})
		code, _, stderr := m.run("run", "--model", "fake/m", "hello")
		require.Zero(t, code, stderr)
		code, stdout, stderr := m.run("run", "--continue", "poison")
		require.Equal(t, 1, code)
		require.Empty(t, stdout)
		flags := regexp.MustCompile(` Pass --model PROVIDER/ID, or (--continue) (--branch) ([0-9a-f]+)\.\n$`).FindStringSubmatch(stderr)
		require.Len(t, flags, 4, stderr)
		before := m.read(m.sessionFile())
		code, stdout, stderr = m.run("run", flags[1], flags[2], flags[3], "something else")
		require.Zero(t, code, stderr)
		require.Equal(t, "Fine.\n", stdout)
		require.True(t, strings.HasPrefix(m.read(m.sessionFile()), before), "the entry stays in the file")

		code, _, stderr = m.run("run", "--no-session", "--model", "fake/m", "poison")
		require.Equal(t, 1, code)
		require.Regexp(t, ` Pass --model PROVIDER/ID\.\n$`, stderr)
		code, _, stderr = m.run("run", "--model", "fake/m", "--branch", "nowhere", "hello")
		require.Equal(t, 1, code)
		require.Contains(t, stderr, "nowhere")
	})
}

// An interrupt stops the turn: the exit code is 130, as in shells, and the partial answer is in the file.
// Proves: X-195
func TestRunIsInterrupted(t *testing.T) {
	t.Parallel()
	skipWithoutSignals(t)
	forEachFormat(t, func(t *testing.T, m *machine) {
		m.Script("m", providertest.Reply{Text: "Unfinished nonsense", Hold: make(chan struct{})}, providertest.Reply{Text: "Done."})
		r := m.begin("text_delta", "run", "--json", "--model", "fake/m", "hello")
		require.NoError(t, r.Process.Signal(os.Interrupt))
		code, stdout, stderr := r.end()
		require.Equal(t, 130, code)
		require.True(t, strings.HasSuffix(stdout, "\n"), "the output ends with a line break")
		require.Equal(t, "The turn was cancelled.\n", stderr)
		<-m.Requests()[0].Ended // the service has seen the cancellation

		messages := m.messages(m.sessionFile())
		require.Equal(t, "user assistant:aborted", roles(messages))
		require.NotEmpty(t, messages[1].PlainText())
		require.Contains(t, stdout, messages[1].PlainText(), "the saved text is printed")

		code, stdout, stderr = m.run("run", "--continue", "hello?")
		require.Zero(t, code, stderr)
		require.Equal(t, "Done.\n", stdout)
		reqs := m.Requests()
		require.NotContains(t, string(reqs[len(reqs)-1].Body), messages[1].PlainText(), "a stopped answer is not sent again")
	})
}

// An interrupt while a tool runs stops the tool, too, and its call has a result in the file.
// Proves: X-195
func TestRunIsInterruptedInATool(t *testing.T) {
	t.Parallel()
	skipWithoutSignals(t)
	m := newMachine(t, provider.AnthropicMessages)
	pipe := m.path("pipe") // the command writes to it when it has started
	m.Script("m", providertest.Reply{Text: "I wait.", ToolCalls: calls("bash", map[string]any{"command": "mkfifo pipe2; echo $$ >pipe; exec cat pipe2"})})
	makePipe(t, pipe)
	r := m.begin("I wait.", "run", "--model", "fake/m", "--approval", "yolo", "hello")
	require.NotEmpty(t, m.read(pipe)) // waits for the command
	require.NoError(t, r.Process.Signal(os.Interrupt))
	code, _, stderr := r.end()
	require.Equal(t, 130, code)
	require.Contains(t, stderr, "The turn was cancelled.")
	messages := m.messages(m.sessionFile())
	require.Equal(t, "user assistant:toolUse toolResult", roles(messages))
	require.True(t, *messages[2].IsError)
}

// A reader that closes the pipe, as head does, stops the turn. The partial answer is kept.
func TestRunStopsWhenItsReaderCloses(t *testing.T) {
	t.Parallel()
	skipWithoutSignals(t)
	m := newMachine(t, provider.AnthropicMessages)
	hold := make(chan struct{})
	m.Script("m", providertest.Reply{Text: "a long answer to a short question", Hold: hold, ToolCalls: calls("ls", nil)})
	r := m.begin("text_delta", "run", "--json", "--model", "fake/m", "hello")
	closer, ok := r.out.(io.Closer)
	require.True(t, ok)
	require.NoError(t, closer.Close())
	close(hold)
	_ = r.Wait() // the exit code is the result
	require.Equal(t, 1, r.ProcessState.ExitCode(), "the process exits by itself")
	require.Contains(t, r.errors.String(), "The turn was stopped because its output couldn't be written: broken pipe.\n")
	require.Len(t, m.Requests(), 1, "the turn does not continue without a reader")
	messages := m.messages(m.sessionFile())
	require.Equal(t, "a long answer to a short question", messages[1].PlainText())
}

// A process that is killed during its turn leaves a file that can be continued: nothing in it is
// changed, it has the results that were known, and the next turn records that the outcome of the
// running command is unknown.
// Proves: A-016
func TestRunIsKilled(t *testing.T) {
	t.Parallel()
	skipWithoutSignals(t)
	forEachFormat(t, func(t *testing.T, m *machine) {
		m.write(m.path("a.txt"), "hello\n")
		pipe := m.path("pipe")
		makePipe(t, pipe)
		m.Script(
			"m", providertest.Reply{Text: "One."},
			providertest.Reply{Text: "I look.", ToolCalls: append(
				calls("read", map[string]any{"path": "a.txt"}), calls("bash", map[string]any{"command": "echo $$ >pipe; exec cat pipe3"})...,
			)},
		)
		makePipe(t, m.path("pipe3"))
		code, _, stderr := m.run("run", "--model", "fake/m", "first")
		require.Zero(t, code, stderr)
		r := m.begin("I look.", "run", "--continue", "--approval", "yolo", "second")
		require.NotEmpty(t, m.read(pipe)) // waits for the command, which then blocks forever
		require.NoError(t, r.Process.Kill())
		_, _, _ = r.end()
		m.write(m.path("pipe3"), "") // lets the command end

		file := m.sessionFile()
		before := m.read(file)
		require.Equal(t, "user assistant:stop user assistant:toolUse toolResult", roles(m.messages(file)), "the known result was recorded")

		m.Script("m", providertest.Reply{Text: "Going on."})
		code, stdout, stderr := m.run("run", "--continue", "third")
		require.Zero(t, code, stderr)
		require.Equal(t, "Going on.\n", stdout)
		require.True(t, strings.HasPrefix(m.read(file), before), "existing lines are unchanged")
		require.Equal(t, "user assistant:stop user assistant:toolUse toolResult toolResult user assistant:stop", roles(m.messages(file)))

		reqs := m.Requests()
		last := reqs[len(reqs)-1]
		require.Equal(t, []string{"user", "assistant", "user", "assistant", "toolResult", "toolResult", "user"}, roleOf(last))
		results := last.Results()
		require.Len(t, results, 2)
		for _, call := range last.Messages[3].ToolCalls() {
			if call.Name == "read" {
				require.Equal(t, "hello\n", results[call.ID])
			} else {
				require.Contains(t, results[call.ID], "outcome is unknown")
			}
		}
	})
}

// Killed while streaming: the unfinished answer is not in the file, and the prompt is.
// Proves: F-06 (killed in the middle), AB-002
func TestRunIsKilledWhileAnswering(t *testing.T) {
	t.Parallel()
	skipWithoutSignals(t)
	forEachFormat(t, func(t *testing.T, m *machine) {
		m.Script("m", providertest.Reply{Text: "One."}, providertest.Reply{Text: "Unfinished nonsense", Hold: make(chan struct{})}, providertest.Reply{Text: "Three."})
		code, _, stderr := m.run("run", "--model", "fake/m", "first")
		require.Zero(t, code, stderr)
		r := m.begin("text_delta", "run", "--json", "--continue", "second")
		require.NoError(t, r.Process.Kill())
		_, _, _ = r.end()
		require.Equal(t, "user assistant:stop user", roles(m.messages(m.sessionFile())))

		code, stdout, stderr := m.run("run", "--continue", "third")
		require.Zero(t, code, stderr)
		require.Equal(t, "Three.\n", stdout)
		require.Equal(t, "user assistant:stop user user assistant:stop", roles(m.messages(m.sessionFile())))
	})
}

func skipWithoutSignals(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a process of Windows cannot be interrupted from outside")
	}
}

// A turn that a limit ends is incomplete.
func TestRunOfATurnThatALimitEnds(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.OpenAICompletions)
	m.Script("m", providertest.Reply{ToolCalls: []providertest.Call{{Name: "read", Args: map[string]string{"path": "missing"}}}})
	code, stdout, stderr := m.run("run", "--model", "fake/m", "first")
	require.Equal(t, 3, code, stderr)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "the same call of read failed 3 times")
	require.Len(t, m.Requests(), 3)
}

// An answer without text is not a success for a script.
func TestRunOfAnEmptyAnswer(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.OpenAICompletions)
	m.Script("m", providertest.Reply{Thinking: "hm"})
	code, stdout, stderr := m.run("run", "--model", "fake/m", "first")
	require.Equal(t, 3, code, stderr)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "is empty")
	require.Len(t, m.Requests(), 2)
}
