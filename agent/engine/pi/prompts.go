package pi

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// promptResult handles omp's report that a prompt asked the model nothing. It is called by the reader.
func (e *Engine) promptResult(r *record) {
	run := e.current()
	if run == nil || r.string(fID) != run.id || string(r.values[fAgentInvoked]) != "false" {
		return
	}
	e.backlog.add(0, run.wasLocal)
}

// wasLocal ends a run whose prompt asked the model nothing. It is called by the reporter.
func (r *run) wasLocal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun {
		return
	}
	r.handled = true
	r.finishLocked()
}

// mayBeLocal reports whether the prompt of a run may be a command that asks the model nothing, without a report of its
// end.
func (e *Engine) mayBeLocal(r *run) bool { return !e.d.reports && strings.HasPrefix(r.in.Text, "/") }

// checkLocal ends the run of a command that has done nothing for some time. It is only for a program that does
// not report the end of a command.
func (e *Engine) checkLocal(ctx context.Context, r *run) {
	if e.openDialogs() > 0 || e.asked.Load() > 0 || time.Since(time.Unix(0, e.lastLine.Load())) < localQuiet {
		return
	}
	s, err := e.state(ctx, answerLimit)
	if err == nil && !s.busy() && s.Queued == 0 {
		e.backlog.add(0, r.wasLocal)
	}
}

// enqueue notes a message before it is queued, for a program that does not report its queue.
func (r *run) enqueue(when loop.When, text string) {
	r.mu.Lock()
	list := &r.steering
	if when == loop.FollowUp {
		list = &r.followUp
	}
	*list = append(slices.Clone(*list), text)
	steering, followUp := r.steering, r.followUp
	r.mu.Unlock()
	r.engine.host.Queued(steering, followUp)
}

// dequeue notes that a message is not queued any more. It reports nothing if it was not.
func (r *run) dequeue(text string) {
	r.mu.Lock()
	found := take(&r.steering, text) || take(&r.followUp, text)
	steering, followUp := r.steering, r.followUp
	r.mu.Unlock()
	if found {
		r.engine.host.Queued(steering, followUp)
	}
}

// take removes a text from a list that others may hold.
func take(list *[]string, text string) bool {
	i := slices.Index(*list, text)
	if i < 0 {
		return false
	}
	*list = slices.Delete(slices.Clone(*list), i, i+1)
	return true
}

// keptBack completes a run of a program whose queue cannot be cleared. If it has kept messages, which it would
// answer with the next prompt, it is ended, and they are given back.
func (e *Engine) keptBack(r *run) {
	if e.kept.Swap(0) > 0 {
		r.giveBack(r.queued())
		e.retire()
		return
	}
	r.mu.Lock()
	r.steering, r.followUp = nil, nil // all were delivered, perhaps as other texts
	r.mu.Unlock()
	e.host.Queued(nil, nil)
}

// queued returns the messages that wait for the run.
func (r *run) queued() (steering, followUp []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.steering, r.followUp
}

// queueBlindly queues a message in a program whose queue can be neither seen nor cleared. One that came too late would be
// answered with the next prompt, so that the program is ended.
func (e *Engine) queueBlindly(ctx context.Context, typ string, when loop.When, in engine.Input) error {
	r := e.current()
	if r == nil {
		return e.noRun()
	}
	r.enqueue(when, in.Text)
	_, err := e.call(ctx, typ, inputOf(in), answerLimit)
	if err != nil {
		r.dequeue(in.Text)
		return err
	}
	if e.streaming() {
		return nil
	}
	s, err := e.state(ctx, answerLimit)
	if err != nil || s.Queued == 0 || s.busy() {
		return nil //nolint:nilerr // it was taken, and may have been delivered
	}
	r.dequeue(in.Text)
	e.retire()
	return e.noRun()
}

// userText returns the text of a message of the user.
func userText(message json.RawMessage) (text string, ok bool) {
	if role, _ := rawjson.GetString(message, "role"); role != provider.RoleUser {
		return "", false
	}
	content := rawjson.Get(message, "content")
	if text, ok := rawjson.String(content); ok {
		return text, true
	}
	rawjson.Elements(content, func(block []byte) bool {
		if typ, _ := rawjson.GetString(block, "type"); typ == "text" {
			part, _ := rawjson.GetString(block, "text")
			text += part
		}
		return true
	})
	return text, true
}

// retire ends the program without a failure, and waits for that. The next prompt starts it again.
func (e *Engine) retire() {
	e.mu.Lock()
	e.closing = true
	e.mu.Unlock()
	e.endChild()
	<-e.done
}

// dropQueue aborts a run whose queue cannot be cleared: an abort would begin the next run with the message that waits. The
// end of the input aborts and records the run, and no answer follows.
func (e *Engine) dropQueue(r *run) {
	r.giveBack(r.queued())
	e.retire()
}

// awaitAnswers waits until the open questions of an aborted run are answered: a program that reads nothing while it
// aborts would wait for them for ever.
func (e *Engine) awaitAnswers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	look := time.NewTicker(lateLook)
	defer look.Stop()
	for e.asked.Load() > 0 || e.openDialogs() > 0 {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}
