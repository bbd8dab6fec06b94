package pi

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Run implements [engine.Engine]. A prompt that begins with the name of an extension's command runs that command; if
// it asks the model nothing, the outcome has no message.
//
// If pi ends before it has reported the prompt as a message, the prompt is returned, although it may be in the file.
func (e *Engine) Run(ctx context.Context, in engine.Input) loop.Outcome {
	defer e.awaitEnd()
	r, err := e.beginRun(ctx, in)
	if err != nil {
		return loop.Outcome{StopReason: provider.StopError, Err: err, Unanswered: []provider.Message{messageOf(in)}}
	}
	defer e.endRun(r)
	if err := e.send(ctx, "prompt", r.id, promptOf(in)); err != nil {
		if ctx.Err() != nil {
			r.abort() // it was not sent
		} else {
			e.flushEnd(r)
		}
		return r.outcome()
	}
	e.follow(ctx, r)
	return r.outcome()
}

// beginRun makes a run the current one.
func (e *Engine) beginRun(ctx context.Context, in engine.Input) (*run, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
	switch {
	case strings.TrimSpace(in.Text) == "" && len(in.Images) == 0:
		return nil, fault.New(fault.InvalidArgument, "The prompt is empty.")
	case isOwnCommand(strings.TrimPrefix(in.Text, "/")) && strings.HasPrefix(in.Text, "/"):
		return nil, e.deny("The commands that begin with /%s are for this program only.", commandPrefix)
	}
	r := newRun(e, in)
	r.ctx, r.cancel = context.WithCancel(e.ctx)
	r.stop = context.AfterFunc(ctx, r.cancel) // the end of the prompt's context takes back questions
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run != nil {
		r.stop()
		r.cancel()
		return nil, fault.New(fault.Busy, "%s is answering. Wait, or stop it first.", e.program.Name)
	}
	r.id, _ = e.calls.add()
	e.calls.drop(r.id)
	r.busy = e.streams
	e.run = r
	return r, nil
}

// endRun ends a run: its questions are taken back, and the commands of the user that waited for it are recorded.
func (e *Engine) endRun(r *run) {
	r.stop()
	r.cancel()
	r.release()
	e.mu.Lock()
	e.run = nil // from here on, a command is recorded by its caller
	e.mu.Unlock()
	e.recordBash()
}

// awaitEnd returns when an engine that is about to end has ended, and at once for any other: the next prompt must not
// find one that can take it no more.
func (e *Engine) awaitEnd() {
	e.mu.Lock()
	ends := e.err != nil || e.closing
	e.mu.Unlock()
	if ends {
		<-e.done
	}
}

// current returns the current run, nil if there is none.
func (e *Engine) current() *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.run
}

// promptOf returns the arguments of a prompt. If an extension has begun a run by itself, the prompt waits for its end.
func promptOf(in engine.Input) object {
	args := inputOf(in)
	args["streamingBehavior"] = "followUp"
	return args
}

// inputOf returns the arguments of a message.
func inputOf(in engine.Input) object {
	args := object{"message": in.Text}
	var images []object
	for _, b := range in.Images {
		images = append(images, object{"type": "image", "data": b.Data, "mimeType": b.MimeType})
	}
	if images != nil {
		args["images"] = images
	}
	return args
}

// messageOf returns an input as a message.
func messageOf(in engine.Input) provider.Message {
	m := provider.Message{Role: provider.RoleUser, Timestamp: time.Now().UnixMilli()}
	if in.Text != "" || len(in.Images) == 0 {
		m.Content = append(m.Content, provider.Text(in.Text))
	}
	m.Content = append(m.Content, in.Images...)
	return m
}

func userMessages(texts ...string) (messages []provider.Message) {
	for _, t := range texts {
		messages = append(messages, messageOf(engine.Input{Text: t}))
	}
	return messages
}

// follow waits for the end of a run.
func (e *Engine) follow(ctx context.Context, r *run) {
	lost := time.NewTimer(answerLimit)
	defer lost.Stop()
	quiet := time.NewTimer(quietLimit)
	defer quiet.Stop()
	local := time.NewTicker(localQuiet / 2)
	defer local.Stop()
	if !e.mayBeLocal(r) {
		local.Stop()
	}
	response, started := r.response, r.started
	for {
		select {
		case <-r.settled:
			e.settle(ctx, r)
			return
		case <-response:
			lost.Stop()
			response = nil
			if !e.responded(ctx, r) {
				return
			}
		case <-started:
			lost.Stop()
			local.Stop()
			started = nil
		case <-local.C:
			if response == nil {
				e.checkLocal(ctx, r)
			}
		case <-lost.C:
			// The response may take as long as a command of an extension does, or it is lost. pi must answer something.
			e.task(func() { _, _ = e.call(r.ctx, "get_state", nil, answerLimit) })
		case <-quiet.C:
			quiet.Reset(e.checkQuiet(ctx, r))
		case <-ctx.Done():
			e.abort(r)
			return
		}
	}
}

// responded handles the response to the prompt. It reports whether the run continues.
func (e *Engine) responded(ctx context.Context, r *run) bool {
	if r.refused() {
		return false
	}
	if !r.wasHandled() {
		return true
	}
	// A command may have changed the session, or begun a run.
	s, err := e.state(ctx, answerLimit)
	if err == nil && s.SessionFile != "" && !samePath(s.SessionFile, e.sessionFile()) {
		e.backlog.add(0, func() { e.leave(s.SessionFile) })
	}
	if err == nil && s.IsStreaming {
		return true
	}
	if ctx.Err() != nil {
		return true // the abort ends it
	}
	e.flush()
	return false
}

