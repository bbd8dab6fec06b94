package compaction_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
)

// sized returns a message of any kind.
func sized(r *rand.Rand) json.RawMessage {
	switch at := r.IntN(50); r.IntN(7) {
	case 0:
		return json.RawMessage(fmt.Sprintf(`{"role":"compactionSummary","summary":"a summary","timestamp":%d}`, at))
	case 1:
		return json.RawMessage(fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"answer"}],"usage":{"totalTokens":%d},"timestamp":%d}`, r.IntN(3)*500, at))
	case 2:
		return json.RawMessage(fmt.Sprintf(`{"role":"assistant","content":[],"stopReason":"error","usage":{"totalTokens":900},"timestamp":%d}`, at))
	case 3:
		return raw(`{"role":"user","content":[{"type":"image","data":"x"},{"type":"text","text":"漢字 and more"}]}`)
	case 4:
		return raw(`{"role":"bashExecution","command":"ls","output":"a\nb"}`)
	default:
		return user("some words")
	}
}

// The sums of a context that grows, and is cut now and then, are those of its messages.
func TestSizes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const fixed = 300
	for range 200 {
		var s compaction.Sizes
		var messages []json.RawMessage
		for range 40 {
			if n := len(messages); n > 0 && r.IntN(10) == 0 {
				messages = messages[:r.IntN(n)]
				s.Cut(len(messages))
			}
			m := sized(r)
			messages = append(messages, m)
			s.Add(m)
			want, wantFresh := compaction.Tokens(messages)
			tokens, fresh := s.Tokens()
			require.Equal(t, want, tokens)
			require.Equal(t, wantFresh, fresh)
			require.Equal(t, size(fixed, messages...), s.Request(fixed))
		}
	}
}
