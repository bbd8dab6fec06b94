package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// readers is how many tools that only read run at a time.
const readers = 4

// runTools runs the calls of an answer and records one result for each, in their order. It
// returns the results.
func (r *Run) runTools(ctx context.Context, answer provider.Message) []json.RawMessage {
	calls := answer.ToolCalls()
	if len(calls) == 0 {
		return nil
	}
	b := batch{run: r, calls: calls, results: make([]tool.Result, len(calls))}
	b.tools, b.env = r.Host.Tools()
	if answer.StopReason == provider.StopLength {
		for i := range calls {
			b.results[i] = failed("The answer was cut off at its maximum length, so this call may be incomplete; it was not run. Make smaller calls.")
		}
	} else {
		b.do(ctx)
	}
	recorded := make([]json.RawMessage, len(calls))
	for i, call := range calls {
		m := resultMessage(call, b.results[i], r.now())
		recorded[i] = m.Encode()
		r.record(m)
	}
	return recorded
}

// batch is the tool calls of one answer.
type batch struct {
	run     *Run
	calls   []provider.Block
	tools   map[string]tool.Tool
	env     tool.Env
	results []tool.Result // one per call, each written by one goroutine
}

// do runs the calls in order: neighbours that only read beside each other, each of the
// others alone.
func (b *batch) do(ctx context.Context) {
	var reading sync.WaitGroup
	slots := make(chan struct{}, readers)
	for i, call := range b.calls {
		b.run.Host.Emit(Event{Type: ToolStart, ToolCallID: call.ID, ToolName: call.Name, Args: call.Arguments})
		if b.tools[call.Name].Changes {
			reading.Wait()
			b.one(ctx, i)
			continue
		}
		slots <- struct{}{}
		reading.Go(func() {
			defer func() { <-slots }()
			b.one(ctx, i)
		})
	}
	reading.Wait()
}

// one runs call i and keeps its result. It may have a goroutine of its own, in which a panic
// of whoever is shown the result would end the process.
func (b *batch) one(ctx context.Context, i int) {
	call := b.calls[i]
	defer func() {
		if p := recover(); p != nil && b.results[i].Content == nil {
			b.results[i] = failed(fmt.Sprintf("The tool %s failed unexpectedly: %v", call.Name, p))
		}
	}()
	result, shown := b.guarded(ctx, call)
	b.results[i] = result
	b.run.Host.Emit(Event{Type: ToolEnd, ToolCallID: call.ID, ToolName: call.Name, Result: shown, IsError: result.IsError})
}

// guarded turns whatever becomes of a call into a result, and that into what is shown: a
// result that cannot be encoded is one of a tool that failed.
func (b *batch) guarded(ctx context.Context, call provider.Block) (result tool.Result, shown json.RawMessage) {
	defer func() {
		if p := recover(); p != nil {
			result = failed(fmt.Sprintf("The tool %s failed unexpectedly: %v", call.Name, p))
			shown = resultJSON(result)
		}
	}()
	result = b.outcome(ctx, call)
	return result, resultJSON(result)
}

// outcome is the result of a call that is made, or of one that failed.
func (b *batch) outcome(ctx context.Context, call provider.Block) tool.Result {
	result, err := b.call(ctx, call)
	switch {
	case err == nil:
		return result
	case ctx.Err() != nil && len(result.Content) == 0:
		return failed("The person stopped the turn; this call did not finish.")
	case len(result.Content) == 0:
		result.Content = []provider.Block{provider.Text(err.Error())}
	}
	result.IsError = true
	return result
}

// call checks a call, asks for permission and makes it.
func (b *batch) call(ctx context.Context, call provider.Block) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	t, ok := b.tools[call.Name]
	if !ok {
		return tool.Result{}, fmt.Errorf("Tool %s not found", call.Name) //nolint:staticcheck // a sentence for the model, as pi words it
	}
	if call.ArgumentsError != "" {
		return tool.Result{}, fmt.Errorf("the arguments of %s are not valid JSON: %s", call.Name, call.ArgumentsError)
	}
	args := call.Arguments
	if t.Check != nil {
		var err error
		if args, err = t.Check(args); err != nil {
			return tool.Result{}, err
		}
	}
	if t.Changes {
		if err := b.run.Host.Permit(ctx, call, t, args); err != nil {
			return tool.Result{}, err
		}
	}
	env := b.env
	env.CallID = call.ID
	env.Update = func(partial tool.Result) {
		b.run.Host.Emit(Event{Type: ToolUpdate, ToolCallID: call.ID, ToolName: call.Name, PartialResult: resultJSON(partial)})
	}
	return t.Run(ctx, env, args)
}

func failed(text string) tool.Result {
	r := tool.TextResult(text)
	r.IsError = true
	return r
}

// resultMessage is the message that records a result.
func resultMessage(call provider.Block, r tool.Result, now int64) provider.Message {
	return provider.Message{
		Role: provider.RoleToolResult, ToolCallID: call.ID, ToolName: call.Name,
		Content: r.Content, Details: r.Details, IsError: &r.IsError, Timestamp: now,
	}
}

// resultJSON is a result as an event has it.
func resultJSON(r tool.Result) json.RawMessage {
	m := provider.Message{Role: provider.RoleToolResult, Content: r.Content, Details: r.Details}.Encode()
	return new(rawjson.Object).Raw("content", rawjson.Get(m, "content")).Raw("details", rawjson.Get(m, "details")).Bytes()
}
