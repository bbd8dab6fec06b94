package lsptest

import (
	"encoding/json"
	"fmt"
)

// streamDirective is a line of a server section that contains the streamed events.
const streamDirective = "# with streamed events"

// streamed are the types of the events that every turn sends. The events of tools, models and
// settings are not among them.
var streamed = map[string]bool{
	"agent_start": true, "agent_end": true,
	"turn_start": true, "turn_end": true,
	"message_start": true, "message_update": true, "message_end": true,
}

// eventParams are the checked parameters of an event.
type eventParams struct {
	SessionID string `json:"sessionId"`
	Seq       int    `json:"seq"`
	Event     struct {
		Type string `json:"type"`
	} `json:"event"`
}

// isStreamed reports whether the message is an event that conversations leave out.
func (m *Message) isStreamed() bool {
	var p eventParams
	return m.isNotification() && m.Method == "xcsh/event" && json.Unmarshal(m.Params, &p) == nil && streamed[p.Event.Type]
}

// sequence is the newest sequence number by session.
type sequence map[string]int

// check compares the sequence number of an event, streamed or not, with the one before it. Numbers
// have no gaps, and begin at 1 each time a session becomes the live one.
func (s *sequence) check(turn int, m *Message) (problems []string) {
	var p eventParams
	if m.Method != "xcsh/event" && m.Method != "xcsh/sessionChanged" {
		return nil
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return []string{fmt.Sprintf("turn %d: %s: %v", turn+1, m.Method, err)}
	}
	if *s == nil {
		*s = sequence{}
	}
	if want := (*s)[p.SessionID] + 1; p.Seq != want && p.Seq != 1 {
		problems = append(problems, fmt.Sprintf("turn %d: the event after %d of session %s has number %d", turn+1, want-1, p.SessionID, p.Seq))
	}
	(*s)[p.SessionID] = p.Seq
	return problems
}
