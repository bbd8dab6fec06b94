package bedrock

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

type request struct {
	Messages  []message       `json:"messages"`
	System    []block         `json:"system,omitempty"`
	Inference inferenceConfig `json:"inferenceConfig,omitzero"`
	Tools     *toolConfig     `json:"toolConfig,omitzero"`
	Fields    *fields         `json:"additionalModelRequestFields,omitzero"`
}

type inferenceConfig struct {
	MaxTokens int `json:"maxTokens,omitzero"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is any block of a message; fields of other types are nil or "".
type block struct {
	Text       string      `json:"text,omitzero"`
	Image      *image      `json:"image,omitzero"`
	ToolUse    *toolUse    `json:"toolUse,omitzero"`
	ToolResult *toolResult `json:"toolResult,omitzero"`
	Reasoning  *reasoning  `json:"reasoningContent,omitzero"`
	CachePoint *cachePoint `json:"cachePoint,omitzero"`
}

type image struct {
	Format string `json:"format"`
	Source struct {
		Bytes string `json:"bytes"` // base64
	} `json:"source"`
}

type toolUse struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type toolResult struct {
	ID      string  `json:"toolUseId"`
	Content []block `json:"content"`
	Status  string  `json:"status"`
}

type reasoning struct {
	Text     *reasoningText `json:"reasoningText,omitzero"`
	Redacted string         `json:"redactedContent,omitzero"` // base64
}

type reasoningText struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitzero"`
}

type cachePoint struct {
	Type string `json:"type"`
}

type toolConfig struct {
	Tools []tool `json:"tools"`
}

type tool struct {
	Spec toolSpec `json:"toolSpec"`
}

type toolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	InputSchema struct {
		JSON json.RawMessage `json:"json"`
	} `json:"inputSchema"`
}

func build(req provider.Request, region string) request {
	r := request{}
	r.Fields = think(&req, region)
	if req.MaxTokens > 0 || req.Model.MaxTokens > 0 {
		r.Inference.MaxTokens = req.Limit()
	}
	if req.System != "" {
		r.System = []block{{Text: req.System}}
	}
	for _, t := range req.Tools {
		if r.Tools == nil {
			r.Tools = &toolConfig{}
		}
		spec := toolSpec{Name: t.Name, Description: t.Description}
		spec.InputSchema.JSON = t.Parameters
		r.Tools.Tools = append(r.Tools.Tools, tool{spec})
	}
	claude := isClaude(req.Model)
	images := []block(nil) // of failed results, which Claude takes only behind them
	for _, m := range req.Conversation() {
		if m.Role != provider.RoleToolResult {
			r.add("user", images)
			images = nil
		}
		switch m.Role {
		case provider.RoleAssistant:
			r.add("assistant", answerBlocks(m.Content, claude))
		case provider.RoleToolResult:
			result, behind := resultBlock(m, claude)
			r.add("user", []block{result})
			images = append(images, behind...)
		default:
			r.add("user", shown(m.Content))
		}
	}
	r.add("user", images)
	if claude {
		r.cache()
	}
	return r
}

// add adds blocks to the last message if it has the same role, because the roles have to alternate.
func (r *request) add(role string, blocks []block) {
	switch n := len(r.Messages); {
	case len(blocks) == 0:
	case n > 0 && r.Messages[n-1].Role == role:
		r.Messages[n-1].Content = append(r.Messages[n-1].Content, blocks...)
	default:
		r.Messages = append(r.Messages, message{role, blocks})
	}
}

func shown(content []provider.Block) []block {
	var out []block
	for _, b := range content {
		if b.Type == provider.TypeImage {
			out = append(out, imageBlock(b))
		} else {
			out = append(out, block{Text: b.Text})
		}
	}
	return out
}

func imageBlock(b provider.Block) block {
	format := strings.TrimPrefix(b.MimeType, "image/")
	switch format {
	case "jpg":
		format = "jpeg"
	case "png", "jpeg", "gif", "webp":
	default:
		return block{Text: "(image omitted: the service does not take its format)"}
	}
	i := &image{Format: format}
	i.Source.Bytes = b.Data
	return block{Image: i}
}

func resultBlock(m provider.Message, claude bool) (result block, behind []block) {
	r := &toolResult{ID: m.ToolCallID, Status: "success"}
	failed := m.IsError != nil && *m.IsError
	if failed {
		r.Status = "error"
	}
	for _, b := range shown(m.Content) {
		if b.Image != nil && failed && claude {
			behind = append(behind, b)
		} else {
			r.Content = append(r.Content, b)
		}
	}
	if len(r.Content) == 0 {
		r.Content = []block{{Text: "(see attached image)"}}
	}
	return block{ToolResult: r}, behind
}

// answerBlocks returns the blocks of an answer. Only Claude signs its reasoning, and wants it back only
// with the signature.
func answerBlocks(content []provider.Block, claude bool) []block {
	var out []block
	for _, b := range content {
		switch {
		case b.Type == provider.TypeText:
			out = append(out, block{Text: b.Text})
		case b.Type == provider.TypeToolCall:
			out = append(out, block{ToolUse: &toolUse{b.ID, b.Name, b.Arguments}})
		case b.Type == provider.TypeThinking && b.Redacted:
			if raw, err := base64.StdEncoding.DecodeString(b.ThinkingSignature); err == nil && len(raw) > 0 {
				out = append(out, block{Reasoning: &reasoning{Redacted: b.ThinkingSignature}})
			}
		case b.Type != provider.TypeThinking || strings.TrimSpace(b.Thinking) == "":
		case !claude:
			out = append(out, block{Reasoning: &reasoning{Text: &reasoningText{Text: b.Thinking}}})
		case b.ThinkingSignature != "":
			out = append(out, block{Reasoning: &reasoning{Text: &reasoningText{b.Thinking, b.ThinkingSignature}}})
		default:
			out = append(out, block{Text: b.Thinking})
		}
	}
	return out
}

// cache sets the marks up to which the service may cache the request: behind the system prompt, and
// behind the last two user messages, so that the next request finds one of them.
func (r *request) cache() {
	mark := block{CachePoint: &cachePoint{Type: "default"}}
	if len(r.System) > 0 {
		r.System = append(r.System, mark)
	}
	left := 2
	for i := len(r.Messages) - 1; i >= 0 && left > 0; i-- {
		if m := &r.Messages[i]; m.Role == "user" {
			m.Content = append(m.Content, mark)
			left--
		}
	}
}
