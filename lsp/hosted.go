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
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// hosted are the commands that clients may also send as notifications, such as xcsh/prompt for
// xcsh.prompt, with the command's argument as parameters.
var hosted = []string{"xcsh.prompt", "xcsh.steer", "xcsh.followUp", "xcsh.abort", "xcsh.setModel", "xcsh.setThinking"}

// hostedRoutes returns the routes of those notifications.
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

// runHosted runs a command on another goroutine, once the previous one was accepted, so that a message
// to a turn does not overtake the prompt that starts the turn. A prompt is accepted when its turn
// starts, any other command when it is done. Abort does not wait for a prompt that itself waits for
// the running turn to end. It runs at once, and a second time in order, to stop commands that were
// sent before it and had not started.
func (s *server) runHosted(command string, params json.RawMessage) {
	c, ok := s.calls.Begin(s.work, jsonrpc2.ID{}, command == conn.AbortCommand)
	if !ok {
		err := busyError(s.opts.MaxInFlight)
		s.log.Warn("no room for a notification", zap.String("command", command), zap.Error(err))
		s.showMessage(commands.LevelError, command+": "+err.Error())
		return
	}
	before, accepted := s.lastHosted, make(chan struct{})
	s.lastHosted = accepted // only the goroutine that reads writes it
	go func() {
		defer s.calls.End(c)
		defer s.progress.endAll(c)
		done := sync.OnceFunc(func() { close(accepted) })
		defer done()
		defer s.recoverPanic(command)
		select {
		case <-s.ready:
		case <-c.Context().Done():
			return
		}
		select {
		case <-before:
		default:
			if command == conn.AbortCommand {
				s.executeHosted(c.Context(), command, params)
			}
		}
		select {
		case <-before:
		case <-c.Context().Done():
			return
		}
		s.executeHosted(commands.WithAccepted(c.Context(), done), command, params)
	}()
}

func (s *server) executeHosted(ctx context.Context, command string, params json.RawMessage) {
	current, err := s.envForCommand(ctx)
	if err != nil {
		return
	}
	env := *current
	// A question would block the notifications after it, so a missing argument is an error.
	env.Pick = true
	if _, err := s.opts.Commands.Execute(ctx, &env, command, []json.RawMessage{params}); err != nil {
		s.hostedFailed(ctx, &env, command, params, err)
	}
}

// hostedFailed reports a failed notification to the client: as an event of its session, or as a message
// if the session is unknown.
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
