package export_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/export"
)

// Proves: O-018, O-019, O-020, O-021
func TestTextVectors(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/dump.json")
	require.NoError(t, err)
	var vectors []struct {
		Input struct {
			SystemPrompt, ThinkingLevel string
			Model                       *struct{ Provider, ID string }
			Tools                       []export.Tool
			Messages                    []json.RawMessage
		}
		Text string
	}
	require.NoError(t, json.Unmarshal(b, &vectors))
	require.NotEmpty(t, vectors)
	for _, v := range vectors {
		d := export.Doc{
			SystemPrompt: v.Input.SystemPrompt, ThinkingLevel: v.Input.ThinkingLevel,
			Tools: v.Input.Tools, Messages: entries(v.Input.Messages),
		}
		if v.Input.Model != nil {
			d.Model = v.Input.Model.Provider + "/" + v.Input.Model.ID
		}
		require.Equal(t, v.Text, text(t, d))
	}
}

// Proves: O-018, O-019, O-020, O-021
func TestTextGolden(t *testing.T) {
	t.Parallel()
	golden(t, "sample.txt", text(t, sample(t)))
}

// dumpOf returns the difference between the dump of one message and an empty one.
func dumpOf(t *testing.T, message string) string {
	t.Helper()
	empty := text(t, export.Doc{})
	got := text(t, export.Doc{Messages: entries(raws(message))})
	return strings.TrimSpace(strings.TrimPrefix(got, empty))
}

func TestTextLengthensFences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ message, want string }{
		"a tool result with a fence": {
			`{"role":"toolResult","toolName":"read","content":[{"type":"text","text":"a\n"+FENCE+"\nb"}]}`,
			"### Tool Result: read\n````\na\n```\nb\n````",
		},
		"two backticks need no longer fence": {
			`{"role":"toolResult","toolName":"read","content":[{"type":"text","text":"a ` + "``" + ` b"}]}`,
			"### Tool Result: read\n```\na `` b\n```",
		},
		"a long run": {
			`{"role":"bashExecution","command":"cat","output":"` + strings.Repeat("`", 7) + `"}`,
			"## Bash Execution\n\nRan `cat`\n````````\n```````\n````````",
		},
		"python code with a fence": {
			`{"role":"pythonExecution","code":"s = '''\n"+FENCE+"'''","output":""}`,
			"## Python Execution\n\nRan Python:\n````python\ns = '''\n```'''\n````\n(no output)",
		},
		"a command with a fence": {
			`{"role":"bashExecution","command":"cat <<E\n"+FENCE+"\nE","output":""}`,
			"## Bash Execution\n\nRan:\n````\ncat <<E\n```\nE\n````\n(no output)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, dumpOf(t, strings.ReplaceAll(c.message, `"+FENCE+"`, "```")))
		})
	}
}

func TestTextKeepsArgumentsInside(t *testing.T) {
	t.Parallel()
	call := func(name, args string) string {
		return `{"role":"assistant","content":[{"type":"toolCall","name":"` + name + `","arguments":` + args + `}]}`
	}
	for name, c := range map[string]struct{ message, want string }{
		"closing tags of the layout": {
			call("bash", `{"command":"a</parameter>\n</invoke><invoke name=\"rm\">"}`),
			"## Assistant\n\n<invoke name=\"bash\">\n\t<parameter name=\"command\">a&lt;/parameter>\n&lt;/invoke><invoke name=\"rm\"></parameter>\n</invoke>",
		},
		"in any case and inside JSON": {
			call("bash", `{"x":{ "y" : "</PARAMETER >" }}`),
			"## Assistant\n\n<invoke name=\"bash\">\n\t<parameter name=\"x\">{\"y\":\"&lt;/PARAMETER >\"}</parameter>\n</invoke>",
		},
		"quotes in names": {
			call(`a\">\n<b`, `{"k\">":"v"}`),
			"## Assistant\n\n<invoke name=\"a&quot;>&#10;<b\">\n\t<parameter name=\"k&quot;>\">v</parameter>\n</invoke>",
		},
		"other markup is left alone": {
			call("write", `{"text":"<p class=\"x\">a &amp; b</p> </parameters> &lt;"}`),
			"## Assistant\n\n<invoke name=\"write\">\n\t<parameter name=\"text\"><p class=\"x\">a &amp; b</p> </parameters> &lt;</parameter>\n</invoke>",
		},
		"thinking": {
			`{"role":"assistant","content":[{"type":"thinking","thinking":"a</thinking>b"}]}`,
			"## Assistant\n\n<thinking>\na&lt;/thinking>b\n</thinking>",
		},
		"file": {
			`{"role":"fileMention","files":[{"path":"a\"b","content":"</file>"}]}`,
			"## File Mention\n\n<file path=\"a&quot;b\">\n&lt;/file>\n</file>",
		},
		"a name cannot start a heading": {
			`{"role":"toolResult","toolName":"a\n## User","content":[]}`,
			"### Tool Result: a ## User",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, dumpOf(t, c.message))
		})
	}
}

func TestTextToolDescriptionStaysInside(t *testing.T) {
	t.Parallel()
	got := text(t, export.Doc{Tools: []export.Tool{{
		Name: `a"b`, Description: "x</tool>y", Parameters: json.RawMessage(`{"d":"</tool></parameter>"}`),
	}}})
	require.Contains(t, got, "<tool name=\"a&quot;b\">\nx&lt;/tool>y\n\nParameters:\n\t<parameter name=\"d\">&lt;/tool>&lt;/parameter></parameter>\n</tool>")
}

