package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"go.lsp.dev/jsonrpc2"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// engineQuestions are the open questions that the user is asked by this server, for a client without an interface of its own:
// those of engines' extensions, and of the server's own agent. It is safe for concurrent use.
type engineQuestions struct {
	mu   sync.Mutex
	open map[engineQuestion]context.CancelFunc // guarded by mu
}

// engineQuestion identifies a question: its id is unique in its session only.
type engineQuestion struct{ session, id string }

// begin returns the context of a question. It ends when the question does not wait any more.
func (q *engineQuestions) begin(parent context.Context, of engineQuestion) context.Context {
	ctx, withdraw := context.WithCancel(parent)
	q.mu.Lock()
	defer q.mu.Unlock()
	if before := q.open[of]; before != nil {
		before()
	}
	if q.open == nil {
		q.open = map[engineQuestion]context.CancelFunc{}
	}
	q.open[of] = withdraw
	return ctx
}

// end withdraws a question, if it is open.
func (q *engineQuestions) end(of engineQuestion) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if withdraw := q.open[of]; withdraw != nil {
		withdraw()
		delete(q.open, of)
	}
}

// questionAsked asks the user of a client without an interface for sessions. It does not block, and nothing but the asker
// waits for the answer.
func (s *server) questionAsked(run EventParams, q event.Question) {
	of := engineQuestion{run.SessionID, q.ID}
	ctx := s.questions.begin(s.work, of)
	go func() {
		defer s.questions.end(of)
		defer s.recoverPanic("the question of an engine")
		select {
		case <-s.ready:
		case <-ctx.Done():
			return
		}
		if s.config.hooks() {
			return // it has shown the event
		}
		answer, err := s.askQuestion(ctx, q)
		if err != nil && ctx.Err() == nil {
			s.showMessage(commands.LevelError, err.Error())
		}
		if ctx.Err() == nil {
			s.answerQuestion(run.Cwd, q, answer)
		}
	}()
}

// askQuestion asks a question. It counts as a request, so that a stopping server waits until the file of an input is removed.
func (s *server) askQuestion(ctx context.Context, q event.Question) (engine.Answer, error) {
	c, ok := s.calls.Begin(ctx, jsonrpc2.ID{}, false)
	if !ok {
		return engine.Answer{Cancelled: true}, busyError(s.opts.MaxInFlight)
	}
	defer s.calls.End(c)
	defer s.progress.endAll(c)
	return commands.AskQuestion(c.Context(), clientUI{s}, q)
}

// answerQuestion runs the command for an answer. That the question does not wait any more is no failure.
func (s *server) answerQuestion(cwd string, q event.Question, answer engine.Answer) {
	args := commands.AnswerArgs{Folder: commands.Folder{Cwd: cwd}, ID: q.ID, Cancelled: answer.Cancelled}
	switch {
	case answer.Cancelled:
	case q.Method == commands.QuestionConfirm:
		args.Confirmed = &answer.Confirmed
	case answer.Values != nil:
		args.Values = answer.Values
	default:
		args.Value = &answer.Value
	}
	err := s.runOwn(commands.AnswerName, args)
	if err != nil && !fault.Is(err, fault.NotFound) && !errors.Is(err, context.Canceled) {
		s.showMessage(commands.LevelError, err.Error())
	}
}

// runOwn runs a command of the table for the server itself. It counts as a request, so that a stopping server waits for it.
func (s *server) runOwn(name string, args any) error {
	c, ok := s.calls.Begin(s.work, jsonrpc2.ID{}, false)
	if !ok {
		return busyError(s.opts.MaxInFlight)
	}
	defer s.calls.End(c)
	defer s.progress.endAll(c)
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	env, err := s.envForCommand(c.Context())
	if err != nil {
		return err
	}
	_, err = s.opts.Commands.Execute(c.Context(), env, name, []json.RawMessage{raw})
	if c.Context().Err() != nil {
		return context.Canceled
	}
	return err
}
