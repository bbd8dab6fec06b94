package provider

import (
	"encoding/json"
	"slices"
	"strings"
)

// Placeholders for content that a model cannot be shown.
const (
	noImage     = "(image omitted: model does not support images)"
	noToolImage = "(tool image omitted: model does not support images)"
	noOutput    = "(no tool output)"
	noResult    = "No result provided"
)

// Prepare returns the conversation in a form that m accepts, whichever models it was held with. It
// does not change the messages that come in. Preparing twice changes nothing.
//
//   - Answers that failed or were aborted are left out, with the results of their calls.
//   - Every tool call is followed by exactly one result, in the order of the calls; one that
//     is missing is made up as an error. Results without a call are left out.
//   - Thinking goes back unchanged to the model that produced it. For another one it becomes
//     text, and parts that only the service can read are left out.
//   - Ids of calls have the form that the API of m wants, and no two are equal.
//   - Images become a note if m cannot see them.
//   - A history that a service compacted goes to that service only.
//   - Empty blocks are left out, and so is thinking that leads to nothing.
func Prepare(messages []Message, m Model) []Message {
	p := NewPreparation(m)
	for _, msg := range messages {
		p.Add(msg)
	}
	return p.Messages()
}

// Conversation returns the messages as Model accepts them. They are prepared here unless the caller did that: the
// conversation of a live session is kept prepared.
func (r Request) Conversation() []Message {
	if r.Prepared {
		return r.Messages
	}
	return Prepare(r.Messages, r.Model)
}

// Preparation is [Prepare] for a conversation that grows. It is not safe for concurrent use.
type Preparation struct {
	model   Model
	ids     *callIDs
	turns   []turn
	calls   []call
	waiting map[string][]int // calls without a result, by their original id

	history bool // see History

	out  []Message // of the first turns; what was returned is never changed
	done int       // how many of them
}

// NewPreparation returns the preparation of an empty conversation for a model.
func NewPreparation(m Model) *Preparation {
	return &Preparation{model: m, ids: newCallIDs(m), waiting: map[string][]int{}}
}

// turn is a message and the results of its calls.
type turn struct {
	message Message
	calls   []int
	at      int // where it begins in out
}

type call struct {
	id, name string
	at       int64
	turn     int
	result   *Message
}

// Add adds a message, which it does not change.
func (p *Preparation) Add(msg Message) {
	switch msg.Role {
	case RoleUser:
		if msg.History != nil && !msg.History.readBy(p.model) {
			msg.History = nil
		}
		if msg.Content = p.shown(msg.Content, noImage); len(msg.Content) > 0 {
			p.turns, p.history = append(p.turns, turn{message: msg}), p.history || msg.History != nil
		}
	case RoleAssistant:
		p.answer(msg)
	case RoleToolResult:
		p.result(msg)
	}
}

func (p *Preparation) answer(msg Message) {
	var calls []Block
	own := map[string]bool{}
	for _, b := range msg.Content {
		if b.Type == TypeToolCall && !own[b.ID] {
			own[b.ID] = true
			delete(p.waiting, b.ID) // some services count from 0 in every answer
		}
	}
	if msg.StopReason == StopError || msg.StopReason == StopAborted {
		return
	}
	same := msg.Provider == p.model.Provider && msg.API == p.model.API && msg.Model == p.model.ID
	t := turn{message: msg}
	t.message.Content = nil
	for _, b := range msg.Content {
		switch b.Type {
		case TypeText:
			if !same {
				b.TextSignature = ""
			}
		case TypeThinking:
			b = p.thinking(b, same)
		case TypeToolCall:
			calls = append(calls, b)
			b = p.call(b, same, msg.Timestamp)
			t.calls = append(t.calls, len(p.calls)-1)
		default:
			continue
		}
		// Gemini signs an empty text when nothing follows its thinking, and wants the signature back.
		if !empty(b) || b.TextSignature != "" && p.model.signsTexts() {
			t.message.Content = append(t.message.Content, b)
		}
	}
	for len(t.message.Content) > 0 && t.message.Content[len(t.message.Content)-1].Type == TypeThinking {
		t.message.Content = t.message.Content[:len(t.message.Content)-1]
	}
	for i, b := range calls {
		p.waiting[b.ID] = append(p.waiting[b.ID], t.calls[i])
	}
	if len(t.message.Content) > 0 {
		p.turns = append(p.turns, t)
	}
}

