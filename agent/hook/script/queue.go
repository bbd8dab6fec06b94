package script

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
)

// notification is an event to be sent to executables.
type notification struct {
	call  call
	files []file
}

// queue holds the pending notifications of one workspace folder. A goroutine sends them as long
// as the queue exists.
type queue struct {
	waiting []notification     // guarded by Hooks.mu
	kill    context.CancelFunc // ends the executable that runs, and all that are begun later
}

// enqueue adds to the queue of a folder. It reports false if there is no room, or no time.
func (h *Hooks) enqueue(ctx context.Context, t notification) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	q := h.queues[t.call.event.Cwd]
	if q != nil {
		if len(q.waiting) >= maxNotifications {
			return false
		}
		q.waiting = append(q.waiting, t)
		return true
	}
	// The caller does not wait for the executables, and its ctx may end before them.
	ctx, kill := context.WithCancel(context.WithoutCancel(ctx))
	q = &queue{waiting: []notification{t}, kill: kill}
	h.queues[t.call.event.Cwd] = q
	h.working.Go(func() {
		defer kill()
		for {
			t, ok := h.next(q, t.call.event.Cwd)
			if !ok {
				return
			}
			h.notify(ctx, t)
		}
	})
	return true
}

// next removes the first notification from a queue. It removes the queue if it is empty.
func (h *Hooks) next(q *queue, cwd string) (t notification, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(q.waiting) == 0 {
		delete(h.queues, cwd)
		return notification{}, false
	}
	t, q.waiting = q.waiting[0], q.waiting[1:]
	return t, true
}

func (h *Hooks) notify(ctx context.Context, t notification) {
	for _, file := range t.files {
		out, err := t.call.run(ctx, h.limits.notify, file, h.config.Dir)
		if ctx.Err() != nil {
			return // reported by kill
		}
		var answer hook.Answer
		if err == nil && bytes.HasPrefix(out, []byte("{")) { // other output is ignored
			answer, err = t.call.answer(out)
		}
		if err != nil {
			h.failed(file, err)
		}
		h.addEntries(ctx, t.call, file, answer.Entries)
	}
}

// Close waits for the pending notifications, two seconds in all and no longer than ctx, and kills
// the rest. Afterwards no executable runs, and none is started.
func (h *Hooks) Close(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.working.Wait()
	}()
	late := time.NewTimer(h.limits.drain)
	defer late.Stop()
	select {
	case <-done:
		return
	case <-ctx.Done():
	case <-late.C:
	}
	h.kill()
	<-done
}

// kill ends the running executables and reports it.
func (h *Hooks) kill() {
	h.mu.Lock()
	late := slices.Sorted(maps.Keys(h.queues))
	for _, q := range h.queues {
		q.waiting = nil
		q.kill()
	}
	h.mu.Unlock()
	if len(late) > 0 {
		h.config.Report("", fmt.Sprintf("Hooks did not finish before the time limit in %s and were killed.", strings.Join(late, ", ")))
	}
}
