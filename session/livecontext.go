package session

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// liveContext is the context of a session that a run makes longer, kept from one request to the next:
// entries below the leaf are added to it, and everything else is built again. The bytes of its
// messages stay the same slices for as long as their entries are part of it.
//
// It is kept only where entries that are added below the leaf cannot change what is before them: where no
// id is used twice, and the path begins at a root.
type liveContext struct {
	b       *contextBuilder
	doc     *Document
	leaf    int
	entries int   // of doc, at the time
	path    []int // from the root to the leaf

	edits      map[string]contextEdit // pi: of the entries on the path
	turns      *liveTurns             // omp
	namesBlobs bool                   // a message may reference images outside the file
	missing    []int                  // the messages whose references were not all resolved, in order

	list    messageList // the context's messages. One that was returned is never changed again
	settled int         // omp: how many of them later entries have no influence on
}

// messageList is messages and the ids of their entries.
type messageList struct {
	messages []json.RawMessage
	ids      []string
}

// newLiveContext builds the context of d up to its entry leaf. It returns nil if the context cannot be
// kept.
func newLiveContext(d *Document, leaf int, blobs BlobSource) (*liveContext, error) {
	path, problems := d.contextPath(leaf)
	c := &liveContext{
		b: newContextBuilder(d, problems), doc: d, leaf: leaf, entries: d.Len(), path: path,
		list: messageList{messages: []json.RawMessage{}},
	}
	if len(path) == 0 || len(problems) > 0 {
		return nil, nil
	}
	if err := c.build(); err != nil {
		return nil, err
	}
	if d.dialect == Pi {
		edits, err := c.b.contextEdits(path)
		if err != nil {
			return nil, err
		}
		c.edits = edits
	}
	c.take(0, blobs)
	c.publish()
	return c, nil
}

// build builds the context of the whole path, for omp without its rules for neighbouring messages.
func (c *liveContext) build() error {
	if c.doc.dialect != Omp {
		return c.b.build(c.path)
	}
	c.turns = newLiveTurns()
	if err := c.b.scanState(c.path); err != nil {
		return err
	}
	return c.b.emitOmpEntries(c.path)
}

// extend adds the entries between the leaf and a new one below it. It reports false if the context has to
// be built again.
func (c *liveContext) extend(d *Document, leaf int, blobs BlobSource) bool {
	if d != c.doc || d.Len() < c.entries {
		return false
	}
	if leaf == c.leaf && d.Len() == c.entries {
		return true
	}
	fresh, ok := c.below(leaf)
	if !ok || d.tree.twice || !c.appends(fresh) {
		return false
	}
	from := len(c.b.ctx.Messages)
	if c.add(fresh) != nil {
		return false // building it again meets the same failure and returns it
	}
	c.leaf, c.entries, c.path = leaf, d.Len(), append(c.path, fresh...)
	c.take(from, blobs)
	c.publish()
	return true
}

// below returns the entries between the leaf and a new one below it, in the order of the path. ok is false
// if the new leaf is not below the old one.
func (c *liveContext) below(leaf int) (fresh []int, ok bool) {
	for i := leaf; i != c.leaf; i = c.doc.tree.parentOf(i) {
		if i < c.leaf || len(fresh) > c.doc.Len()-c.leaf { // the latter on a cycle of parents
			return nil, false
		}
		fresh = append(fresh, i)
	}
	slices.Reverse(fresh)
	return fresh, true
}

// appends reports whether the entries only add messages and state to the context.
func (c *liveContext) appends(fresh []int) bool {
	t := &c.doc.tree
	if c.doc.dialect == Omp && t.typ(c.path[len(c.path)-1]) == TypeCompaction {
		return false // the summary has the time of the entry after it
	}
	for _, i := range fresh {
		switch t.typ(i) {
		case TypeCompaction, typeResetBoundary, typeContextEdit:
			return false
		case TypeCustom:
			if c.doc.dialect != Omp {
				continue
			}
			// Notes come before all messages.
			if e, err := c.doc.Entry(i); err != nil || e.AsCustom().CustomType == notesType {
				return false
			}
		}
		if _, edited := c.edits[t.id(i)]; edited {
			return false
		}
	}
	return true
}

