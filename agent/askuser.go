package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hosting"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

type (
	// Question is a form that the user is asked to fill in, see [asking.Form].
	Question = asking.Form

	// Answers are the user's answers to a [Question].
	Answers = asking.Answers
)

// Asked is a question of a live session, for a client that shows whole forms.
type Asked struct {
	Cwd       string
	SessionID string
	Question
}

// FormAsker shows a whole form to the user, see [asking.Shower].
type FormAsker func(ctx context.Context, a Asked) (Answers, error)

// CanAsk reports whether there is a user who can be asked a question.
func (s *Session) CanAsk() bool { return s.m.cfg.CanAsk != nil && s.m.cfg.CanAsk() }

// AskUser asks the user and waits for the answers, which are cancelled when ctx ends. While it waits, the snapshot has
// the question, and xcsh.answer answers it. It returns a Denied error if no one can be asked, and an InvalidArgument
// error for a question that cannot be shown.
func (s *Session) AskUser(ctx context.Context, q Question) (Answers, error) {
	if !s.CanAsk() {
		return Answers{}, fault.New(fault.Denied, "There is nobody here who could answer a question.")
	}
	log := s.current()
	var show asking.Shower
	if ask := s.m.cfg.AskForm; ask != nil {
		show = func(ctx context.Context, q Question) (Answers, error) {
			return ask(ctx, Asked{Cwd: s.cwd, SessionID: log.Header().ID, Question: q})
		}
	}
	return s.asked.Ask(ctx, q, show, func(e event.Event) { s.emit(log, e) })
}

// Answer answers a question. It returns a NotFound error if the question does not wait any more.
func (s *Session) Answer(id string, a engine.Answer) error {
	if known, err := s.asked.Answer(id, asking.Reply(a)); known {
		return err
	}
	if seat := s.serving(); seat != nil {
		return seat.Answer(id, a)
	}
	return hosting.NoQuestion(id)
}

// Questions returns the questions that wait for an answer, oldest first: those of this program's own agent and those of
// the engine's extensions.
func (s *Session) Questions() []event.Question {
	questions := s.asked.Questions()
	if seat := s.serving(); seat != nil {
		questions = append(questions, seat.Questions()...)
	}
	return questions
}
