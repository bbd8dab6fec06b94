package pi

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// run is a prompt and what pi does because of it.
type run struct {
	engine *Engine
	in     engine.Input
	id     string // of the prompt's command
	busy   bool   // pi was in a run of its own before
	warned bool

	ctx    context.Context //nolint:containedctx // it is the run; ends with the run: the questions of its tools
	cancel context.CancelFunc
	stop   func() bool

	response chan struct{} // closed when the response has been reported
	started  chan struct{} // closed when pi has begun
	settled  chan struct{} // closed when pi has ended the run, or has ended itself
	answers  chan struct{} // closed when refusals of an aborted run may be sent, because the abort has been
	release  func()        // closes answers

	mu        sync.Mutex // guards what follows
	answer    *answer
	accepted  bool // the next end of a run is the end of this one
	begun     bool // started is closed
	over      bool // settled is closed
	recorded  bool // the prompt is a message
	handled   bool
	aborted   bool
	died      error
	last      *provider.Message
	usage     provider.Usage
	steering  []string // queued
	followUp  []string
	givenBack []string
}

func newRun(e *Engine, in engine.Input) *run {
	r := &run{
		engine: e, in: in,
		response: make(chan struct{}), started: make(chan struct{}), settled: make(chan struct{}), answers: make(chan struct{}),
	}
	r.release = sync.OnceFunc(func() { close(r.answers) })
	return r
}

// answered takes the response to the prompt. It is called by the reporter.
func (r *run) answered(a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answer != nil {
		r.refusedLater(a)
		return
	}
	r.answer = &a
	disposition, _ := rawjson.GetString(a.data, "disposition")
	invoked := rawjson.Get(a.data, "agentInvoked")
	r.handled = !a.failed && (disposition == "handled" || string(invoked) == "false")
	if !a.failed && !r.handled {
		r.accepted = true
	}
	close(r.response)
}

// refusedLater takes a second response to the prompt: omp and xcsh acknowledge a prompt at once and may refuse it
// afterwards. The caller holds mu.
func (r *run) refusedLater(a answer) {
	if !a.failed || r.over || r.begun && r.engine.d.settles {
		return
	}
	r.answer = &a
	if !r.begun {
		r.accepted = false
		r.finishLocked()
	}
}

// follow takes a record and its effect. It is called by the reporter.
func (r *run) follow(rec *record, e effect) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case rec.typ == "agent_start":
		r.accepted = r.accepted || !r.busy
		if !r.begun {
			r.begun = true
			close(r.started)
		}
	case rec.typ == "agent_settled":
		r.busy = false
		if r.accepted {
			r.aborted = r.aborted || rec.isTrue(fAborted)
			r.finishLocked()
		}
	case e.queue != nil:
		r.steering, r.followUp = e.queue.steering, e.queue.followUp
	case e.message != nil:
		r.take(e.message)
	}
}

// take counts a message. The caller holds mu.
func (r *run) take(raw []byte) {
	role, _ := rawjson.GetString(raw, "role")
	switch role {
	case provider.RoleUser:
		r.recorded = true
	case provider.RoleAssistant:
		m, err := provider.DecodeMessage(raw)
		if err != nil {
			return
		}
		r.last = &m
		if m.Usage != nil {
			r.usage = sum(r.usage, *m.Usage)
		}
	}
}

func sum(a, b provider.Usage) provider.Usage {
	return provider.Usage{
		Input: a.Input + b.Input, Output: a.Output + b.Output, CacheRead: a.CacheRead + b.CacheRead, CacheWrite: a.CacheWrite + b.CacheWrite,
		CacheWriteLong: a.CacheWriteLong + b.CacheWriteLong, TotalTokens: a.TotalTokens + b.TotalTokens,
		Cost: provider.UsageCost{
			Input: a.Cost.Input + b.Cost.Input, Output: a.Cost.Output + b.Cost.Output, CacheRead: a.Cost.CacheRead + b.Cost.CacheRead,
			CacheWrite: a.Cost.CacheWrite + b.Cost.CacheWrite, Total: a.Cost.Total + b.Cost.Total,
		},
	}
}

// finish ends the run. It is called by the reporter.
func (r *run) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finishLocked()
}

func (r *run) finishLocked() {
	if r.over {
		return
	}
	r.over = true
	r.cancel()
	close(r.settled)
}

// runEnded ends the current run because pi has ended. It is the last report.
func (e *Engine) runEnded() {
	r := e.current()
	if r == nil {
		return
	}
	err := e.failure()
	r.mu.Lock()
	if !r.over {
		r.died = cmp.Or(r.died, err)
		r.givenBack = slices.Concat(r.givenBack, r.steering, r.followUp)
		r.steering, r.followUp = nil, nil
	}
	r.mu.Unlock()
	e.host.Queued(nil, nil)
	r.finish()
}

// abort takes back the questions of the run.
func (r *run) abort() {
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aborted = true
}

// abortFirst waits, if an abort takes back a question, until the abort has been sent. If the refusal came first, pi would
// ask the model what to do about it. r is nil for a question outside a run.
func (r *run) abortFirst() {
	if r == nil || r.ctx.Err() == nil {
		return
	}
	select {
	case <-r.answers:
	case <-r.settled:
	case <-r.engine.ctx.Done():
	}
}

// fails makes an error the outcome of a run, however it ends. It is called by the reader.
func (r *run) fails(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.died = err
}

// keeps reports whether messages that were reported are in the file.
func (e *Engine) keeps() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.written
}

// left reports whether messages are still queued.
func (r *run) left() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.steering)+len(r.followUp) > 0
}

// giveBack returns queued messages to the user.
func (r *run) giveBack(steering, followUp []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.givenBack = slices.Concat(r.givenBack, steering, followUp)
	r.steering, r.followUp = nil, nil
}

func (r *run) refused() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answer != nil && r.answer.failed
}

func (r *run) isAccepted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.accepted
}

func (r *run) wasHandled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.handled
}

// outcome returns the result of a run that has ended.
func (r *run) outcome() loop.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := loop.Outcome{StopReason: provider.StopEnd, Message: r.last, Usage: r.usage}
	if !r.handled && (!r.recorded || !r.engine.keeps()) {
		out.Unanswered = append(out.Unanswered, messageOf(r.in))
	}
	out.Unanswered = append(out.Unanswered, userMessages(r.givenBack...)...)
	if r.last != nil {
		out.StopReason = r.last.StopReason
	}
	switch {
	case r.aborted:
		out.StopReason = provider.StopAborted
	case r.died != nil:
		out.StopReason, out.Err = provider.StopError, r.died
	case r.answer != nil && r.answer.failed:
		out.StopReason, out.Err = provider.StopError, refused(r.engine.program.Name, r.answer.refusal)
		if needsLogin(r.answer.refusal) {
			out.Rejection = &event.Rejection{Actions: loginActions()}
		}
	case out.StopReason == provider.StopError:
		message := brief(r.last.ErrorMessage, maxNotice)
		out.Err = &provider.Error{Class: failureClass(message), Message: message}
	}
	return out
}
