package openai

import (
	"cmp"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// completionsDecoder reads the events of one answer.
type completionsDecoder struct {
	answer      *answer.Answer
	needsReason bool // the answer is complete only with a reason to stop
	finish      string
	current     *int // the text or thinking that is being added to
	calls       []*chatCallParts
	details     map[string]string // encrypted reasoning by the id of its call
}

// chatCallParts is a tool call that is coming in.
type chatCallParts struct {
	index    *int // the service's
	id, name string
	signed   string          // Gemini's signature
	waiting  strings.Builder // arguments that arrived before the name
	block    int             // of the answer, once open
	open     bool
}

type chunk struct {
	ID      string         `json:"id"`
	Error   jsontext.Value `json:"error"`
	Usage   *chunkUsage    `json:"usage"`
	Choices []struct {
		FinishReason string      `json:"finish_reason"`
		Usage        *chunkUsage `json:"usage"`
		Delta        struct {
			Content          jsontext.Value    `json:"content"`
			Refusal          string            `json:"refusal"`
			ReasoningContent jsontext.Value    `json:"reasoning_content"`
			Reasoning        jsontext.Value    `json:"reasoning"`
			ReasoningText    jsontext.Value    `json:"reasoning_text"`
			ReasoningDetails []reasoningDetail `json:"reasoning_details"`
			ToolCalls        []callDelta       `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
	Extra extraContent `json:"extra_content"`
}

type chunkUsage struct {
	Prompt     guard.Count  `json:"prompt_tokens"`
	Completion guard.Count  `json:"completion_tokens"`
	Cached     *guard.Count `json:"cached_tokens"`           // Kimi
	Hits       *guard.Count `json:"prompt_cache_hit_tokens"` // DeepSeek
	Details    struct {
		Cached  *guard.Count `json:"cached_tokens"`
		Written guard.Count  `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

// reasoningDetail keeps the bytes, because they are sent back unchanged.
type reasoningDetail struct {
	raw      jsontext.Value
	Type, ID string
}

// UnmarshalJSON takes the members that it knows.
func (r *reasoningDetail) UnmarshalJSON(data []byte) error {
	var v struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	}
	_ = guard.Decode(data, &v) // a detail of another form is of no use
	r.raw, r.Type, r.ID = jsontext.Value(data).Clone(), v.Type, v.ID
	return nil
}

// Event takes the next event.
func (d *completionsDecoder) Event(in guard.Event) (complete bool, err error) {
	if string(in.Data) == "[DONE]" {
		return true, d.End()
	}
	var c chunk
	if err := guard.Decode(in.Data, &c); err != nil {
		return false, err
	}
	switch {
	case len(c.Error) > 0 && c.Error.Kind() != 'n':
		return false, guard.ParseError(c.Error)
	case in.Name == "error":
		return false, guard.ParseError(in.Data)
	}
	if d.answer.ResponseID == "" {
		d.answer.ResponseID = c.ID
	}
	d.answer.Start()
	d.use(c.Usage)
	if len(c.Choices) == 0 {
		return false, nil
	}
	choice := c.Choices[0]
	if c.Usage == nil {
		d.use(choice.Usage)
	}
	delta := choice.Delta
	for _, detail := range delta.ReasoningDetails {
		if detail.Type == "reasoning.encrypted" && detail.ID != "" {
			if d.details == nil {
				d.details = map[string]string{}
			}
			d.details[detail.ID] = string(detail.raw)
		}
	}
	d.think(delta.ReasoningContent, delta.Reasoning, delta.ReasoningText)
	d.write(text(delta.Content) + delta.Refusal)
	for _, part := range delta.ToolCalls {
		d.call(part)
	}
	if choice.FinishReason != "" {
		d.finish = choice.FinishReason
	}
	return false, nil
}

// text is the text of a value that may be null or of another form.
func text(v jsontext.Value) string {
	var s string
	if v.Kind() != '"' || guard.Decode(v, &s) != nil {
		return ""
	}
	return s
}

func (d *completionsDecoder) use(u *chunkUsage) {
	if u == nil {
		return
	}
	read := guard.Count(0)
	for _, n := range []*guard.Count{u.Cached, u.Hits, u.Details.Cached} {
		if n != nil {
			read = *n
		}
	}
	d.answer.Usage.CacheRead, d.answer.Usage.CacheWrite = int(read), int(u.Details.Written)
	d.answer.Usage.Input = max(0, int(u.Prompt-read-u.Details.Written))
	d.answer.Usage.Output = int(u.Completion)
}

// think adds to the thinking. Some services send the same in two fields.
func (d *completionsDecoder) think(fields ...jsontext.Value) {
	names := [...]string{"reasoning_content", "reasoning", "reasoning_text"}
	for i, field := range fields {
		if s := text(field); s != "" {
			d.add(provider.Block{Type: provider.TypeThinking, ThinkingSignature: names[i]}, s)
			return
		}
	}
}

func (d *completionsDecoder) write(s string) {
	if s != "" {
		d.add(provider.Text(""), s)
	}
}

// add adds to the current block if it is of b's type, else to a new one.
func (d *completionsDecoder) add(b provider.Block, s string) {
	if d.current == nil || d.answer.Edit(*d.current).Type != b.Type {
		d.endCurrent()
		i := d.answer.Open(b)
		d.current = &i
	}
	d.answer.Add(*d.current, s)
}

func (d *completionsDecoder) endCurrent() {
	if d.current != nil {
		d.answer.End(*d.current)
		d.current = nil
	}
}

func (d *completionsDecoder) call(part callDelta) {
	c := d.find(part)
	if c == nil {
		d.endCurrent()
		c = &chatCallParts{index: part.Index}
		d.calls = append(d.calls, c)
	}
	if c.id == "" {
		c.id = part.ID
	}
	if c.name == "" {
		c.name = part.Function.Name
	}
	c.signed += part.Extra.Google.ThoughtSignature
	args := text(part.Function.Arguments)
	if k := part.Function.Arguments.Kind(); k == '{' {
		args = string(part.Function.Arguments) // an object where its text should be
	}
	if !c.open && c.name != "" {
		c.open = true
		c.block = d.answer.Open(provider.Block{Type: provider.TypeToolCall, ID: d.uniqueID(c), Name: c.name})
		d.answer.Add(c.block, c.waiting.String())
	}
	if c.open {
		d.answer.Add(c.block, args)
	} else {
		c.waiting.WriteString(args)
	}
}

// uniqueID returns the id of a call in the answer: the service's, unless it has none or another call
// has it.
func (d *completionsDecoder) uniqueID(c *chatCallParts) string {
	used := c.id == "" || slices.ContainsFunc(d.calls, func(other *chatCallParts) bool {
		return other != c && other.open && d.answer.Edit(other.block).ID == c.id
	})
	if used {
		return "call_" + rand.Text()
	}
	return c.id
}

// find returns the call that a piece belongs to, nil for a new one. Pieces may lack the
// index, and some services give every call the same.
func (d *completionsDecoder) find(part callDelta) *chatCallParts {
	if len(d.calls) == 0 {
		return nil
	}
	for _, c := range d.calls {
		// Some services give several calls of an answer the same id.
		other := part.Index != nil && c.index != nil && *part.Index != *c.index
		if part.ID != "" && c.id == part.ID && !other {
			return c
		}
	}
	if part.Index == nil {
		if part.ID != "" || part.Function.Name != "" {
			return nil
		}
		return d.calls[len(d.calls)-1]
	}
	for _, c := range slices.Backward(d.calls) {
		if c.index != nil && *c.index == *part.Index {
			if part.ID != "" && c.id != "" && part.Function.Name != "" {
				return nil
			}
			return c
		}
	}
	return nil
}

// End sets the reason why the answer stopped. [DONE] is not always sent.
func (d *completionsDecoder) End() error {
	if d.finish == "" && d.needsReason {
		return guard.ErrIncomplete
	}
	for _, c := range d.calls {
		if !c.open {
			return errors.New("a tool call has no name")
		}
		d.answer.Edit(c.block).ThoughtSignature = cmp.Or(c.signed, d.details[c.id])
	}
	switch d.finish {
	case "":
	case "stop", "end", "eos":
		d.answer.StopReason = provider.StopEnd
	case "length", "max_tokens":
		d.answer.StopReason = provider.StopLength
	case "tool_calls", "function_call":
		d.answer.StopReason = provider.StopToolUse
	case "content_filter":
		return &guard.Problem{Code: d.finish}
	case "error", "network_error":
		return &guard.Problem{Status: 500, Code: d.finish}
	default:
		d.answer.StoppedFor(d.finish)
	}
	return nil
}
