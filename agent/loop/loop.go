package loop

import (
	"context"
	"encoding/json"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Host is the session that a run belongs to. Its methods are called by the goroutine of
// the run, but for Update and Emit of running tools, which may come from several.
type Host interface {
	// Record stores a message and returns its entry's id. After an error with an id the
	// message is kept in memory and part of the conversation all the same; without one it
	// is not, and the run ends.
	Record(m json.RawMessage) (entryID string, err error)

	// Emit publishes an event. It does not block.
	Emit(e event.Event)

	// Request returns the next request, made of the recorded messages, and its provider.
	Request(ctx context.Context) (provider.Provider, provider.Request, error)

	// Tools returns the tools by name, and their environment.
	Tools(ctx context.Context) (map[string]tool.Tool, tool.Env)

	// Find returns the tool that a call means by another name or by an address, with its arguments. It is not ok for a call
	// of the tool that it names. Its error is a sentence for the model.
	Find(ctx context.Context, call provider.Block) (m Meant, ok bool, err error)

	// Permit asks for permission to run a tool that changes something. Its error is the
	// reason for a denial, worded for the model.
	Permit(ctx context.Context, call provider.Block, t tool.Tool, args json.RawMessage) (tool.Permission, error)

	// Starting records that a tool that changes something is about to run, so that its start is
	// known after a crash. After an error the call is not run.
	Starting(call provider.Block) error

	// Repair leaves content that the service rejected out of the next requests, if it knows how to.
	// notice is for the user.
	Repair(cause *provider.Error) (notice string, repaired bool)

	// Rejected returns the ways to continue after a request was rejected for its content, nil if it
	// was not. request are its messages.
	Rejected(cause *provider.Error, request []provider.Message) *event.Rejection

	// Compact shortens a conversation that is too long. overflow reports that the model has
	// refused it; otherwise the host decides whether it is time, and after an error it is
	// not called so again in the run. done reports that the conversation is shorter now.
	Compact(ctx context.Context, overflow bool) (done bool, err error)
}

// Meant is a tool that a call means, and its arguments.
type Meant struct {
	Tool tool.Tool
	Args json.RawMessage
}

// Outcome is how a run ended.
type Outcome struct {
	StopReason string             // of the last answer, or "aborted" or "error"
	Message    *provider.Message  // the last answer, nil when there was none
	Err        error              // why the run failed; a *provider.Error if the service did
	Usage      provider.Usage     // sum of the answers of the run
	Unanswered []provider.Message // queued messages that are returned to the user
	Rejection  *event.Rejection   // set if the service rejected content of the conversation
}

// Run is one run of a model. Its fields must be set before Do is called once.
type Run struct {
	Host  Host
	Queue *Queue // started by the caller
	Retry Retry
	Now   func() time.Time

	out       Outcome
	asked     []provider.Message // by the last request
	refused   error              // a message could not be made part of the conversation
	tries     tries              // of the current request
	compacted bool               // an overflow was answered with a compaction in this run
	stuck     bool               // compacting between turns does not help in this run
	rounds    int                // of tool calls so far
	failures  failures
}

// maxRounds bounds the rounds of tool calls in one run. The user may not be watching, and a model
// that goes in circles costs money with each.
const maxRounds = 500

var errTooManyRounds = fault.New(fault.Limit, "The turn was ended after %d rounds of tool calls. Send another prompt to continue.", maxRounds).With("limit", "rounds")

// Do begins with the given messages and returns when the run has ended. The end of ctx
// aborts it.
func (r *Run) Do(ctx context.Context, prompt []provider.Message) Outcome {
	r.Host.Emit(event.AgentStart{})
	for messages := prompt; messages != nil; {
		if !r.turns(ctx, messages) {
			break
		}
		messages = r.Queue.next()
		if messages != nil {
			r.Queue.Publish(r.Host.Emit)
		}
	}
	steering, followUp := r.Queue.Stop()
	r.out.Unanswered = append(steering, followUp...)
	if len(r.out.Unanswered) > 0 {
		r.Queue.Publish(r.Host.Emit)
	}
	end := event.AgentEnd{StopReason: r.out.StopReason, Unanswered: texts(r.out.Unanswered), Rejection: r.out.Rejection}
	if r.out.Err != nil {
		end.ErrorMessage = r.out.Err.Error()
	}
	r.Host.Emit(end)
	return r.out
}

// turns sends requests to the model and runs its tools until it stops calling any. It reports
// whether the run may continue with the queued messages.
func (r *Run) turns(ctx context.Context, messages []provider.Message) bool {
	for {
		r.Host.Emit(event.TurnStart{})
		for _, m := range messages {
			r.record(m)
		}
		if r.refused != nil {
			r.Host.Emit(event.TurnEnd{})
			r.fail(provider.StopError, r.refused)
			return false
		}
		// The messages may be long, and the model may be another one, with a smaller window.
		if len(messages) > 0 && !r.shorten(ctx) {
			r.Host.Emit(event.TurnEnd{})
			return false
		}
		answer, ok := r.answer(ctx)
		if !ok {
			return false
		}
		results := r.runTools(ctx, answer)
		r.Host.Emit(event.TurnEnd{Message: answer.Encode(), ToolResults: results})
		switch {
		case ctx.Err() != nil:
			r.fail(provider.StopAborted, nil)
			return false
		case r.refused != nil:
			r.fail(provider.StopError, r.refused)
			return false
		}
		if !r.shorten(ctx) {
			return false
		}
		if len(results) == 0 {
			return true
		}
		if err := r.failures.err(); err != nil {
			r.fail(provider.StopError, err)
			return false
		}
		if r.rounds++; r.rounds == maxRounds {
			r.fail(provider.StopError, errTooManyRounds)
			return false
		}
		if messages = r.Queue.steering(); messages != nil {
			r.Queue.Publish(r.Host.Emit)
		}
	}
}

// shorten makes the next request fit. After a failure the conversation continues without
// another attempt, which would fail after every turn at the price of a summary. It
// reports false when the run has ended.
func (r *Run) shorten(ctx context.Context) bool {
	if r.stuck {
		return true
	}
	_, err := r.Host.Compact(ctx, false)
	if err != nil && ctx.Err() != nil {
		r.fail(provider.StopAborted, nil)
		return false
	}
	r.stuck = err != nil
	return true
}

// record stores a message and shows it. A message that cannot be stored is part of the conversation
// all the same, and the failure is published.
func (r *Run) record(m provider.Message) {
	raw := m.Encode()
	r.Host.Emit(event.MessageStart{Message: raw, Typed: m.Typed})
	r.finish(raw, m.Typed)
}

// finish stores a message whose start was shown. typed is the command of which the message was made.
func (r *Run) finish(raw json.RawMessage, typed string) {
	id, err := r.Host.Record(raw)
	if err != nil {
		r.Host.Emit(event.NotSaved{ErrorMessage: err.Error()})
		if id == "" {
			r.refused = err
		}
	}
	r.Host.Emit(event.MessageEnd{Message: raw, Typed: typed, EntryID: id})
}

func (r *Run) now() int64 { return r.Now().UnixMilli() }
