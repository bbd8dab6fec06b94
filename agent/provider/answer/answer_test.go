package answer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// tell plays an answer to Collect, which holds it against the contract.
func record(t *testing.T, play func(a *answer.Answer)) providertest.Outcome {
	t.Helper()
	m := provider.Model{ID: "m", Provider: "p", API: "a", Cost: &provider.Cost{Input: 1, Output: 2}}
	return providertest.Collect(t, func(yield func(provider.Event) bool) {
		play(answer.New(m, time.UnixMilli(7), yield))
	})
}

func call() provider.Block {
	return provider.Block{Type: provider.TypeToolCall, ID: "1", Name: "read"}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for in, problem := range map[string]bool{
		"":                                   false,
		" \n":                                false,
		`{"a":1}`:                            false,
		" {\"a\": [1, 2]} ":                  false,
		`{"a":`:                              true,
		`{"a":1}{`:                           true,
		`[]`:                                 true,
		`"{}"`:                               true,
		`null`:                               true,
		`{"a":1,"a":2}`:                      true, // which of the two?
		"{\"a\":\"\xff\"}":                   false,
		`{"a":"` + strings.Repeat("x", 9000): true,
	} {
		o := record(t, func(a *answer.Answer) {
			i := a.Open(call())
			a.Add(i, in[:len(in)/2])
			a.Add(i, in[len(in)/2:])
			a.Done()
		})
		c := o.Message.ToolCalls()[0]
		require.Equal(t, problem, c.ArgumentsError != "", "%q: %s", in, c.ArgumentsError)
		require.Less(t, len(c.ArgumentsError), 700)
		require.NotPanics(t, func() { o.Message.Encode() })
		if problem {
			require.Equal(t, "{}", string(c.Arguments))
		}
	}
}

func TestStopReasonFollowsTheContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		call   bool
		want   string
	}{
		{"", false, provider.StopEnd},
		{"", true, provider.StopToolUse},
		{provider.StopEnd, true, provider.StopToolUse},
		{provider.StopToolUse, false, provider.StopEnd},
		{provider.StopLength, true, provider.StopLength},
		{provider.StopLength, false, provider.StopLength},
	} {
		o := record(t, func(a *answer.Answer) {
			a.Open(provider.Text("x"))
			if c.call {
				a.Open(call())
			}
			a.StopReason = c.reason
			a.Done()
		})
		require.Equal(t, c.want, o.Message.StopReason, "%+v", c)
	}
}

func TestFailedAnswerKeepsItsBeginning(t *testing.T) {
	t.Parallel()
	o := record(t, func(a *answer.Answer) {
		a.Usage = provider.Usage{Input: 1_000_000}
		a.End(a.Open(provider.Block{Type: provider.TypeThinking, Thinking: "hm", ThinkingSignature: "s"}))
		a.Open(provider.Text("half"))
		a.Open(provider.Block{Type: provider.TypeToolCall, ID: "1", Name: "read", Arguments: []byte(`{"path":"x"}`)})
		a.Fail(&provider.Error{Class: provider.Server, Message: "gone", RequestID: "r"})
	})
	m := o.Message
	require.Equal(t, "hm", m.Content[0].Thinking)
	require.Equal(t, "half", m.PlainText())
	require.Equal(t, "{}", string(m.ToolCalls()[0].Arguments), "arguments that look complete may not be")
	require.NotEmpty(t, m.ToolCalls()[0].ArgumentsError)
	require.Equal(t, "gone (request r)", m.ErrorMessage)
	require.Equal(t, provider.UsageCost{Input: 1, Total: 1}, m.Usage.Cost)
	require.Equal(t, 1_000_000, m.Usage.TotalTokens)
}

func TestReaderThatStoppedGetsNoEvents(t *testing.T) {
	t.Parallel()
	seen := 0
	a := answer.New(provider.Model{}, time.Now(), func(provider.Event) bool {
		seen++
		return seen < 2
	})
	i := a.Open(provider.Text("one"))
	require.True(t, a.Stopped())
	a.Add(i, "two")
	a.Done()
	require.Equal(t, 2, seen)
}

func TestPiecesOfABlockThatEndedAreIgnored(t *testing.T) {
	t.Parallel()
	o := record(t, func(a *answer.Answer) {
		i := a.Open(provider.Text("one"))
		a.End(i)
		a.Add(i, "two")
		a.End(i)
		a.Done()
	})
	require.Equal(t, "one", o.Message.PlainText())
}

// BenchmarkPieces shows that the time of a piece does not depend on the number of previous ones.
func BenchmarkPieces(b *testing.B) {
	a := answer.New(provider.Model{}, time.Now(), func(provider.Event) bool { return true })
	i := a.Open(provider.Text("x"))
	b.ReportAllocs()
	for b.Loop() {
		a.Add(i, "token ")
	}
}
