package script

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// told is an event that executables are to be told of.
type told struct {
	call  call
	files []file
}

// queue is what the executables are still to be told of one workspace folder. Somebody works it
// off as long as it exists.
type queue struct {
	waiting []told             // guarded by Hooks.mu
	kill    context.CancelFunc // ends the executable that runs, and all that are begun later
}

// enqueue adds to the queue of a folder. It reports false when there is no room, or no time.
func (h *Hooks) enqueue(ctx context.Context, t told) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	q := h.queues[t.call.cwd]
	if q != nil {
		if len(q.waiting) >= mostTold {
			return false
		}
		q.waiting = append(q.waiting, t)
		return true
	}
	// Whoever caused the event does not wait for what is made of it, and may be gone by then.
	ctx, kill := context.WithCancel(context.WithoutCancel(ctx))
	q = &queue{waiting: []told{t}, kill: kill}
	h.queues[t.call.cwd] = q
	h.working.Go(func() {
		defer kill()
		for {
			t, ok := h.next(q, t.call.cwd)
			if !ok {
				return
			}
			h.tell(ctx, t)
		}
	})
	return true
}

// next takes the first of a queue out of it. There is no queue any more when it was empty.
func (h *Hooks) next(q *queue, cwd string) (t told, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(q.waiting) == 0 {
		delete(h.queues, cwd)
		return told{}, false
	}
	t, q.waiting = q.waiting[0], q.waiting[1:]
	return t, true
}

func (h *Hooks) tell(ctx context.Context, t told) {
	for _, file := range t.files {
		_, err := t.call.run(ctx, h.limits.tell, file, h.config.Dir)
		if ctx.Err() != nil {
			return // said by who ended it
		}
		if err != nil {
			h.failed(file, err)
		}
	}
}

// Close waits until everything is told, two seconds in all and no longer than ctx, and kills the
// rest. Afterwards nothing runs, and nothing is told any more.
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

// kill ends what runs and says so.
func (h *Hooks) kill() {
	h.mu.Lock()
	late := slices.Sorted(maps.Keys(h.queues))
	for _, q := range h.queues {
		q.waiting = nil
		q.kill()
	}
	h.mu.Unlock()
	if len(late) > 0 {
		h.config.Report("", fmt.Sprintf("Hooks were not done in time with what happened in %s, and were killed.", strings.Join(late, ", ")))
	}
}
