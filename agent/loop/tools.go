package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
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
	b := batch{
		run: r, calls: calls, results: make([]tool.Result, len(calls)), meant: make([]meant, len(calls)),
		known: make([]bool, len(calls)), done: make(chan int, len(calls)),
	}
	b.tools, b.env = r.Host.Tools(ctx)
	b.find(ctx)
	if answer.StopReason == provider.StopLength {
		for i := range calls {
			b.results[i] = failed("The answer was cut off at its maximum length, so this call may be incomplete; it was not run. Make smaller calls.")
			b.record(i)
		}
	} else {
		b.do(ctx)
	}
	return b.recorded
}

// batch is the tool calls of one answer.
type batch struct {
	run     *Run
	calls   []provider.Block
	meant   []meant // one per call
	tools   map[string]tool.Tool
	env     tool.Env
	results []tool.Result // one per call, each written by one goroutine

	// Of the goroutine of the run.
	known    []bool // the results that can be recorded
	recorded []json.RawMessage
	running  int      // goroutines of reading calls
	done     chan int // a reading call that ended
}

// meant is the tool of a call, or the reason why there is none.
type meant struct {
	Meant
	err error
}

// find finds the tools of the calls.
func (b *batch) find(ctx context.Context) {
	for i, call := range b.calls {
		m, ok, err := b.run.Host.Find(ctx, call)
		switch t, known := b.tools[call.Name]; {
		case err != nil:
			b.meant[i].err = err
		case ok:
			b.meant[i].Meant = m
		case known:
			b.meant[i].Meant = Meant{t, call.Arguments}
		default:
			b.meant[i].err = fmt.Errorf("Tool %s not found", call.Name) //nolint:staticcheck // a sentence for the model, as pi words it
		}
	}
}

// do runs the calls in order: adjacent calls that only read in parallel, each of the others alone.
// Each result is recorded as soon as those before it are, so that a crash loses as few as possible.
// A call is not run if the result of an earlier one cannot become part of the conversation.
func (b *batch) do(ctx context.Context) {
	for i, call := range b.calls {
		t := b.meant[i].Tool
		alone := t.Alone || t.Changing(b.meant[i].Args)
		for b.running > 0 && (alone || b.running == readers) {
			b.wait()
		}
		if b.run.refused != nil {
			break
		}
		b.run.Host.Emit(event.ToolStart{ToolCallID: call.ID, ToolName: call.Name, Args: call.Arguments})
		if alone {
			b.one(ctx, i)
			b.record(i)
			continue
		}
		b.running++
		go func() {
			defer func() { b.done <- i }()
			b.one(ctx, i)
		}()
	}
	for b.running > 0 {
		b.wait()
	}
}

// wait waits for the end of a reading call.
func (b *batch) wait() {
	i := <-b.done
	b.running--
	b.record(i)
}

// record makes the result of call i known, and records the known results whose predecessors are
// recorded.
func (b *batch) record(i int) {
	b.known[i] = true
	for n := len(b.recorded); n < len(b.calls) && b.known[n] && b.run.refused == nil; n++ {
		m := resultMessage(b.calls[n], b.results[n], b.run.now())
		b.recorded = append(b.recorded, m.Encode())
		b.run.record(m)
		b.run.failures.add(b.calls[n], b.results[n])
	}
}

// one runs call i and keeps its result. It may run in a goroutine of its own, in which a panic of a
// subscriber to the result would end the process.
func (b *batch) one(ctx context.Context, i int) {
	call := b.calls[i]
	defer func() {
		if p := recover(); p != nil && b.results[i].Content == nil {
			b.results[i] = failed(fmt.Sprintf("The tool %s failed unexpectedly: %v", call.Name, p))
		}
	}()
	result, shown := b.guarded(ctx, i)
	b.results[i] = result
	b.run.Host.Emit(event.ToolEnd{ToolCallID: call.ID, ToolName: call.Name, Result: shown, IsError: result.IsError})
}

// guarded turns the outcome of a call into a result, and the result into its JSON: a
// result that cannot be encoded is one of a tool that failed.
func (b *batch) guarded(ctx context.Context, i int) (result tool.Result, shown json.RawMessage) {
	defer func() {
		if p := recover(); p != nil {
			result = failed(fmt.Sprintf("The tool %s failed unexpectedly: %v", b.calls[i].Name, p))
			shown = resultJSON(result)
		}
	}()
	result = b.outcome(ctx, i)
	return result, resultJSON(result)
}

// outcome is the result of a call that is made, or of one that failed.
func (b *batch) outcome(ctx context.Context, i int) tool.Result {
	result, err := b.call(ctx, b.calls[i], b.meant[i])
	stopped, _ := errors.AsType[*tool.Stopped](err)
	switch {
	case err == nil:
		return result
	case stopped != nil:
		result.Content = append(result.Content, provider.Text(stopped.Error()))
	case ctx.Err() != nil && len(result.Content) == 0:
		return failed("The user stopped the turn; this call did not finish.")
	case len(result.Content) == 0:
		result.Content = []provider.Block{provider.Text(err.Error())}
	}
	result.IsError = true
	return result
}

// call checks a call, asks for permission and runs it.
func (b *batch) call(ctx context.Context, call provider.Block, m meant) (tool.Result, error) {
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	case m.err != nil:
		return tool.Result{}, m.err
	}
	if call.ArgumentsError != "" {
		return tool.Result{}, fmt.Errorf("the arguments of %s are not valid JSON: %s", call.Name, call.ArgumentsError)
	}
	t, args := m.Tool, m.Args
	if t.Check != nil {
		var err error
		if args, err = t.Check(args); err != nil {
			return tool.Result{}, err
		}
	}
	env := b.env
	if t.Changes && (t.Reads == nil || !t.Reads(args)) {
		var err error
		if env.Permission, err = b.run.Host.Permit(ctx, call, t, args); err != nil {
			return tool.Result{}, err
		}
		if err = b.run.Host.Starting(call); err != nil {
			return tool.Result{}, err
		}
	}
	env.CallID = call.ID
	updates := &updates{show: func(partial tool.Result) {
		b.run.Host.Emit(event.ToolUpdate{ToolCallID: call.ID, ToolName: call.Name, PartialResult: resultJSON(partial)})
	}}
	defer updates.end()
	env.Update = updates.update
	return t.RunWithin(ctx, env, args)
}

// updates shows the output of a running call until it ends: an abandoned call must not
// change what the client shows of the next one.
type updates struct {
	show func(tool.Result)

	mu    sync.Mutex
	ended bool // guarded by mu
}

func (u *updates) update(partial tool.Result) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.ended {
		u.show(partial)
	}
}

func (u *updates) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = true
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
