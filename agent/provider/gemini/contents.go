package gemini

import (
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// unsigned is Google's signature for calls that its model did not make.
const unsigned = "skip_thought_signature_validator"

// contents turns the conversation into contents whose roles alternate.
func contents(req provider.Request) []content {
	c := conversation{names: map[string]string{}, signs: generation(req.Model.ID) >= signing}
	for _, m := range req.Conversation() {
		switch m.Role {
		case provider.RoleUser:
			c.flush()
			c.add("user", shown(m.Content)...)
		case provider.RoleAssistant:
			c.flush()
			c.add("model", c.answer(m)...)
		case provider.RoleToolResult:
			c.result(m)
		}
	}
	c.flush()
	return c.contents
}

type conversation struct {
	contents []content
	signs    bool              // calls have signatures and ids
	names    map[string]string // of the tools, by the ids of their calls
	images   []part            // of the results that are being added
}

// add adds parts to the last content if it has the same role, because the roles have to alternate.
func (c *conversation) add(role string, parts ...part) {
	if len(parts) == 0 {
		return
	}
	if n := len(c.contents); n > 0 && c.contents[n-1].Role == role {
		c.contents[n-1].Parts = append(c.contents[n-1].Parts, parts...)
		return
	}
	c.contents = append(c.contents, content{role, parts})
}

// flush adds the images that no result can hold behind all results of an answer, which the service
// wants together.
func (c *conversation) flush() {
	if len(c.images) > 0 {
		c.add("user", append([]part{textPart("Attached image(s) from tool result:")}, c.images...)...)
		c.images = nil
	}
}

// answer returns the parts of an answer, each with the signature that it came with.
func (c *conversation) answer(m provider.Message) []part {
	var parts []part
	called := false
	for _, b := range m.Content {
		p := part{}
		switch {
		case b.Type == provider.TypeText:
			p = textPart(b.Text)
			p.ThoughtSignature = valid(b.TextSignature)
		case b.Type == provider.TypeThinking && !b.Redacted:
			p = textPart(b.Thinking)
			p.Thought, p.ThoughtSignature = true, valid(b.ThinkingSignature)
		case b.Type == provider.TypeToolCall:
			c.names[b.ID] = b.Name
			p.FunctionCall = &functionCall{Name: b.Name, Args: b.Arguments}
			p.ThoughtSignature = valid(b.ThoughtSignature)
			if c.signs {
				p.FunctionCall.ID = b.ID
			}
			// Differs: pi sends such calls unsigned, and the service refuses the conversation.
			if c.signs && !called && p.ThoughtSignature == "" {
				p.ThoughtSignature = unsigned // only the first of parallel calls has one
			}
			called = true
		default:
			continue
		}
		if p.FunctionCall != nil || p.ThoughtSignature != "" || strings.TrimSpace(*p.Text) != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// result adds the result of a call. The image is part of it only for models that look there.
func (c *conversation) result(m provider.Message) {
	name := c.names[m.ToolCallID]
	if name == "" {
		name = m.ToolName
	}
	text := m.PlainText()
	var images []part
	for _, p := range shown(m.Content) {
		if p.InlineData != nil {
			images = append(images, p)
		}
	}
	if text == "" {
		text = "(see attached image)"
	}
	r := &functionResponse{Name: name, Response: response{Output: &text}}
	if m.IsError != nil && *m.IsError {
		r.Response = response{Error: &text}
	}
	if c.signs {
		r.ID, r.Parts = m.ToolCallID, images
	} else {
		c.images = append(c.images, images...)
	}
	c.add("user", part{FunctionResponse: r})
}

// shown returns the texts and images of a content.
func shown(blocks []provider.Block) []part {
	var parts []part
	for _, b := range blocks {
		if b.Type == provider.TypeImage {
			parts = append(parts, part{InlineData: &inlineData{b.MimeType, b.Data}})
		} else {
			parts = append(parts, textPart(b.Text))
		}
	}
	return parts
}

var base64Text = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2}$`)

// valid returns the signature if the service can read it. A file may hold anything.
func valid(signature string) string {
	if len(signature)%4 == 0 && base64Text.MatchString(signature) {
		return signature
	}
	return ""
}
