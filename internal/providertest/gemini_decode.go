package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// geminiRequest has every known field, because the service refuses others.
type geminiRequest struct {
	Contents          []geminiContent `json:"contents"`
	SystemInstruction *geminiContent  `json:"systemInstruction"`
	Tools             []struct {
		FunctionDeclarations []struct {
			Name                 string          `json:"name"`
			Description          string          `json:"description"`
			ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	ToolConfig       json.RawMessage `json:"toolConfig"`
	GenerationConfig struct {
		MaxOutputTokens int             `json:"maxOutputTokens"`
		Temperature     *float64        `json:"temperature"`
		ThinkingConfig  *geminiThinking `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type geminiThinking struct {
	IncludeThoughts bool   `json:"includeThoughts"`
	ThinkingLevel   string `json:"thinkingLevel"`
	ThinkingBudget  *int   `json:"thinkingBudget"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text             *string         `json:"text"`
	Thought          bool            `json:"thought"`
	ThoughtSignature string          `json:"thoughtSignature"`
	InlineData       *geminiData     `json:"inlineData"`
	FunctionCall     *geminiCall     `json:"functionCall"`
	FunctionResponse *geminiResponse `json:"functionResponse"`
}

type geminiData struct {
	MimeType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

type geminiCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type geminiResponse struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Response *struct {
		Output *string `json:"output"`
		Error  *string `json:"error"`
	} `json:"response"`
	Parts []geminiPart `json:"parts"`
}

// pending is a call without a result yet, and the id that it was sent with.
type pending struct {
	id   string
	call provider.Block
}

// decodeGemini reads a request and refuses it for the same reasons as the service.
func decodeGemini(r *http.Request, body []byte) (Request, error) {
	model, streams := strings.CutSuffix(r.PathValue("call"), ":streamGenerateContent")
	req := Request{Model: model}
	if !streams || r.URL.Query().Get("alt") != "sse" {
		return req, invalid("only event streams are served here")
	}
	var in geminiRequest
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return req, invalid("Invalid JSON payload received: %v", err)
	}
	req.MaxTokens = in.GenerationConfig.MaxOutputTokens
	if err := in.GenerationConfig.ThinkingConfig.check(model); err != nil {
		return req, err
	}
	if in.SystemInstruction != nil {
		for _, p := range in.SystemInstruction.Parts {
			if p.Text != nil {
				req.System += *p.Text
			}
		}
	}
	for _, set := range in.Tools {
		for i, t := range set.FunctionDeclarations {
			if !toolName.MatchString(t.Name) || len(t.ParametersJSONSchema) == 0 {
				return req, invalid("GenerateContentRequest.tools[0].function_declarations[%d].name: Invalid function name or parameters.", i)
			}
			req.Tools = append(req.Tools, provider.Tool{Name: t.Name, Description: t.Description, Parameters: t.ParametersJSONSchema})
		}
	}
	return req, in.read(&req)
}

// check checks that the model thinks in this way.
func (c *geminiThinking) check(model string) error {
	if c == nil {
		return nil
	}
	old := strings.Contains(model, "gemini-2")
	switch {
	case c.ThinkingLevel != "" && c.ThinkingBudget != nil:
		return invalid("You can only set only one of thinking budget and thinking level.")
	case c.ThinkingLevel != "" && (old || !slices.Contains([]string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}, c.ThinkingLevel)),
		c.ThinkingLevel == "MINIMAL" && strings.Contains(model, "pro"):
		return invalid("Thinking level %s is not supported for this model.", c.ThinkingLevel)
	case c.ThinkingBudget == nil:
		return nil
	case *c.ThinkingBudget == 0 && strings.Contains(model, "2.5-pro"):
		return invalid("Budget 0 is invalid. This model only works in thinking mode.")
	case *c.ThinkingBudget < -1 || *c.ThinkingBudget > 32768:
		return invalid("The thinking budget %d is invalid. Please choose a value between 0 and 32768.", *c.ThinkingBudget)
	}
	return nil
}

// read turns the contents into messages.
func (in geminiRequest) read(req *Request) error {
	last := len(in.Contents) - 1
	switch {
	case last < 0:
		return invalid("* GenerateContentRequest.contents: contents is not specified")
	case in.Contents[last].Role != "user":
		return invalid("Please ensure that multiturn requests end with a user role or a function response.")
	}
	var waiting []pending // the calls of the previous content
	want := "user"
	calls := 0
	for i, c := range in.Contents {
		if c.Role != want || len(c.Parts) == 0 {
			return invalid("Please ensure that multiturn requests alternate between user and model, and are not empty (contents[%d]).", i)
		}
		for j, p := range c.Parts {
			if err := p.check(c.Role); err != nil {
				return invalid("contents[%d].parts[%d]: %v", i, j, err)
			}
		}
		if want = "user"; c.Role == "model" {
			waiting = nil
			m := c.answer(&calls)
			for _, p := range c.Parts {
				if p.FunctionCall != nil {
					waiting = append(waiting, pending{p.FunctionCall.ID, m.ToolCalls()[len(waiting)]})
				}
			}
			req.Messages = append(req.Messages, m)
			continue
		}
		want = "model"
		if err := c.results(waiting, req); err != nil {
			return err
		}
		waiting = nil
	}
	return nil
}

// check checks a part of a content of the role.
func (p geminiPart) check(role string) error {
	kinds := 0
	for _, has := range []bool{p.Text != nil, p.InlineData != nil, p.FunctionCall != nil, p.FunctionResponse != nil} {
		if has {
			kinds++
		}
	}
	signed := p.ThoughtSignature != ""
	switch {
	case kinds != 1:
		return invalid("required oneof field 'data' must have one initialized field")
	case p.Text != nil && *p.Text == "" && !signed:
		return invalid("the text is empty")
	case p.InlineData != nil && (len(p.InlineData.Data) == 0 || !strings.Contains(p.InlineData.MimeType, "/")):
		return invalid("Unable to process input image.")
	case role == "user" && (p.FunctionCall != nil || p.Thought || signed), role == "model" && p.FunctionResponse != nil:
		return invalid("the part does not belong to the role %s", role)
	case p.FunctionCall != nil && (!toolName.MatchString(p.FunctionCall.Name) || !bytes.HasPrefix(p.FunctionCall.Args, []byte("{"))):
		return invalid("Invalid function call.")
	case p.FunctionResponse != nil && (p.FunctionResponse.Name == "" || p.FunctionResponse.Response == nil):
		return invalid("GenerateContentRequest.contents.parts.function_response.name: Name cannot be empty.")
	case signed && p.FunctionCall != nil:
		ours := signCall(p.FunctionCall.Name, p.FunctionCall.Args)
		if p.ThoughtSignature != ours && p.ThoughtSignature != "skip_thought_signature_validator" {
			return invalid("Thought signature is not valid.")
		}
	case signed && (p.Text == nil || p.ThoughtSignature != sign(*p.Text)):
		return invalid("Thought signature is not valid.")
	}
	return nil
}

// answer returns a content of the model. calls counts those without an id.
func (c geminiContent) answer(calls *int) provider.Message {
	m := provider.Message{Role: provider.RoleAssistant}
	for _, p := range c.Parts {
		b := provider.Block{}
		switch {
		case p.FunctionCall != nil:
			*calls++
			b = provider.Block{
				Type: provider.TypeToolCall, ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: p.FunctionCall.Args,
				ThoughtSignature: p.ThoughtSignature,
			}
			if b.ID == "" {
				b.ID = "#" + strconv.Itoa(*calls)
			}
		case p.InlineData != nil:
			b = p.InlineData.block()
		case p.Thought:
			b = provider.Block{Type: provider.TypeThinking, Thinking: *p.Text, ThinkingSignature: p.ThoughtSignature}
		default:
			b = provider.Text(*p.Text)
			b.TextSignature = p.ThoughtSignature
		}
		m.Content = append(m.Content, b)
	}
	return m
}

// results reads a content of the user. It begins with the results of all calls, in their order.
func (c geminiContent) results(calls []pending, req *Request) error {
	count := 0
	for _, p := range c.Parts {
		if p.FunctionResponse != nil {
			count++
		}
	}
	if count != len(calls) {
		return invalid("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
	}
	var own []provider.Block
	for i, p := range c.Parts {
		switch r := p.FunctionResponse; {
		case r != nil && i >= len(calls):
			return invalid("function responses must come first")
		case r != nil && (r.Name != calls[i].call.Name || r.ID != calls[i].id):
			return invalid("the function response %d does not belong to the function call", i)
		case r != nil:
			blocks, failed := r.blocks()
			req.Messages = append(req.Messages, result(calls[i].call.ID, blocks, failed))
		case p.InlineData != nil:
			own = append(own, p.InlineData.block())
		default:
			own = append(own, provider.Text(*p.Text))
		}
	}
	if own != nil {
		req.Messages = append(req.Messages, provider.Message{Role: provider.RoleUser, Content: own})
	}
	return nil
}

func (r geminiResponse) blocks() (blocks []provider.Block, failed bool) {
	for _, text := range []*string{r.Response.Output, r.Response.Error} {
		if text != nil {
			blocks = append(blocks, provider.Text(*text))
		}
	}
	for _, p := range r.Parts {
		if p.InlineData != nil {
			blocks = append(blocks, p.InlineData.block())
		}
	}
	return blocks, r.Response.Error != nil
}

func (d geminiData) block() provider.Block {
	return provider.Block{Type: provider.TypeImage, MimeType: d.MimeType, Data: base64.StdEncoding.EncodeToString(d.Data)}
}
