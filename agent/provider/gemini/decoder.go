package gemini

import (
	"crypto/rand"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// decoder reads the events of one answer. Each has further parts, and the whole usage so far.
type decoder struct {
	answer  *answer.Answer
	current *int // the text or thinking that is being added to
	ids     map[string]bool
	reason  string // to stop
	why     string // in words
}

type chunk struct {
	ResponseID string      `json:"responseId"`
	Candidates []candidate `json:"candidates"`
	Feedback   struct {
		BlockReason string `json:"blockReason"`
		Message     string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *usage         `json:"usageMetadata"`
	Error jsontext.Value `json:"error"`
}

type candidate struct {
	Content struct {
		Parts []answerPart `json:"parts"`
	} `json:"content"`
	FinishReason  string `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
}

type answerPart struct {
	Text             string `json:"text"`
	Thought          bool   `json:"thought"`
	ThoughtSignature string `json:"thoughtSignature"`
	FunctionCall     *struct {
		ID   string         `json:"id"`
		Name string         `json:"name"`
		Args jsontext.Value `json:"args"`
	} `json:"functionCall"`
}

type usage struct {
	Prompt     guard.Count `json:"promptTokenCount"`
	Tools      guard.Count `json:"toolUsePromptTokenCount"`
	Cached     guard.Count `json:"cachedContentTokenCount"`
	Candidates guard.Count `json:"candidatesTokenCount"`
	Thoughts   guard.Count `json:"thoughtsTokenCount"`
}

// Event takes the next event. None says that it is the last one.
func (d *decoder) Event(in guard.Event) (complete bool, err error) {
	var c chunk
	if err := guard.Decode(in.Data, &c); err != nil {
		return false, err
	}
	if len(c.Error) > 0 && c.Error.Kind() != 'n' {
		return false, guard.ParseError(c.Error)
	}
	if d.answer.ResponseID == "" {
		d.answer.ResponseID = c.ResponseID
	}
	d.use(c.Usage)
	d.answer.Start()
	if c.Feedback.BlockReason != "" && c.Feedback.BlockReason != "BLOCKED_REASON_UNSPECIFIED" {
		d.reason, d.why = c.Feedback.BlockReason, c.Feedback.Message
		return false, d.refused()
	}
	if len(c.Candidates) == 0 {
		return false, nil
	}
	first := c.Candidates[0] // more come only on request
	for _, p := range first.Content.Parts {
		if err := d.part(p); err != nil {
			return false, err
		}
	}
	if first.FinishReason != "" {
		d.reason, d.why = first.FinishReason, first.FinishMessage
	}
	return false, nil
}

func (d *decoder) use(u *usage) {
	if u == nil {
		return
	}
	d.answer.Usage.Input = max(0, int(u.Prompt-u.Cached)) + int(u.Tools)
	d.answer.Usage.CacheRead = int(u.Cached)
	d.answer.Usage.Output = int(u.Candidates + u.Thoughts)
}

func (d *decoder) part(p answerPart) error {
	switch {
	case p.FunctionCall != nil:
		return d.call(p)
	case p.Thought:
		d.add(provider.TypeThinking, p)
	default:
		d.add(provider.TypeText, p)
	}
	return nil
}

// add adds to the current block if it is of this type, else to a new one. A signature belongs to the
// text received so far and may come with an empty one. A block can keep one signature.
func (d *decoder) add(kind string, p answerPart) {
	if p.Text == "" && p.ThoughtSignature == "" {
		return // of a kind that is not known here, or the end of a stream
	}
	if d.current != nil {
		b := d.answer.Edit(*d.current)
		signed := b.TextSignature + b.ThinkingSignature
		if b.Type != kind || signed != "" && p.ThoughtSignature != "" && signed != p.ThoughtSignature {
			d.endCurrent()
		}
	}
	if d.current == nil {
		i := d.answer.Open(provider.Block{Type: kind})
		d.current = &i
	}
	d.answer.Add(*d.current, p.Text)
	if p.ThoughtSignature == "" {
		return
	}
	if b := d.answer.Edit(*d.current); kind == provider.TypeThinking {
		b.ThinkingSignature = p.ThoughtSignature
	} else {
		b.TextSignature = p.ThoughtSignature
	}
}

func (d *decoder) endCurrent() {
	if d.current != nil {
		d.answer.End(*d.current)
		d.current = nil
	}
}

// call adds a call, which comes in one piece. Older models give their calls no ids, and results
// need one.
func (d *decoder) call(p answerPart) error {
	d.endCurrent()
	c := p.FunctionCall
	if c.Name == "" {
		return errors.New("a tool call has no name")
	}
	if d.ids == nil {
		d.ids = map[string]bool{}
	}
	if c.ID == "" || d.ids[c.ID] {
		c.ID = "call_" + rand.Text()
	}
	d.ids[c.ID] = true
	if c.Args.Kind() == 'n' {
		c.Args = nil
	}
	d.answer.End(d.answer.Open(provider.Block{
		Type: provider.TypeToolCall, ID: c.ID, Name: c.Name, Arguments: []byte(c.Args), ThoughtSignature: p.ThoughtSignature,
	}))
	return nil
}

// End sets the reason why the answer stopped.
func (d *decoder) End() error {
	switch d.reason {
	case "":
		return guard.ErrIncomplete
	case "STOP":
	case "MAX_TOKENS":
		d.answer.StopReason = provider.StopLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return d.refused()
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE":
		// The model made a mistake, which it rarely repeats.
		return d.failed(500, "the model's tool call can't be read")
	case "MISSING_THOUGHT_SIGNATURE":
		return d.failed(400, "a tool call in the conversation has no signature")
	default:
		// Differs: in pi, a reason that it does not know makes the answer a failure.
		d.answer.StoppedFor(d.reason)
	}
	return nil
}

// refused is the error of an answer that the service does not give.
func (d *decoder) refused() error {
	p := &guard.Problem{Type: "refusal", Code: d.reason, Message: d.reason}
	if d.why != "" {
		p.Message = d.why
	}
	return p
}

func (d *decoder) failed(status int, words string) error {
	if d.why != "" {
		words += ": " + d.why
	}
	return &guard.Problem{Status: status, Code: d.reason, Message: words}
}
