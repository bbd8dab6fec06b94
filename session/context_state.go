package session

import (
	"encoding/json"
	"maps"
	"slices"
)

// ContextState is a context without its messages.
type ContextState struct {
	MessageCount     int
	ThinkingLevel    string
	HasThinkingLevel bool              // a level was chosen
	Models           map[string]string // role → "provider/id"
	Mode             string
	ModeData         json.RawMessage

	// LongBytes is the length of the messages on lines of more than 4 MiB, without images, and LongEntry the
	// id of the longest. They are only known if the messages were not read for the state.
	LongBytes int64
	LongEntry string
}

// State returns the state of c, without the messages.
func (c Context) State() ContextState {
	return ContextState{
		MessageCount: len(c.Messages), ThinkingLevel: c.ThinkingLevel, HasThinkingLevel: c.HasThinkingLevel,
		Models: c.Models, Mode: c.Mode, ModeData: c.ModeData,
	}
}

// outline caches the context's state and problems at one leaf. It is small, whatever the
// size of the context.
type outline struct {
	leaf, entries int // index of the leaf, and the number of entries at the time
	state         ContextState
	problems      []Problem // without those about images outside the file
	namesBlobs    bool      // there may be such images
}

// ContextState returns the state of the context that [BuildContext] builds for leaf. The
// state of the last requested leaf is cached until an entry is added. The rules for
// concurrent use are those of BuildContext.
func (d *Document) ContextState(leaf Leaf) (ContextState, error) {
	o, err := d.outline(leaf)
	if err != nil {
		return ContextState{}, err
	}
	state := o.state
	state.Models = maps.Clone(state.Models)
	return state, nil
}

// contextProblems returns the problems that [BuildContext] reports.
func (d *Document) contextProblems(leaf Leaf, blobs BlobSource) ([]Problem, error) {
	o, err := d.outline(leaf)
	if err != nil {
		return nil, err
	}
	if blobs == nil || !o.namesBlobs {
		return slices.Clone(o.problems), nil
	}
	// Not cached: a missing image may appear at any time.
	_, problems, err := BuildContext(d, leaf, blobs)
	return problems, err
}

// outline returns the outline at leaf. A cached one is valid until an entry is added,
// because existing entries never change.
func (d *Document) outline(leaf Leaf) (*outline, error) { return d.outlineAt(d.tree.resolve(leaf)) }

// outlineAt is outline for the leaf at an index.
func (d *Document) outlineAt(at int) (*outline, error) {
	if o := d.outlined.Load(); o != nil && o.leaf == at && o.entries == d.Len() {
		return o, nil
	}
	path, problems := d.contextPath(at)
	b := newContextBuilder(d, problems)
	o := &outline{leaf: at, entries: d.Len()}
	count := 0
	b.outlining = true
	b.send = func(_ string, message []byte) error {
		count++
		o.namesBlobs = o.namesBlobs || namesBlobs(message)
		return nil
	}
	if err := b.build(path); err != nil {
		return nil, err
	}
	o.problems, o.state = b.problems, b.ctx.State()
	o.state.MessageCount, o.namesBlobs = count, o.namesBlobs || b.namesBlobs
	o.state.LongBytes, o.state.LongEntry = b.long.words, b.long.entry
	o.state.ModeData = slices.Clone(o.state.ModeData) // a reference would keep the whole line in memory
	d.outlined.Store(o)
	return o, nil
}

// ContextState returns the state of the context of the current leaf.
func (l *Log) ContextState() (state ContextState, err error) {
	err = l.View(func(d *Document, leaf Leaf) error {
		state, err = d.ContextState(leaf)
		return err
	})
	return state, err
}

// ContextProblems returns the problems of the context of the current leaf.
func (l *Log) ContextProblems() (problems []Problem, err error) {
	err = l.View(func(d *Document, leaf Leaf) error {
		problems, err = d.contextProblems(leaf, l.store.BlobsFor(l.path))
		return err
	})
	return problems, err
}
