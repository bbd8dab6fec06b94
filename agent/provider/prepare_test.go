package provider_test

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

func model(api provider.API) provider.Model {
	return provider.Model{ID: "m-" + string(api), Provider: "p", API: api, Input: []string{"text", "image"}}
}

var apis = []provider.API{provider.AnthropicMessages, provider.OpenAICompletions, provider.OpenAIResponses}

func user(blocks ...provider.Block) provider.Message {
	return provider.Message{Role: provider.RoleUser, Content: blocks}
}

// by is an answer of the model.
func by(m provider.Model, blocks ...provider.Block) provider.Message {
	return provider.Message{
		Role: provider.RoleAssistant, API: m.API, Provider: m.Provider, Model: m.ID, Content: blocks, StopReason: provider.StopEnd,
	}
}

func result(id string, blocks ...provider.Block) provider.Message {
	no := false
	return provider.Message{Role: provider.RoleToolResult, ToolCallID: id, ToolName: "read", Content: blocks, IsError: &no}
}

func thought(text, signature string) provider.Block {
	return provider.Block{Type: provider.TypeThinking, Thinking: text, ThinkingSignature: signature}
}

func call(id string) provider.Block {
	return provider.Block{Type: provider.TypeToolCall, ID: id, Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)}
}

// answerOf returns the messages that the clients of the three formats make.
func answerOf(m provider.Model) []provider.Message {
	signature, id := "c2ln", "toolu_01"
	switch m.API {
	case provider.OpenAICompletions:
		signature, id = "reasoning_content", "call_01"
	case provider.OpenAIResponses:
		signature, id = `{"type":"reasoning","id":"rs_1","encrypted_content":"e"}`, "call_01|fc_01/+="
	}
	text := provider.Text("I read.")
	text.TextSignature = `{"v":1,"id":"msg_1"}`
	c := call(id)
	c.ThoughtSignature = `{"type":"reasoning.encrypted"}`
	return []provider.Message{
		user(provider.Text("go")), by(m, thought("hm", signature), text, c), result(id, provider.Text("data")),
	}
}

// Every format is replayed to every other.
// Proves: F-07
func TestPrepareFromEachToEach(t *testing.T) {
	t.Parallel()
	ids := map[provider.API]map[provider.API]string{
		provider.AnthropicMessages: {
			provider.AnthropicMessages: "toolu_01", provider.OpenAICompletions: "call_01", provider.OpenAIResponses: "call_01_fc_01___",
		},
		provider.OpenAICompletions: {
			provider.AnthropicMessages: "toolu_01", provider.OpenAICompletions: "call_01", provider.OpenAIResponses: "call_01",
		},
		provider.OpenAIResponses: {
			provider.AnthropicMessages: "toolu_01", provider.OpenAICompletions: "call_01", provider.OpenAIResponses: "call_01|fc_01/+=",
		},
	}
	for _, from := range apis {
		for _, to := range apis {
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				t.Parallel()
				in := answerOf(model(from))
				out := provider.Prepare(in, model(to))
				require.Equal(t, answerOf(model(from)), in, "the input was changed")
				require.Len(t, out, 3)
				answer := out[1].Content
				require.Equal(t, ids[to][from], answer[2].ID)
				require.Equal(t, ids[to][from], out[2].ToolCallID)
				require.Equal(t, "data", out[2].PlainText())
				if from == to {
					require.Equal(t, in, out, "a model gets its own answers as they were")
					return
				}
				require.Equal(t, []provider.Block{provider.Text("hm"), provider.Text("I read.")}, answer[:2])
				require.Empty(t, answer[2].ThoughtSignature)
			})
		}
	}
	t.Run("another model of the same service", func(t *testing.T) {
		t.Parallel()
		other := model(provider.AnthropicMessages)
		other.ID = "other"
		out := provider.Prepare(answerOf(model(provider.AnthropicMessages)), other)
		require.Equal(t, provider.Text("hm"), out[1].Content[0])
		other = model(provider.AnthropicMessages)
		other.Provider = "elsewhere"
		out = provider.Prepare(answerOf(model(provider.AnthropicMessages)), other)
		require.Equal(t, provider.Text("hm"), out[1].Content[0])
	})
}

