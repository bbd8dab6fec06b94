package provider_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

func TestLocate(t *testing.T) {
	t.Parallel()
	call := func(id string) provider.Block { return provider.Block{Type: provider.TypeToolCall, ID: id, Name: "ls"} }
	result := func(id, text string) provider.Message {
		return provider.Message{Role: provider.RoleToolResult, ToolCallID: id, Content: []provider.Block{provider.Text(text)}}
	}
	messages := []provider.Message{
		{Role: provider.RoleUser, Content: []provider.Block{provider.Text("hello"), {Type: provider.TypeImage, MimeType: "image/png", Data: "aGk="}}},
		{Role: provider.RoleAssistant, Content: []provider.Block{{Type: provider.TypeThinking, Thinking: "hm", ThinkingSignature: "sig"}, call("c1"), call("c2|fc2")}},
		result("c1", "same"),
		result("c2|fc2", "same"),
		{Role: provider.RoleUser, Content: []provider.Block{provider.Text("again")}},
		{Role: provider.RoleAssistant, Content: []provider.Block{provider.Text("again")}},
	}
	for part, want := range map[string]int{
		`{"type":"text","text":"hello"}`:                                                                                  0,
		`{"type":"image","source":{"type":"base64","data":"aGk="}}`:                                                       0,
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}`:                                           0,
		`{"type":"thinking","thinking":"hm","signature":"sig"}`:                                                           1,
		`{"type":"tool_use","id":"c1","input":{}}`:                                                                        1,
		`{"type":"function_call","call_id":"c2","id":"fc2"}`:                                                              1,
		`{"type":"tool_result","tool_use_id":"c1","content":[{"text":"same"}]}`:                                           2,
		`{"type":"function_call_output","call_id":"c2","output":"same"}`:                                                  3,
		`{"role":"tool","tool_call_id":"c1","content":"same"}`:                                                            2,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"},{"type":"tool_result","tool_use_id":"c2"}]}`: -1,
		`{"role":"user","content":"again"}`:                                                                               -1, // two messages have this text
		`{"text":""}`:                                                                                                     -1,
		`{"text":"unknown"}`:                                                                                              -1,
		`"hello`:                                                                                                          -1,
		``:                                                                                                                -1,
	} {
		assert.Equal(t, want, provider.Locate(messages, []byte(part)), part)
	}
}

func TestWithoutThinking(t *testing.T) {
	t.Parallel()
	in := []provider.Message{
		{Role: provider.RoleAssistant, Model: "m", Timestamp: 1, Content: []provider.Block{{Type: provider.TypeThinking, Thinking: "hm"}, {Type: provider.TypeText, Text: "a", TextSignature: "s"}}},
		{Role: provider.RoleAssistant, Model: "m", Timestamp: 1, Content: []provider.Block{provider.Text("plain")}},
		{Role: provider.RoleAssistant, Model: "m", Timestamp: 2, Content: []provider.Block{{Type: provider.TypeThinking, Thinking: "new"}}},
	}
	out, found := provider.WithoutThinking(in, 1)
	assert.True(t, found)
	assert.Equal(t, []provider.Block{provider.Text("a")}, out[0].Content)
	assert.Empty(t, out[0].Model, "its ids are not those of the model, either")
	assert.Equal(t, in[1:], out[1:])
	assert.Len(t, in[0].Content, 2, "the messages that come in are not changed")
	_, found = provider.WithoutThinking(out[:2], 1)
	assert.False(t, found)
}
