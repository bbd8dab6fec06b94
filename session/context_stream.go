package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// StreamContext returns the context that [BuildContext] builds, without its messages and the ids of their entries, and a
// sequence of the messages. The sequence reads them from the file each time it is iterated and keeps none, so that
// it needs the memory of the largest message. A message is valid until the next one is requested. An error of
// reading ends the sequence.
//
// The rules for concurrent use are those of BuildContext; they apply to the sequence too.
func StreamContext(d *Document, leaf Leaf, blobs BlobSource) (Context, iter.Seq2[json.RawMessage, error], error) {
	path, problems := d.contextPath(d.tree.resolve(leaf))
	b := newContextBuilder(d, problems)
	if err := b.scanState(path); err != nil {
		return Context{}, nil, err
	}
	return b.ctx, func(yield func(json.RawMessage, error) bool) {
		if err := b.stream(path, blobs, yield); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}, nil
}

// errStopped ends the emission of messages when the consumer wants no more.
var errStopped = errors.New("session: no more messages are wanted")

// stream yields the messages of the entries at path. b has their state and does not change.
func (b *contextBuilder) stream(path []int, blobs BlobSource, yield func(json.RawMessage, error) bool) error {
	run := contextBuilder{doc: b.doc, compaction: b.compaction, reset: b.reset}
	run.send = func(_ string, message []byte) error {
		if blobs != nil && namesBlobs(message) {
			message = resolveBlobs(message, blobs, 0, func(string, error) {})
		}
		if !yield(message, nil) {
			return errStopped
		}
		return nil
	}
	return run.emitAll(path)
}

// streamOmp is [contextBuilder.emitOmp] for messages that are sent. It reads the results of tools twice, because a
// tool call without one is left out.
func (b *contextBuilder) streamOmp(path []int) error {
	id, notes, err := b.notes(path[max(b.reset, 0):])
	if err != nil {
		return err
	}
	b.emit(id, "", notes)
	visible, err := b.visibleOmp(path)
	if err != nil {
		return err
	}
	f := ompFilter{send: b.send, gone: map[string]bool{}}
	if f.answered, err = b.answeredCalls(visible); err != nil {
		return err
	}
	b.send = f.take // a failed turn that waits at the end is left out
	return b.emitEntries(visible, ompMessage)
}

// answeredCalls returns the ids of the tool calls that have a result among the entries at path.
func (b *contextBuilder) answeredCalls(path []int) (map[string]bool, error) {
	var results []int
	for _, i := range path {
		if b.doc.tree.typ(i) == TypeMessage && b.doc.tree.role(i) == "toolResult" {
			results = append(results, i)
		}
	}
	answered := map[string]bool{}
	r := lineReader{doc: b.doc, reuse: true}
	err := r.each(results, func(i int, raw []byte) error {
		if m := ompMessage(b.entry(i, raw)); m != nil {
			id, _ := rawjson.GetString(m, "toolCallId")
			answered[id] = true
		}
		return nil
	})
	return answered, err
}

// ompFilter leaves out tool calls without a result and failed turns, as [contextBuilder.dropDanglingCalls] and
// [contextBuilder.dropFailedTurns] do, message by message.
type ompFilter struct {
	send     func(role string, message []byte) error
	answered map[string]bool
	gone     map[string]bool // the calls of the turns that were left out
	failed   []byte          // a failed turn, until the next message is known; else nil

	entry   int // that of the message that is taken or sent, for callers that set it
	waiting int // that of the failed turn
}

// take handles one message.
func (f *ompFilter) take(role string, m []byte) error {
	if role == "assistant" {
		if m = withoutDanglingCalls(m, f.answered); m == nil {
			return nil
		}
	}
	if err := f.settle(isThinking(m)); err != nil {
		return err
	}
	switch role {
	case "assistant":
		if isFailedTurn(m) {
			f.failed, f.waiting = bytes.Clone(m), f.entry
			return nil
		}
	case "toolResult":
		if len(f.gone) > 0 {
			if id, _ := rawjson.GetString(m, "toolCallId"); f.gone[id] {
				return nil
			}
		}
	}
	return f.send(role, m)
}

// settle sends the failed turn that waits if it is kept.
func (f *ompFilter) settle(kept bool) error {
	m := f.failed
	f.failed = nil
	switch {
	case m == nil:
		return nil
	case kept:
		now := f.entry
		f.entry = f.waiting
		err := f.send("assistant", m)
		f.entry = now
		return err
	}
	noteCalls(f.gone, m)
	return nil
}
