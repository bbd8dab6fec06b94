package provider

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// The roles of a [Message].
const (
	RoleUser       = "user"
	RoleAssistant  = "assistant"
	RoleToolResult = "toolResult"
)

// The reasons for which an answer stopped.
const (
	StopEnd     = "stop"
	StopLength  = "length"
	StopToolUse = "toolUse"
	StopError   = "error"
	StopAborted = "aborted"
)

// Message is a message as session files have it: a user's prompt, a model's answer or a tool's
// result. Fields that do not belong to the role are zero.
type Message struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`

	// Of an answer.
	API          API    `json:"api,omitempty"`
	Provider     string `json:"provider,omitempty"`
	Model        string `json:"model,omitempty"`
	ResponseID   string `json:"responseId,omitempty"`
	Usage        *Usage `json:"usage,omitempty"`
	StopReason   string `json:"stopReason,omitempty"`
	ErrorMessage string `json:"errorMessage,omitempty"`

	// Of a tool's result.
	ToolCallID string          `json:"toolCallId,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	Details    json.RawMessage `json:"details,omitzero"`  // for the user's screen; models do not see it
	IsError    *bool           `json:"isError,omitempty"` // set on every result

	Timestamp int64 `json:"timestamp"` // milliseconds since 1970

	// History is the conversation that the message sums up, in the form of the service that
	// compacted it; nil if there is none. That service gets it in place of the content.
	History *History `json:"-"`

	// Typed is the command of which a message of the user was made, such as "/name arguments". It is not recorded.
	Typed string `json:"-"`

	// Custom makes a message of the user one of a type that programs define. Only [Message.Encode] knows it.
	Custom *Custom `json:"-"`
}

// Custom is the type of a message that programs define, and what they record with it.
type Custom struct {
	Type    string
	Details json.RawMessage
}

// The types of a [Block].
const (
	TypeText     = "text"
	TypeImage    = "image"
	TypeThinking = "thinking"
	TypeToolCall = "toolCall"

	// typeRedacted is oh-my-pi's form of thinking that the service keeps to itself.
	typeRedacted = "redactedThinking"
)

// Block is one part of a message's content.
type Block struct {
	Type string `json:"type"`

	Text          string `json:"text,omitzero"`
	TextSignature string `json:"textSignature,omitzero"`

	Thinking          string `json:"thinking,omitzero"`
	ThinkingSignature string `json:"thinkingSignature,omitzero"` // opaque; goes back to the model that made it
	Redacted          bool   `json:"redacted,omitzero"`          // the thinking itself is in the signature

	Data     string `json:"data,omitzero"` // of an image, base64
	MimeType string `json:"mimeType,omitzero"`

	ID               string          `json:"id,omitzero"` // of a tool call
	Name             string          `json:"name,omitzero"`
	Arguments        json.RawMessage `json:"arguments,omitzero"` // an object
	ThoughtSignature string          `json:"thoughtSignature,omitzero"`
	ArgumentsError   string          `json:"argumentsError,omitzero"` // the problem with the arguments that the model sent
}

// Usage counts the tokens of one answer. Input excludes the tokens read from the cache.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`

	// CacheWriteLong is the part of CacheWrite that is cached for an hour, at a higher price.
	CacheWriteLong int `json:"cacheWrite1h,omitzero"`

	TotalTokens int       `json:"totalTokens"`
	Cost        UsageCost `json:"cost"`
}

// UsageCost is in US dollars.
type UsageCost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
}

// Text returns a block of text.
func Text(s string) Block { return Block{Type: TypeText, Text: s} }

// ToolCalls returns the tool calls of an answer, in order.
func (m Message) ToolCalls() []Block {
	var calls []Block
	for _, b := range m.Content {
		if b.Type == TypeToolCall {
			calls = append(calls, b)
		}
	}
	return calls
}

