package memo_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/memo"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// BenchmarkRequestOfALongConversation is a request of a conversation with 2,000 messages that is already known: what its
// client makes of it, and for comparison how long its bytes take to copy.
func BenchmarkRequestOfALongConversation(b *testing.B) {
	var stored []json.RawMessage
	for i := range 500 {
		text := strings.Repeat("a line of a file or of an answer\\n", 30)
		stored = append(
			stored,
			json.RawMessage(fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"%s"}],"timestamp":%d}`, text, i)),
			json.RawMessage(fmt.Sprintf(`{"role":"assistant","provider":"p","model":"m","stopReason":"toolUse","content":[{"type":"text","text":"%s"},{"type":"toolCall","id":"c%d","name":"ls","arguments":{"path":"."}}]}`, text, i)),
			json.RawMessage(fmt.Sprintf(`{"role":"toolResult","toolCallId":"c%d","toolName":"ls","isError":false,"content":[{"type":"text","text":"%s"}]}`, i, text)),
			json.RawMessage(`{"role":"assistant","provider":"p","model":"m","stopReason":"stop","content":[{"type":"text","text":"Done."}]}`),
		)
	}
	for _, api := range apis {
		w := new(wire)
		client := w.services()[api]
		model := provider.Model{ID: "m", Provider: "p", API: api, BaseURL: "https://service.example", Input: []string{"text"}, ContextWindow: 1 << 20, MaxTokens: 1000}
		m := memo.New(new(imaging.Fitter))
		m.Request(stored, model, memo.Without{})
		for name, prepared := range map[string]bool{"prepared once": true, "prepared again": false} {
			b.Run(string(api)+"/"+name, func(b *testing.B) {
				for b.Loop() {
					r := m.Request(stored, model, memo.Without{})
					for range client.Stream(b.Context(), provider.Request{Model: model, Messages: r.Messages, Prepared: prepared, Key: "k", Size: 9}) {
					}
				}
				require.NotEmpty(b, w.sent)
				b.SetBytes(int64(len(w.sent)))
			})
		}
	}
}
