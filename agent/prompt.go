package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Input is what a person says.
type Input struct {
	Text     string
	Attached string // what the model is shown before the text; it is not remembered with it
	Images   []provider.Block
	// Accepted, if not nil, is called when a turn with the prompt began.
	Accepted func()
	// Queue says what to do while a turn runs: "steer", "followUp", or "" to refuse.
	Queue string
}

// Turn is what became of a prompt.
type Turn struct {
	StopReason string
	Usage      provider.Usage
	Message    json.RawMessage // the last answer, nil when there was none
	Queued     bool            // the prompt waits for the turn that runs
}

// empty reports that there is nothing to answer.
func (in Input) empty() bool {
	return strings.TrimSpace(in.Attached+in.Text) == "" && len(in.Images) == 0
}

func (in Input) message(now int64) provider.Message {
	m := provider.Message{Role: provider.RoleUser, Timestamp: now}
	if text := in.Attached + in.Text; text != "" {
		m.Content = append(m.Content, provider.Text(text))
	}
	m.Content = append(m.Content, in.Images...)
	return m
}

// Prompt says something to the model and returns when its turn is over, tools and all.
// While a turn runs it is kind busy unless in.Queue says what to do; then it returns at
// once. The end of ctx aborts the turn and is kind cancelled. A failure of the model's
// service is kind provider; what was answered until then is in the session.
func (s *Session) Prompt(ctx context.Context, in Input) (Turn, error) {
	if in.empty() {
		return Turn{}, fault.New(fault.InvalidArgument, "A prompt needs a text or an image.").With("field", "text")
	}
	var waitedIn *session.Log
	for {
		if s.queue.Running() {
			queued, err := s.enqueue(in)
			if queued || err != nil {
				return Turn{Queued: queued}, err
			}
		}
		r, err := s.start(ctx, in, waitedIn)
		if errors.Is(err, errRunning) {
			// Another prompt was faster, and ours is queued behind it or refused; or something that takes none runs.
			if waitedIn, err = s.settle(ctx); err != nil {
				return Turn{}, err
			}
			continue
		}
		if err != nil {
			return Turn{}, err
		}
		if in.Accepted != nil {
			in.Accepted()
		}
		return s.await(ctx, r)
	}
}

// enqueue gives a prompt to the turn that runs. It reports false when there is none.
func (s *Session) enqueue(in Input) (bool, error) {
	var when loop.When
	switch in.Queue {
	case "steer":
		when = loop.Steering
	case "followUp":
		when = loop.FollowUp
	case "":
		return false, fault.New(fault.Busy, "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.")
	default:
		return false, fault.New(fault.InvalidArgument, "%q is neither steer nor followUp.", in.Queue).With("field", "streamingBehavior")
	}
	if !s.queue.Push(when, in.message(s.m.now().UnixMilli())) {
		return false, nil
	}
	memory, p := s.remembered(s.current(), in)
	memory.Add(p)
	s.emitQueue()
	return true, nil
}

// Enqueue queues a message for the turn that runs, in.Queue saying when it is its turn. It
// returns how many wait. When nothing runs the message is refused, kind stale: it would
// never be answered.
func (s *Session) Enqueue(in Input) (waiting int, err error) {
	if in.empty() {
		return 0, fault.New(fault.InvalidArgument, "A message needs a text or an image.").With("field", "text")
	}
	queued, err := s.enqueue(in)
	if err != nil {
		return 0, err
	}
	if !queued {
		return 0, fault.New(fault.Stale, "Nothing runs in %s; send a prompt instead.", s.cwd)
	}
	steering, followUp := s.queue.Texts()
	return len(steering) + len(followUp), nil
}

func (s *Session) emitQueue() {
	log := s.current()
	s.queue.Tell(func(e loop.Event) { s.emit(log, e) })
}

// Abort stops what runs, a turn, a compaction or the summary of a branch, and returns when it is over. Messages that
// were queued are given back. It reports false when nothing ran.
func (s *Session) Abort(ctx context.Context) (aborted bool, unanswered []string, err error) {
	s.mu.Lock()
	r := s.run
	s.mu.Unlock()
	if r == nil {
		return false, nil, nil
	}
	r.cancel()
	select {
	case <-r.done:
	case <-ctx.Done():
		return false, nil, ctx.Err()
	}
	return true, r.unanswered(), nil
}

// await waits for a run on behalf of the prompt that began it.
func (s *Session) await(ctx context.Context, r *run) (Turn, error) {
	r.wait(ctx)
	turn := Turn{StopReason: r.out.StopReason, Usage: r.out.Usage}
	if r.out.Message != nil {
		turn.Message = r.out.Message.Encode()
	}
	if ctx.Err() != nil && r.out.StopReason == provider.StopAborted {
		return turn, &fault.Error{Kind: fault.Cancelled, Message: "The turn was cancelled.", Err: ctx.Err()}
	}
	return turn, providerFault(r.out.Err)
}

// providerFault words the failure of a model's service for the person.
func providerFault(err error) error {
	var cause *provider.Error
	if err == nil || !errors.As(err, &cause) {
		return err
	}
	f := &fault.Error{Kind: fault.Provider, Message: err.Error(), Err: err}
	f = f.With("class", string(cause.Class))
	if cause.Status != 0 {
		f = f.With("status", cause.Status)
	}
	if cause.RetryAfter > 0 {
		f = f.With("retryAfterMs", cause.RetryAfter.Milliseconds())
	}
	return f
}
