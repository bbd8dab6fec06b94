package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// answer gets the next answer of the model, with retries if they make sense. ok is false if the run
// has ended: the reason is then in r.out.
func (r *Run) answer(ctx context.Context) (answer provider.Message, ok bool) {
	r.tries = tries{}
	for {
		message, failure := r.ask(ctx)
		r.out.Message = message
		if r.refused != nil {
			// An answer that is not part of the conversation has no effect: its tools are not run.
			r.Host.Emit(turnEnd(message))
			r.fail(provider.StopError, r.refused)
			return provider.Message{}, false
		}
		if failure == nil {
			r.tries.end(r.Host.Emit, nil)
			r.out.StopReason, r.out.Err = message.StopReason, nil
			return *message, true
		}
		r.Host.Emit(turnEnd(message))
		if !r.recover(ctx, failure) {
			return provider.Message{}, false
		}
		r.Host.Emit(event.TurnStart{})
	}
}

// turnEnd ends a turn without tools. message is nil when there was no answer.
func turnEnd(message *provider.Message) event.TurnEnd {
	e := event.TurnEnd{}
	if message != nil {
		e.Message = message.Encode()
	}
	return e
}

// recover decides how to continue after a failed request. again reports that it is repeated.
func (r *Run) recover(ctx context.Context, failure error) (again bool) {
	cause := new(provider.Error)
	if !errors.As(failure, &cause) {
		cause = &provider.Error{Class: provider.InvalidRequest, Message: failure.Error()}
	}
	switch {
	case ctx.Err() != nil || cause.Class == provider.Aborted:
		r.fail(provider.StopAborted, nil)
	case cause.Class == provider.ContextOverflow && !r.compacted:
		r.compacted = true // once: a conversation that cannot be shortened must not loop for ever
		done, err := r.Host.Compact(ctx, true)
		if done {
			return true
		}
		if ctx.Err() != nil {
			r.fail(provider.StopAborted, nil)
			break
		}
		if err != nil {
			failure = fmt.Errorf("%w; compacting the conversation failed: %w", failure, err)
		}
		r.fail(provider.StopError, failure)
	case r.repaired(cause):
		return true
	default:
		return r.wait(ctx, r.rejected(cause, failure))
	}
	return false
}

// rejected returns a failure with the ways to continue, if the service rejected content of the
// conversation.
func (r *Run) rejected(cause *provider.Error, failure error) error {
	r.out.Rejection = r.Host.Rejected(cause, r.asked)
	if r.out.Rejection == nil {
		return failure
	}
	period := "."
	if strings.HasSuffix(failure.Error(), period) {
		period = ""
	}
	return fmt.Errorf("%w%s%s", failure, period, r.out.Rejection.Message)
}

// repaired reports whether a request without the content that the service rejected can be made.
func (r *Run) repaired(cause *provider.Error) bool {
	notice, ok := r.Host.Repair(cause)
	if ok {
		r.Host.Emit(event.Notice{Text: notice})
	}
	return ok
}

// fail ends the run.
func (r *Run) fail(stop string, err error) {
	r.out.StopReason, r.out.Err = stop, err
	if err == nil {
		err = errRetryCancelled
	}
	r.tries.end(r.Host.Emit, err)
}

// wait waits before a retry, visibly. It reports false if there is none, and the run has ended.
func (r *Run) wait(ctx context.Context, failure error) bool {
	again, err := r.tries.next(r.Retry, failure)
	if err != nil {
		r.fail(provider.StopError, err)
		return false
	}
	if pause(ctx, again, r.Host.Emit) != nil {
		r.fail(provider.StopAborted, nil)
		return false
	}
	return true
}

// ask makes one request and records its answer, failed ones included. message is nil if there was
// nothing to record.
func (r *Run) ask(ctx context.Context) (message *provider.Message, failure error) {
	service, req, err := r.Host.Request(ctx)
	if err != nil {
		return nil, err
	}
	r.asked = req.Messages
	started, note := false, ""
	for e := range service.Stream(ctx, req) {
		if !started {
			started = true
			r.Host.Emit(event.MessageStart{Message: r.opening(req, e)})
		}
		if u, ok := event.UpdateOf(e); ok {
			r.Host.Emit(event.MessageUpdate{Update: u})
		}
		if e.Kind == provider.Done || e.Kind == provider.Failed {
			message = e.Message
			if e.Err != nil {
				failure = e.Err
			}
			note = e.Note
		}
	}
	if message == nil {
		// Against the contract of a provider; an answer without an end is not an answer.
		failure = &provider.Error{Class: provider.Truncated, Message: "The response from " + req.Model.Ref().String() + " ended early."}
		message = r.blank(req, failure)
	}
	if failure == nil && empty(*message) {
		err := &provider.Error{Class: provider.Empty, Message: "the answer of " + req.Model.Ref().String() + " is empty"}
		if message.StopReason == provider.StopLength {
			err.Message += "; it reached the model's output limit"
		}
		failure, message.StopReason, message.ErrorMessage = err, provider.StopError, err.Error()
	}
	r.add(message.Usage)
	if message.StopReason == provider.StopAborted && len(message.Content) == 0 {
		// Differs: an empty answer is not recorded. The originals record it, so that a prompt that
		// was cancelled at once leaves a session behind.
		r.Host.Emit(event.MessageEnd{Message: message.Encode()})
		return message, failure
	}
	r.finish(message.Encode(), "")
	if note != "" {
		r.Host.Emit(event.Notice{Text: note})
	}
	return message, failure
}

// empty reports whether an answer has nothing for the user: no text and no tool call.
func empty(m provider.Message) bool {
	return len(m.ToolCalls()) == 0 && strings.TrimSpace(m.PlainText()) == ""
}

// opening returns the message of an answer before it has content.
func (r *Run) opening(req provider.Request, e provider.Event) json.RawMessage {
	if e.Message != nil {
		return e.Message.Encode()
	}
	return r.blank(req, nil).Encode()
}

// blank is an answer without content.
func (r *Run) blank(req provider.Request, failure error) *provider.Message {
	m := &provider.Message{
		Role: provider.RoleAssistant, API: req.Model.API, Provider: req.Model.Provider, Model: req.Model.ID,
		Usage: &provider.Usage{}, Timestamp: r.now(), StopReason: provider.StopEnd,
	}
	if failure != nil {
		m.StopReason, m.ErrorMessage = provider.StopError, failure.Error()
	}
	return m
}

func (r *Run) add(u *provider.Usage) {
	if u == nil {
		return
	}
	sum := &r.out.Usage
	sum.Input += u.Input
	sum.Output += u.Output
	sum.CacheRead += u.CacheRead
	sum.CacheWrite += u.CacheWrite
	sum.CacheWriteLong += u.CacheWriteLong
	sum.TotalTokens += u.TotalTokens
	sum.Cost.Input += u.Cost.Input
	sum.Cost.Output += u.Cost.Output
	sum.Cost.CacheRead += u.Cost.CacheRead
	sum.Cost.CacheWrite += u.Cost.CacheWrite
	sum.Cost.Total += u.Cost.Total
}
