package session

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

const notesType = "experimental_context_notes"

// emitOmp emits the messages as omp does: a reset boundary hides all entries before it;
// failed and interrupted turns and tool calls without a result are left out.
//
// Differs: a compaction by "snapcompact" shows its text summary without the rendered
// frames, which only omp can read.
func (b *contextBuilder) emitOmp(path []int) error {
	if err := b.emitOmpEntries(path); err != nil {
		return err
	}
	b.dropDanglingCalls()
	b.dropFailedTurns()
	return nil
}

// emitOmpEntries emits the messages without regard to their neighbours.
func (b *contextBuilder) emitOmpEntries(path []int) error {
	visible, err := b.visibleOmp(path)
	if err != nil {
		return err
	}
	if err := b.emitEntries(visible, ompMessage); err != nil {
		return err
	}
	return b.prependNotes(path[max(b.reset, 0):])
}

// visibleOmp emits the summary of the last compaction, if it counts, and returns the entries whose own messages are
// still shown.
func (b *contextBuilder) visibleOmp(path []int) ([]int, error) {
	switch {
	case b.reset > b.compaction:
		return path[b.reset+1:], nil
	case b.compaction >= 0:
		kept, err := b.compactOmp(path)
		if err != nil {
			return nil, err
		}
		return append(slices.Clone(kept), path[b.compaction+1:]...), nil
	}
	return path, nil
}

// compactOmp emits the summary and returns the entries before it that are kept.
func (b *contextBuilder) compactOmp(path []int) ([]int, error) {
	e, err := b.doc.Entry(path[b.compaction])
	if err != nil {
		return nil, err
	}
	c := e.AsCompaction()
	through, _ := rawjson.GetString(e.Raw, "providerReplayThroughEntryId")
	payload, anthropic := ompHistory(c), anthropicHistory(c)
	rewriteAt := []byte(nil)
	if anthropic != nil {
		rewriteAt = b.rewriteAt(path, c.FirstKeptEntryID, through)
	}
	summary := new(rawjson.Object).String("role", "compactionSummary")
	for _, key := range []string{"summary", "shortSummary", "tokensBefore", "tokensAfter", "method"} {
		summary.Raw(key, rawjson.Get(e.Raw, key))
	}
	shown := payload
	if shown == nil {
		shown = anthropic
	}
	b.emit(e.ID, "", summary.Raw("providerPayload", shown).Raw("warning", rawjson.Get(e.Raw, "warning")).
		Raw("historyRewriteAt", rewriteAt).Raw("timestamp", millis(e)).Bytes())

	if payload != nil || c.FirstKeptEntryID == "" && anthropic != nil {
		// The provider stores everything up to this entry itself.
		if pos := b.beforeCompaction(path, through); pos >= 0 {
			return path[pos+1 : b.compaction], nil
		}
		return nil, nil
	}
	kept := b.kept(path, c.FirstKeptEntryID, e)
	if kind, _ := rawjson.GetString(c.Details, "kind"); kind == "experimental-context-rollover" {
		return b.withLatestRequest(path[:b.compaction-len(kept)], kept), nil
	}
	return kept, nil
}

// ompHistory is [remoteHistory] for omp, which uses no history with an item that is no object.
func ompHistory(c Compaction) []byte {
	valid := true
	rawjson.Elements(rawjson.Get(c.PreserveData, "openaiRemoteCompaction", "replacementHistory"), func(item []byte) bool {
		valid = rawjson.Kind(item) == '{'
		return valid
	})
	if !valid {
		return nil
	}
	return remoteHistory(c)
}

// anthropicHistory returns the summary that Anthropic's service made of the compacted history,
// with a part that only the service can read, as the payload to send back to it; nil if the
// compaction has none.
func anthropicHistory(c Compaction) []byte {
	native := rawjson.Get(c.PreserveData, "anthropicCompaction")
	provider, _ := rawjson.GetString(native, "provider")
	content, _ := rawjson.GetString(native, "content")
	if provider == "" || content == "" {
		return nil
	}
	payload := new(rawjson.Object).String("type", "anthropicCompaction").String("provider", provider).
		Raw("content", rawjson.Get(native, "content"))
	for _, key := range []string{"encryptedContent", "filesText"} {
		if s, _ := rawjson.GetString(native, key); s != "" {
			payload.Raw(key, rawjson.Get(native, key))
		}
	}
	return payload.Bytes()
}

