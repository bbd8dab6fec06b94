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
	for attempt := 0; ; {
		message, failure := r.ask(ctx)
		r.out.Message = message
		if r.refused != nil {
			// An answer that is not part of the conversation has no effect: its tools are not run.
			r.Host.Emit(turnEnd(message))
			r.fail(provider.StopError, r.refused, attempt)
			return provider.Message{}, false
		}
		if failure == nil {
			endRetry(r.Host.Emit, attempt, nil)
			r.out.StopReason, r.out.Err = message.StopReason, nil
			return *message, true
		}
		r.Host.Emit(turnEnd(message))
		again, next := r.recover(ctx, failure, attempt)
		if !again {
			return provider.Message{}, false
		}
		attempt = next
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
func (r *Run) recover(ctx context.Context, failure error, attempt int) (again bool, next int) {
	cause := new(provider.Error)
	if !errors.As(failure, &cause) {
		cause = &provider.Error{Class: provider.InvalidRequest, Message: failure.Error()}
	}
	switch {
	case ctx.Err() != nil || cause.Class == provider.Aborted:
		r.fail(provider.StopAborted, nil, attempt)
	case cause.Class == provider.ContextOverflow && !r.compacted:
		r.compacted = true // once: a conversation that cannot be shortened must not loop for ever
		done, err := r.Host.Compact(ctx, true)
		if done {
			return true, attempt
		}
		if ctx.Err() != nil {
			r.fail(provider.StopAborted, nil, attempt)
			break
		}
		if err != nil {
			failure = fmt.Errorf("%w; compacting the conversation failed: %w", failure, err)
		}
		r.fail(provider.StopError, failure, attempt)
	case r.repaired(cause):
		return true, attempt
	case cause.Retryable() && !r.Retry.Disabled && attempt < r.Retry.attempts(cause):
		return r.wait(ctx, cause, attempt+1), attempt + 1
	default:
		if r.out.Rejection = r.Host.Rejected(cause, r.asked); r.out.Rejection != nil {
			period := "."
			if strings.HasSuffix(failure.Error(), period) {
				period = ""
			}
			failure = fmt.Errorf("%w%s%s", failure, period, r.out.Rejection.Message)
		}
		r.fail(provider.StopError, failure, attempt)
	}
	return false, attempt
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
func (r *Run) fail(stop string, err error, attempt int) {
	r.out.StopReason, r.out.Err = stop, err
	if err == nil {
		err = errRetryCancelled
	}
	endRetry(r.Host.Emit, attempt, err)
}

// wait waits before a retry, visibly. It reports false if the run has ended instead.
func (r *Run) wait(ctx context.Context, cause *provider.Error, attempt int) bool {
	delay, err := r.Retry.delay(attempt, cause)
	if err != nil {
		r.fail(provider.StopError, err, attempt-1)
		return false
	}
	r.Host.Emit(retryStart(r.Retry, attempt, delay, cause))
	if sleep(ctx, delay) != nil {
		r.fail(provider.StopAborted, nil, attempt)
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
		failure, message.StopReason, message.ErrorMessage = err, provider.StopError, err.Error()
	}
	r.add(message.Usage)
	if message.StopReason == provider.StopAborted && len(message.Content) == 0 {
		// Differs: an empty answer is not recorded. The originals record it, so that a prompt that
		// was cancelled at once leaves a session behind.
		r.Host.Emit(event.MessageEnd{Message: message.Encode()})
		return message, failure
	}
	r.finish(message.Encode())
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
	sum.TotalTokens += u.TotalTokens
	sum.Cost.Input += u.Cost.Input
	sum.Cost.Output += u.Cost.Output
	sum.Cost.CacheRead += u.Cost.CacheRead
	sum.Cost.CacheWrite += u.Cost.CacheWrite
	sum.Cost.Total += u.Cost.Total
}
