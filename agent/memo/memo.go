// Package memo keeps what the messages of a conversation become in a request, so that a prompt in a long
// conversation costs as much as one in a short one. It decides nothing: what it returns is what the packages
// convert, imaging, provider and compaction make of the same messages.
package memo

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Conversation is what the messages of one conversation become. Each method takes the messages as the session
// stores them, in a list that is not changed afterwards. Messages that the list has in common with that of
// the last call, from its beginning, are not read again; the others replace those of the last call. So the
// memory that it takes is proportional to the list. It is safe for concurrent use.
type Conversation struct {
	images *imaging.Fitter

	mu     sync.Mutex
	stored []json.RawMessage // guarded by mu, like all below
	rows   []row             // of each stored message
	sizes  compaction.Sizes
	form   form
}

// row is one message in the form for models. ok is false if models do not get it.
type row struct {
	message provider.Message
	ok      bool
}

// form is the conversation as the requests to one model have it.
type form struct {
	*provider.Preparation
	model   provider.Model
	without Without
	rows    int // how many are in it
	images  int // bytes of their base64
}

// Without is content that requests leave out.
type Without struct {
	Images, Thinking int64  // that of messages up to then, in milliseconds since 1970
	Reason           string // for a note in place of the images
}

// New returns an empty memo. images fits the images of requests.
func New(images *imaging.Fitter) *Conversation { return &Conversation{images: images} }

// Request is the conversation in a request.
type Request struct {
	Messages []provider.Message // prepared for the model; the caller must not change them
	History  bool               // one has a history that the model's service compacted
	Last     string             // the role of the last one before the preparation
}

// Request returns the conversation for a request to a model.
func (c *Conversation) Request(stored []json.RawMessage, model provider.Model, without Without) Request {
	if len(stored) == 0 {
		return Request{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(stored)
	f := &c.form
	if f.Preparation == nil || f.without != without || !reflect.DeepEqual(f.model, model) {
		c.form = form{Preparation: provider.NewPreparation(model), model: model, without: without}
	}
	for ; f.rows < len(c.rows); f.rows++ {
		if r := c.rows[f.rows]; r.ok {
			m, size := c.images.Message(without.from(r.message))
			f.images += size
			f.Add(m)
		}
	}
	r := Request{History: f.History(), Last: c.last()}
	if imaging.Few(f.images) {
		r.Messages = f.Messages()
	} else {
		r.Messages = c.crowded(model, without)
	}
	return r
}

// last returns the role of the last message that models get, "" if there is none.
func (c *Conversation) last() string {
	for _, r := range slices.Backward(c.rows) {
		if r.ok {
			return r.message.Role
		}
	}
	return ""
}

// crowded is the slow way, for images that are too many, so that a new one can push out an old one.
func (c *Conversation) crowded(model provider.Model, without Without) []provider.Message {
	var all []provider.Message
	for _, r := range c.rows {
		if r.ok {
			all = append(all, without.from(r.message))
		}
	}
	return provider.Prepare(c.images.Messages(all), model)
}

// from returns a message without the content.
func (w Without) from(m provider.Message) provider.Message {
	one := []provider.Message{m}
	if w.Images > 0 && m.Timestamp <= w.Images {
		one, _ = imaging.Without(one, w.Images, w.Reason)
	}
	if w.Thinking > 0 && m.Timestamp <= w.Thinking {
		one, _ = provider.WithoutThinking(one, w.Thinking)
	}
	return one[0]
}

// Size estimates the tokens of a request as [compaction.Sizes.Request] does. fixed is called only if its
// result is needed.
func (c *Conversation) Size(stored []json.RawMessage, fixed func() int) int {
	size, counted := c.size(stored, 0)
	if !counted {
		size, _ = c.size(stored, fixed()) // without the lock
	}
	return size
}

func (c *Conversation) size(stored []json.RawMessage, fixed int) (size int, counted bool) {
	if len(stored) == 0 {
		return new(compaction.Sizes).Request(fixed), false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(stored)
	_, counted = c.sizes.Tokens()
	return c.sizes.Request(fixed), counted
}

// Tokens estimates the tokens of the messages as [compaction.Tokens] does.
func (c *Conversation) Tokens(stored []json.RawMessage) int {
	if len(stored) == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(stored)
	tokens, _ := c.sizes.Tokens()
	return tokens
}

// Each calls f with the form for models of each message that they get. f must not call back.
func (c *Conversation) Each(stored []json.RawMessage, f func(provider.Message)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(stored)
	for _, r := range c.rows {
		if r.ok {
			f(r.message)
		}
	}
}

// follow makes the rows those of stored.
func (c *Conversation) follow(stored []json.RawMessage) {
	same := c.common(stored)
	if same < len(c.rows) {
		clear(c.rows[same:]) // to be freed
		c.rows = c.rows[:same]
		if same < cap(c.rows)/4 {
			c.rows = append([]row(nil), c.rows...)
		}
		c.sizes.Cut(same)
	}
	if same < c.form.rows {
		c.form = form{}
	}
	c.stored = stored
	for _, raw := range stored[same:] {
		var r row
		r.message, r.ok = convert.Message(raw)
		c.rows = append(c.rows, r)
		c.sizes.Add(raw)
	}
}

// common returns how many messages stored and the known list have in common at their beginning. Parts of
// one list need not be compared, because it does not change.
func (c *Conversation) common(stored []json.RawMessage) int {
	n := min(len(stored), len(c.stored))
	if n == 0 || &stored[0] == &c.stored[0] {
		return n
	}
	for i := range n {
		if !bytes.Equal(stored[i], c.stored[i]) {
			return i
		}
	}
	return n
}
