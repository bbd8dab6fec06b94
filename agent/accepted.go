package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// acceptedPrompts tracks the prompts of a [Session] that were acknowledged to the client and that are not
// answered yet. Each of them survives the process, in one of two places: in the session file, or
// in the journal of unanswered prompts, because a new session has no file before its first answer
// and a queued prompt is in no session. It is safe for concurrent use.
type acceptedPrompts struct {
	mu   sync.Mutex
	list []*acceptedPrompt // guarded by mu, as are the fields of its elements
}

type acceptedPrompt struct {
	session  string        // its id
	message  []byte        // as it will be recorded
	mark     *history.Mark // nil when the journal does not have it
	whole    bool          // the journal has all of it
	recorded bool          // it is part of the conversation
	returned time.Time     // when a run gave it back, otherwise zero
}

// notifyTime is how long a prompt that was given back stays in the journal. Notifications are written later than they are queued, and
// until then a kill must not lose the prompt. A client that sees the process killed in this time may be offered a prompt that it has.
const notifyTime = 10 * time.Second

// accept writes a prompt to the journal, before its acceptance is reported.
func (s *Session) accept(log *session.Log, in Input, message provider.Message) *acceptedPrompt {
	p := &acceptedPrompt{session: log.Header().ID, message: message.Encode()}
	store, prompt := s.historyPrompt(log, in)
	if prompt.Text == "" && len(in.Images) > 0 {
		prompt.Text = " [an image]" // the space keeps it out of the prompt history
	}
	p.mark = store.Keep(prompt)
	if p.mark == nil {
		return p // there is nothing to release
	}
	p.whole = in.whole() == prompt.Text && len(in.Images) == 0
	s.accepted.mu.Lock()
	defer s.accepted.mu.Unlock()
	s.accepted.list = append(s.accepted.list, p)
	return p
}

// withdraw forgets a prompt that was not accepted after all.
func (a *acceptedPrompts) withdraw(p *acceptedPrompt) {
	a.settle(func(q *acceptedPrompt) bool { return q == p }, (*history.Mark).Answered)
}

// record marks a user message as part of the conversation. It reports whether the journal has all
// of it.
func (a *acceptedPrompts) record(log *session.Log, message json.RawMessage) (kept bool) {
	id := log.Header().ID
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.list {
		if p.session == id && !p.recorded && p.returned.IsZero() && bytes.Equal(p.message, message) {
			p.recorded = true
			return p.whole
		}
	}
	return false
}

// said marks the oldest prompt with a text as part of the conversation that another program records.
func (a *acceptedPrompts) said(log *session.Log, text string) {
	id := log.Header().ID
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.list {
		if p.session != id || p.recorded || !p.returned.IsZero() {
			continue
		}
		if m, err := provider.DecodeMessage(p.message); err == nil && m.PlainText() == text {
			p.recorded = true
			return
		}
	}
}

// answered releases the prompts that the session's file has.
func (a *acceptedPrompts) answered(log *session.Log) {
	id := log.Header().ID
	if durable(log) {
		a.settle(func(p *acceptedPrompt) bool { return p.session == id && p.recorded }, (*history.Mark).Answered)
	}
}

// runEnded handles the end of a run. Prompts that were queued and not recorded are returned to the
// client. They stay in the journal until a run ends later than [notifyTime].
func (a *acceptedPrompts) runEnded(log *session.Log) {
	a.answered(log)
	id, now := log.Header().ID, time.Now()
	isOver := func(p *acceptedPrompt) bool {
		return p.session == id && !p.returned.IsZero() && now.Sub(p.returned) >= notifyTime
	}
	a.settle(isOver, (*history.Mark).Answered)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.list {
		if p.session == id && !p.recorded && p.returned.IsZero() {
			p.returned = now
		}
	}
}

// sessionClosed settles the prompts of a session that is no longer live. Those missing from its
// file stay in the journal until the program exits cleanly.
func (a *acceptedPrompts) sessionClosed(log *session.Log) {
	a.answered(log)
	id := log.Header().ID
	a.settle(func(p *acceptedPrompt) bool { return p.session == id }, (*history.Mark).Abandon)
}

// settle removes the prompts that match, and calls done for the mark of each.
func (a *acceptedPrompts) settle(match func(*acceptedPrompt) bool, done func(*history.Mark)) {
	a.mu.Lock()
	var marks []*history.Mark
	a.list = slices.DeleteFunc(a.list, func(p *acceptedPrompt) bool {
		if !match(p) {
			return false
		}
		marks = append(marks, p.mark)
		return true
	})
	a.mu.Unlock()
	for _, m := range marks {
		done(m)
	}
}

// durable reports whether everything of a session is in its file.
func durable(log *session.Log) bool { return log.OnDisk() && log.Err() == nil }

// secure makes sure that a recorded message outlives the process, before message_end is sent.
// A prompt that the journal does not have, or not all of, needs the session's file.
//
// Differs: the programs make the file of a new session with its first answer only.
func (h *host) secure(message json.RawMessage) error {
	role, _ := rawjson.GetString(message, "role")
	if isInvocation(message) {
		role = provider.RoleUser
	}
	switch role {
	case provider.RoleUser:
		if h.s.accepted.record(h.log, message) || !h.log.Persistent() {
			return nil
		}
		return h.log.EnsureOnDisk()
	case provider.RoleAssistant:
		h.s.accepted.answered(h.log)
	}
	return nil
}