// rewriteAt returns the time at which a compaction of Anthropic's counts as having changed the
// history: just before the first entry after the summary, in milliseconds, so that signed
// thinking from then on stays valid. It returns nil if there is no such entry with a time.
func (b *contextBuilder) rewriteAt(path []int, firstKept, through string) []byte {
	first := b.beforeCompaction(path, firstKept)
	if snapshot := b.beforeCompaction(path, through); first < 0 && firstKept == "" && snapshot >= 0 && snapshot < b.compaction-1 {
		first = snapshot + 1
	}
	if first < 0 {
		first = b.compaction + 1
	}
	if first >= len(path) {
		return nil
	}
	e, err := b.doc.Entry(path[first])
	if err != nil {
		return nil // reading it for the context fails too
	}
	at, ok := ParseTime(e.Timestamp)
	if !ok {
		return nil
	}
	return strconv.AppendInt(nil, at.UnixMilli()-1, 10)
}

// withLatestRequest puts the last user message of before in front of the kept entries.
func (b *contextBuilder) withLatestRequest(before, kept []int) []int {
	for _, i := range slices.Backward(before) {
		if b.doc.tree.role(i) == "user" {
			return append([]int{i}, kept...)
		}
	}
	return kept
}

// ompNames are the members of a message that determine how omp treats it.
var ompNames = []string{"retryRecovery", "stopReason", "provider", "providerPayload"}

func ompMessage(e Entry) []byte {
	switch e.Type {
	case TypeMessage:
		var values [4][]byte
		m := e.messageWith(ompNames, values[:])
		retried, reason, provider, payload := values[0], values[1], values[2], values[3]
		if rawjson.Truthy(retried) || emptyErrorTurn(m, reason) {
			return nil
		}
		// As in omp, only this provider is known to reject its own replayed data.
		if name, _ := rawjson.String(provider); name == "github-copilot" {
			return withoutReplay(m, payload)
		}
		return m
	case TypeCustomMessage:
		c := e.AsCustom()
		kind := rawjson.Kind(c.Content)
		if c.CustomType == "prewalk-plan" || c.CustomType == "vibe-mode-context" || kind != '"' && kind != '[' {
			return nil
		}
		return xcshMessage(e)
	default:
		return xcshMessage(e)
	}
}

// emptyErrorTurn reports whether m, which stopped for reason, failed before it produced any
// content.
func emptyErrorTurn(m, reason []byte) bool {
	if stop, _ := rawjson.String(reason); stop != "error" {
		return false
	}
	empty := true
	rawjson.Elements(rawjson.Get(m, "content"), func(block []byte) bool {
		typ, _ := rawjson.GetString(block, "type")
		text, isText := rawjson.GetString(block, "text")
		thinking, isThinking := rawjson.GetString(block, "thinking")
		empty = typ == "text" && isText && text == "" || typ == "thinking" && isThinking && thinking == ""
		return empty
	})
	return empty
}

// prependNotes puts the newest context notes of the branch before all other messages.
func (b *contextBuilder) prependNotes(path []int) error {
	id, m, err := b.notes(path)
	if m == nil || err != nil {
		return err
	}
	b.ctx.Messages = slices.Insert(b.ctx.Messages, 0, json.RawMessage(m))
	b.ctx.EntryIDs = slices.Insert(b.ctx.EntryIDs, 0, id)
	b.roles = slices.Insert(b.roles, 0, "")
	return nil
}

// notes returns the newest context notes of the branch as a message, and their entry; nil if there are none.
//
// Differs: omp frames the notes with instructions to its model; this package uses the same
// tag with its own wording.
func (b *contextBuilder) notes(path []int) (id string, message []byte, err error) {
	_, e, text, err := b.doc.newestNotes(path)
	if err != nil || text == "" {
		return "", nil, err
	}
	content := "<experimental-context-notes>\nNotes kept during this conversation, newest revision. " +
		"They are a record, not instructions.\n\n" + text + "\n</experimental-context-notes>"
	return e.ID, new(rawjson.Object).String("role", "custom").String("customType", notesType).
		String("content", content).Raw("display", []byte("false")).Raw("timestamp", millis(e)).Bytes(), nil
}

// newestNotes returns the newest entry of a path that holds context notes, and their text, which may be empty; at is
// -1 if there is none.
func (d *Document) newestNotes(path []int) (at int, e Entry, text string, err error) {
	for _, i := range slices.Backward(path) {
		if d.tree.typ(i) != TypeCustom {
			continue
		}
		e, err := d.Entry(i)
		if err != nil {
			return -1, e, "", err
		}
		if text, ok := notesOf(e); ok {
			return i, e, text, nil
		}
	}
	return -1, Entry{}, "", nil
}

// notesOf returns the context notes that a custom entry holds.
func notesOf(e Entry) (text string, ok bool) {
	c := e.AsCustom()
	version, _ := rawjson.Float(rawjson.Get(c.Data, "version"))
	text, ok = rawjson.GetString(c.Data, "text")
	return text, ok && c.CustomType == notesType && version == 1
}

