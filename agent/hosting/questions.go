package hosting

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// The bounds of the questions of extensions. A question beyond them is cancelled, or shortened.
const (
	maxQuestions = 32
	maxOptions   = 500
	maxText      = 64 << 10
)

// questions are those of the engine's extensions that wait for an answer.
type questions struct {
	seat *Seat

	mu   sync.Mutex
	list []*question // guarded by mu; oldest first
	last int         // guarded by mu; number of the newest
}

type question struct {
	event.Question
	of     *tenure
	answer chan engine.Answer // holds one
}

// ask asks a question and waits for the answer.
func (q *questions) ask(ctx context.Context, of *tenure, asked event.Question) engine.Answer {
	asked = shown(asked)
	p := q.add(of, asked)
	if p == nil {
		return engine.Answer{Cancelled: true}
	}
	q.seat.cfg.Emit(event.QuestionAsked{Question: p.Question})
	defer q.seat.cfg.Emit(event.QuestionGone{ID: p.ID})
	defer q.remove(p)
	var late <-chan time.Time
	if p.Until > 0 {
		timer := time.NewTimer(time.UnixMilli(p.Until).Sub(q.seat.cfg.Now()))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case a := <-p.answer:
		return a
	case <-late: // the engine has answered itself
	case <-ctx.Done():
	}
	return engine.Answer{Cancelled: true}
}

func (q *questions) add(of *tenure, asked event.Question) *question {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) >= maxQuestions {
		return nil
	}
	q.last++
	asked.ID = "q" + strconv.Itoa(q.last) // that of an extension may not be unique
	p := &question{Question: asked, of: of, answer: make(chan engine.Answer, 1)}
	q.list = append(q.list, p)
	return p
}

func (q *questions) remove(p *question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.list, p); i >= 0 {
		q.list = slices.Delete(q.list, i, i+1)
	}
}

// takeBack cancels the questions of an engine that has ended.
func (q *questions) takeBack(of *tenure) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = slices.DeleteFunc(q.list, func(p *question) bool {
		if p.of == of {
			p.answer <- engine.Answer{Cancelled: true}
		}
		return p.of == of
	})
}

// Questions returns the questions that wait for an answer, oldest first.
func (s *Seat) Questions() []event.Question {
	s.asked.mu.Lock()
	defer s.asked.mu.Unlock()
	all := make([]event.Question, len(s.asked.list))
	for i, p := range s.asked.list {
		all[i] = p.Question
	}
	return all
}

// Answer answers a question. It returns a NotFound error if none with this id waits, and an InvalidArgument error
// for an answer that is none of the options.
func (s *Seat) Answer(id string, a engine.Answer) error {
	s.asked.mu.Lock()
	defer s.asked.mu.Unlock()
	i := slices.IndexFunc(s.asked.list, func(p *question) bool { return p.ID == id })
	if i < 0 {
		return NoQuestion(id)
	}
	p := s.asked.list[i]
	if p.Method == "select" && !a.Cancelled && !slices.Contains(p.Options, a.Value) {
		return fault.New(fault.InvalidArgument, "%q is none of the options of the question.", a.Value).With("field", "value")
	}
	s.asked.list = slices.Delete(s.asked.list, i, i+1)
	p.answer <- a
	return nil
}

// NoQuestion is the error for an answer to a question that does not wait.
func NoQuestion(id string) error {
	return fault.New(fault.NotFound, "No question has the id %q; it may have been answered already.", id).With("field", "id")
}

// shown makes a question safe to show. The options stay as they are, because one of them is the answer; clients make them visible.
func shown(q event.Question) event.Question {
	q.Title, q.Placeholder = visible.Line(short(q.Title)), visible.Line(short(q.Placeholder))
	q.Message = visible.Text(short(q.Message))
	if len(q.Options) > maxOptions {
		q.Options = q.Options[:maxOptions]
	}
	return q
}

// short cuts a text that is longer than any question.
func short(s string) string {
	if len(s) <= maxText {
		return s
	}
	return s[:maxText] + "…"
}
