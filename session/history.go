package session

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// History is [Document.Conversation] with the messages before it that models no longer receive: those before the last
// compaction or reset, and the summaries of earlier compactions, each where the messages that it kept begin. The last
// places are those of the conversation.
//
// It takes linear time, whatever the compactions of a file claim to keep.
func (d *Document) History(leaf Leaf, n int, blobs BlobSource) (c Conversation, err error) {
	if c, err = d.Conversation(leaf, n, blobs); err != nil {
		return c, err
	}
	path, _ := d.tree.path(d.tree.resolve(leaf))
	for k, i := range slices.Backward(path) {
		if i >= n { // as in Conversation
			path = path[k+1:]
			break
		}
	}
	h := history{doc: d, path: path}
	earlier, err := h.before(c.Places)
	if err != nil || len(earlier) == 0 {
		return c, err
	}
	message, err := h.messages()
	if err != nil {
		return c, err
	}
	newer := c.Message
	c.Places = append(earlier, c.Places...)
	c.Message = func(place int) (json.RawMessage, error) {
		if place >= len(earlier) {
			return newer(place - len(earlier))
		}
		e, err := d.Entry(earlier[place])
		if err != nil {
			return nil, err
		}
		return withBlobs(message(e), blobs), nil
	}
	return c, nil
}

// history finds the messages of a path that a context does not contain.
type history struct {
	doc       *Document
	path      []int
	positions map[idKey]int // on the path, by id; nil until it is needed
}

// before returns the entries whose messages come before a conversation, in order. shown are the entries of the conversation.
func (h *history) before(shown []int) ([]int, error) {
	t := &h.doc.tree
	isShown := make(map[int]bool, len(shown))
	for _, i := range shown {
		isShown[i] = true
	}
	var backwards []int // newest first
	cut := len(h.path)  // the entries before are still to be added
	add := func(from, to int) {
		for pos := to - 1; pos >= from; pos-- {
			switch i := h.path[pos]; t.typ(i) {
			case TypeMessage, TypeCustomMessage, TypeBranchSummary:
				if !isShown[i] {
					backwards = append(backwards, i)
				}
			}
		}
	}
	newest := true // the conversation begins with the newest compaction
	for pos, i := range slices.Backward(h.path) {
		switch typ := t.typ(i); {
		case pos >= cut:
		case newest && typ == typeResetBoundary && h.doc.dialect == Omp:
			newest, cut = false, pos
		case typ == TypeCompaction:
			from, err := h.keptFrom(pos)
			if err != nil {
				return nil, err
			}
			if newest {
				newest, cut = false, from
				continue
			}
			add(from, cut)
			backwards = append(backwards, i)
			cut = from
		}
	}
	if newest {
		return nil, nil // the conversation is all there is
	}
	add(0, cut)
	slices.Reverse(backwards)
	return backwards, nil
}

// keptFrom returns the position from which a compaction keeps the entries before it; its own if it keeps none.
func (h *history) keptFrom(compaction int) (int, error) {
	e, err := h.doc.Entry(h.path[compaction])
	if err != nil {
		return 0, err
	}
	c := e.AsCompaction()
	first, step := c.FirstKeptEntryID, 0
	switch {
	case h.doc.dialect == Xcsh && remoteHistory(c) != nil:
		return compaction, nil
	case h.doc.dialect == Omp && (ompHistory(c) != nil || first == "" && anthropicHistory(c) != nil):
		first, _ = rawjson.GetString(e.Raw, "providerReplayThroughEntryId")
		step = 1
	}
	if pos, ok := h.position(first); ok && pos < compaction {
		return pos + step, nil
	}
	return compaction, nil
}

// position returns the position on the path of the entry called id.
func (h *history) position(id string) (pos int, ok bool) {
	t := &h.doc.tree
	if h.positions == nil {
		h.positions = make(map[idKey]int, len(h.path))
		for pos, i := range h.path {
			h.positions[t.slots.at(i).idKey()] = pos
		}
	}
	key, ok := t.names.lookup(id)
	if !ok || key.kind == noID {
		return 0, false
	}
	if pos, ok = h.positions[key]; ok && t.twice {
		i, found := t.find(id) // of several entries with an id, only the last one can be a parent
		ok = found && h.path[pos] == i
	}
	return pos, ok
}

// messages returns the function that makes the message of an entry.
func (h *history) messages() (func(Entry) []byte, error) {
	message := map[Dialect]func(Entry) []byte{Xcsh: xcshMessage, Pi: piMessage, Omp: ompMessage}[h.doc.dialect]
	var edits map[string]contextEdit
	if h.doc.dialect == Pi {
		var err error
		if edits, err = newContextBuilder(h.doc, nil).contextEdits(h.path); err != nil {
			return nil, err
		}
	}
	return func(e Entry) []byte {
		if e.Type == TypeCompaction {
			return shownSummary(e)
		}
		m := message(e)
		if edit, edited := edits[e.ID]; edited && m != nil {
			if edit.Content == nil {
				return nil
			}
			m = replaceContent(m, edit.Content)
		}
		return m
	}, nil
}

// shownSummary returns the message of a compaction as a panel shows it, without what only a provider can read.
func shownSummary(e Entry) []byte {
	m := new(rawjson.Object).String("role", "compactionSummary")
	for _, key := range []string{"summary", "shortSummary", "tokensBefore"} {
		m.Raw(key, rawjson.Get(e.Raw, key))
	}
	return m.Raw("timestamp", millis(e)).Bytes()
}