// Proves: F-07, F-16 (in requests), F-17 (in requests)
func TestPrepare(t *testing.T) {
	t.Parallel()
	anthropic := model(provider.AnthropicMessages)
	blind := anthropic
	blind.Input = []string{"text"}
	lenient := anthropic
	lenient.Compat = json.RawMessage(`{"allowEmptySignature":true}`)
	image := provider.Block{Type: provider.TypeImage, Data: "AAAA", MimeType: "image/png"}
	failed := func(stop string, blocks ...provider.Block) provider.Message {
		m := by(anthropic, blocks...)
		m.StopReason = stop
		return m
	}
	missing := result("a", provider.Text("No result provided"))
	yes := true
	missing.IsError = &yes
	go_ := user(provider.Text("go"))
	text := provider.Text("x")
	redacted := provider.Block{Type: provider.TypeThinking, Redacted: true, ThinkingSignature: "sealed"}
	broken := call("a")
	broken.Arguments = json.RawMessage(`{"pa`)
	mended := call("a")
	mended.Arguments = json.RawMessage(`{}`)

	signedText, signedCall := text, call("a")
	signedText.TextSignature, signedCall.ThoughtSignature = "sealed", "sealed"

	for name, c := range map[string]struct {
		model    provider.Model
		in, want []provider.Message
	}{
		"signatures go back": {
			anthropic,
			[]provider.Message{by(anthropic, signedText, signedCall), result("a", text)},
			[]provider.Message{by(anthropic, signedText, signedCall), result("a", text)},
		},
		"but to no other model": {
			model(provider.OpenAIResponses),
			[]provider.Message{by(anthropic, signedText, signedCall), result("a", text)},
			[]provider.Message{by(anthropic, text, call("a")), result("a", text)},
		},
		"failed and aborted answers and their results are left out": {
			anthropic,
			[]provider.Message{go_, failed(provider.StopError, text, call("a")), result("a", text), failed(provider.StopAborted, text), go_},
			[]provider.Message{go_, go_},
		},
		"a missing result is made up": {
			anthropic,
			[]provider.Message{go_, by(anthropic, call("a")), go_},
			[]provider.Message{go_, by(anthropic, call("a")), missing, go_},
		},
		"at the end, too": {
			anthropic,
			[]provider.Message{go_, by(anthropic, call("a"))},
			[]provider.Message{go_, by(anthropic, call("a")), missing},
		},
		"results come in the order of the calls": {
			anthropic,
			[]provider.Message{by(anthropic, call("a"), call("b")), result("b", text), result("a", text)},
			[]provider.Message{by(anthropic, call("a"), call("b")), result("a", text), result("b", text)},
		},
		"a late result is moved to its call": {
			anthropic,
			[]provider.Message{by(anthropic, call("a")), go_, result("a", text)},
			[]provider.Message{by(anthropic, call("a")), result("a", text), go_},
		},
		"a second result and one without a call are left out": {
			anthropic,
			[]provider.Message{result("z", text), by(anthropic, call("a")), result("a", text), result("a", image), go_},
			[]provider.Message{by(anthropic, call("a")), result("a", text), go_},
		},
		"reused ids": {
			anthropic,
			[]provider.Message{by(anthropic, call("a")), result("a", text), by(anthropic, call("a")), result("a", image)},
			[]provider.Message{by(anthropic, call("a")), result("a", text), by(anthropic, call("a_2")), result("a_2", image)},
		},
		"an earlier call does not get the result of a later one": {
			anthropic,
			[]provider.Message{by(anthropic, call("a")), by(anthropic, call("a")), result("a", text)},
			[]provider.Message{by(anthropic, call("a")), missing, by(anthropic, call("a_2")), result("a_2", text)},
		},
		"two calls without an id": {
			anthropic,
			[]provider.Message{by(anthropic, call(""), call("")), result("", text), result("", image)},
			[]provider.Message{by(anthropic, call("call_1"), call("call_2")), result("call_1", text), result("call_2", image)},
		},
		"empty blocks are omitted": {
			anthropic,
			[]provider.Message{user(provider.Text(" \n")), by(anthropic, provider.Text(""), thought("", "")), by(anthropic, provider.Text(""), text), user()},
			[]provider.Message{by(anthropic, text)},
		},
		"a result is never empty": {
			anthropic,
			[]provider.Message{by(anthropic, call("a")), result("a", provider.Text(""))},
			[]provider.Message{by(anthropic, call("a")), result("a", provider.Text("(no tool output)"))},
		},
		"thinking that leads to nothing": {
			anthropic,
			[]provider.Message{go_, by(anthropic, thought("hm", "s")), by(anthropic, text, thought("hm", "s"), provider.Text("")), go_},
			[]provider.Message{go_, by(anthropic, text), go_},
		},
		"thinking without a signature": {
			anthropic,
			[]provider.Message{by(anthropic, thought("hm", ""), text)},
			[]provider.Message{by(anthropic, provider.Text("hm"), text)},
		},
		"a service that signs nothing": {
			lenient,
			[]provider.Message{by(anthropic, thought("hm", ""), text)},
			[]provider.Message{by(anthropic, thought("hm", ""), text)},
		},
		"sealed thinking goes back": {
			anthropic,
			[]provider.Message{by(anthropic, redacted, text)},
			[]provider.Message{by(anthropic, redacted, text)},
		},
		"but not to another model": {
			model(provider.OpenAIResponses),
			[]provider.Message{by(anthropic, redacted, text)},
			[]provider.Message{by(anthropic, text)},
		},
		"images that cannot be seen": {
			blind,
			[]provider.Message{user(image, image, text, image), by(anthropic, call("a")), result("a", image)},
			[]provider.Message{
				user(provider.Text("(image omitted: model does not support images)"), text, provider.Text("(image omitted: model does not support images)")),
				by(anthropic, call("a")), result("a", provider.Text("(tool image omitted: model does not support images)")),
			},
		},
		"images that can": {
			anthropic,
			[]provider.Message{user(image), by(anthropic, call("a")), result("a", image)},
			[]provider.Message{user(image), by(anthropic, call("a")), result("a", image)},
		},
		"broken arguments": {
			anthropic,
			[]provider.Message{by(anthropic, broken), result("a", text)},
			[]provider.Message{by(anthropic, mended), result("a", text)},
		},
		"roles and blocks that models do not have": {
			anthropic,
			[]provider.Message{{Role: "system", Content: []provider.Block{text}}, by(anthropic, provider.Block{Type: "fallback"}, text)},
			[]provider.Message{by(anthropic, text)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, provider.Prepare(c.in, c.model))
		})
	}
}