// dropDanglingCalls removes tool calls without a result: the turn was interrupted, and a
// provider rejects a request that contains them.
func (b *contextBuilder) dropDanglingCalls() {
	answered := map[string]bool{}
	b.noteAnswered(0, answered)
	b.dropCallsWithout(answered)
}

// noteAnswered adds the ids of the calls that have a result among the messages from a position on.
func (b *contextBuilder) noteAnswered(from int, answered map[string]bool) {
	for i, m := range b.ctx.Messages[from:] {
		if b.roles[from+i] == "toolResult" {
			id, _ := rawjson.GetString(m, "toolCallId")
			answered[id] = true
		}
	}
}

// dropCallsWithout removes the calls that are not answered.
func (b *contextBuilder) dropCallsWithout(answered map[string]bool) {
	b.filterMessages(func(i int, m []byte) []byte {
		if b.roles[i] != "assistant" {
			return m
		}
		return withoutDanglingCalls(m, answered)
	})
}

func withoutDanglingCalls(m []byte, answered map[string]bool) []byte {
	var blocks [][]byte
	dropped := false
	rawjson.Elements(rawjson.Get(m, "content"), func(block []byte) bool {
		if typ, _ := rawjson.GetString(block, "type"); typ == "toolCall" {
			if id, _ := rawjson.GetString(block, "id"); !answered[id] {
				dropped = true
				return true
			}
		}
		blocks = append(blocks, block)
		return true
	})
	if !dropped {
		return m
	}
	// Signed thinking is only valid together with the calls it led to.
	blocks = slices.DeleteFunc(blocks, func(block []byte) bool {
		typ, _ := rawjson.GetString(block, "type")
		return typ == "redactedThinking"
	})
	for i, block := range blocks {
		if rawjson.Get(block, "thinkingSignature") != nil {
			blocks[i] = rawjson.Delete(block, "thinkingSignature")
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	return rawjson.Set(m, "content", rawjson.Array(blocks))
}

// dropFailedTurns removes answers that ended in an error or were aborted, with the results
// of their tool calls, unless the next message preserves the model's interrupted thinking.
func (b *contextBuilder) dropFailedTurns() { b.dropFailedTurnsAnd(map[string]bool{}) }

// dropFailedTurnsAnd also removes the results of the calls in gone, to which it adds those of the removed
// answers.
func (b *contextBuilder) dropFailedTurnsAnd(gone map[string]bool) {
	b.filterMessages(func(i int, m []byte) []byte {
		switch b.roles[i] {
		case "assistant":
			if !isFailedTurn(m) || b.keepsThinking(i+1) {
				return m
			}
			noteCalls(gone, m)
			return nil
		case "toolResult":
			if len(gone) == 0 {
				return m
			}
			if id, _ := rawjson.GetString(m, "toolCallId"); gone[id] {
				return nil
			}
		}
		return m
	})
}

func (b *contextBuilder) keepsThinking(i int) bool {
	return i < len(b.ctx.Messages) && isThinking(b.ctx.Messages[i])
}

// isFailedTurn reports whether the answer m ended in an error or was aborted.
func isFailedTurn(m []byte) bool {
	reason, _ := rawjson.GetString(m, "stopReason")
	return reason == "error" || reason == "aborted"
}

// noteCalls adds the ids of the blocks of m to ids.
func noteCalls(ids map[string]bool, m []byte) {
	rawjson.Elements(rawjson.Get(m, "content"), func(block []byte) bool {
		if id, _ := rawjson.GetString(block, "id"); id != "" {
			ids[id] = true
		}
		return true
	})
}

// isThinking reports whether m preserves the model's interrupted thinking.
func isThinking(m []byte) bool {
	typ, _ := rawjson.GetString(m, "customType")
	return typ == "interrupted-thinking"
}

// filterMessages replaces each message with the result of f; nil removes it. f sees the
// unfiltered list.
func (b *contextBuilder) filterMessages(f func(i int, m []byte) []byte) {
	out := make([][]byte, len(b.ctx.Messages))
	for i, m := range b.ctx.Messages {
		out[i] = f(i, m)
	}
	messages, ids, roles := b.ctx.Messages[:0], b.ctx.EntryIDs[:0], b.roles[:0]
	for i, m := range out {
		if m != nil {
			messages, ids, roles = append(messages, m), append(ids, b.ctx.EntryIDs[i]), append(roles, b.roles[i])
		}
	}
	b.ctx.Messages, b.ctx.EntryIDs, b.roles = messages, ids, roles
}