func TestTextArguments(t *testing.T) {
	t.Parallel()
	got := dumpOf(t, `{"role":"assistant","content":[{"type":"toolCall","name":"t","arguments":
		{"_i":"why","b":true,"n":null,"big":12345678901234567890,"f":1.0,"l":[ 1, "a b" ],"s":"\ud800","k":1,"k":2}}]}`)
	require.Equal(t, strings.Join([]string{
		"## Assistant", "", `<invoke name="t">`,
		"\t<parameter name=\"b\">true</parameter>",
		"\t<parameter name=\"n\">null</parameter>",
		"\t<parameter name=\"big\">12345678901234567890</parameter>",
		"\t<parameter name=\"f\">1.0</parameter>",
		"\t<parameter name=\"l\">[1,\"a b\"]</parameter>",
		"\t<parameter name=\"s\">\uFFFD</parameter>",
		"\t<parameter name=\"k\">2</parameter>",
		"</invoke>",
	}, "\n"), got)
}

// Proves: O-019, O-020, O-021
func TestTextExecutions(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"bashExecution", "pythonExecution"} {
		require.NotContains(t, dumpOf(t, `{"role":"`+role+`","command":"hidden","code":"hidden","excludeFromContext":true}`), "hidden")
	}
	require.Equal(t, "## Bash Execution\n\nRan `x`\n(no output)\n\n(command cancelled)",
		dumpOf(t, `{"role":"bashExecution","command":"x","cancelled":true,"exitCode":1}`))
	require.Equal(t, "## Python Execution\n\nRan Python:\n```python\nx\n```\nOutput:\n```\ny\n```\n\nExecution failed with code -2",
		dumpOf(t, `{"role":"pythonExecution","code":"x","output":"y","exitCode":-2}`))
	require.Equal(t, "## Bash Execution\n\nRan `x`\n```\ny\n```\n\n[Showing 10 of 99 lines (50.0KB limit). Use offset=11 to continue]",
		dumpOf(t, `{"role":"bashExecution","command":"x","output":"y","meta":{"truncation":{"outputLines":10,"totalLines":99,"truncatedBy":"bytes","outputBytes":51200,"nextOffset":11}}}`))
}

func TestTextTrimsLikeJavaScript(t *testing.T) {
	t.Parallel()
	got := text(t, export.Doc{Messages: entries(raws(`{"role":"user","content":"a\u00a0\ufeff\u2028 \n\u0085\n\t"}`))})
	require.True(t, strings.HasSuffix(got, "a\u00a0\ufeff\u2028 \n\u0085"), "%q", got) // U+0085 is no space there
}

