package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
)

func TestResembles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		entry, reported string
		want            bool
	}{
		{`{"role":"user","content":"expanded"}`, `{"role":"user","content":[{"type":"text","text":"/x"}]}`, true},
		{`{"role":"user"}`, `{"role":"assistant"}`, false},
		{`{"role":"assistant","content":[{"type":"text","text":"a "}]}`, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`, true},
		{`{"role":"assistant","content":[{"type":"toolCall","id":"1"},{"type":"toolCall","id":"2"}]}`, `{"role":"assistant","content":[{"type":"toolCall","id":"2"}]}`, true},
		{`{"role":"assistant","content":[{"type":"toolCall","id":"1"}]}`, `{"role":"assistant","content":[{"type":"toolCall","id":"2"}]}`, false},
		{`{"role":"assistant","content":[{"type":"toolCall","id":"1"}]}`, `{"role":"assistant","content":[]}`, false},
		{`{"role":"toolResult","toolCallId":"1"}`, `{"role":"toolResult","toolCallId":"1"}`, true},
		{`{"role":"toolResult","toolCallId":"1"}`, `{"role":"toolResult","toolCallId":"2"}`, false},
		{`{}`, `{}`, false},
		{`5`, `[]`, false},
	} {
		require.Equal(t, tc.want, engine.Resembles([]byte(tc.entry), []byte(tc.reported)), "%s %s", tc.entry, tc.reported)
	}
}
