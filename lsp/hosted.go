package lsp

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
)

// hosted are the commands that hosts may also send as notifications, xcsh/prompt for
// xcsh.prompt, with the command's object as parameters.
var hosted = []string{"xcsh.prompt", "xcsh.steer", "xcsh.followUp", "xcsh.abort", "xcsh.setModel", "xcsh.setThinking"}

// hostedRoutes are the routes of those notifications.
func (s *server) hostedRoutes() map[string]route {
	routes := map[string]route{}
	for _, command := range hosted {
		routes[strings.Replace(command, ".", "/", 1)] = route{notify: func(params json.RawMessage) error {
			s.runHosted(command, params)
			return nil
		}}
	}
	return routes
}

// runHosted runs a command off the goroutine that reads, but after the one before it was
// accepted: what is said to a turn must not overtake the prompt that begins it. A prompt is
// accepted when its turn began, any other command when it is done. What stops things does
// not wait for a prompt that itself waits for them to stop; it is run at once, and again in its place, so
// that it also stops what was sent before it and had not begun.
func (s *server) runHosted(command string, params json.RawMessage) {
	c, ok := s.calls.begin(s.work, jsonrpc2.ID{})
	if !ok {
		err := busyError(s.opts.MaxInFlight)
		s.log.Warn("no room for a notification", zap.String("command", command), zap.Error(err))
		s.showMessage(commands.LevelError, command+": "+err.Error())
		return
	}
	before, accepted := s.lastHosted, make(chan struct{})
	s.lastHosted = accepted // only the goroutine that reads comes here
	go func() {
		defer s.calls.end(c)
		defer s.progress.endAll(c)
		defer s.recoverPanic(command)
		done := sync.OnceFunc(func() { close(accepted) })
		defer done()
		select {
		case <-s.ready:
		case <-c.ctx.Done():
			return
		}
		select {
		case <-before:
		default:
			if command == "xcsh.abort" {
				s.executeHosted(c.ctx, command, params)
			}
		}
		select {
		case <-before:
		case <-c.ctx.Done():
			return
		}
		s.executeHosted(commands.WithAccepted(c.ctx, done), command, params)
	}()
}

func (s *server) executeHosted(ctx context.Context, command string, params json.RawMessage) {
	env := *s.config.envForCommand()
	// A question would keep what is sent after it waiting. A host that leaves an argument out is told.
	env.Pick = true
	if _, err := s.opts.Commands.Execute(ctx, &env, command, []json.RawMessage{params}); err != nil {
		s.hostedFailed(ctx, &env, command, params, err)
	}
}

// hostedFailed tells the client what became of a notification: as an event of the session
// that it was about, or as a message when there is no telling which that is.
func (s *server) hostedFailed(ctx context.Context, env *commands.Env, command string, params json.RawMessage, err error) {
	text := err.Error()
	s.log.Info("a notification failed", zap.String("command", command), zap.Error(err))
	live, liveErr := commands.LiveSession(ctx, env, params)
	if liveErr != nil {
		s.showMessage(commands.LevelError, text)
		return
	}
	live.Report(agent.ErrorEvent(command, err))
}
