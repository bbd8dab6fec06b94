package pi

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Compact implements [engine.Engine]. The end of ctx aborts it.
func (e *Engine) Compact(ctx context.Context, instructions string) (engine.Compaction, error) {
	if err := e.idle(); err != nil {
		return engine.Compaction{}, err
	}
	args := object{}
	if instructions != "" {
		args["customInstructions"] = instructions
	}
	stop := e.abortAfter(ctx)
	defer stop()
	raw, err := e.call(context.WithoutCancel(ctx), "compact", args, 0)
	if err != nil {
		return engine.Compaction{}, e.compactError(ctx, err)
	}
	var c struct {
		Summary, FirstKeptEntryID string
		TokensBefore              float64
	}
	_ = json.Unmarshal(raw, &c) // members of another type are left out
	e.flush()
	return engine.Compaction{Summary: c.Summary, TokensBefore: integer(c.TokensBefore), FirstKeptEntryID: c.FirstKeptEntryID}, nil
}

func (e *Engine) compactError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return &fault.Error{Kind: fault.Cancelled, Message: "The compaction was cancelled.", Err: ctx.Err()}
	case strings.Contains(err.Error(), "Nothing to compact"), strings.Contains(err.Error(), "Already compacted"):
		return fault.New(fault.InvalidArgument, "There is nothing to compact yet.")
	}
	return err
}

// abortAfter aborts what pi does when ctx ends, and ends pi if that does not help in time.
func (e *Engine) abortAfter(ctx context.Context) (stop func()) {
	finished := make(chan struct{})
	unregister := context.AfterFunc(ctx, func() {
		e.task(func() {
			if e.d.serial { // the abort would be read afterwards
				e.fail(e.fault("%s was ended, because it cannot stop what it does.", e.program.Name))
				return
			}
			_, _ = e.call(e.ctx, "abort", nil, answerLimit) // pi is ended if it does not answer at all
			late := time.NewTimer(abortLimit)
			defer late.Stop()
			select {
			case <-finished:
			case <-e.gone:
			case <-late.C:
				e.fail(e.fault("%s did not stop, so it was ended.", e.program.Name))
			}
		})
	})
	return func() {
		unregister()
		close(finished)
	}
}

// Move implements [engine.Engine]. An extension of the user can refuse it, which is a Denied error.
func (e *Engine) Move(ctx context.Context, entryID string, s engine.Summary) (engine.Moved, error) {
	if err := e.idle(); err != nil {
		return engine.Moved{}, err
	}
	limit := answerLimit
	options := object{"summarize": s.Write}
	if s.Write {
		limit = 0
		if s.Instructions != "" {
			options["customInstructions"] = s.Instructions
		}
		stop := e.abortAfter(ctx)
		defer stop()
		ctx = context.WithoutCancel(ctx)
	}
	raw, err := e.bridgeCommand(ctx, "navigate", object{"to": entryID, "options": options}, limit)
	if err != nil {
		return engine.Moved{}, err
	}
	if string(rawjson.Get(raw, "cancelled")) == "true" {
		return engine.Moved{}, fault.New(fault.Denied, "An extension of %s, or the user, cancelled the move.", e.program.Name).With("cancelledBy", e.program.Name+" extension")
	}
	leaf, _ := rawjson.GetString(raw, "leafId")
	text, _ := rawjson.GetString(raw, "text")
	e.flush()
	e.setLeaf(leaf)
	return engine.Moved{LeafID: leaf, Text: text}, nil
}

// Annotate implements [engine.Engine]. pi cannot remove a title.
func (e *Engine) Annotate(ctx context.Context, a engine.Annotation) error {
	if err := e.usable(); err != nil {
		return err
	}
	if !e.d.annotates {
		return e.deny("%s cannot change titles and labels.", e.program.Name)
	}
	if a.EntryID == "" {
		if strings.TrimSpace(a.Title) == "" {
			return e.deny("%s cannot remove the title of a session.", e.program.Name)
		}
		_, err := e.call(ctx, "set_session_name", object{"name": a.Title}, answerLimit)
		return err
	}
	raw, err := e.bridgeCommand(ctx, "label", object{"entry": a.EntryID, "text": a.Label}, answerLimit)
	if err != nil {
		return err
	}
	if leaf, ok := rawjson.GetString(raw, "leafId"); ok {
		e.backlog.add(0, func() { e.moved(leaf) })
		e.flush()
	}
	return nil
}

