package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Input is a prompt of the user.
type Input struct {
	Text     string
	Typed    string           // the command of which Text was made, for the prompt history
	Custom   *provider.Custom // the type of the message, if it is not an ordinary one
	Attached string           // context for the model, before the text; not part of the prompt history
	Appended string           // the same after the text
	Images   []provider.Block
	// Accepted, if not nil, is called when a turn with the prompt began.
	Accepted func()
	// Queue determines the handling of the prompt while a turn is running: "steer", "followUp", or "" to
	// refuse.
	Queue string
}

// Turn is the result of a prompt.
type Turn struct {
	StopReason string
	Usage      provider.Usage
	Message    json.RawMessage // the last answer, nil when there was none
	Queued     bool            // the prompt waits for the current turn to end
}

// empty reports whether there is nothing to answer.
func (in Input) empty() bool {
	return strings.TrimSpace(in.whole()) == "" && len(in.Images) == 0
}

// whole is the text that the model gets.
func (in Input) whole() string { return in.Attached + in.Text + in.Appended }

func (in Input) message(now int64) provider.Message {
	m := provider.Message{Role: provider.RoleUser, Timestamp: now, Typed: in.Typed, Custom: in.Custom}
	if text := in.whole(); text != "" {
		m.Content = append(m.Content, provider.Text(text))
	}
	m.Content = append(m.Content, in.Images...)
	return m
}

// Prompt sends a prompt to the model and returns at the end of its turn, tool calls included.
// While a turn is running it returns a Busy error unless in.Queue is set; then it queues the
// prompt and returns. The end of ctx aborts the turn with a Cancelled error. A failure of the
// model's service is a Provider error; the session keeps the partial answer.
func (s *Session) Prompt(ctx context.Context, in Input) (Turn, error) {
	in.Images = slices.Clone(in.Images)
	for i, image := range in.Images {
		if fitted := imaging.Fit(image); fitted.Type == provider.TypeImage {
			in.Images[i] = fitted // what cannot be fitted is left out of requests, with a note
		}
	}
	if in.empty() {
		return Turn{}, fault.New(fault.InvalidArgument, "A prompt requires text or an image.").With("field", "text")
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
			// Another prompt came first, and this one is queued behind it or refused; or a run that takes no prompts is
			// active.
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

// enqueue adds a prompt to the queue of the current turn. It reports false if no turn is running.
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
		return false, fault.New(fault.InvalidArgument, "%q is not a streaming behavior. Use steer or followUp.", in.Queue).With("field", "streamingBehavior")
	}
	if !s.queue.Running() {
		return false, nil
	}
	if seat := s.serving(); seat != nil {
		return s.enqueueHosted(seat, when, in)
	}
	log, message := s.current(), in.message(s.m.now().UnixMilli())
	accepted := s.accept(log, in, message) // before the run can record it
	if !s.queue.Push(when, message) {
		s.accepted.withdraw(accepted)
		return false, nil
	}
	memory, p := s.historyPrompt(log, in)
	if memory != nil && accepted.mark == nil {
		s.emit(log, event.NotSaved{ErrorMessage: "The queued message could not be written to disk. It is kept only in memory until it is sent."})
	}
	memory.Add(p)
	s.emitQueue()
	return true, nil
}

// Enqueue queues a message for the current turn; in.Queue determines when it is sent. It returns
// the number of queued messages. If no turn is running it returns a Stale error: the message would
// never be answered.
func (s *Session) Enqueue(in Input) (waiting int, err error) {
	if in.empty() {
		return 0, fault.New(fault.InvalidArgument, "A message requires text or an image.").With("field", "text")
	}
	queued, err := s.enqueue(in)
	if err != nil {
		return 0, err
	}
	if !queued {
		return 0, fault.New(fault.Stale, "No turn is running in %s. Send a prompt instead.", s.cwd)
	}
	steering, followUp := s.queue.Texts()
	return len(steering) + len(followUp), nil
}

func (s *Session) emitQueue() {
	log := s.current()
	s.queue.Publish(func(e event.Event) { s.emit(log, e) })
}

// Abort stops the running turn, compaction or branch summary, and returns when it has ended. Queued
// messages are returned. It reports false if nothing was running.
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
	return turn, withRejection(providerFault(r.out.Err), r.out.Rejection)
}

// providerFault returns the failure of a model's service as an error for the user.
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
