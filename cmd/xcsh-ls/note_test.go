package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// retried are the events of two retries, the second of which succeeds.
var retried = []event.Event{
	event.TurnStart{},
	event.MessageStart{},
	event.MessageEnd{},
	event.TurnEnd{},
	event.RetryStart{Attempt: 1, MaxAttempts: 3, DelayMs: 1500, ErrorMessage: "fake is overloaded:\r\nbusy"},
	event.TurnStart{},
	event.MessageStart{},
	event.MessageEnd{},
	event.TurnEnd{},
	event.RetryStart{Attempt: 2, MaxAttempts: 3, DelayMs: 4000, ErrorMessage: "fake is overloaded"},
	event.TurnStart{},
	event.MessageStart{},
	event.MessageUpdate{Update: event.Update{Type: event.TextDelta, Delta: "Done."}},
	event.MessageEnd{},
	event.RetryEnd{Attempt: 2, Success: true},
}

func TestARetryOnATerminalIsOneLine(t *testing.T) {
	t.Parallel()
	var out, errs, terminal bytes.Buffer
	p := &textPrinter{text: answerText{out: &out, live: true}, err: &errs, note: retryNote{lines: &errs, line: statusLine{terminal: &terminal, width: 60}}}
	for _, e := range retried {
		p.event(e)
	}
	p.end()
	var want string
	for _, text := range []string{
		`Retrying in 2 s (1 of 3): fake is overloaded:\r\nbusy`, `Retrying (1 of 3): fake is overloaded:\r\nbusy`,
		`Retrying in 4 s (2 of 3): fake is overloaded`, `Retrying (2 of 3): fake is overloaded`,
	} {
		want += text + "\r" + strings.Repeat(" ", len(text)) + "\r"
	}
	assert.Equal(t, want, terminal.String(), "the note disappears when the answer begins")
	assert.Empty(t, errs.String())
	assert.Equal(t, "Done.\n", out.String())
}

// A line that wraps could not be rewritten.
func TestARetryFitsOnTheTerminal(t *testing.T) {
	t.Parallel()
	var terminal bytes.Buffer
	n := retryNote{line: statusLine{terminal: &terminal, width: 30}}
	n.event(event.RetryStart{Attempt: 1, MaxAttempts: 3, ErrorMessage: strings.Repeat("界", 100)})
	assert.Equal(t, "Retrying (1 of 3): 界界界界…", terminal.String())

	terminal.Reset()
	n = retryNote{line: statusLine{terminal: &terminal}}
	n.event(event.RetryStart{Attempt: 1, MaxAttempts: 3, ErrorMessage: strings.Repeat("x", 100)})
	assert.Equal(t, "Retrying (1 of 3): "+strings.Repeat("x", 59)+"…", terminal.String())
}

// The note of an attempt that is cancelled does not stay.
func TestARetryThatEndsIsErased(t *testing.T) {
	t.Parallel()
	var terminal bytes.Buffer
	p := &textPrinter{note: retryNote{line: statusLine{terminal: &terminal}}}
	p.event(event.RetryStart{Attempt: 1, MaxAttempts: 3})
	p.end()
	assert.True(t, strings.HasSuffix(terminal.String(), " \r"))
}

func TestRetriesElsewhereAreLines(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	p := &textPrinter{text: answerText{out: &out, live: true}, err: &errs, note: retryNote{lines: &errs}}
	for _, e := range retried {
		p.event(e)
	}
	assert.Equal(t, "Retrying in 2 s (1 of 3): fake is overloaded:\\r\\nbusy\nRetrying in 4 s (2 of 3): fake is overloaded\n", errs.String())
}

func TestRunRetriesAsOftenAsItIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags  []string
		asked  int
		notice string
	}{
		"never":                {[]string{"--retries", "0"}, 1, ""},
		"once, after a second": {[]string{"--retries", "1", "--retry-limit", "1s"}, 2, "Retrying in 1 s (1 of 1): fake is overloaded: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, provider.AnthropicMessages)
			m.Script("m", providertest.Reply{Fault: providertest.OverloadedBefore})
			code, stdout, stderr := m.run(append(append([]string{"run", "--model", "fake/m"}, c.flags...), "hello")...)
			require.Equal(t, 1, code, stderr)
			assert.Empty(t, stdout)
			assert.Len(t, m.Requests(), c.asked)
			lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
			assert.Len(t, lines, c.asked)
			assert.True(t, strings.HasPrefix(lines[0], c.notice), stderr)
		})
	}
}

func TestRetryFlagsAreChecked(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	for flag, values := range map[string]map[string]string{
		"retries":     {"use a whole number from 0 to 100.": "-1 101 2.5 many 99999999999999999999"},
		"retry-limit": {"use a duration from 1s to 1h, such as 90s.": "0s 2h 90 soon -5s 9999999h"},
	} {
		for advice, list := range values {
			for value := range strings.FieldsSeq(list) {
				for _, command := range [][]string{{"run", "hello"}, {"acp"}, {}} {
					code, _, stderr := m.run(append(command, "--"+flag+"="+value)...)
					require.Equal(t, 2, code, stderr)
					require.Equal(t, `Invalid value "`+value+`" for --`+flag+": "+advice+"\n", stderr)
				}
			}
		}
	}
}
