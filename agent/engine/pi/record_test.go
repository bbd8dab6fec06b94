package pi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

func TestLinesThatAreNoRecords(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "null", "[]", `"text"`, "{", `{"type":1}`, `{"type":""}`, `{"x":1}`, "to console", `{"type":"a"} x`} {
		_, ok := parse([]byte(line))
		require.False(t, ok, line)
		_, ok = salvage([]byte(line))
		require.False(t, ok, line)
	}
	deep := `{"type":"x","data":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}"
	_, ok := parse([]byte(deep))
	require.False(t, ok)
	r, ok := parse([]byte(" {\"type\":\"a\",\"message\":\"\u2028\"}\r\n"))
	require.True(t, ok)
	require.Equal(t, "\u2028", r.string(fMessage))
}

func TestTheEndOfALineThatAnotherProgramBegan(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`{"half": {"id":"r1","type":"response"}`, `50 %{"type":"response","id":"r1"}`} {
		_, ok := parse([]byte(line))
		require.False(t, ok)
		r, ok := salvage([]byte(line))
		require.True(t, ok)
		require.Equal(t, "response", r.typ)
		require.Equal(t, "r1", r.string(fID))
	}
}

// The class of a failure is shown while pi waits for the next attempt.
func TestClassesOfFailures(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]provider.Class{
		`500 {"type":"error"}`: provider.Server, `529 {"type":"error"}`: provider.Overloaded, "429 Too Many Requests": provider.RateLimit,
		"401 bad key": provider.Auth, "400 bad": provider.InvalidRequest, "Request failed with status code 503": provider.Overloaded,
		"HTTP 504": provider.Timeout, "413 too large": provider.ContextOverflow, "402": provider.Quota,
		"fetch failed": provider.Network, "terminated": provider.Truncated, "Overloaded": provider.Overloaded, "Request timed out.": provider.Timeout,
		"it has 500 lines": unknownClass, "": unknownClass,
	} {
		require.Equal(t, want, failureClass(message), message)
	}
}

// No line causes a panic, and messages to clients are JSON.
func FuzzRecord(f *testing.F) {
	recordings, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	require.NoError(f, err)
	for _, path := range recordings {
		raw, err := os.ReadFile(path)
		require.NoError(f, err)
		for line := range strings.Lines(string(raw)) {
			f.Add(line)
		}
	}
	for _, line := range []string{
		`{"type":"message_update","assistantMessageEvent":{"type":"toolcall_end","contentIndex":1e99,"toolCall":{"arguments":[]}}}`,
		`{"type":"turn_end","message":"x","toolResults":{}}`,
		`{"type":"auto_retry_start","delayMs":-1e300,"attempt":"x"}`,
		`{"type":"extension_ui_request","method":"select","options":[1,null,"a"],"timeout":1e300}`,
		`{"type":"message_end","message":{"role":"assistant","usage":[],"content":{"a":1}}}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, ok := parse([]byte(line))
		if !ok {
			if r, ok = salvage([]byte(line)); !ok {
				return
			}
		}
		e, _ := translate(&r)
		shown := []event.Event{e.event, showOf(&r)}
		for _, s := range shown {
			if s == nil {
				continue
			}
			_, err := json.Marshal(s)
			require.NoError(t, err)
		}
		if e.message != nil {
			require.True(t, json.Valid(e.message))
			(&run{}).take(e.message)
		}
		q, _ := questionOf("id", &r)
		require.LessOrEqual(t, len(q.Options), maxOptions)
		for _, text := range append(q.Options, q.Title, q.Placeholder) {
			require.False(t, strings.ContainsAny(text, "\x1b\x07\n"), "%q", text)
		}
		if op, raw := bridgeMessage(r.string(fStatusText)); op != "" {
			decodeHello(raw)
		}
		edit, err := decodeEdit(r.raw(fArgs))
		if err == nil {
			require.NotEmpty(t, edit.edits)
		}
		answerOf(&r)
	})
}
