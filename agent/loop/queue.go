package loop

import (
	"slices"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// When is the moment at which a queued message is sent to the model.
type When int

// The two moments.
const (
	Steering When = iota // after the tool calls that are running
	FollowUp             // when the run would end
)

// Queue holds the messages that the user sends during a run. It is safe for concurrent use; its
// zero value is idle.
type Queue struct {
	publishing sync.Mutex // held while the queued messages are read and published

	mu      sync.Mutex
	running bool                  // guarded by mu
	waiting [2][]provider.Message // guarded by mu; by When
}

// Start makes the queue accept messages for a new run. It reports false if another run has begun.
func (q *Queue) Start() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running {
		return false
	}
	q.running = true
	return true
}

// Push queues a message for the run. It reports false if there is none: then the caller begins
// a run with the message.
func (q *Queue) Push(when When, m provider.Message) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.running {
		return false
	}
	q.waiting[when] = append(q.waiting[when], m)
	return true
}

// Running reports whether a run accepts messages.
func (q *Queue) Running() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running
}

// Texts returns the texts of the queued messages.
func (q *Queue) Texts() (steering, followUp []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return texts(q.waiting[Steering]), texts(q.waiting[FollowUp])
}

// Publish emits the queued messages. It reads and emits them in one step, so that an older list
// never follows a newer one: every change of the queue is followed by a call. emit must not call
// back.
func (q *Queue) Publish(emit func(event.Event)) {
	q.publishing.Lock()
	defer q.publishing.Unlock()
	steering, followUp := q.Texts()
	emit(event.QueueChanged{Steering: steering, FollowUp: followUp})
}

// Show replaces the queued messages by those that another program holds, which sends them itself. A later Stop returns them.
func (q *Queue) Show(steering, followUp []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running {
		q.waiting = [2][]provider.Message{Steering: messagesOf(steering), FollowUp: messagesOf(followUp)}
	}
}

func messagesOf(texts []string) []provider.Message {
	messages := make([]provider.Message, len(texts))
	for i, text := range texts {
		messages[i] = provider.Message{Role: provider.RoleUser, Content: []provider.Block{provider.Text(text)}}
	}
	return messages
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
	return q.takeLocked(Steering)
}

// next takes the oldest message of either kind, or ends the run if there is none. That is one
// atomic step: a message pushed before it is answered, one pushed after it is refused.
func (q *Queue) next() (messages []provider.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if messages = q.takeLocked(Steering); messages == nil {
		messages = q.takeLocked(FollowUp)
	}
	if messages == nil {
		q.running = false
	}
	return messages
}

// takeLocked takes the oldest message of one kind.
func (q *Queue) takeLocked(when When) []provider.Message {
	if len(q.waiting[when]) == 0 {
		return nil
	}
	m := q.waiting[when][0]
	q.waiting[when] = slices.Delete(q.waiting[when], 0, 1)
	return []provider.Message{m}
}

// Stop ends the run and returns the unanswered messages.
func (q *Queue) Stop() (steering, followUp []provider.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = false
	steering, followUp = q.waiting[Steering], q.waiting[FollowUp]
	q.waiting = [2][]provider.Message{}
	return steering, followUp
}
