package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// converseRequest has every known field, because the service refuses others.
type converseRequest struct {
	Messages        []converseMessage `json:"messages"`
	System          []conversePart    `json:"system"`
	InferenceConfig struct {
		MaxTokens int `json:"maxTokens"`
	} `json:"inferenceConfig"`
	ToolConfig *struct {
		Tools []struct {
			ToolSpec struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				InputSchema struct {
					JSON json.RawMessage `json:"json"`
				} `json:"inputSchema"`
			} `json:"toolSpec"`
		} `json:"tools"`
	} `json:"toolConfig"`
	AdditionalModelRequestFields json.RawMessage `json:"additionalModelRequestFields"`
}

type converseMessage struct {
	Role    string         `json:"role"`
	Content []conversePart `json:"content"`
}

type conversePart struct {
	Text       *string         `json:"text"`
	CachePoint json.RawMessage `json:"cachePoint"`
	Image      *struct {
		Format string `json:"format"`
		Source struct {
			Bytes []byte `json:"bytes"`
		} `json:"source"`
	} `json:"image"`
	ToolUse *struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"toolUse"`
	ToolResult *struct {
		ID      string         `json:"toolUseId"`
		Content []conversePart `json:"content"`
		Status  string         `json:"status"`
	} `json:"toolResult"`
	ReasoningContent *struct {
		ReasoningText *struct {
			Text      string `json:"text"`
			Signature string `json:"signature"`
		} `json:"reasoningText"`
		RedactedContent []byte `json:"redactedContent"`
	} `json:"reasoningContent"`
}

// decodeBedrock reads a request and refuses it for the same reasons as the service.
func decodeBedrock(r *http.Request, body []byte) (Request, error) {
	req := Request{Model: r.PathValue("id")}
	if err := signedByAmazon(r, body); err != nil {
		return req, err
	}
	var in converseRequest
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return req, err
	}
	req.MaxTokens = in.InferenceConfig.MaxTokens
	for _, p := range in.System {
		if p.Text != nil {
			req.System += *p.Text
		}
	}
	if in.ToolConfig != nil {
		for _, t := range in.ToolConfig.Tools {
			spec := t.ToolSpec
			if !toolName.MatchString(spec.Name) || len(spec.InputSchema.JSON) == 0 {
				return req, invalid("Invalid toolSpec.")
			}
			req.Tools = append(req.Tools, provider.Tool{Name: spec.Name, Description: spec.Description, Parameters: spec.InputSchema.JSON})
		}
	}
	return req, in.read(&req)
}

// read turns the messages into those of the provider package.
func (in converseRequest) read(req *Request) error {
	if n := len(in.Messages); n == 0 || in.Messages[n-1].Role != "user" {
		return invalid("A conversation must end with a user message.")
	}
	want := "user"
	var calls []string
	for i, m := range in.Messages {
		if m.Role != want || len(m.Content) == 0 {
			return invalid("A conversation must alternate between user and assistant roles (messages.%d).", i)
		}
		var results []provider.Message
		var own []provider.Block
		for j, p := range m.Content {
			if p.ToolResult != nil {
				blocks, err := p.results()
				if err != nil {
					return err
				}
				results = append(results, result(p.ToolResult.ID, blocks, p.ToolResult.Status == "error"))
				continue
			}
			b, err := p.block(m.Role)
			if err != nil {
				return invalid("messages.%d.content.%d: %v", i, j, err)
			}
			if b.Type != "" {
				own = append(own, b)
			}
		}
		if err := match(calls, results); err != nil {
			return err
		}
		calls = nil
		req.Messages = append(req.Messages, results...)
		if want = "assistant"; m.Role == "assistant" {
			want = "user"
			for _, c := range (provider.Message{Content: own}).ToolCalls() {
				calls = append(calls, c.ID)
			}
		}
		if own != nil {
			req.Messages = append(req.Messages, provider.Message{Role: m.Role, Content: own})
		}
	}
	return nil
}

// match checks that there is a result for each call, and no other.
func match(calls []string, results []provider.Message) error {
	waiting := map[string]bool{}
	for _, id := range calls {
		waiting[id] = true
	}
	for _, r := range results {
		if !waiting[r.ToolCallID] {
			return invalid("The number of toolResult blocks exceeds the number of toolUse blocks of previous turn.")
		}
		delete(waiting, r.ToolCallID)
	}
	if len(waiting) > 0 {
		return invalid("Expected toolResult blocks for the Ids of all toolUse blocks of the previous turn.")
	}
	return nil
}

// results returns the content of a result.
func (p conversePart) results() ([]provider.Block, error) {
	var blocks []provider.Block
	for _, inner := range p.ToolResult.Content {
		b, err := inner.block("user")
		if err != nil {
			return nil, err
		}
		if b.Type == provider.TypeImage && p.ToolResult.Status == "error" {
			return nil, invalid("all content must be type text if is_error is true")
		}
		blocks = append(blocks, b)
	}
	if len(blocks) == 0 {
		return nil, invalid("The content of a toolResult is empty.")
	}
	return blocks, nil
}

// block reads a part of a message of the role; a mark for the cache is no block.
func (p conversePart) block(role string) (provider.Block, error) {
	switch {
	case p.CachePoint != nil:
		return provider.Block{}, nil
	case p.Text != nil && strings.TrimSpace(*p.Text) == "":
		return provider.Block{}, invalid("The text field in the ContentBlock object is blank.")
	case p.Text != nil:
		return provider.Text(*p.Text), nil
	case p.Image != nil && role == "user":
		return provider.Block{
			Type: provider.TypeImage, MimeType: "image/" + p.Image.Format, Data: base64.StdEncoding.EncodeToString(p.Image.Source.Bytes),
		}, nil
	case p.ToolUse != nil && role == "assistant" && toolID.MatchString(p.ToolUse.ID):
		return provider.Block{Type: provider.TypeToolCall, ID: p.ToolUse.ID, Name: p.ToolUse.Name, Arguments: p.ToolUse.Input}, nil
	case p.ReasoningContent != nil && role == "assistant":
		r := p.ReasoningContent
		if r.ReasoningText == nil {
			return provider.Block{
				Type: provider.TypeThinking, Redacted: true, ThinkingSignature: base64.StdEncoding.EncodeToString(r.RedactedContent),
			}, nil
		}
		if s := r.ReasoningText.Signature; s != "" && s != sign(r.ReasoningText.Text) {
			return provider.Block{}, invalid("Invalid `signature` in `thinking` block")
		}
		return provider.Block{Type: provider.TypeThinking, Thinking: r.ReasoningText.Text, ThinkingSignature: r.ReasoningText.Signature}, nil
	default:
		return provider.Block{}, invalid("the block does not belong to the role %s", role)
	}
}
