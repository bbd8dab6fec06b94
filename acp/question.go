package acp

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxChoices limits the options of a question. Clients show them all at once.
const maxChoices = 50

// openQuestions are the questions of the engine's extensions that the client shows, by their ids. It is safe for concurrent use.
type openQuestions struct {
	mu   sync.Mutex
	open map[string]context.CancelFunc // guarded by mu
}

func (q *openQuestions) begin(parent context.Context, id string) context.Context {
	ctx, withdraw := context.WithCancel(parent)
	q.mu.Lock()
	defer q.mu.Unlock()
	if before := q.open[id]; before != nil {
		before()
	}
	if q.open == nil {
		q.open = map[string]context.CancelFunc{}
	}
	q.open[id] = withdraw
	return ctx
}

// end withdraws a question, if it is open.
func (q *openQuestions) end(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if withdraw := q.open[id]; withdraw != nil {
		withdraw()
		delete(q.open, id)
	}
}

// question asks the user a question of an extension. The protocol has no questions but those for permission, so a choice is one, and a
// question for a text is cancelled.
func (c *conversation) question(q event.Question) {
	ctx := c.questions.begin(c.s.ctx, q.ID)
	c.s.background.Go(func() {
		defer c.questions.end(q.ID)
		answer := c.answerTo(ctx, q)
		if ctx.Err() != nil {
			return
		}
		if err := c.live.Answer(q.ID, answer); err != nil && !fault.Is(err, fault.NotFound) {
			c.log.Warn("a question was not answered", zap.String("session", c.id), zap.Error(err))
		}
	})
}

// answerTo returns the user's answer, which is cancelled if there is none.
func (c *conversation) answerTo(ctx context.Context, q event.Question) engine.Answer {
	cancelled := engine.Answer{Cancelled: true}
	options := questionOptions(q)
	if options == nil {
		c.shown.remark("warning", "An extension asks \""+short(q.Title)+"\", which this client cannot show. The question was cancelled.")
		return cancelled
	}
	i, answered := c.chooseOption(ctx, "question-"+q.ID, q.Title, q.Message, options)
	if !answered {
		return cancelled
	}
	if q.Method == "confirm" {
		return engine.Answer{Confirmed: i == 0}
	}
	if i == len(q.Options) { // Cancel
		return cancelled
	}
	return engine.Answer{Value: q.Options[i]}
}

// chooseOption asks the user to choose one of the options, whose ids are their indexes. answered is false if the user closed the
// question or the client cannot ask it. An option that rejects fails the tool call by which the client shows the question.
func (c *conversation) chooseOption(ctx context.Context, id, title, message string, options []permissionOption) (i int, answered bool) {
	shown := toolUpdate{Kind: updateToolCall, ID: c.shown.prefix + "-" + id, Title: short(title), ToolKind: "other", Status: statusPending}
	if message != "" {
		block := textBlock(visible.Text(message))
		shown.Content = []toolContent{{Type: "content", Content: &block}}
	}
	c.shown.update(shown)
	over := toolUpdate{Kind: updateToolProgress, ID: shown.ID, Status: statusFailed}
	defer func() { c.shown.update(over) }()
	shown.Kind = ""
	var result permissionResult
	err := c.s.conn.call(ctx, methodPermission, permissionParams{SessionID: c.id, ToolCall: shown, Options: options}, &result)
	i, indexErr := strconv.Atoi(result.Outcome.OptionID)
	if err != nil || result.Outcome.Outcome != "selected" || indexErr != nil || i < 0 || i >= len(options) {
		if err != nil && ctx.Err() == nil && !errors.Is(err, errGone) {
			c.log.Warn("the client could not ask a question", zap.Error(err))
		}
		return 0, false
	}
	if options[i].Kind != "reject_once" || options[i].Name == optionNo { // No is an answer
		over.Status = statusCompleted
	}
	return i, true
}

// optionNo is the answer no to a question.
const optionNo = "No"

// questionOptions returns the choices of a question, nil if the client cannot show it. Their ids are their indexes.
func questionOptions(q event.Question) []permissionOption {
	switch {
	case q.Method == "confirm":
		return []permissionOption{{ID: "0", Name: "Yes", Kind: "allow_once"}, {ID: "1", Name: optionNo, Kind: "reject_once"}}
	case q.Method != "select" || len(q.Options) == 0 || len(q.Options) > maxChoices:
		return nil
	}
	options := make([]permissionOption, 0, len(q.Options)+1)
	for i, option := range q.Options {
		options = append(options, permissionOption{ID: strconv.Itoa(i), Name: short(option), Kind: "allow_once"})
	}
	return append(options, permissionOption{ID: strconv.Itoa(len(options)), Name: "Cancel", Kind: "reject_once"})
}