func TestPrepareIDs(t *testing.T) {
	t.Parallel()
	mistral := model(provider.OpenAICompletions)
	mistral.Provider = "mistral"
	long := "call_0123456789012345678901234567890123456789012345678901234567890123456789"
	for _, c := range []struct {
		to      provider.Model
		pattern string
	}{
		{model(provider.AnthropicMessages), `^[a-zA-Z0-9_-]{1,64}$`},
		{model(provider.OpenAICompletions), `^[a-zA-Z0-9_-]{1,40}$`},
		{model(provider.OpenAIResponses), `^[a-zA-Z0-9_-]{1,64}$`},
		{mistral, `^[a-zA-Z0-9]{9}$`},
	} {
		var calls []provider.Block
		for _, id := range []string{"a", "functions.read:0", long, long + "x", "same|fc_1", "same|fc_2", "", "|", "ü"} {
			calls = append(calls, call(id))
		}
		out := provider.Prepare([]provider.Message{by(model("other"), calls...)}, c.to)
		seen := map[string]bool{}
		for i, b := range out[0].ToolCalls() {
			require.Regexp(t, c.pattern, b.ID)
			require.False(t, seen[b.ID], "%s twice", b.ID)
			seen[b.ID] = true
			require.Equal(t, b.ID, out[1+i].ToolCallID)
		}
	}
}

