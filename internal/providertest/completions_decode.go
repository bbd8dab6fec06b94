package providertest

import (
	"encoding/json"
	"net/http"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// decodeCompletions reads a request and refuses it for the same reasons as the service.
func decodeCompletions(_ *http.Request, body []byte) (Request, error) {
	var in completionsRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{Model: in.Model}
	if err := in.check(body); err != nil {
		return req, err
	}
	for _, n := range []*int{in.MaxTokens, in.MaxCompletionTokens} {
		if n != nil {
			req.MaxTokens = *n
		}
	}
	for i, t := range in.Tools {
		if t.Type != "function" || !toolName.MatchString(t.Function.Name) {
			return req, invalid("Invalid 'tools[%d].function.name': string does not match pattern.", i)
		}
		if t.Function.Strict {
			req.strict = true
			if err := checkStrict(t.Function.Name, t.Function.Parameters, true); err != nil {
				return req, err
			}
		}
		req.Tools = append(req.Tools, provider.Tool{
			Name: t.Function.Name, Description: t.Function.Description, Parameters: t.Function.Parameters,
		})
	}
	waiting := map[string]bool{} // calls without a result yet
	for i, m := range in.Messages {
		if m.Role != "tool" && len(waiting) > 0 {
			break
		}
		if err := m.decode(i, &req, waiting); err != nil {
			return req, err
		}
	}
	for id := range waiting {
		return req, invalid("An assistant message with 'tool_calls' must be followed by tool messages responding to each "+
			"'tool_call_id'. The following tool_call_ids did not have response messages: %s", id)
	}
	return req, nil
}

func (in completionsRequest) check(body []byte) error {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(body, &given) // it was read as an object before
	switch {
	case in.Model == "":
		return invalid("you must provide a model parameter")
	case !in.Stream:
		return invalid("only streams are served here")
	case len(in.Messages) == 0:
		return invalid("Invalid 'messages': empty array. Expected an array with minimum length 1.")
	case in.MaxTokens != nil && in.MaxCompletionTokens != nil:
		return invalid("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case given["tools"] != nil && len(in.Tools) == 0:
		return invalid("[] is too short - 'tools'")
	}
	return nil
}

func (m completionsMessage) decode(i int, req *Request, waiting map[string]bool) error {
	blocks, err := m.Content.blocks()
	if err != nil {
		return err
	}
	switch m.Role {
	case "system", "developer":
		req.System += provider.Message{Content: blocks}.PlainText()
	case "user":
		if len(blocks) == 0 {
			return invalid("Invalid value for 'messages[%d].content': expected a string, got null.", i)
		}
		req.Messages = append(req.Messages, provider.Message{Role: provider.RoleUser, Content: blocks})
	case "tool":
		if !waiting[m.ToolCallID] {
			return invalid("Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.")
		}
		delete(waiting, m.ToolCallID)
		req.Messages = append(req.Messages, result(m.ToolCallID, blocks, false))
	case "assistant":
		return m.answer(i, blocks, req, waiting)
	default:
		return invalid("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'.", m.Role)
	}
	return nil
}

// answer reads a message of the model.
func (m completionsMessage) answer(i int, blocks []provider.Block, req *Request, waiting map[string]bool) error {
	if len(blocks) == 0 && len(m.ToolCalls) == 0 {
		return invalid("Invalid value for 'messages[%d].content': expected a string, got null.", i)
	}
	var all []provider.Block
	for field, s := range map[string]string{
		"reasoning_content": m.ReasoningContent, "reasoning": m.Reasoning, "reasoning_text": m.ReasoningText,
	} {
		if s != "" {
			all = append(all, provider.Block{Type: provider.TypeThinking, Thinking: s, ThinkingSignature: field})
		}
	}
	all = append(all, blocks...)
	for j, c := range m.ToolCalls {
		const longest = 40
		switch {
		case len(c.ID) > longest:
			return invalid("Invalid 'messages[%d].tool_calls[%d].id': string too long.", i, j)
		case c.ID == "" || waiting[c.ID]:
			return invalid("Invalid 'messages[%d].tool_calls[%d].id': missing or used twice.", i, j)
		case c.Type != "function" || c.Function.Arguments == nil || !toolName.MatchString(c.Function.Name):
			return invalid("Invalid 'messages[%d].tool_calls[%d]'.", i, j)
		}
		waiting[c.ID] = true
		all = append(all, provider.Block{
			Type: provider.TypeToolCall, ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(*c.Function.Arguments),
			ThoughtSignature: c.Extra.Google.ThoughtSignature,
		})
	}
	req.Messages = append(req.Messages, provider.Message{Role: provider.RoleAssistant, Content: all})
	return nil
}

// blocks reads the parts of a message of OpenAI's formats.
func (c content) blocks() ([]provider.Block, error) {
	var out []provider.Block
	for _, p := range c {
		switch p.Type {
		case "text", "input_text", "output_text":
			out = append(out, provider.Text(p.Text))
		case "image_url", "input_image":
			var url string
			var inner struct {
				URL string `json:"url"`
			}
			if json.Unmarshal(p.ImageURL, &url) != nil && json.Unmarshal(p.ImageURL, &inner) == nil {
				url = inner.URL
			}
			b, err := image(url)
			if err != nil {
				return nil, err
			}
			out = append(out, b)
		default:
			return nil, invalid("Invalid value: '%s'.", p.Type)
		}
	}
	return out, nil
}