// PlainText returns the text blocks, joined by newlines.
func (m Message) PlainText() string {
	var parts []string
	for _, b := range m.Content {
		if b.Type == TypeText {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// Shown returns the user's own words: the typed command, or else the text.
func (m Message) Shown() string {
	if m.Typed != "" {
		return m.Typed
	}
	return m.PlainText()
}

// Encode returns the message as a session file has it.
func (m Message) Encode() json.RawMessage {
	if m.Custom != nil {
		return m.encodeCustom()
	}
	raw, err := jsonv2.Marshal(m, jsontext.AllowInvalidUTF8(true), jsontext.EscapeForHTML(false))
	if err != nil {
		// Only a Details or Arguments that is not JSON can do this, and those are made here.
		panic("provider: " + err.Error())
	}
	return raw
}

// encodeCustom returns a message with a type that programs define. Its content is a string if it has no images.
func (m Message) encodeCustom() json.RawMessage {
	content := json.RawMessage(rawjson.Quote(m.PlainText()))
	for _, b := range m.Content {
		if b.Type != TypeText {
			content = rawjson.Get(Message{Role: m.Role, Content: m.Content}.Encode(), "content")
			break
		}
	}
	return new(rawjson.Object).String("role", "custom").String("customType", m.Custom.Type).Raw("content", content).
		Raw("display", []byte("true")).Raw("details", m.Custom.Details).String("attribution", RoleUser).
		Raw("timestamp", strconv.AppendInt(nil, m.Timestamp, 10)).Bytes()
}

// MarshalJSONTo writes the members that belong to the block's type, also when they are
// empty: other programs rely on a text block having a text.
func (b Block) MarshalJSONTo(enc *jsontext.Encoder) error {
	type plain Block
	switch {
	case b.Type == TypeText && b.Text == "":
		return jsonv2.MarshalEncode(enc, struct {
			Type          string `json:"type"`
			Text          string `json:"text"`
			TextSignature string `json:"textSignature,omitzero"`
		}{b.Type, "", b.TextSignature})
	case b.Type == TypeThinking && b.Thinking == "":
		return jsonv2.MarshalEncode(enc, struct {
			Type              string `json:"type"`
			Thinking          string `json:"thinking"`
			ThinkingSignature string `json:"thinkingSignature,omitzero"`
			Redacted          bool   `json:"redacted,omitzero"`
		}{b.Type, "", b.ThinkingSignature, b.Redacted})
	case b.Type == TypeToolCall && len(b.Arguments) == 0:
		b.Arguments = json.RawMessage("{}")
	}
	return jsonv2.MarshalEncode(enc, plain(b))
}

// DecodeMessage reads a message of a session file. Content that is a string becomes one block of
// text; unknown members and values of unexpected types are left out, because the file keeps them
// and a model has no use for them. The only error is for a message that is not an object.
func DecodeMessage(raw json.RawMessage) (Message, error) {
	var loose struct {
		Message
		Content jsontext.Value `json:"content"`
		Usage   jsontext.Value `json:"usage"`
		IsError jsontext.Value `json:"isError"`
	}
	opts := []jsonv2.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	if err := decode(jsontext.Value(raw), &loose, opts); err != nil {
		return Message{}, err
	}
	m := loose.Message
	if at, ok := rawjson.Float(rawjson.Get(raw, "timestamp")); ok {
		m.Timestamp = int64(at) // JavaScript's clocks count fractions, too
	}
	var usage Usage
	if len(loose.Usage) > 0 && decode(loose.Usage, &usage, opts) == nil {
		m.Usage = &usage
	}
	failed := bytes.Equal(bytes.TrimSpace(loose.IsError), []byte("true"))
	if m.Role == RoleToolResult {
		m.IsError = &failed
	}
	m.Content = decodeContent(loose.Content, opts)
	return m, nil
}

// decode reads an object without the members that do not have the type they should.
func decode(raw jsontext.Value, into any, opts []jsonv2.Options) error {
	if jsonv2.Unmarshal(raw, into, opts...) == nil {
		return nil
	}
	var members map[string]jsontext.Value
	if err := jsonv2.Unmarshal(raw, &members, opts...); err != nil {
		return err
	}
	for name, value := range members {
		one, err := jsonv2.Marshal(map[string]jsontext.Value{name: value}, opts...)
		if err == nil {
			_ = jsonv2.Unmarshal(one, into, opts...) // values that do not fit leave the target unchanged
		}
	}
	return nil
}

func decodeContent(raw jsontext.Value, opts []jsonv2.Options) []Block {
	var text string
	if raw.Kind() == '"' && jsonv2.Unmarshal(raw, &text, opts...) == nil {
		return []Block{Text(text)}
	}
	var values []jsontext.Value
	if raw.Kind() != '[' || jsonv2.Unmarshal(raw, &values, opts...) != nil {
		return nil
	}
	var blocks []Block
	for _, v := range values {
		var b Block
		if decode(v, &b, opts) != nil {
			continue
		}
		if b.Type == typeRedacted {
			b = Block{Type: TypeThinking, Redacted: true, ThinkingSignature: b.Data}
		}
		blocks = append(blocks, b)
	}
	return blocks
}
