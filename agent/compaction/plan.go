package compaction

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
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
	FirstKept    string // id of the entry from which on everything stays as it is
	TokensBefore int

	history  []json.RawMessage // to be summarised
	prefix   []json.RawMessage // the beginning of the turn that is cut in two
	previous string            // the summary that history follows
	files    fileOps
}

// What a person is told when there is nothing to do.
var (
	errCompacted = "Already compacted"
	errTooSmall  = "Nothing to compact (session too small)"
)

// Prepare plans to compact the conversation of a context. last is the newest entry of the
// branch, previous the newest compaction, nil when there was none. That there is nothing to
// compact is kind invalidArgument.
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

// cutPoint returns the index of the first message to keep, or -1 when there is none: going
// back from the newest message, where enough was met, the next message that can follow a
// summary. A tool's result cannot, because its call would be missing.
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

// Questions are what a model is to be asked, in order. instructions, which may be empty,
// tell what to look at in particular.
func (p *Plan) Questions(instructions string) []Question {
	var q []Question
	if len(p.history) > 0 {
		form := firstSummary
		if p.previous != "" {
			form = updateSummary
		}
		q = append(q, question(serialize(p.history), p.previous, form, instructions))
	}
	if len(p.prefix) > 0 {
		q = append(q, question(serialize(p.prefix), "", prefixSummary, ""))
	}
	return q
}

// Summary makes the summary of the answers to Questions, and the details that are stored
// with it.
func (p *Plan) Summary(answers []string) (summary string, details json.RawMessage) {
	summary = p.previous
	if len(p.history) > 0 {
		summary, answers = answers[0], answers[1:]
	}
	if len(p.prefix) > 0 {
		if summary == "" {
			summary = "No prior history."
		}
		summary += "\n\n---\n\n**Turn Context (split turn):**\n\n" + answers[0]
	}
	return summary + p.files.text(), p.files.details()
}
