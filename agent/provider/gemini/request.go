package gemini

import (
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

type request struct {
	Contents []content        `json:"contents"`
	System   *content         `json:"systemInstruction,omitzero"`
	Tools    []toolset        `json:"tools,omitempty"`
	Config   generationConfig `json:"generationConfig,omitzero"`
	Tier     string           `json:"serviceTier,omitzero"` // Vertex AI has a header for it
}

type content struct {
	Role  string `json:"role,omitzero"`
	Parts []part `json:"parts"`
}

// part is any part of a content; fields of other kinds are nil or "".
type part struct {
	Thought          bool              `json:"thought,omitzero"`
	Text             *string           `json:"text,omitzero"`
	InlineData       *inlineData       `json:"inlineData,omitzero"`
	FunctionCall     *functionCall     `json:"functionCall,omitzero"`
	FunctionResponse *functionResponse `json:"functionResponse,omitzero"`
	ThoughtSignature string            `json:"thoughtSignature,omitzero"`
}

type inlineData struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

type functionCall struct {
	ID   string          `json:"id,omitzero"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type functionResponse struct {
	ID       string   `json:"id,omitzero"`
	Name     string   `json:"name"`
	Response response `json:"response"`
	Parts    []part   `json:"parts,omitempty"`
}

// response has one of the two members by which the service tells success from failure.
type response struct {
	Output *string `json:"output,omitzero"`
	Error  *string `json:"error,omitzero"`
}

type toolset struct {
	Declarations []declaration `json:"functionDeclarations"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Parameters  json.RawMessage `json:"parametersJsonSchema"` // "parameters" takes only a part of JSON Schema
}

type generationConfig struct {
	MaxOutputTokens int             `json:"maxOutputTokens,omitzero"`
	Thinking        *thinkingConfig `json:"thinkingConfig,omitzero"`
}

func build(req provider.Request) request {
	r := request{Contents: contents(req)}
	if req.System != "" {
		r.System = &content{Parts: []part{textPart(req.System)}}
	}
	if len(req.Tools) > 0 {
		set := toolset{}
		for _, t := range req.Tools {
			set.Declarations = append(set.Declarations, declaration{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
		}
		r.Tools = []toolset{set}
	}
	config, reserve := think(req)
	if req.MaxTokens > 0 {
		req.MaxTokens += reserve // the service counts thinking as part of the answer
	}
	// The service knows the limits of its own models better than a guess does.
	if req.MaxTokens > 0 || req.Model.MaxTokens > 0 {
		r.Config.MaxOutputTokens = req.Limit()
		config.fit(r.Config.MaxOutputTokens)
	}
	r.Config.Thinking = config
	if req.Model.API == provider.GoogleGenerativeAI {
		r.Tier = req.Tier
	}
	return r
}

// fit leaves room for an answer behind the thinking.
func (c *thinkingConfig) fit(limit int) {
	const leastAnswer, leastThinking = 1024, 512
	if c != nil && c.Budget != nil && *c.Budget > limit-leastAnswer {
		*c.Budget = min(*c.Budget, max(limit-leastAnswer, leastThinking))
	}
}

func textPart(s string) part { return part{Text: &s} }
