package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// Host is the session that a run belongs to. Its methods are called by the goroutine of
// the run, but for Update and Emit of running tools, which may come from several.
type Host interface {
	// Record stores a message and returns its entry's id. After an error with an id the
	// message is kept in memory and part of the conversation all the same; without one it
	// is not, and the run ends.
	Record(m json.RawMessage) (entryID string, err error)

	// Emit shows an event. It does not block.
	Emit(e Event)

	// Request makes the next request of what is recorded, and names who answers it.
	Request(ctx context.Context) (provider.Provider, provider.Request, error)

	// Tools returns the tools by name, and what they work with.
	Tools() (map[string]tool.Tool, tool.Env)

	// Permit asks whether a tool that changes something may run with args. Its error is the
	// reason why not, as the model is told it.
	Permit(ctx context.Context, call provider.Block, t tool.Tool, args json.RawMessage) error

	// Compact shortens a conversation that is too long. overflow tells that the model has
	// refused it; otherwise the host decides whether it is time, and after an error it is
	// not called so again in the run. done reports that the conversation is shorter now.
	Compact(ctx context.Context, overflow bool) (done bool, err error)
}

// Outcome is how a run ended.
type Outcome struct {
	StopReason string             // of the last answer, or "aborted" or "error"
	Message    *provider.Message  // the last answer, nil when there was none
	Err        error              // why the run failed; a *provider.Error if the service did
	Usage      provider.Usage     // sum of the answers of the run
	Unanswered []provider.Message // queued messages that are given back
}

// Run is one run of a model. Its fields must be set before Do is called once.
type Run struct {
	Host  Host
	Queue *Queue // started by the caller
	Retry Retry
	Now   func() time.Time

	out       Outcome
	refused   error // a message could not be made part of the conversation
	compacted bool  // an overflow was answered with a compaction in this run
	stuck     bool  // compacting between turns does not help in this run
	rounds    int   // of tool calls so far
}

// maxRounds bounds the rounds of tool calls in one run. Nobody may be watching, and a model
// that goes in circles costs money with each.
const maxRounds = 500

var errTooManyRounds = fmt.Errorf("The turn was ended after %d rounds of tool calls; say something to let it go on.", maxRounds) //nolint:staticcheck // a sentence for the person

// Do begins with the given messages and returns when the run is over. The end of ctx
// aborts it.
func (r *Run) Do(ctx context.Context, prompt []provider.Message) Outcome {
	r.Retry = r.Retry.filled()
	r.Host.Emit(Event{Type: AgentStart})
	for messages := prompt; messages != nil; {
		if !r.turns(ctx, messages) {
			break
		}
		messages = r.Queue.next()
		if messages != nil {
			r.Queue.Tell(r.Host.Emit)
		}
	}
	steering, followUp := r.Queue.Stop()
	r.out.Unanswered = append(steering, followUp...)
	if len(r.out.Unanswered) > 0 {
		r.Queue.Tell(r.Host.Emit)
	}
	end := Event{Type: AgentEnd, StopReason: r.out.StopReason, Unanswered: texts(r.out.Unanswered)}
	if r.out.Err != nil {
		end.ErrorMessage = r.out.Err.Error()
	}
	r.Host.Emit(end)
	return r.out
}

// turns asks the model and runs its tools until it stops calling any. It reports whether
// the run may go on with what was queued.
func (r *Run) turns(ctx context.Context, messages []provider.Message) bool {
	for {
		r.Host.Emit(Event{Type: TurnStart})
		for _, m := range messages {
			r.record(m)
		}
		if r.refused != nil {
			r.Host.Emit(Event{Type: TurnEnd})
			r.fail(provider.StopError, r.refused, 0)
			return false
		}
		answer, ok := r.answer(ctx)
		if !ok {
			return false
		}
		results := r.runTools(ctx, answer)
		r.Host.Emit(Event{Type: TurnEnd, Message: answer.Encode(), ToolResults: results})
		switch {
		case ctx.Err() != nil:
			r.fail(provider.StopAborted, nil, 0)
			return false
		case r.refused != nil:
			r.fail(provider.StopError, r.refused, 0)
			return false
		}
		if !r.shorten(ctx) {
			return false
		}
		if len(results) == 0 {
			return true
		}
		if r.rounds++; r.rounds == maxRounds {
			r.fail(provider.StopError, errTooManyRounds, 0)
			return false
		}
		if messages = r.Queue.steering(); messages != nil {
			r.Queue.Tell(r.Host.Emit)
		}
	}
}

// shorten makes the next request fit. A failure was shown and the conversation goes on, but
// what failed once would fail after every turn, each time at the price of a summary. It
// reports false when the run is over.
func (r *Run) shorten(ctx context.Context) bool {
	if r.stuck {
		return true
	}
	_, err := r.Host.Compact(ctx, false)
	if err != nil && ctx.Err() != nil {
		r.fail(provider.StopAborted, nil, 0)
		return false
	}
	r.stuck = err != nil
	return true
}

// record stores a message and shows it. What cannot be stored is part of the conversation
// all the same, and everybody is told.
func (r *Run) record(m provider.Message) {
	raw := m.Encode()
	r.Host.Emit(Event{Type: MessageStart, Message: raw})
	r.finish(raw)
}

// finish stores a message whose start was shown.
func (r *Run) finish(raw json.RawMessage) {
	id, err := r.Host.Record(raw)
	if err != nil {
		r.Host.Emit(Event{Type: NotSaved, ErrorMessage: err.Error()})
		if id == "" {
			r.refused = err
		}
	}
	r.Host.Emit(Event{Type: MessageEnd, Message: raw, EntryID: id})
}

func (r *Run) now() int64 { return r.Now().UnixMilli() }
