package anthropic

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// decoder reads the events of one answer.
type decoder struct {
	answer *answer.Answer
	blocks map[int]int // the service's index to that of the answer; blocks of unknown types have none
	stop   string
	why    string // of a refusal
}

type event struct {
	Type    string `json:"type"`
	Message struct {
		ID    string `json:"id"`
		Usage *usage `json:"usage"`
	} `json:"message"`
	Index        int `json:"index"`
	ContentBlock struct {
		Type      string         `json:"type"`
		Text      string         `json:"text"`
		Thinking  string         `json:"thinking"`
		Signature string         `json:"signature"`
		Data      string         `json:"data"`
		ID        string         `json:"id"`
		Name      string         `json:"name"`
		Input     jsontext.Value `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
		StopDetails struct {
			Explanation string `json:"explanation"`
		} `json:"stop_details"`
	} `json:"delta"`
	Usage *usage         `json:"usage"`
	Error jsontext.Value `json:"error"`
}

// usage has nil for counts that the service does not repeat.
type usage struct {
	Input      *guard.Count `json:"input_tokens"`
	Output     *guard.Count `json:"output_tokens"`
	CacheRead  *guard.Count `json:"cache_read_input_tokens"`
	CacheWrite *guard.Count `json:"cache_creation_input_tokens"`

	CacheCreation struct {
		Hour *guard.Count `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

// Event takes the next event.
func (d *decoder) Event(in guard.Event) (complete bool, err error) {
	var e event
	if err := guard.Decode(in.Data, &e); err != nil {
		return false, err
	}
	switch e.Type {
	case "message_start":
		d.answer.ResponseID = e.Message.ID
		d.use(e.Message.Usage)
		d.answer.Start()
	case "content_block_start":
		return false, d.open(e)
	case "content_block_delta":
		d.delta(e)
	case "content_block_stop":
		if i, ok := d.blocks[e.Index]; ok {
			d.answer.End(i)
		}
	case "message_delta":
		d.use(e.Usage)
		if e.Delta.StopReason != "" {
			d.stop, d.why = e.Delta.StopReason, e.Delta.StopDetails.Explanation
		}
	case "message_stop":
		return true, d.finish()
	case "error":
		return false, guard.ParseError(e.Error)
	}
	return false, nil
}

// End never accepts: an answer ends with message_stop.
func (d *decoder) End() error { return guard.ErrIncomplete }

func (d *decoder) use(u *usage) {
	if u == nil {
		return
	}
	set := func(to *int, from *guard.Count) {
		if from != nil {
			*to = int(*from)
		}
	}
	set(&d.answer.Usage.Input, u.Input)
	set(&d.answer.Usage.Output, u.Output)
	set(&d.answer.Usage.CacheRead, u.CacheRead)
	set(&d.answer.Usage.CacheWrite, u.CacheWrite)
	set(&d.answer.Usage.CacheWriteLong, u.CacheCreation.Hour)
	d.answer.Usage.CacheWriteLong = min(d.answer.Usage.CacheWriteLong, d.answer.Usage.CacheWrite)
}

func (d *decoder) open(e event) error {
	in := e.ContentBlock
	b := provider.Block{}
	switch in.Type {
	case "text":
		b = provider.Text(in.Text)
	case "thinking":
		b = provider.Block{Type: provider.TypeThinking, Thinking: in.Thinking, ThinkingSignature: in.Signature}
	case "redacted_thinking":
		b = provider.Block{Type: provider.TypeThinking, Redacted: true, ThinkingSignature: in.Data}
	case "tool_use":
		if in.Name == "" {
			return errors.New("a tool call has no name")
		}
		b = provider.Block{Type: provider.TypeToolCall, ID: in.ID, Name: in.Name}
		if len(in.Input) > len("{}") {
			b.Arguments = []byte(in.Input) // services that do not stream arguments have them here
		}
	default:
		return nil
	}
	if d.blocks == nil {
		d.blocks = map[int]int{}
	}
	d.blocks[e.Index] = d.answer.Open(b)
	return nil
}

func (d *decoder) delta(e event) {
	i, ok := d.blocks[e.Index]
	if !ok {
		return
	}
	kind := d.answer.Edit(i).Type
	switch delta := e.Delta; {
	case delta.Type == "text_delta" && kind == provider.TypeText:
		d.answer.Add(i, delta.Text)
	case delta.Type == "thinking_delta" && kind == provider.TypeThinking:
		d.answer.Add(i, delta.Thinking)
	case delta.Type == "signature_delta" && kind == provider.TypeThinking:
		d.answer.Sign(i, delta.Signature)
	case delta.Type == "input_json_delta" && kind == provider.TypeToolCall:
		d.answer.Add(i, delta.PartialJSON)
	}
}

// finish sets the reason why the answer stopped.
func (d *decoder) finish() error {
	switch d.stop {
	case "":
		return guard.ErrIncomplete
	case "max_tokens", "model_context_window_exceeded":
		d.answer.StopReason = provider.StopLength
	case "tool_use":
		d.answer.StopReason = provider.StopToolUse
	case "refusal", "sensitive":
		return &guard.Problem{Type: "refusal", Code: d.stop, Message: d.why}
	case "end_turn", "stop_sequence", "pause_turn":
		d.answer.StopReason = provider.StopEnd
	default:
		d.answer.StoppedFor(d.stop)
	}
	return nil
}
