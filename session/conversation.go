package session

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Conversation is a context whose messages are read one at a time.
type Conversation struct {
	// State is the context without its messages.
	State Context
	// Places holds, for each place in the conversation, the index of the entry that its message comes from; -1 if that
	// entry has no id. Two messages may come from one entry. Some places have no message.
	Places []int
	// Problems are those of the path, without missing images.
	Problems []Problem
	// Message returns the message at a place, images included, or nil if there is none. Together, the messages
	// of all places are those of [BuildContext]. It fails only if a large file cannot be read.
	Message func(place int) (json.RawMessage, error)
}

// Conversation returns the context that [BuildContext] builds for leaf, which is one of the first n entries, from these
// entries only. It reads only what decides which entries belong to it; for omp's files, in which neighbours decide that, it
// reads the messages of a path once. The rules for concurrent use are those of BuildContext, also for Message.
func (d *Document) Conversation(leaf Leaf, n int, blobs BlobSource) (c Conversation, err error) {
	path, problems := d.contextPath(d.tree.resolve(leaf))
	for k, i := range slices.Backward(path) {
		if i >= n { // the missing parent of an entry was added later
			path = path[k+1:]
			break
		}
	}
	b := newContextBuilder(d, problems)
	if d.dialect == Omp {
		return d.conversationOmp(b, path, blobs)
	}
	if err := b.scanState(path); err != nil {
		return c, err
	}
	c.State = b.ctx
	entries, message, err := b.selection(path)
	if err != nil {
		return c, err
	}
	head := b.ctx.Messages
	for range head {
		c.Places = append(c.Places, path[b.compaction])
	}
	for _, i := range entries {
		switch d.tree.typ(i) {
		case TypeMessage, TypeCustomMessage, TypeBranchSummary:
			c.Places = append(c.Places, i)
		}
	}
	c.Problems = b.problems
	c.Message = func(place int) (json.RawMessage, error) {
		if place < len(head) {
			return withBlobs(head[place], blobs), nil
		}
		e, err := d.Entry(c.Places[place])
		if err != nil {
			return nil, err
		}
		return withBlobs(message(e), blobs), nil
	}
	return c, nil
}

// selection emits the summary of the last compaction and returns the entries whose own messages are shown beside it, with the
// function that makes those.
func (b *contextBuilder) selection(path []int) (entries []int, message func(Entry) []byte, err error) {
	if b.doc.dialect != Pi {
		entries, err = b.selectXcsh(path)
		return entries, xcshMessage, err
	}
	if entries, err = b.selectPi(path); err != nil {
		return nil, nil, err
	}
	edits, err := b.contextEdits(entries)
	entries = slices.DeleteFunc(slices.Clone(entries), func(i int) bool {
		edit, edited := edits[b.doc.tree.id(i)]
		return edited && edit.Content == nil
	})
	return entries, func(e Entry) []byte {
		m := piMessage(e)
		if edit, edited := edits[e.ID]; edited && m != nil {
			m = replaceContent(m, edit.Content)
		}
		return m
	}, err
}

// selectXcsh is [contextBuilder.selectPi] for xcsh's rules.
func (b *contextBuilder) selectXcsh(path []int) ([]int, error) {
	if b.compaction < 0 {
		return path, nil
	}
	at := b.compaction
	e, err := b.doc.Entry(path[at])
	if err != nil {
		return nil, err
	}
	var kept []int
	if c := e.AsCompaction(); remoteHistory(c) == nil {
		kept = b.kept(path, c.FirstKeptEntryID, e)
	}
	summary := newContextBuilder(b.doc, nil)
	summary.compaction = 0
	if err := summary.emitXcsh(path[at : at+1]); err != nil {
		return nil, err
	}
	b.ctx.Messages = summary.ctx.Messages
	return append(slices.Clone(kept), path[at+1:]...), nil
}