// Reread implements [engine.Engine]. A session that pi has not written yet is not read.
func (e *Engine) Reread(ctx context.Context) error {
	if err := e.idle(); err != nil {
		return err
	}
	file := e.sessionFile()
	// A file that does not exist would become a new session.
	if _, err := e.fs.Stat(file); errors.Is(err, fs.ErrNotExist) {
		e.mu.Lock()
		written := e.written
		e.mu.Unlock()
		if !written {
			return nil
		}
		return fault.New(fault.NotFound, "The session file is missing: %s.", file).With("path", file)
	}
	raw, err := e.call(ctx, "switch_session", object{"sessionPath": file}, answerLimit)
	if err != nil {
		return err
	}
	if string(rawjson.Get(raw, "cancelled")) == "true" {
		return fault.New(fault.Denied, "An extension of %s did not let it read the session again.", e.program.Name).With("cancelledBy", e.program.Name+" extension")
	}
	e.flush()
	return nil
}

// Reload makes pi load its extensions, skills and prompts again. An engine whose bridge does not report again
// is ended.
func (e *Engine) Reload(ctx context.Context) error {
	if err := e.idle(); err != nil {
		return err
	}
	greeted := e.nextHello()
	if _, err := e.call(ctx, "prompt", object{"message": "/" + commandPrefix + "reload {}"}, 0); err != nil {
		return err
	}
	grace := time.NewTimer(helloGrace)
	defer grace.Stop()
	select {
	case <-greeted:
		return nil
	case <-grace.C:
		err := e.fault("%s did not load the extension of xcsh-ls again.", e.program.Name).With("reason", "bridge")
		e.fail(err)
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-e.gone:
		return e.failure()
	}
}

// isOwnCommand reports whether the name of a command, or the source of its failure, is one of the bridge's.
func isOwnCommand(name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(name, "command:"), commandPrefix)
}

// commandAnswer is the answer to a command of the bridge.
type commandAnswer struct {
	value json.RawMessage
	err   string
}

// bridgeCommand runs a command of the bridge and returns its result.
func (e *Engine) bridgeCommand(ctx context.Context, name string, args object, limit time.Duration) (json.RawMessage, error) {
	if !e.Can().Branch {
		return nil, e.deny("%s runs without the extension of xcsh-ls, so that it cannot do this.", e.program.Name)
	}
	answers := make(chan commandAnswer, 1)
	e.mu.Lock()
	e.number++
	n := e.number
	e.answers[n] = answers
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.answers, n)
		e.mu.Unlock()
	}()
	args["n"] = n
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	// The answer precedes the response, unless that only says that the command was taken.
	if _, err := e.call(ctx, "prompt", object{"message": "/" + commandPrefix + name + " " + string(text)}, limit); err != nil {
		return nil, err
	}
	var late <-chan time.Time
	switch {
	case e.d.settles:
		closed := make(chan time.Time)
		close(closed)
		late = closed
	case limit > 0:
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	return e.awaitCommand(ctx, name, answers, late)
}

// awaitCommand waits for the answer to a command of the bridge.
func (e *Engine) awaitCommand(ctx context.Context, name string, answers <-chan commandAnswer, late <-chan time.Time) (json.RawMessage, error) {
	result := func(a commandAnswer) (json.RawMessage, error) {
		if a.err != "" {
			return nil, refused(e.program.Name, a.err)
		}
		return a.value, nil
	}
	select {
	case a := <-answers:
		return result(a)
	case <-e.gone:
		return nil, e.failure()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late:
	}
	select { // both may have been there
	case a := <-answers:
		return result(a)
	default:
		return nil, e.fault("%s did not answer the command %s.", e.program.Name, name)
	}
}

// commandAnswered delivers the answer to a command. It is called by the reader.
func (e *Engine) commandAnswered(raw json.RawMessage) {
	n, _ := rawjson.Float(rawjson.Get(raw, "n"))
	a := commandAnswer{value: rawjson.Get(raw, "value")}
	a.err, _ = rawjson.GetString(raw, "error")
	e.mu.Lock()
	answers := e.answers[integer(n)]
	delete(e.answers, integer(n))
	e.mu.Unlock()
	if answers != nil {
		answers <- a
	}
}