func (e *Engine) sessionFile() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.file
}

// settle completes a run that pi has ended.
func (e *Engine) settle(ctx context.Context, r *run) {
	e.queueing.Lock() // a message that is being queued belongs to this run
	defer e.queueing.Unlock()
	e.flush()
	if !e.d.clears {
		e.keptBack(r)
		return
	}
	if r.left() && e.usable() == nil {
		steering, followUp := e.clearQueue(context.WithoutCancel(ctx))
		r.giveBack(steering, followUp)
	}
}

// clearQueue takes the queued messages out of pi.
func (e *Engine) clearQueue(ctx context.Context) (steering, followUp []string) {
	raw, err := e.call(ctx, "clear_queue", nil, answerLimit)
	if err != nil {
		return nil, nil
	}
	var queued struct{ Steering, FollowUp []string }
	_ = json.Unmarshal(raw, &queued)
	return queued.Steering, queued.FollowUp
}

// abort stops a run: first what is queued, which would be answered otherwise, then the run. pi is ended if it does
// not stop.
func (e *Engine) abort(r *run) {
	ctx, cancel := context.WithTimeout(context.Background(), abortLimit)
	defer cancel()
	r.abort()
	if e.d.serial { // it reads the abort only after the answers
		r.release()
	}
	switch {
	case e.d.clears:
		r.giveBack(e.clearQueue(ctx))
	case r.left():
		e.dropQueue(r)
		return
	}
	if e.d.serial {
		e.awaitAnswers(ctx)
	}
	// An abort before the run has begun is without effect, so it is repeated.
	again := time.NewTicker(abortInterval)
	defer again.Stop()
	response := r.response
	e.sendAbort(ctx)
	r.release()
	for {
		select {
		case <-r.settled:
			e.settle(ctx, r)
			return
		case <-response:
			response = nil
			if r.refused() || r.wasHandled() && !e.streaming() {
				e.flush()
				return
			}
		case <-again.C:
			e.checkEnd(ctx, r, abortInterval/2)
			e.sendAbort(ctx)
		case <-ctx.Done():
			e.fail(e.fault("%s did not stop, so it was ended.", e.program.Name))
			e.flushEnd(r)
			return
		}
	}
}

// sendAbort sends an abort without waiting for its response, which comes when the run has ended.
func (e *Engine) sendAbort(ctx context.Context) {
	id, _ := e.calls.add()
	e.calls.drop(id)
	_ = e.send(ctx, "abort", id, nil) // fails only if pi has ended, or does not read
}

// checkEnd ends a run whose end was lost, in a line that another program wrote into: pi has sent nothing for some time
// and says that it does nothing.
func (e *Engine) checkEnd(ctx context.Context, r *run, silence time.Duration) (ended bool) {
	if !r.isAccepted() || time.Since(time.Unix(0, e.lastLine.Load())) < silence {
		return false
	}
	s, err := e.state(ctx, answerLimit)
	if err != nil || s.IsStreaming || s.IsCompacting {
		return false
	}
	e.mu.Lock()
	e.streams = false
	e.mu.Unlock()
	e.backlog.add(0, r.finish)
	return true
}

func (e *Engine) streaming() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.streams
}

// flushEnd waits until a run has ended with the engine.
func (e *Engine) flushEnd(r *run) {
	select {
	case <-r.settled:
	case <-e.done:
	}
}

// checkQuiet is called when a run has lasted for some time. It notifies the user if pi has sent nothing for long
// although it waits for nothing that is known, and returns the time until the next check.
func (e *Engine) checkQuiet(ctx context.Context, r *run) time.Duration {
	if since := time.Since(time.Unix(0, e.lastLine.Load())); since < quietLimit {
		return quietLimit - since
	}
	waits := e.watch.tools.Load() > 0 || e.watch.retrying.Load() || e.asked.Load() > 0 || e.openDialogs() > 0
	if !e.checkEnd(ctx, r, quietLimit) && !waits && !r.warned {
		r.warned = true
		e.host.Emit(event.Notice{Text: e.program.Name + " has sent nothing for ten minutes. You can stop it."})
	}
	return quietLimit
}

// Queue implements [engine.Engine].
func (e *Engine) Queue(ctx context.Context, when loop.When, in engine.Input) error {
	if err := e.usable(); err != nil {
		return err
	}
	e.queueing.Lock()
	defer e.queueing.Unlock()
	if e.current() == nil || !e.streaming() {
		return e.noRun()
	}
	typ := "steer"
	if when == loop.FollowUp {
		typ = "follow_up"
	}
	if !e.d.clears {
		return e.queueBlindly(ctx, typ, when, in)
	}
	if _, err := e.call(ctx, typ, inputOf(in), answerLimit); err != nil {
		return err
	}
	if e.streaming() {
		return nil
	}
	// pi took the message after the run had ended, and would keep it for the next one.
	steering, followUp := e.clearQueue(ctx)
	if slices.Contains(slices.Concat(steering, followUp), in.Text) {
		return e.noRun()
	}
	return nil
}

func (e *Engine) noRun() error {
	return fault.New(fault.Stale, "%s is not answering, so that nothing can be queued.", e.program.Name)
}