// conversationOmp returns the conversation of one of omp's files. Which entries have a message is decided by reading all of
// them, one at a time, and remembered.
func (d *Document) conversationOmp(b *contextBuilder, path []int, blobs BlobSource) (c Conversation, err error) {
	if err := b.scanState(path); err != nil {
		return c, err
	}
	visible, err := b.visibleOmp(path)
	if err == nil {
		err = b.prependNotes(path[max(b.reset, 0):])
	}
	if err != nil {
		return c, err
	}
	shown, err := d.shownByOmp(b, visible)
	if err != nil {
		return c, err
	}
	head := b.ctx.Messages
	c.State, c.Problems = b.ctx, b.problems
	c.State.Messages, c.State.EntryIDs = []json.RawMessage{}, nil
	place := func(id string) {
		i, ok := d.tree.find(id)
		if !ok {
			i = -1
		}
		c.Places = append(c.Places, i)
	}
	for _, id := range b.ctx.EntryIDs {
		place(id)
	}
	for _, i := range shown.entries {
		place(d.tree.id(i))
	}
	c.Message = func(place int) (json.RawMessage, error) {
		if place < len(head) {
			return withBlobs(head[place], blobs), nil
		}
		m, err := shown.message(d, shown.entries[place-len(head)])
		return withBlobs(m, blobs), err
	}
	return c, nil
}

// ompShown is what omp's rules for neighbouring messages leave of the entries of a context. It never changes.
type ompShown struct {
	of      []int                   // all entries, …
	entries []int                   // … those with a message, …
	cut     map[int]map[string]bool // … and the answers with calls that have no result: the ids of the calls that have one
}

// shownByOmp applies the rules to entries. Their messages are read unless the same entries were the last ones.
func (d *Document) shownByOmp(b *contextBuilder, visible []int) (s *ompShown, err error) {
	if s = d.ompShown.Load(); s != nil && slices.Equal(s.of, visible) {
		return s, nil
	}
	s = &ompShown{of: slices.Clone(visible), cut: map[int]map[string]bool{}}
	f := ompFilter{gone: map[string]bool{}}
	if f.answered, err = b.answeredCalls(visible); err != nil {
		return nil, err
	}
	f.send = func(string, []byte) error {
		s.entries = append(s.entries, f.entry)
		return nil
	}
	var candidates []int
	for _, i := range visible {
		switch d.tree.typ(i) {
		case TypeMessage, TypeCustomMessage, TypeBranchSummary:
			candidates = append(candidates, i)
		}
	}
	r := lineReader{doc: d, reuse: true}
	err = r.each(candidates, func(i int, raw []byte) error {
		m, role := ompMessage(d.entryOf(i, raw)), d.tree.role(i)
		if m == nil {
			return nil
		}
		if role == "assistant" {
			s.noteCut(i, m, f.answered)
		}
		f.entry = i
		return f.take(role, m)
	})
	if err != nil {
		return nil, err
	}
	d.ompShown.Store(s)
	return s, nil
}

// noteCut notes the answer of an entry if some of its calls have no result.
func (s *ompShown) noteCut(entry int, answer []byte, answered map[string]bool) {
	calls, cut := map[string]bool{}, false
	rawjson.Elements(rawjson.Get(answer, "content"), func(block []byte) bool {
		if typ, _ := rawjson.GetString(block, "type"); typ == "toolCall" {
			id, _ := rawjson.GetString(block, "id")
			if answered[id] {
				calls[id] = true
			} else {
				cut = true
			}
		}
		return true
	})
	if cut {
		s.cut[entry] = calls
	}
}

// message returns the message of one of the entries.
func (s *ompShown) message(d *Document, entry int) ([]byte, error) {
	e, err := d.Entry(entry)
	if err != nil {
		return nil, err
	}
	m := ompMessage(e)
	if calls, cut := s.cut[entry]; cut {
		m = withoutDanglingCalls(m, calls)
	}
	return m, nil
}

// withBlobs returns a message with the images that are available.
func withBlobs(m []byte, blobs BlobSource) json.RawMessage {
	if m == nil || blobs == nil || !namesBlobs(m) {
		return m
	}
	return resolveBlobs(m, blobs, 0, func(string, error) {})
}
