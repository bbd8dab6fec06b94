package pi

import (
	"encoding/json"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// The pauses between two questions whether a program that has ended an answer goes on by itself.
const (
	firstIdle = 5 * time.Millisecond
	lastIdle  = 500 * time.Millisecond

	// keptLimit is how long a program that does nothing may keep a queued message before it counts as stuck.
	keptLimit = 3 * time.Second

	// localQuiet is how long a command of an extension may send nothing, while nothing else happens, before it counts
	// as done. Only for a program that does not report this.
	localQuiet = 3 * time.Second
)

// rest finds the end of a run of a program without agent_settled. After each agent_end it asks for the state, and the answer
// decides where it is read: no event of the program can be between the two. Only the reader uses it, except for id.
type rest struct {
	ending bool   // an agent_end was read, and nothing since that continues
	id     string // of the get_state that decides; guarded by Engine.mu
	pause  time.Duration
	since  time.Time // when it first did nothing but keep a queued message
}

// watchEnd follows the begins and ends of answers.
func (e *Engine) watchEnd(typ string) {
	switch {
	case e.d.settles:
	case typ == "agent_start":
		e.rest.ending, e.rest.since = false, time.Time{}
	case typ == "agent_end":
		e.rest.ending, e.rest.pause, e.rest.since = true, 0, time.Time{}
		e.askIdle()
	}
}

// askIdle asks for the state, after the pause.
func (e *Engine) askIdle() {
	pause := e.rest.pause
	e.rest.pause = min(max(2*pause, firstIdle), lastIdle)
	id, _ := e.calls.add()
	e.calls.drop(id)
	e.mu.Lock()
	e.rest.id = id
	e.mu.Unlock()
	e.task(func() {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
			_ = e.send(e.ctx, "get_state", id, nil) // fails only if the program has ended
		case <-e.gone:
		}
	})
}

// decides reports whether a response is the one that decides about the end of a run.
func (e *Engine) decides(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id == "" || id != e.rest.id {
		return false
	}
	e.rest.id = ""
	return true
}

// decide ends the run if the program does nothing any more.
func (e *Engine) decide(r *record) {
	if !e.rest.ending {
		return // an answer has begun since
	}
	s := decodeState(r.object(fData))
	now := time.Now()
	switch {
	case !r.isTrue(fSuccess), s.busy():
		e.rest.since = time.Time{}
	case s.Queued > 0 && e.rest.since.IsZero():
		e.rest.since = now
	case s.Queued == 0 || now.Sub(e.rest.since) > keptLimit:
		e.kept.Store(int32(min(s.Queued, maxQueued)))
		e.rest.ending = false
		settled := &record{typ: "agent_settled"}
		e.watchRecord(settled)
		e.backlog.add(0, func() { e.reportRecord(settled) })
		return
	}
	e.askIdle()
}

// decodeState reads the answer to get_state. Members of another type than expected are left out.
func decodeState(raw json.RawMessage) (s state) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members)
	for name, into := range map[string]any{
		"model": &s.Model, "thinkingLevel": &s.ThinkingLevel, "sessionFile": &s.SessionFile, "sessionId": &s.SessionID,
		"isStreaming": &s.IsStreaming, "isCompacting": &s.IsCompacting,
	} {
		_ = json.Unmarshal(members[name], into)
	}
	for _, name := range []string{"queuedMessageCount", "pendingMessageCount"} {
		n, _ := rawjson.Float(members[name])
		s.Queued = max(s.Queued, integer(n))
	}
	return s
}

// busy reports whether the program answers or compacts.
func (s state) busy() bool { return s.IsStreaming || s.IsCompacting }
