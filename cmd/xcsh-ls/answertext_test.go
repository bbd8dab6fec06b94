package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// attempts are the texts of an answer that was requested again after all but the last one.
func printAttempts(live bool, attempts ...[]string) string {
	var out bytes.Buffer
	a := answerText{out: &out, live: live}
	for i, pieces := range attempts {
		if i > 0 {
			a.event(event.RetryStart{Attempt: i})
			a.event(event.TurnStart{})
		}
		a.event(event.MessageStart{})
		for _, piece := range pieces {
			a.event(event.MessageUpdate{Update: event.Update{Type: event.ThinkingDelta, Delta: "hm"}})
			a.event(event.MessageUpdate{Update: event.Update{Type: event.TextDelta, Delta: piece}})
		}
		a.event(event.MessageEnd{})
		a.event(event.TurnEnd{})
	}
	a.end()
	return out.String()
}

func TestARetriedAnswerIsPrintedOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		attempts      [][]string
		live, program string // what a terminal and a program get
	}{
		"one attempt":     {[][]string{{"one ", "two"}}, "one two\n", "one two\n"},
		"with a line end": {[][]string{{"one\n"}}, "one\n", "one\n"},
		"nothing":         {[][]string{{}, {}}, "", ""},
		"the same again":  {[][]string{{"one\ntw"}, {"one", "\ntwo\n", "three"}}, "one\ntw\ntwo\nthree\n", "one\ntwo\nthree\n"},
		"the same":        {[][]string{{"one"}, {"one"}}, "one\n", "one\n"},
		"thrice":          {[][]string{{"one\ntw"}, {"one\n"}, {"one\ntwo"}}, "one\ntw\ntwo\n", "one\ntwo\n"},
		"another text":    {[][]string{{"one\ntw"}, {"one\nzwei\n"}}, "one\ntw\none\nzwei\n", "one\nzwei\n"},
		"less":            {[][]string{{"one\ntwo"}, {"one\n"}}, "one\ntwo\none\n", "one\n"},
		"the last fails":  {[][]string{{"one\ntw"}, {"one\nt"}}, "one\ntw\none\nt\n", "one\nt\n"},
		"nothing at last": {[][]string{{"one"}, {}}, "one\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.live, printAttempts(true, tc.attempts...), "a terminal")
			assert.Equal(t, tc.program, printAttempts(false, tc.attempts...), "a program")
		})
	}
}

// A program that reads the output gets the answer once, although the service has broken it off before.
func TestRunPrintsARetriedAnswerOnce(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	m.Script("m",
		providertest.Reply{Text: "It is done and tested.", Fault: providertest.OverloadedWithin},
		providertest.Reply{Text: "It is done and tested."})
	code, stdout, stderr := m.run("run", "--model", "fake/m", "--retry-limit", "1s", "go")
	require.Zero(t, code, stderr)
	require.Len(t, m.Requests(), 2)
	require.Equal(t, "It is done and tested.\n", stdout)
}
