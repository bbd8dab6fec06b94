package openai

import (
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// responsesDecoder reads the events of one answer.
type responsesDecoder struct {
	answer *answer.Answer
	items  map[string]int // the service's items to blocks of the answer
}

type responsesEvent struct {
	Type        string         `json:"type"`
	OutputIndex *int           `json:"output_index"`
	ItemID      string         `json:"item_id"`
	Item        jsontext.Value `json:"item"`
	Delta       jsontext.Value `json:"delta"`
	Arguments   string         `json:"arguments"`
	Error       jsontext.Value `json:"error"`
	Response    struct {
		ID                string         `json:"id"`
		Error             jsontext.Value `json:"error"`
		Usage             *itemUsage     `json:"usage"`
		IncompleteDetails struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	} `json:"response"`
}

type itemUsage struct {
	Input   guard.Count `json:"input_tokens"`
	Output  guard.Count `json:"output_tokens"`
	Details struct {
		Cached  guard.Count `json:"cached_tokens"`
		Written guard.Count `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

// outputItem is an item of an answer.
type outputItem struct {
	Type      string     `json:"type"`
	ID        string     `json:"id"`
	CallID    string     `json:"call_id"`
	Name      string     `json:"name"`
	Arguments string     `json:"arguments"`
	Phase     string     `json:"phase"`
	Summary   []itemPart `json:"summary"`
	Content   []itemPart `json:"content"`
}

type itemPart struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

func joined(parts []itemPart, by string) string {
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text+p.Refusal)
	}
	return strings.Join(texts, by)
}

// Event takes the next event.
func (d *responsesDecoder) Event(in guard.Event) (complete bool, err error) {
	if string(in.Data) == "[DONE]" { // some services end like Chat Completions
		return false, guard.ErrIncomplete
	}
	var e responsesEvent
	if err := guard.Decode(in.Data, &e); err != nil {
		return false, err
	}
	switch e.Type {
	case "response.created":
		d.answer.ResponseID = e.Response.ID
		d.answer.Start()
	case "response.output_item.added":
		_, err := d.begin(e)
		return false, err
	case "response.output_item.done":
		return false, d.end(e)
	case "response.reasoning_summary_part.added":
		if i, ok := d.block(e); ok && d.answer.Length(i) > 0 {
			d.answer.Add(i, "\n\n")
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		d.add(e, provider.TypeThinking, text(e.Delta))
	case "response.output_text.delta", "response.refusal.delta":
		d.add(e, provider.TypeText, text(e.Delta))
	case "response.function_call_arguments.delta":
		d.add(e, provider.TypeToolCall, text(e.Delta))
	case "response.function_call_arguments.done":
		if i, ok := d.block(e); ok && d.answer.Length(i) == 0 {
			d.add(e, provider.TypeToolCall, e.Arguments)
		}
	case "response.completed", "response.incomplete", "response.done":
		return true, d.finish(e)
	case "response.failed":
		d.use(e.Response.Usage)
		return false, guard.ParseError(e.Response.Error)
	case "error":
		if len(e.Error) > 0 {
			return false, guard.ParseError(e.Error)
		}
		return false, d.problem(in.Data)
	}
	return false, nil
}

// End never accepts: an answer ends with a final event.
func (d *responsesDecoder) End() error { return guard.ErrIncomplete }

// problem reads an error event, whose own type carries no information.
func (d *responsesDecoder) problem(data []byte) error {
	p := guard.ParseError(data)
	p.Type = ""
	return p
}

// key finds an item again. Its place in the answer is better than its id, which some
// services change from event to event.
func (e responsesEvent) key(id string) string {
	if e.OutputIndex != nil {
		return strconv.Itoa(*e.OutputIndex)
	}
	return "id " + id
}

func (d *responsesDecoder) block(e responsesEvent) (int, bool) {
	i, ok := d.items[e.key(e.ItemID)]
	return i, ok
}

func (d *responsesDecoder) add(e responsesEvent, kind, delta string) {
	if i, ok := d.block(e); ok && d.answer.Edit(i).Type == kind {
		d.answer.Add(i, delta)
	}
}

// begin opens a block for the item. Items of unknown types have none.
func (d *responsesDecoder) begin(e responsesEvent) (outputItem, error) {
	var item outputItem
	if err := guard.Decode(e.Item, &item); err != nil {
		return item, err
	}
	var b provider.Block
	switch item.Type {
	case "reasoning":
		b.Type = provider.TypeThinking
	case "message":
		b.Type = provider.TypeText
	case "function_call":
		if item.Name == "" {
			return item, errors.New("a tool call has no name")
		}
		b = provider.Block{Type: provider.TypeToolCall, ID: item.CallID, Name: item.Name}
		if item.ID != "" {
			b.ID += "|" + item.ID
		}
	default:
		return item, nil
	}
	if d.items == nil {
		d.items = map[string]int{}
	}
	if _, begun := d.items[e.key(item.ID)]; !begun {
		d.items[e.key(item.ID)] = d.answer.Open(b)
	}
	return item, nil
}

// end completes the block of the item, which holds all of it once more.
func (d *responsesDecoder) end(e responsesEvent) error {
	item, err := d.begin(e)
	if err != nil {
		return err
	}
	i, ok := d.items[e.key(item.ID)]
	if !ok {
		return nil
	}
	whole := item.Arguments
	b := d.answer.Edit(i)
	switch item.Type {
	case "reasoning":
		whole = joined(item.Summary, "\n\n")
		if whole == "" {
			whole = joined(item.Content, "\n\n")
		}
		b.ThinkingSignature = string(e.Item)
		b.Redacted = whole == "" && d.answer.Length(i) == 0
	case "message":
		whole = joined(item.Content, "")
		if item.ID != "" {
			s, err := guard.Encode(textSignature{V: 1, ID: item.ID, Phase: item.Phase})
			if err != nil {
				return err
			}
			b.TextSignature = string(s)
		}
	}
	if d.answer.Length(i) == 0 {
		d.answer.Add(i, whole)
	}
	d.answer.End(i)
	return nil
}

func (d *responsesDecoder) use(u *itemUsage) {
	if u == nil {
		return
	}
	d.answer.Usage = provider.Usage{
		Input: max(0, int(u.Input-u.Details.Cached-u.Details.Written)), Output: int(u.Output),
		CacheRead: int(u.Details.Cached), CacheWrite: int(u.Details.Written),
	}
}

func (d *responsesDecoder) finish(e responsesEvent) error {
	d.use(e.Response.Usage)
	if e.Response.ID != "" {
		d.answer.ResponseID = e.Response.ID
	}
	switch reason := e.Response.IncompleteDetails.Reason; reason {
	case "":
	case "max_output_tokens":
		d.answer.StopReason = provider.StopLength
	case "content_filter":
		return &guard.Problem{Code: reason}
	default:
		d.answer.StoppedFor(reason)
	}
	return nil
}
