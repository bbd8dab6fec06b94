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
}

// State returns c but for the messages.
func (c Context) State() ContextState {
	return ContextState{
		MessageCount: len(c.Messages), ThinkingLevel: c.ThinkingLevel, HasThinkingLevel: c.HasThinkingLevel,
		Models: c.Models, Mode: c.Mode, ModeData: c.ModeData,
	}
}

// outline is what is remembered of the context at one leaf. It is small, whatever the
// size of the context.
type outline struct {
	leaf, entries int // the leaf's place, and how many entries there were
	state         ContextState
	problems      []Problem // but for images kept outside the file
	namesBlobs    bool      // there may be such images
}

// ContextState returns what [BuildContext] makes of leaf, but for the messages. That of the
// leaf asked for last is remembered until an entry is added. It may be called like
// BuildContext.
func (d *Document) ContextState(leaf Leaf) (ContextState, error) {
	o, err := d.outline(leaf)
	if err != nil {
		return ContextState{}, err
	}
	state := o.state
	state.Models = maps.Clone(state.Models)
	return state, nil
}

// ContextProblems returns the problems that [BuildContext] reports.
func (d *Document) ContextProblems(leaf Leaf, blobs BlobSource) ([]Problem, error) {
	o, err := d.outline(leaf)
	if err != nil {
		return nil, err
	}
	if blobs == nil || !o.namesBlobs {
		return slices.Clone(o.problems), nil
	}
	// Not remembered: an image that is missing now may be there a moment later.
	_, problems, err := BuildContext(d, leaf, blobs)
	return problems, err
}

// outline returns the outline at leaf. What is in a Document's entries never changes, and
// which of them lie on a path only when one is added.
func (d *Document) outline(leaf Leaf) (*outline, error) {
	at := d.tree.resolve(leaf)
	if o := d.outlined.Load(); o != nil && o.leaf == at && o.entries == d.Len() {
		return o, nil
	}
	path, problems := d.contextPath(at)
	b := newContextBuilder(d, problems)
	// omp decides about a message by those around it; the others' can be forgotten at once.
	b.counting = d.dialect != Omp
	if err := b.build(path); err != nil {
		return nil, err
	}
	o := &outline{leaf: at, entries: d.Len(), problems: b.problems, namesBlobs: b.namesBlobs, state: b.ctx.State()}
	o.state.ModeData = slices.Clone(o.state.ModeData) // else all of its line is kept
	if b.counting {
		o.state.MessageCount = b.count
	} else {
		o.namesBlobs = slices.ContainsFunc(b.ctx.Messages, func(m json.RawMessage) bool { return namesBlobs(m) })
	}
	d.outlined.Store(o)
	return o, nil
}

// ContextState returns the context of the current leaf but for the messages.
func (l *Log) ContextState() (state ContextState, err error) {
	err = l.View(func(d *Document, leaf Leaf) error {
		state, err = d.ContextState(leaf)
		return err
	})
	return state, err
}

// ContextProblems returns what the context of the current leaf has to do without.
func (l *Log) ContextProblems() (problems []Problem, err error) {
	err = l.View(func(d *Document, leaf Leaf) error {
		problems, err = d.ContextProblems(leaf, l.store.BlobsFor(l.path))
		return err
	})
	return problems, err
}
