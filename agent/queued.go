package agent

import (
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/attached"
)

// QueuedMessage names a message that waits for the current turn.
type QueuedMessage struct {
	Queue string // "steer" or "followUp"
	Index int    // in that queue, from 0
	Text  string // as the queue shows it
}

// EditQueued replaces the user's words of a queued message by those of in, or removes the message if there are none. The
// message keeps its place, its attachments and images; those of in are added. It returns the number of queued messages.
// Returns a Stale error if the message is not queued any more.
func (s *Session) EditQueued(q QueuedMessage, in Input) (waiting int, err error) {
	when, err := whenOf(q.Queue)
	if err != nil {
		return 0, err
	}
	if seat := s.serving(); seat != nil {
		return 0, fault.New(fault.Denied, "Messages queued in %s cannot be changed. Stop the turn to get them back.", seat.Program().Name)
	}
	log := s.current()
	var next *provider.Message
	var accepted *acceptedPrompt
	if strings.TrimSpace(in.Text) != "" {
		was, found := s.queue.Find(when, q.Index, q.Text)
		if !found {
			return 0, errSent()
		}
		in = reworded(was, in)
		message := in.message(was.Timestamp)
		next, accepted = &message, s.accept(log, in, message) // before the run can record it
	}
	was, found := s.queue.Replace(when, q.Index, q.Text, next)
	if !found {
		s.accepted.withdraw(accepted)
		return 0, errSent()
	}
	s.accepted.withdrawMessage(log, was)
	if next != nil && accepted.mark == nil && log.Persistent() {
		s.emit(log, event.NotSaved{ErrorMessage: "The queued message could not be written to disk. It is kept only in memory until it is sent."})
	}
	s.emitQueue()
	steering, followUp := s.queue.Texts()
	return len(steering) + len(followUp), nil
}

func errSent() error {
	return fault.New(fault.Stale, "This message is not queued any more. It was sent, or returned when the turn ended.")
}

// whenOf returns the queue called name.
func whenOf(name string) (loop.When, error) {
	switch name {
	case "steer":
		return loop.Steering, nil
	case "followUp":
		return loop.FollowUp, nil
	default:
		return 0, fault.New(fault.InvalidArgument, "%q is not a queue. Use steer or followUp.", name).With("field", "queue")
	}
}

// reworded is a queued message with the words of in after its attached files and those of in.
func reworded(m provider.Message, in Input) Input {
	text := m.PlainText()
	prefix, found := strings.CutSuffix(text, attached.Words(text))
	if !found { // it has files only
		prefix = text
	}
	images := slices.Clone(m.Content)
	images = slices.DeleteFunc(images, func(b provider.Block) bool { return b.Type != provider.TypeImage })
	return Input{Text: in.Text, Typed: in.Typed, Custom: in.Custom, Attached: prefix + in.Attached, Images: append(images, in.Images...)}
}

// withdrawMessage forgets the prompt of a message that will not be sent.
func (a *acceptedPrompts) withdrawMessage(log *session.Log, m provider.Message) {
	id, message := log.Header().ID, string(m.Encode())
	a.mu.Lock()
	at := slices.IndexFunc(a.list, func(p *acceptedPrompt) bool {
		return p.session == id && !p.recorded && p.returned.IsZero() && string(p.message) == message
	})
	var found *acceptedPrompt
	if at >= 0 {
		found = a.list[at]
	}
	a.mu.Unlock()
	if found != nil {
		a.withdraw(found)
	}
}
