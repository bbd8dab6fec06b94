package openai

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

type responsesRequest struct {
	Model           string `json:"model"`
	Stream          bool   `json:"stream"`
	Store           bool   `json:"store"`
	MaxOutputTokens int    `json:"max_output_tokens,omitzero"`
	PromptCacheKey  string `json:"prompt_cache_key,omitzero"`
	ServiceTier     string `json:"service_tier,omitzero"`
	retention
	Reasoning    *reasoning      `json:"reasoning,omitzero"`
	Include      []string        `json:"include,omitempty"`
	Tools        []responsesTool `json:"tools,omitempty"`
	Instructions string          `json:"instructions,omitzero"`
	Input        []any           `json:"input"`
}

type reasoning struct {
	Effort  string `json:"effort,omitzero"`
	Summary string `json:"summary,omitzero"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // without it the service changes schemas on its own
}

type messageItem struct {
	Type    string `json:"type"`
	ID      string `json:"id,omitzero"`
	Role    string `json:"role"`
	Status  string `json:"status,omitzero"`
	Phase   string `json:"phase,omitzero"`
	Content []any  `json:"content"`
}

type inputText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type outputText struct {
	Type        string   `json:"type"`
	Text        string   `json:"text"`
	Annotations []string `json:"annotations"`
}

type inputImage struct {
	Type     string `json:"type"`
	Detail   string `json:"detail"`
	ImageURL string `json:"image_url"`
}

type callItem struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitzero"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type resultItem struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output any    `json:"output"` // a text, or a list when there are images
}

// textSignature holds the facts of the item from which a text block was made.
type textSignature struct {
	V     int    `json:"v"`
	ID    string `json:"id"`
	Phase string `json:"phase,omitzero"`
}

func beginResponses(req provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
	var c compat
	unmarshalLoosely(req.Model.Compat, &c)
	body, err := guard.Encode(buildResponses(req, c))
	if err == nil {
		body, err = merge(body, c.ExtraBody)
	}
	return call(req, "/responses", body), &responsesDecoder{answer: a}, err
}

func buildResponses(req provider.Request, c compat) responsesRequest {
	const leastOutput = 16
	m := req.Model
	r := responsesRequest{
		Model: m.ID, Stream: true, Instructions: req.System, PromptCacheKey: cacheKey(req.SessionID), ServiceTier: req.Tier, Input: []any{},
	}
	r.retention = retain(req, c)
	if known(req) {
		r.MaxOutputTokens = max(req.Limit(), leastOutput)
	}
	if m.Reasoning {
		// Nothing is stored there, so that thinking has to come along to go back.
		r.Include = []string{"reasoning.encrypted_content"}
		word, canStop := off(m)
		switch {
		case wanted(req):
			r.Reasoning = &reasoning{Effort: effort(m, req.Thinking), Summary: "auto"}
		case canStop:
			r.Reasoning = &reasoning{Effort: word}
		}
	}
	for _, t := range req.Tools {
		parameters, enforced := schema(req, c, t)
		r.Tools = append(r.Tools, responsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: parameters, Strict: enforced})
	}
	for _, msg := range req.Conversation() {
		if before := history(msg.History, m); before != nil {
			r.Input = append(r.Input, before...)
			continue
		}
		r.Input = append(r.Input, items(msg)...)
	}
	return r
}

// items returns the items of the message in the service's form.
func items(m provider.Message) []any {
	switch m.Role {
	case provider.RoleAssistant:
		return answerItems(m)
	case provider.RoleToolResult:
		id, _, _ := strings.Cut(m.ToolCallID, "|")
		r := resultItem{Type: "function_call_output", CallID: id, Output: m.PlainText()}
		for _, b := range m.Content {
			if b.Type == provider.TypeImage {
				r.Output = inputContent(m.Content)
			}
		}
		return []any{r}
	default:
		return []any{messageItem{Type: "message", Role: "user", Content: inputContent(m.Content)}}
	}
}

func inputContent(content []provider.Block) []any {
	var parts []any
	for _, b := range content {
		if b.Type == provider.TypeImage {
			parts = append(parts, inputImage{"input_image", "auto", dataURL(b)})
		} else {
			parts = append(parts, inputText{"input_text", b.Text})
		}
	}
	return parts
}

// answerItems are the items of an answer. Those with reasoning carry their ids, by which the
// service finds the reasoning that they belong to; without it they must not.
func answerItems(m provider.Message) []any {
	var out []any
	thought := false
	for _, b := range m.Content {
		switch b.Type {
		case provider.TypeThinking:
			var item struct {
				Type      string `json:"type"`
				Encrypted string `json:"encrypted_content"`
			}
			raw := jsontext.Value(b.ThinkingSignature)
			// The service stores nothing, so it cannot resolve an item without its content.
			if raw.IsValid() && guard.Decode(raw, &item) == nil && item.Type == "reasoning" && item.Encrypted != "" {
				out = append(out, raw)
				thought = true
			}
		case provider.TypeText:
			item := messageItem{Type: "message", Role: "assistant", Content: []any{outputText{"output_text", b.Text, []string{}}}}
			var s textSignature
			if guard.Decode([]byte(b.TextSignature), &s) == nil {
				item.Phase = s.Phase
				if thought && strings.HasPrefix(s.ID, "msg") {
					item.ID, item.Status = s.ID, "completed"
				}
			}
			out = append(out, item)
		case provider.TypeToolCall:
			id, item, _ := strings.Cut(b.ID, "|")
			if !thought || !strings.HasPrefix(item, "fc") {
				item = ""
			}
			out = append(out, callItem{"function_call", item, id, b.Name, string(b.Arguments)})
		}
	}
	return out
}