// A conversation of any kind is prepared for any model: every call has one result right
// behind it, ids differ, and doing it again changes nothing.
// Proves: F-07
func TestPrepareProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		to := model(apis[r.IntN(len(apis))])
		if r.IntN(3) == 0 {
			to.Input = nil
		}
		in := conversation(r)
		once := provider.Prepare(in, to)
		require.Equal(t, once, provider.Prepare(once, to), "seed %d", seed)

		ids := map[string]bool{}
		for i := 0; i < len(once); {
			m := once[i]
			i++
			require.NotEmpty(t, m.Content, "seed %d", seed)
			require.NotEqual(t, provider.TypeThinking, m.Content[len(m.Content)-1].Type, "seed %d: thinking that leads to nothing", seed)
			require.NotEqual(t, provider.RoleToolResult, m.Role, "seed %d: a result without a call", seed)
			for _, c := range m.ToolCalls() {
				require.False(t, ids[c.ID], "seed %d: %s twice", seed, c.ID)
				ids[c.ID] = true
				require.Less(t, i, len(once), "seed %d", seed)
				require.Equal(t, c.ID, once[i].ToolCallID, "seed %d", seed)
				i++
			}
		}
		if n := len(in); n > 0 { // the cached part does not change when the conversation continues
			begin := provider.Prepare(in[:n/2], to)
			if grown := provider.Prepare(append(in[:n/2:n/2], user(provider.Text("more"))), to); len(begin) > 0 {
				require.Equal(t, begin, grown[:len(begin)], "seed %d", seed)
			}
		}
	}
}

// conversation makes up messages of which many make no sense.
func conversation(r *rand.Rand) []provider.Message {
	ids := []string{"", "a", "b", "a|fc_1", "a|fc_2", "x.y:z", "a_2"}
	texts := []string{"", " ", "hello", "(image omitted: model does not support images)"}
	block := func() provider.Block {
		switch r.IntN(6) {
		case 0:
			return thought(texts[r.IntN(3)], []string{"", "sig"}[r.IntN(2)])
		case 1:
			return provider.Block{Type: provider.TypeThinking, Redacted: true, ThinkingSignature: "sealed"}
		case 2:
			return provider.Block{Type: provider.TypeImage, Data: []string{"", "AAAA"}[r.IntN(2)], MimeType: "image/png"}
		case 3:
			return call(ids[r.IntN(len(ids))])
		default:
			return provider.Text(texts[r.IntN(len(texts))])
		}
	}
	blocks := func() []provider.Block {
		var all []provider.Block
		for range r.IntN(4) {
			all = append(all, block())
		}
		return all
	}
	var all []provider.Message
	for range r.IntN(9) {
		switch r.IntN(3) {
		case 0:
			all = append(all, user(blocks()...))
		case 1:
			m := by(model(apis[r.IntN(len(apis))]), blocks()...)
			m.StopReason = []string{provider.StopEnd, provider.StopError, provider.StopToolUse}[r.IntN(3)]
			m.Timestamp = int64(r.IntN(100))
			all = append(all, m)
		default:
			all = append(all, result(ids[r.IntN(len(ids))], blocks()...))
		}
	}
	return all
}

func TestLimit(t *testing.T) {
	t.Parallel()
	m := model(provider.AnthropicMessages)
	m.ContextWindow, m.MaxTokens = 100_000, 50_000
	used := by(m, provider.Text("x"))
	used.Usage = &provider.Usage{Input: 1000, CacheRead: 80_000, Output: 500}
	for i, c := range []struct {
		req  provider.Request
		want int
	}{
		{provider.Request{Model: m}, 50_000},
		{provider.Request{Model: m, MaxTokens: 10}, 10},
		{provider.Request{Model: m, MaxTokens: 90_000}, 50_000},
		{provider.Request{Model: m, Size: 81_500, Messages: []provider.Message{used}}, 100_000 - 81_500 - 1024},
		{provider.Request{Model: m, Messages: []provider.Message{used}}, 50_000}, // from before a compaction, perhaps
		{provider.Request{Model: m, Messages: []provider.Message{user(provider.Text(string(make([]byte, 210_000))))}}, 100_000 - 70_000 - 1024},
		{provider.Request{Model: m, System: string(make([]byte, 300_000))}, 1024},
		{provider.Request{Model: m, Messages: []provider.Message{user(provider.Block{Type: provider.TypeImage, Data: string(make([]byte, 1<<20))})}}, 50_000},
		{provider.Request{}, provider.DefaultMaxTokens},
	} {
		require.Equal(t, c.want, c.req.Limit(), strconv.Itoa(i))
	}
}
