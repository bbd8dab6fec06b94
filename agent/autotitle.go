package agent

import (
	"context"
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/naming"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/attached"
)

// titleWait is how long a turn that is over waits for the title.
const titleWait = 2 * time.Second

// maxUntitled is the number of messages up to which a conversation is named: its first prompt, and one more if
// the first one was a greeting.
const maxUntitled = 4

// titleRoles are the roles of the models that name sessions, the first one that is configured.
var titleRoles = []string{"tiny", "commit", "smol"}

// titling asks a model for the title of a session without one, while the turn runs. The function that it
// returns records the title; it is called when the turn is over.
//
// Differs: the programs ask the session's own model if there is no other. Here a session is named only if the
// user configured a model for that, because each title costs a request.
func (s *Session) titling(ctx context.Context, log *session.Log, prompt provider.Message) (finish func()) {
	none := func() {}
	text, ok := naming.Prompt(attached.Words(prompt.PlainText()))
	if !ok || dialectOf(log) == session.Pi || titleIn(log) != "" {
		return none
	}
	p, notice, ok := s.titleModel(ctx, log)
	if notice != "" {
		s.emit(log, event.Notice{Text: notice})
	}
	if !ok {
		return none
	}
	ctx, cancel := context.WithCancel(ctx)
	titles := make(chan string, 1)
	go func() {
		title := ""
		defer func() {
			if p := recover(); p != nil {
				s.m.log.Error("naming a session failed unexpectedly", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			}
			titles <- title
		}()
		var err error
		if title, err = s.askTitle(ctx, log, p, text); err != nil {
			s.m.log.Debug("the session was not named", zap.Error(err))
		}
	}()
	return func() {
		stop := time.AfterFunc(titleWait, cancel)
		title := <-titles
		stop.Stop()
		cancel()
		if title == "" || titleIn(log) != "" { // the user may have named it meanwhile
			return
		}
		if _, err := log.SetTitle(session.Title{Text: title, Source: "auto"}); err != nil {
			s.m.log.Warn("the title could not be recorded", zap.Error(err))
			return
		}
		s.m.publish(SessionsChanged{Cwd: s.cwd})
	}
}

// titleModel returns the model for a title; ok is false if the user configured none. One that can't be used
// is replaced by the session's own, with a notice.
func (s *Session) titleModel(ctx context.Context, log *session.Log) (p picked, notice string, ok bool) {
	c, err := log.ContextState()
	if err != nil || c.MessageCount > maxUntitled {
		return picked{}, "", false
	}
	problem := ""
	for _, role := range titleRoles {
		if p, no, ok := s.forRole(ctx, log, c, role); ok {
			return p, problem, true
		} else if problem == "" {
			problem = no
		}
	}
	if problem == "" {
		return picked{}, "", false
	}
	model, level, err := s.choiceOr(ctx, log, c, &problem)
	return picked{model, level}, problem, err == nil
}

// askTitle asks a model for the title of a conversation. It is not repeated: the next prompt asks again.
func (s *Session) askTitle(ctx context.Context, log *session.Log, p picked, text string) (string, error) {
	h := &host{s: s, log: log}
	message, err := loop.Ask(ctx, loop.Retry{Disabled: true}, func(event.Event) {}, func(ctx context.Context) (provider.Provider, provider.Request, error) {
		service, req, err := h.request(ctx, session.Context{}, p)
		req.System, req.Messages, req.Tools = naming.Instructions, []provider.Message{Input{Text: text}.message(s.m.now().UnixMilli())}, nil
		req.Size, req.OneOff, req.Tier = 0, true, ""
		return service, req, err
	})
	if err != nil {
		return "", err
	}
	title, _ := naming.Title(message.PlainText())
	return title, nil
}
