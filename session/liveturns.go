package session

import (
	"maps"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// liveTurns applies omp's rules for neighbouring messages to a conversation that grows. Messages before a
// place that later ones have no influence on are settled: the rules are applied to them once, and to the
// open ones behind it again each time.
type liveTurns struct {
	answered map[string]bool // the ids of all calls with a result
	read     int             // how many of the builder's messages are in answered

	settled int             // how many of the builder's messages are settled
	gone    map[string]bool // the ids of the calls of settled answers that were removed
	waiting map[string]bool // the ids of settled calls without a result, which were removed
}

func newLiveTurns() *liveTurns {
	return &liveTurns{answered: map[string]bool{}, gone: map[string]bool{}, waiting: map[string]bool{}}
}

// settle applies the rules to the messages of a builder that are not settled, and returns what they leave:
// of those that are settled now, and of the open ones. again reports that a settled call got its result
// after all, so that the former are all messages.
func (t *liveTurns) settle(b *contextBuilder) (settled, open messageList, again bool) {
	results := map[string]bool{}
	b.noteAnswered(t.read, results)
	t.read = len(b.ctx.Messages)
	for id := range results {
		t.answered[id] = true
		if t.waiting[id] {
			t.settled, again = 0, true
			clear(t.gone)
			clear(t.waiting)
		}
	}
	end := t.end(b)
	for i := t.settled; i < end; i++ {
		for _, id := range t.dangling(b, i) {
			t.waiting[id] = true
		}
	}
	settled = t.apply(b, t.settled, end, t.gone)
	open = t.apply(b, end, len(b.ctx.Messages), maps.Clone(t.gone))
	t.settled = end
	return settled, open, again
}

// end returns the place up to which messages can be settled: behind the last one that stays whatever
// follows, when all calls before it are answered, or a prompt follows them.
func (t *liveTurns) end(b *contextBuilder) int {
	end, open := t.settled, false
	for i := t.settled; i < len(b.ctx.Messages); i++ {
		stays := true
		switch b.roles[i] {
		case "user":
			open = false
		case "assistant":
			open = open || len(t.dangling(b, i)) > 0
			reason, _ := rawjson.GetString(b.ctx.Messages[i], "stopReason")
			stays = reason != "error" && reason != "aborted"
		}
		if stays && !open {
			end = i + 1
		}
	}
	return end
}

// dangling returns the ids of the calls of a message that have no result.
func (t *liveTurns) dangling(b *contextBuilder, i int) (ids []string) {
	if b.roles[i] != "assistant" {
		return nil
	}
	rawjson.Elements(rawjson.Get(b.ctx.Messages[i], "content"), func(block []byte) bool {
		if typ, _ := rawjson.GetString(block, "type"); typ == "toolCall" {
			if id, _ := rawjson.GetString(block, "id"); !t.answered[id] {
				ids = append(ids, id)
			}
		}
		return true
	})
	return ids
}

// apply returns the messages in a range that the rules leave.
func (t *liveTurns) apply(b *contextBuilder, from, to int, gone map[string]bool) messageList {
	part := &contextBuilder{doc: b.doc, roles: slices.Clone(b.roles[from:to]), ctx: Context{
		Messages: slices.Clone(b.ctx.Messages[from:to]), EntryIDs: slices.Clone(b.ctx.EntryIDs[from:to]),
	}}
	part.dropCallsWithout(t.answered)
	part.dropFailedTurnsAnd(gone)
	return messageList{part.ctx.Messages, part.ctx.EntryIDs}
}
