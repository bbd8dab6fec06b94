package paging

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Message is one message of a conversation and the entry it comes from.
type Message struct {
	EntryID string          `json:"entryId"`
	Message json.RawMessage `json:"message"`
}

// More describes the messages before or behind a page.
type More struct {
	Cursor string `json:"cursor" jsonschema:"Pass it to xcsh.messages."`
	Count  int    `json:"count" jsonschema:"The number of these messages. It may be too large, by entries that turn out to have no message."`
}

// Conversation is the conversation of a session at the time of the first page.
type Conversation struct {
	doc     *session.Document
	cursor  Cursor // of no place
	history bool   // with the messages before it
	session.Conversation
}

// Open returns the conversation up to leaf.
func Open(d *session.Document, leaf session.Leaf, blobs session.BlobSource) (*Conversation, error) {
	return open(d, leaf, blobs, false)
}

// OpenHistory is [Open] with the messages before the conversation, as [session.Document.History] returns them. Cursors that
// the result returns are of the history, too.
func OpenHistory(d *session.Document, leaf session.Leaf, blobs session.BlobSource) (*Conversation, error) {
	return open(d, leaf, blobs, true)
}

func open(d *session.Document, leaf session.Leaf, blobs session.BlobSource, history bool) (*Conversation, error) {
	c := &Conversation{doc: d, cursor: Begin(d, Older), history: history}
	if i, err := d.Index(d.LeafID(leaf)); err == nil {
		c.cursor.Of = i + 1
	}
	return c, c.read(leaf, blobs)
}

// read reads which messages belong to the conversation.
func (c *Conversation) read(leaf session.Leaf, blobs session.BlobSource) (err error) {
	of := c.doc.Conversation
	if c.history {
		of = c.doc.History
	}
	c.Conversation, err = of(leaf, c.cursor.Entries, blobs)
	return err
}

// Reopen returns the conversation, or the history, of a cursor, and the cursor with one of kinds.
func Reopen(d *session.Document, cursor string, blobs session.BlobSource, kinds ...Kind) (*Conversation, Cursor, error) {
	at, err := Parse(cursor, d, withHistory(kinds)...)
	if err != nil {
		return nil, at, err
	}
	var history bool
	at.Kind, history = at.Kind.plain()
	leaf := at.Leaf(d)
	if at.Of > 0 {
		if i, err := d.Index(d.ID(at.Of - 1)); err != nil || i != at.Of-1 {
			return nil, at, stale() // a later entry has the leaf's id
		}
	}
	c := &Conversation{doc: d, cursor: at, history: history}
	if err = c.read(leaf, blobs); err != nil {
		return nil, at, err
	}
	if at.Place > len(c.Places) {
		return nil, at, stale()
	}
	return c, at, nil
}

// Leaf returns the leaf of a conversation's cursor.
func (c Cursor) Leaf(d *session.Document) session.Leaf {
	if c.Of == 0 {
		return session.AtRoot()
	}
	return session.At(d.ID(c.Of - 1))
}

// Len returns the number of places.
func (c *Conversation) Len() int { return len(c.Places) }

// PlaceOf returns the range of places whose messages come from the entry called id. An entry that has none is a NotFound error.
func (c *Conversation) PlaceOf(id string) (from, to int, err error) {
	i, err := c.doc.Index(id)
	if err != nil {
		return 0, 0, err
	}
	from = slices.Index(c.Places, i)
	if from < 0 {
		return 0, 0, fault.New(fault.NotFound, "Entry %s has no message in the current conversation.", id).With("entryId", id)
	}
	for to = from + 1; to < len(c.Places) && c.Places[to] == i; to++ {
	}
	return from, to, nil
}

// Part is a page of messages, which are those of the places from…to.
type Part struct {
	Messages []Message
	From, To int
	bytes    int
}

// Before returns the newest messages before a place that fit.
func (c *Conversation) Before(place int, l Limits) (Part, error) {
	return c.before(place, l.Room())
}

func (c *Conversation) before(place int, r *Room) (Part, error) {
	p := Part{Messages: []Message{}, From: place, To: place}
	for p.From > 0 && !r.Full() {
		m, ok, err := c.message(p.From-1, r)
		if err != nil {
			return p, err
		}
		if !ok {
			break
		}
		p.From--
		if m.Message != nil {
			p.Messages = append(p.Messages, m)
		}
	}
	slices.Reverse(p.Messages)
	return p, nil
}

// From returns the oldest messages from a place on that fit.
func (c *Conversation) From(place int, l Limits) (Part, error) {
	p := Part{Messages: []Message{}, From: place, To: place}
	r := l.Room()
	for p.To < len(c.Places) && !r.Full() {
		m, ok, err := c.message(p.To, r)
		if err != nil {
			return p, err
		}
		if !ok {
			break
		}
		p.To++
		if m.Message != nil {
			p.Messages = append(p.Messages, m)
		}
	}
	p.bytes = r.bytes
	return p, nil
}

// Around returns the messages of the places from…to with as many before as behind them, as far as they fit.
func (c *Conversation) Around(from, to int, l Limits) (Part, error) {
	p, err := c.From(from, Limits{Items: max(l.Items-l.Items/2, to-from), Bytes: l.Bytes})
	if err != nil {
		return p, err
	}
	before, err := c.before(from, &Room{Limits: l, items: len(p.Messages), bytes: p.bytes})
	p.Messages, p.From = append(before.Messages, p.Messages...), before.From
	return p, err
}

// message returns the message at a place; ok is false if it does not fit. A place without a message fits.
func (c *Conversation) message(place int, r *Room) (m Message, ok bool, err error) {
	if m.Message, err = c.Message(place); err != nil || m.Message == nil {
		return m, true, err
	}
	if i := c.Places[place]; i >= 0 {
		m.EntryID = c.doc.ID(i)
	}
	return m, r.Take(len(m.Message) + len(m.EntryID)), nil
}

// at returns the cursor of a kind for a place.
func (c *Conversation) at(kind Kind, place int) string {
	if c.history {
		kind = historyKinds[kind]
	}
	return c.cursor.At(kind, place).String()
}

// Older describes the messages before a place, nil if there are none.
func (c *Conversation) Older(place int) *More {
	if place == 0 {
		return nil
	}
	return &More{Cursor: c.at(Older, place), Count: place}
}

// Next returns the cursor of the messages of a context from a place on, "" if there are none.
func (c *Conversation) Next(place int) string {
	if place == len(c.Places) {
		return ""
	}
	return c.cursor.At(Context, place).String()
}

// Unsearched returns what a search that reached a place has still to search, nil if there is nothing.
func (c *Conversation) Unsearched(place int) *More {
	if place == 0 {
		return nil
	}
	return &More{Cursor: c.at(Search, place), Count: place}
}

// Newer describes the messages after a place, nil if there are none.
func (c *Conversation) Newer(place int) *More {
	if place == len(c.Places) {
		return nil
	}
	return &More{Cursor: c.at(Newer, place), Count: len(c.Places) - place}
}
