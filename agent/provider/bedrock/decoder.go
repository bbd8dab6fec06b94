package bedrock

import (
	"errors"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// decoder reads the events of one answer.
type decoder struct {
	answer *answer.Answer
	blocks map[int]int // the service's index to that of the answer
	stop   string
}

type event struct {
	Index int `json:"contentBlockIndex"`
	Start struct {
		ToolUse *struct {
			ID   string `json:"toolUseId"`
			Name string `json:"name"`
		} `json:"toolUse"`
	} `json:"start"`
	Delta struct {
		Text    string `json:"text"`
		ToolUse struct {
			Input string `json:"input"`
		} `json:"toolUse"`
		Reasoning *reasoningDelta `json:"reasoningContent"`
	} `json:"delta"`
	StopReason string `json:"stopReason"`
	Usage      *usage `json:"usage"`
	Message    string `json:"message"` // of an exception
}

type reasoningDelta struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
	Redacted  string `json:"redactedContent"` // base64
}

type usage struct {
	Input      guard.Count `json:"inputTokens"`
	Output     guard.Count `json:"outputTokens"`
	CacheRead  guard.Count `json:"cacheReadInputTokens"`
	CacheWrite guard.Count `json:"cacheWriteInputTokens"`
}

// Event takes the next event.
func (d *decoder) Event(in guard.Event) (complete bool, err error) {
	var e event
	if err := guard.Decode(in.Data, &e); err != nil {
		return false, err
	}
	if kind, ok := strings.CutPrefix(in.Name, exceptionPrefix); ok {
		return false, exception(kind, e.Message)
	}
	d.answer.Start()
	switch in.Name {
	case "contentBlockStart":
		return false, d.open(e)
	case "contentBlockDelta":
		d.delta(e)
	case "contentBlockStop":
		if i, ok := d.blocks[e.Index]; ok {
			d.answer.End(i)
		}
	case "messageStop":
		d.stop = e.StopReason
	case "metadata":
		if u := e.Usage; u != nil {
			d.answer.Usage = provider.Usage{Input: int(u.Input), Output: int(u.Output), CacheRead: int(u.CacheRead), CacheWrite: int(u.CacheWrite)}
		}
		if d.stop != "" {
			return true, d.End()
		}
	}
	return false, nil
}

// exception is an error within a stream.
func exception(kind, message string) error {
	p := &guard.Problem{Status: 500, Type: kind, Message: message}
	switch kind {
	case "throttlingException":
		p.Status = 429
	case "serviceUnavailableException":
		p.Status = 503
	case "validationException":
		p.Status = 400
	}
	return p
}

func (d *decoder) open(e event) error {
	call := e.Start.ToolUse
	if call == nil {
		return nil // text and reasoning begin with their first piece
	}
	if call.Name == "" {
		return errors.New("a tool call has no name")
	}
	d.add(e.Index, provider.Block{Type: provider.TypeToolCall, ID: call.ID, Name: call.Name})
	return nil
}

func (d *decoder) add(index int, b provider.Block) int {
	if d.blocks == nil {
		d.blocks = map[int]int{}
	}
	i := d.answer.Open(b)
	d.blocks[index] = i
	return i
}

func (d *decoder) delta(e event) {
	i, open := d.blocks[e.Index]
	switch r := e.Delta.Reasoning; {
	case r != nil:
		if !open {
			i = d.add(e.Index, provider.Block{Type: provider.TypeThinking})
		}
		d.reason(i, *r)
	case !open && e.Delta.Text != "":
		d.add(e.Index, provider.Text(e.Delta.Text))
	case !open:
	case d.answer.Edit(i).Type == provider.TypeText:
		d.answer.Add(i, e.Delta.Text)
	case d.answer.Edit(i).Type == provider.TypeToolCall:
		d.answer.Add(i, e.Delta.ToolUse.Input)
	}
}

// reason adds to the thinking. A signature holds either that of Claude, or the thinking itself.
func (d *decoder) reason(i int, r reasoningDelta) {
	b := d.answer.Edit(i)
	if b.Type != provider.TypeThinking {
		return
	}
	if r.Redacted != "" {
		if !b.Redacted {
			b.Redacted, b.ThinkingSignature = true, ""
		}
		b.ThinkingSignature += r.Redacted
		return
	}
	d.answer.Add(i, r.Text)
	if !b.Redacted {
		d.answer.Sign(i, r.Signature)
	}
}

// End sets the reason why the answer stopped. The event with the usage may be missing.
func (d *decoder) End() error {
	switch d.stop {
	case "":
		return guard.ErrIncomplete
	case "end_turn", "stop_sequence":
		d.answer.StopReason = provider.StopEnd
	case "max_tokens", "model_context_window_exceeded":
		d.answer.StopReason = provider.StopLength
	case "tool_use":
		d.answer.StopReason = provider.StopToolUse
	case "guardrail_intervened", "content_filtered", "refusal":
		return &guard.Problem{Type: "refusal", Code: d.stop, Message: d.stop}
	case "malformed_model_output", "malformed_tool_use":
		return &guard.Problem{Status: 500, Code: d.stop, Message: "the model's answer can't be read"}
	default:
		d.answer.StoppedFor(d.stop)
	}
	return nil
}
