package loop

import (
	"slices"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// When says when a queued message is given to the model.
type When int

// The two moments.
const (
	Steering When = iota // after the tool calls that are running
	FollowUp             // when the run would end
)

// Queue holds what a person says while a run goes on. It is safe for concurrent use; its
// zero value is idle.
type Queue struct {
	telling sync.Mutex // held while what waits is read and shown

	mu      sync.Mutex
	running bool                  // guarded by mu
	waiting [2][]provider.Message // guarded by mu; by When
}

// Start makes the queue take messages, for a run that now begins. It reports false when
// another run has begun.
func (q *Queue) Start() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running {
		return false
	}
	q.running = true
	return true
}

// Push gives a message to the run. It reports false when there is none: then the message
// was not taken, and the caller begins a run with it.
func (q *Queue) Push(when When, m provider.Message) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.running {
		return false
	}
	q.waiting[when] = append(q.waiting[when], m)
	return true
}

// Running reports whether messages are taken.
func (q *Queue) Running() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running
}

// Texts returns what waits, as it would be shown.
func (q *Queue) Texts() (steering, followUp []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return texts(q.waiting[Steering]), texts(q.waiting[FollowUp])
}

// Tell shows what waits. That is read and shown in one step, so that an older list is never
// shown after a newer one: whoever changed the queue tells afterwards, and the last to tell
// tells the truth. emit must not call back.
func (q *Queue) Tell(emit func(Event)) {
	q.telling.Lock()
	defer q.telling.Unlock()
	steering, followUp := q.Texts()
	emit(Event{Type: QueueChanged, Steering: steering, FollowUp: followUp})
}

func texts(messages []provider.Message) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.PlainText()
	}
	return out
}

// steering takes the oldest steering message.
func (q *Queue) steering() []provider.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.take(Steering)
}

// next takes the oldest message of either kind, or ends the run when there is none. That
// is one decision: a message pushed before it is answered, one pushed after it is refused.
func (q *Queue) next() (messages []provider.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if messages = q.take(Steering); messages == nil {
		messages = q.take(FollowUp)
	}
	if messages == nil {
		q.running = false
	}
	return messages
}

// take needs mu.
func (q *Queue) take(when When) []provider.Message {
	if len(q.waiting[when]) == 0 {
		return nil
	}
	m := q.waiting[when][0]
	q.waiting[when] = slices.Delete(q.waiting[when], 0, 1)
	return []provider.Message{m}
}

// Stop ends the run and gives back what it has not answered.
func (q *Queue) Stop() (steering, followUp []provider.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = false
	steering, followUp = q.waiting[Steering], q.waiting[FollowUp]
	q.waiting = [2][]provider.Message{}
	return steering, followUp
}