// thinking returns the block as m may get it; an empty one if it may not.
func (p *Preparation) thinking(b Block, same bool) Block {
	var compat struct {
		AllowEmptySignature bool `json:"allowEmptySignature"`
	}
	signed := b.ThinkingSignature != ""
	switch {
	case same && signed:
		return b
	case b.Redacted:
		return Block{}
	case same && p.model.API == AnthropicMessages:
		_ = json.Unmarshal(p.model.Compat, &compat) // a switch that cannot be parsed stays off
		if compat.AllowEmptySignature {
			return b
		}
	case same:
		return b
	}
	return Text(b.Thinking)
}

// call records the call and returns it in the form for the model.
func (p *Preparation) call(b Block, same bool, at int64) Block {
	if !same {
		b.ThoughtSignature = ""
	}
	if a := strings.TrimSpace(string(b.Arguments)); !strings.HasPrefix(a, "{") || !json.Valid(b.Arguments) {
		b.Arguments = json.RawMessage("{}")
	}
	b.ID = p.ids.next(b.ID, same)
	p.calls = append(p.calls, call{id: b.ID, name: b.Name, at: at, turn: len(p.turns)})
	return b
}

// result gives a result to the call it belongs to.
func (p *Preparation) result(msg Message) {
	queue := p.waiting[msg.ToolCallID]
	if len(queue) == 0 {
		return
	}
	p.waiting[msg.ToolCallID] = queue[1:]
	c := &p.calls[queue[0]]
	msg.ToolCallID = c.id
	if msg.Content = p.shown(msg.Content, noToolImage); len(msg.Content) == 0 {
		msg.Content = []Block{Text(noOutput)}
	}
	c.result = &msg
	if c.turn < p.done { // it was made up
		p.done = c.turn
		p.out = slices.Clip(p.out[:p.turns[c.turn].at])
	}
}

// History reports whether a prepared message has a history that the model's service compacted.
func (p *Preparation) History() bool { return p.history }

// Messages returns the prepared messages, which the caller must not change.
func (p *Preparation) Messages() []Message {
	for ; p.done < len(p.turns); p.done++ {
		t := &p.turns[p.done]
		t.at = len(p.out)
		p.out = append(p.out, t.message)
		for _, i := range t.calls {
			p.out = append(p.out, p.calls[i].outcome())
		}
	}
	return slices.Clip(p.out)
}

// outcome returns the result of the call, or else a made-up one.
func (c call) outcome() Message {
	if c.result != nil {
		return *c.result
	}
	failed := true
	return Message{
		Role: RoleToolResult, ToolCallID: c.id, ToolName: c.name, Content: []Block{Text(noResult)},
		IsError: &failed, Timestamp: c.at,
	}
}

// shown are the texts and images of a content, with note for images that m cannot see. Content that is shown as it
// is, most of a conversation, takes no memory of its own.
func (p *Preparation) shown(content []Block, note string) []Block {
	if !slices.ContainsFunc(content, func(b Block) bool {
		return empty(b) || b.Type != TypeText && (b.Type != TypeImage || !p.model.TakesImages())
	}) {
		return slices.Clip(content)
	}
	var out []Block
	for _, b := range content {
		if b.Type == TypeImage && !p.model.TakesImages() {
			if n := len(out); n > 0 && out[n-1].Type == TypeText && out[n-1].Text == note {
				continue
			}
			b = Text(note)
		}
		if (b.Type == TypeText || b.Type == TypeImage) && !empty(b) {
			out = append(out, b)
		}
	}
	return out
}

// empty reports whether the block has no content to show.
func empty(b Block) bool {
	switch b.Type {
	case TypeText:
		return strings.TrimSpace(b.Text) == ""
	case TypeThinking:
		return strings.TrimSpace(b.Thinking) == "" && b.ThinkingSignature == ""
	case TypeImage:
		return b.Data == ""
	case TypeToolCall:
		return false
	default:
		return true
	}
}