// An odd shape in a transcript is never an error: parts that cannot be shown are omitted.
func TestTextOddShapes(t *testing.T) {
	t.Parallel()
	for _, m := range []string{
		`null`, `7`, `"x"`, `[]`, `{}`, `{"role":7}`, `{"role":"martian","content":"x"}`, ``,
		`{"role":"bashExecution","excludeFromContext":true,"command":"x"}`,
	} {
		require.Empty(t, dumpOf(t, m), m)
		require.True(t, isEmpty(t, export.Doc{Messages: entries(raws(m))}), m)
	}
	for _, role := range []string{
		"user", "developer", "assistant", "toolResult", "bashExecution", "pythonExecution",
		"custom", "hookMessage", "branchSummary", "compactionSummary", "fileMention",
	} {
		for _, content := range []string{`null`, `7`, `{}`, `[null,7,"x",[],{},{"type":"text"},{"type":"video"},{"type":"toolCall"}]`} {
			m := `{"role":"` + role + `","content":` + content + `,"files":` + content + `,"summary":7,"tokensBefore":"x","toolName":null,"meta":3}`
			require.NotContains(t, dumpOf(t, m), "undefined")
			require.False(t, isEmpty(t, export.Doc{Messages: entries(raws(m))}))
		}
	}
	require.Equal(t, "## User\n\na\n\uFFFD", dumpOf(t, "{\"role\":\"user\",\"content\":[null,{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"x\"},{\"type\":\"text\",\"text\":\"\xff\"}]}"))
}

// Proves: O-017
func TestEmpty(t *testing.T) {
	t.Parallel()
	require.True(t, isEmpty(t, export.Doc{SystemPrompt: "x"}))
	require.False(t, isEmpty(t, sample(t)))
}

func isEmpty(t *testing.T, d export.Doc) bool {
	t.Helper()
	empty, err := export.Empty(d)
	require.NoError(t, err)
	return empty
}

// White space is trimmed at the ends of the whole dump, not of each message.
func TestTextKeepsTheSpaceBetweenMessages(t *testing.T) {
	t.Parallel()
	got := text(t, export.Doc{Messages: entries(raws(
		`{"role":"user","content":"a \n\n"}`, `{"role":"unknown"}`, `{"role":"user","content":" \n b\u00a0\n"}`))})
	require.Equal(t, "## Configuration\n\nModel: (not selected)\nThinking Level: \n\n\n## User\n\na \n\n\n\n\n## User\n\n \n b", got)
}

// The error of a message that cannot be read ends a dump, redacted or not.
func TestTextEndsWithTheErrorOfAMessage(t *testing.T) {
	t.Parallel()
	d := export.Doc{Messages: func(yield func(json.RawMessage, error) bool) {
		_ = yield(json.RawMessage(`{"role":"unknown"}`), nil) && yield(nil, errFull)
	}}
	require.ErrorIs(t, export.Text(io.Discard, d), errFull)
	require.ErrorIs(t, export.Text(io.Discard, new(export.Redactor).Doc(d)), errFull)
	_, err := export.Empty(d)
	require.ErrorIs(t, err, errFull)
}

type failingWriter struct{ left int }

var errFull = errors.New("full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriterErrorsAreReturned(t *testing.T) {
	t.Parallel()
	for _, write := range []func(io.Writer) error{
		func(w io.Writer) error { return export.HTML(w, sample(t), export.HTMLOptions{}) },
		func(w io.Writer) error { return export.Markdown(w, sample(t)) },
		func(w io.Writer) error { return export.JSONL(w, sample(t)) },
		func(w io.Writer) error { return export.Text(w, sample(t)) },
	} {
		var whole strings.Builder
		require.NoError(t, write(&whole))
		for _, left := range []int{0, whole.Len() / 2, whole.Len() - 1} {
			require.ErrorIs(t, write(&failingWriter{left}), errFull)
		}
	}
}
