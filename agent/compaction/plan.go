package compaction

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Item is one entry of the conversation that a model is shown: the entry it comes from and
// its message.
type Item struct {
	EntryID string
	Message json.RawMessage
}

// Items pairs the messages of a context with their entries.
func Items(c session.Context) []Item {
	items := make([]Item, len(c.Messages))
	for i, m := range c.Messages {
		items[i] = Item{c.EntryIDs[i], m}
	}
	return items
}

// Plan is how one conversation is compacted.
type Plan struct {
	FirstKept    string // id of the entry from which on everything stays unchanged
	TokensBefore int
	Room         int // length of the conversation that one question may have, in bytes

	history  []json.RawMessage // to be summarised
	prefix   []json.RawMessage // the beginning of the turn that is cut in two
	previous string            // the summary that history follows
	files    fileOps
}

// Messages shown to the user when there is nothing to compact.
var (
	errCompacted = "Already compacted"
	errTooSmall  = "The conversation is still short. There is nothing to compact."
)

// Prepare plans to compact the conversation of a context. last is the newest entry of the branch,
// previous the newest compaction, nil if there was none. If there is nothing to compact it returns
// an InvalidArgument error.
func Prepare(items []Item, last session.Entry, previous *session.Entry, s Settings) (*Plan, error) {
	if last.Type == session.TypeCompaction {
		return nil, fault.New(fault.InvalidArgument, "%s", errCompacted)
	}
	p := &Plan{files: newFileOps()}
	messages := make([]json.RawMessage, len(items))
	for i, it := range items {
		messages[i] = it.Message
	}
	p.TokensBefore, _ = Tokens(messages)
	if previous != nil {
		c := previous.AsCompaction()
		p.previous = c.Summary
		if !c.FromExtension {
			p.files.inherit(c.Details)
		}
		for len(items) > 0 && items[0].EntryID == previous.ID {
			items, messages = items[1:], messages[1:] // it is summarised as the previous summary
		}
	}
	cut := cutPoint(messages, s.keepRecent())
	if cut < 0 {
		return nil, fault.New(fault.InvalidArgument, "%s", errTooSmall)
	}
	turn := cut
	if role(messages[cut]) == "assistant" {
		turn = turnStart(messages, cut)
	}
	p.history, p.prefix = messages[:turn], messages[turn:cut]
	if len(p.history) == 0 && len(p.prefix) == 0 {
		return nil, fault.New(fault.InvalidArgument, "%s", errTooSmall)
	}
	for _, m := range messages[:cut] {
		p.files.see(m)
	}
	p.FirstKept = items[cut].EntryID
	return p, nil
}

// cutPoint returns the index of the first message to keep, or -1 if there is none. It goes back
// from the newest message until keep tokens are reached, then takes the next message that can
// follow a summary, else the closest earlier one. A tool's result cannot, because its call would be
// missing.
func cutPoint(messages []json.RawMessage, keep int) int {
	sum, from := 0, 0
	for i, m := range slices.Backward(messages) {
		if sum += Estimate(m); sum >= keep {
			from = i
			break
		}
	}
	for i := from; i < len(messages); i++ {
		if role(messages[i]) != "toolResult" {
			return i
		}
	}
	for i, m := range slices.Backward(messages[:from]) {
		if role(m) != "toolResult" {
			return i
		}
	}
	return -1
}

// turnStart returns the index at which the turn of message i begins.
func turnStart(messages []json.RawMessage, i int) int {
	for ; i > 0; i-- {
		switch role(messages[i]) {
		case "assistant", "toolResult":
		default:
			return i
		}
	}
	return 0
}

// Summarise asks for the summaries of the plan and returns the one to record, and the details that
// are stored with it. A conversation longer than Room is summarised in parts, each bringing the
// summary of the earlier ones up to date. instructions, which may be empty, set the focus. An error
// is one of ask.
func (p *Plan) Summarise(instructions string, ask func(Question) (string, error)) (summary string, details json.RawMessage, err error) {
	summary, err = inParts(p.history, p.previous, p.Room, ask, [2]string{firstSummary, updateSummary}, instructions)
	if err != nil {
		return "", nil, err
	}
	if len(p.prefix) > 0 {
		prefix, err := inParts(p.prefix, "", p.Room, ask, [2]string{prefixSummary, updatePrefix}, "")
		if err != nil {
			return "", nil, err
		}
		if summary == "" {
			summary = "No prior history."
		}
		summary += "\n\n---\n\n**Turn Context (split turn):**\n\n" + prefix
	}
	return summary + p.files.text(), p.files.details(), nil
}

// inParts summarises messages. forms are the instructions for a first summary and for bringing a
// previous one up to date.
func inParts(messages []json.RawMessage, summary string, room int, ask func(Question) (string, error), forms [2]string, focus string) (string, error) {
	for _, part := range split(messages, room) {
		form := forms[0]
		if summary != "" {
			form = forms[1]
		}
		var err error
		if summary, err = ask(question(part, summary, form, focus)); err != nil {
			return "", err
		}
	}
	return summary, nil
}