// add adds the state and the messages of entries.
func (c *liveContext) add(fresh []int) error {
	if err := c.b.scanState(fresh); err != nil {
		return err
	}
	message := xcshMessage
	switch c.doc.dialect {
	case Pi:
		message = piMessage
	case Omp:
		message = ompMessage
	}
	return c.b.emitEntries(fresh, message)
}

// take makes the context's messages of those that the builder has from a position on.
func (c *liveContext) take(from int, blobs BlobSource) {
	for _, m := range c.b.ctx.Messages[from:] {
		c.namesBlobs = c.namesBlobs || namesBlobs(m)
	}
	if c.turns == nil {
		c.keep(messageList{c.b.ctx.Messages[from:], c.b.ctx.EntryIDs[from:]}, blobs)
		return
	}
	settled, open, again := c.turns.settle(c.b)
	if again {
		c.settled = 0
	}
	if c.settled < len(c.list.messages) {
		c.list = messageList{slices.Clip(c.list.messages[:c.settled]), slices.Clip(c.list.ids[:c.settled])}
		c.missing = slices.DeleteFunc(c.missing, func(i int) bool { return i >= c.settled })
	}
	c.keep(settled, blobs)
	c.settled = len(c.list.messages)
	c.keep(open, blobs)
}

// keep adds messages to the context and resolves their images.
func (c *liveContext) keep(more messageList, blobs BlobSource) {
	for i, m := range more.messages {
		if blobs != nil && namesBlobs(m) {
			m = resolveBlobs(m, blobs, 0, func(string, error) {})
			if namesBlobs(m) {
				c.missing = append(c.missing, len(c.list.messages))
			}
		}
		c.list.messages, c.list.ids = append(c.list.messages, m), append(c.list.ids, more.ids[i])
	}
}

// retry resolves the references again that could not be resolved: a missing image may appear at any time.
// It returns a problem for each that is still missing.
func (c *liveContext) retry(blobs BlobSource) (problems []Problem) {
	if blobs == nil || len(c.missing) == 0 {
		return nil
	}
	changed := false
	for _, i := range c.missing {
		m := resolveBlobs(c.list.messages[i], blobs, 0, func(hash string, err error) {
			problems = append(problems, blobProblem(c.list.ids[i], hash, err))
		})
		if bytes.Equal(m, c.list.messages[i]) {
			continue
		}
		if !changed {
			c.list.messages, changed = slices.Clone(c.list.messages), true
		}
		c.list.messages[i] = m
	}
	c.missing = slices.DeleteFunc(c.missing, func(i int) bool { return !namesBlobs(c.list.messages[i]) })
	return problems
}

// context returns the context.
func (c *liveContext) context(blobs BlobSource) (ctx Context, problems []Problem) {
	missing := c.retry(blobs)
	ctx = c.b.ctx
	ctx.Messages, ctx.EntryIDs = slices.Clip(c.list.messages), slices.Clip(c.list.ids)
	ctx.Models, ctx.InjectedTTSRRules = maps.Clone(ctx.Models), slices.Clip(ctx.InjectedTTSRRules)
	return ctx, append(slices.Clone(c.b.problems), missing...)
}

// publish spares the document the same work: the context's state.
func (c *liveContext) publish() {
	o := &outline{leaf: c.leaf, entries: c.entries, problems: c.b.problems, namesBlobs: c.namesBlobs, state: c.b.ctx.State()}
	o.state.MessageCount, o.state.Models = len(c.list.messages), maps.Clone(o.state.Models)
	o.state.ModeData = slices.Clone(o.state.ModeData)
	c.doc.outlined.Store(o)
}

// followContext brings the kept context up to date, and forgets it if it has to be built again.
func (l *Log) followContext() {
	if l.live != nil && !l.live.extend(l.doc, l.leaf, l.store.BlobsFor(l.path)) {
		l.live = nil
	}
}

// liveContext returns the context of the leaf, which is kept from now on. ok is false if it cannot be.
func (l *Log) liveContext() (ctx Context, problems []Problem, ok bool, err error) {
	if !l.grows || l.closed {
		return Context{}, nil, false, nil
	}
	blobs := l.store.BlobsFor(l.path)
	if l.live == nil {
		if l.live, err = newLiveContext(l.doc, l.leaf, blobs); l.live == nil {
			return Context{}, nil, false, err
		}
	}
	ctx, problems = l.live.context(blobs)
	return ctx, problems, true, nil
}
