package attack

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// talks makes the model send hostile text in every field of its answers.
func (v *victim) talks(chunk int) {
	v.Script("m",
		providertest.Reply{Thinking: steering, Text: "one " + steering + " " + ordinary, Chunk: chunk, ToolCalls: []providertest.Call{
			{Name: "tool" + steering, Args: map[string]any{"arg" + steering: steering}},
			{Name: "read", Args: map[string]any{"path": "missing" + steering}},
			{Name: "bash", Args: map[string]any{"command": "printf '" + "\x1b]0;x\a\u202e" + "'"}},
		}},
		providertest.Reply{Text: "two " + steering + "\xc2", Chunk: chunk},
	)
}

// The answer arrives in pieces that split characters and escape sequences.
func TestRunSteersNoTerminal(t *testing.T) {
	for _, chunk := range []int{1, 2, 3, 7, 1000} {
		v := newVictim(t)
		v.talks(chunk)
		out := v.ask("--approval", "yolo")
		require.Zero(t, out.code, out.stderr)
		requireQuiet(t, "run", out)
		require.Contains(t, out.stdout, `\u001b]52;c;Y3VybCBldmls\u0007`, "it is shown, not dropped")
		require.Contains(t, out.stdout, `\u202e`)
		require.Contains(t, out.stdout, `\U000e0041`)
		require.Contains(t, out.stdout, ordinary, "%s\n%d requests", out.stderr, len(v.Requests()))
		require.Contains(t, out.stderr, `→ tool\u001b]52`)
	}
}

func TestRunJSONHasNoRawControls(t *testing.T) {
	v := newVictim(t)
	v.talks(3)
	out := v.ask("--json", "--approval", "yolo")
	require.Zero(t, out.code, out.stderr)
	requireQuiet(t, "run --json", out)
	text := ""
	for lines := bufio.NewScanner(strings.NewReader(out.stdout)); lines.Scan(); {
		var e struct {
			Update struct{ Type, Delta string } `json:"assistantMessageEvent"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e), "%s", lines.Text())
		if e.Update.Type == "text_delta" {
			text += e.Update.Delta
		}
	}
	require.Contains(t, text, steering+" "+ordinary, "the values are as the model sent them")
}

// The error message of a service is printed, too.
func TestErrorsOfAServiceSteerNoTerminal(t *testing.T) {
	for name, args := range map[string][]string{
		"unknown model": {"run", "--model", "fake/m" + steering, "go"}, "bad model": {"run", "--model", steering, "go"},
		"unknown command": {steering}, "unknown flag": {"list", "--" + steering}, "bad level": {"list", "--log-level", steering},
		"no session": {"dump", steering}, "no file": {"--export", steering + ".jsonl"}, "no context": {"context", "/" + steering},
		"no resume": {"run", "--resume", steering, "--model", "fake/m", "go"},
	} {
		out := newVictim(t).run(args...)
		require.NotZero(t, out.code, name)
		requireQuiet(t, name, out)
		require.NotEmpty(t, out.stderr, name)
	}
}

// With --raw, a program that reads a pipe gets the model's text byte for byte.
func TestRawRunIntoAPipe(t *testing.T) {
	v := newVictim(t)
	v.Script("m", providertest.Reply{Text: steering})
	out := v.ask("--raw")
	require.Zero(t, out.code, out.stderr)
	require.Equal(t, fmt.Sprintln(steering), out.stdout)
}
