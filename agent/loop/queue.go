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
	all     [2]bool               // guarded by mu; by When, see Together
}

// Together makes the queue send all messages of a kind at once, or one after another.
func (q *Queue) Together(when When, all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all[when] = all
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

// Find returns a queued message by its text. index is its place in the list that the user saw; earlier messages may have
// been sent since.
func (q *Queue) Find(when When, index int, text string) (m provider.Message, found bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.findLocked(when, index, text)
	if at < 0 {
		return provider.Message{}, false
	}
	return q.waiting[when][at], true
}

// Replace puts another message in the place of the one that Find returns, or removes it if next is nil. It reports
// false if the message has been sent.
func (q *Queue) Replace(when When, index int, text string, next *provider.Message) (was provider.Message, found bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.findLocked(when, index, text)
	if at < 0 {
		return provider.Message{}, false
	}
	was = q.waiting[when][at]
	if next != nil {
		q.waiting[when][at] = *next
	} else {
		q.waiting[when] = slices.Delete(q.waiting[when], at, at+1)
	}
	return was, true
}

// findLocked returns the index of a message, or -1. Messages move to the front, so the search begins at the index.
func (q *Queue) findLocked(when When, index int, text string) int {
	list := q.waiting[when]
	for at := min(index, len(list)-1); at >= 0; at-- {
		if list[at].Shown() == text {
			return at
		}
	}
	return -1
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
		out[i] = m.Shown()
	}
	return out
}

// steering takes the oldest steering message, or all of them.
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

// takeLocked takes the oldest message of one kind, or all of them.
func (q *Queue) takeLocked(when When) []provider.Message {
	if len(q.waiting[when]) == 0 {
		return nil
	}
	if q.all[when] {
		taken := q.waiting[when]
		q.waiting[when] = nil
		return taken
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
