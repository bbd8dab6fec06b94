package providertest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

type responsesRequest struct {
	Model           string          `json:"model"`
	Stream          bool            `json:"stream"`
	Store           *bool           `json:"store"`
	Instructions    string          `json:"instructions"`
	Input           []responsesItem `json:"input"`
	Tools           []responsesTool `json:"tools"`
	MaxOutputTokens *int            `json:"max_output_tokens"`
}

type responsesItem struct {
	Type             string          `json:"type"`
	ID               string          `json:"id"`
	Role             string          `json:"role"`
	Content          content         `json:"content"`
	Summary          []part          `json:"summary"`
	EncryptedContent string          `json:"encrypted_content"`
	CallID           string          `json:"call_id"`
	Name             string          `json:"name"`
	Arguments        *string         `json:"arguments"`
	Output           content         `json:"output"`
	Phase            json.RawMessage `json:"phase"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// decodeResponses reads a request and refuses it for the same reasons as the service.
func decodeResponses(_ *http.Request, body []byte) (Request, error) {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{Model: in.Model, System: in.Instructions}
	switch {
	case in.Model == "":
		return req, invalid("Missing required parameter: 'model'.")
	case !in.Stream:
		return req, invalid("only streams are served here")
	case len(in.Input) == 0:
		return req, invalid("Missing required parameter: 'input'.")
	case in.MaxOutputTokens != nil && *in.MaxOutputTokens < 16:
		return req, invalid("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.")
	case in.MaxOutputTokens != nil:
		req.MaxTokens = *in.MaxOutputTokens
	}
	for i, t := range in.Tools {
		if t.Type != "function" || !toolName.MatchString(t.Name) {
			return req, invalid("Invalid 'tools[%d].name': string does not match pattern.", i)
		}
		if t.Strict {
			req.strict = true
			if err := checkStrict(t.Name, t.Parameters, true); err != nil {
				return req, err
			}
		}
		req.Tools = append(req.Tools, provider.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	if err := in.checkItems(); err != nil {
		return req, err
	}
	for i, it := range in.Input {
		if it.Type == "" && it.Role != "" {
			it.Type = "message" // the only type that may be missing
		}
		if err := it.decode(i, &req); err != nil {
			return req, err
		}
	}
	return req, nil
}

// checkItems holds that calls and results belong together and so do the items of an
// answer and their reasoning.
func (in responsesRequest) checkItems() error {
	calls, outputs := map[string]bool{}, map[string]bool{}
	for _, it := range in.Input {
		switch it.Type {
		case "function_call":
			calls[it.CallID] = true
		case "function_call_output":
			if !calls[it.CallID] {
				return invalid("No tool call found for function call output with call_id %s.", it.CallID)
			}
			outputs[it.CallID] = true
		}
	}
	for id := range calls {
		if !outputs[id] {
			return invalid("No tool output found for function call %s.", id)
		}
	}
	seen := map[string]bool{}
	for i, it := range in.Input {
		if it.Type == "reasoning" {
			if i+1 == len(in.Input) || !strings.Contains("message function_call reasoning", in.Input[i+1].Type) {
				return invalid("Item '%s' of type 'reasoning' was provided without its required following item.", it.ID)
			}
			seen[strings.TrimPrefix(it.ID, "rs_")] = true
			continue
		}
		for _, prefix := range []string{"fc_r", "msg_r"} {
			answer, known := strings.CutPrefix(it.ID, prefix)
			answer, _, _ = strings.Cut(answer, "_")
			if known && !seen[answer] {
				return invalid("Item '%s' was provided without its required 'reasoning' item: 'rs_%s'.", it.ID, answer)
			}
		}
	}
	return nil
}

// decode adds the item to the messages. Items of one answer become one message.
func (it responsesItem) decode(i int, req *Request) error {
	const longest = 64
	switch {
	case len(it.ID) > longest || len(it.CallID) > longest:
		return invalid("Invalid 'input[%d].id': string too long. Expected a string with maximum length 64.", i)
	case it.Type == "message" && it.Role == "assistant":
		if it.ID != "" && !strings.HasPrefix(it.ID, "msg") {
			return invalid("Invalid 'input[%d].id': '%s'. Expected an ID that begins with 'msg'.", i, it.ID)
		}
		blocks, err := it.Content.blocks()
		req.answer(blocks...)
		return err
	case it.Type == "message":
		blocks, err := it.Content.blocks()
		if it.Role == "user" {
			req.Messages = append(req.Messages, provider.Message{Role: provider.RoleUser, Content: blocks})
		} else {
			req.System += provider.Message{Content: blocks}.PlainText()
		}
		return err
	case it.Type == "reasoning":
		return it.reasoning(i, req)
	case it.Type == "function_call":
		if it.ID != "" && !strings.HasPrefix(it.ID, "fc") {
			return invalid("Invalid 'input[%d].id': '%s'. Expected an ID that begins with 'fc'.", i, it.ID)
		}
		if it.CallID == "" || it.Arguments == nil || !toolName.MatchString(it.Name) {
			return invalid("Invalid 'input[%d]'.", i)
		}
		req.answer(provider.Block{
			Type: provider.TypeToolCall, ID: it.CallID, Name: it.Name, Arguments: json.RawMessage(*it.Arguments),
		})
	case it.Type == "function_call_output":
		blocks, err := it.Output.blocks()
		if err != nil {
			return err
		}
		req.Messages = append(req.Messages, result(it.CallID, blocks, false))
	default:
		return invalid("Invalid value: '%s'. Supported values are: 'message', 'reasoning', 'function_call', …", it.Type)
	}
	return nil
}

func (it responsesItem) reasoning(i int, req *Request) error {
	if !strings.HasPrefix(it.ID, "rs") {
		return invalid("Invalid 'input[%d].id': '%s'. Expected an ID that begins with 'rs'.", i, it.ID)
	}
	if it.EncryptedContent == "" {
		return invalid("Item with id '%s' not found. Items are not persisted when `store` is set to false.", it.ID)
	}
	if !unseal(it.EncryptedContent) {
		return invalid("The encrypted content for item %s could not be verified.", it.ID)
	}
	var text strings.Builder
	for _, p := range it.Summary {
		text.WriteString(p.Text)
	}
	req.answer(provider.Block{Type: provider.TypeThinking, Thinking: text.String(), ThinkingSignature: it.EncryptedContent})
	return nil
}

// answer adds blocks to the model's answer that is being read, or begins one.
func (r *Request) answer(blocks ...provider.Block) {
	if n := len(r.Messages); n == 0 || r.Messages[n-1].Role != provider.RoleAssistant {
		r.Messages = append(r.Messages, provider.Message{Role: provider.RoleAssistant})
	}
	last := &r.Messages[len(r.Messages)-1]
	last.Content = append(last.Content, blocks...)
}
