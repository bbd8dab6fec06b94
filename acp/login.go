package acp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The authentication methods.
const (
	authTerminal = "login" // the client runs "xcsh-ls login" in a terminal
	authStored   = "stored-key"

	typeTerminal = "terminal"
)

// authMethods returns the ways to log in. The one in a terminal is only for clients that have one.
func (s *server) authMethods() []authMethod {
	methods := []authMethod{{
		ID: authStored, Name: "Use a stored API key",
		Description: "Checks that a model can answer, with a key from the environment or one that 'xcsh-ls login' stored.",
	}}
	if !s.client.terminal && !s.client.oldTerminal {
		return methods
	}
	args := []string{authTerminal}
	if name := s.opts.Engine; name != "" && name != engine.Own {
		args = append(args, name)
	}
	terminal := authMethod{
		ID: authTerminal, Name: "Log in", Description: "Stores an API key, or logs in to an agent, in a terminal.",
		Type: typeTerminal, Args: args,
	}
	if program, err := os.Executable(); err == nil && s.client.oldTerminal {
		terminal.Meta = &authMeta{terminalLogin{Label: "xcsh-ls login", Command: program, Args: args}}
	}
	return append([]authMethod{terminal}, methods...)
}

// authenticate answers authenticate: it reports whether a prompt could be answered. No method transmits a key. Clients
// should not send the method that runs in a terminal; for one that does after the login, the result is the same.
func (s *server) authenticate(ctx context.Context, _ *call, p authenticateParams) (any, []any, error) {
	known := func(m authMethod) bool { return m.ID == p.MethodID }
	if !slices.ContainsFunc(s.authMethods(), known) {
		return nil, nil, fault.New(fault.InvalidArgument, "There is no authentication method %q.", fault.OneLine(p.MethodID)).With("field", "methodId")
	}
	if err := s.answerable(ctx); err != nil {
		return nil, nil, err
	}
	return struct{}{}, nil, nil
}

// answerable returns an error if the user has to log in before the open sessions, or without one a new session, can
// answer a prompt. Other programs report a missing login when they are asked.
func (s *server) answerable(ctx context.Context) error {
	open := s.opened()
	for _, c := range open {
		if err := c.ready(ctx); keyMissing(err) {
			return err
		}
	}
	if len(open) > 0 || s.opts.Engine != "" && s.opts.Engine != engine.Own {
		return nil
	}
	err := s.advise(ctx, s.desk.Sessions.Ready(ctx))
	if keyMissing(err) {
		return err
	}
	return nil
}

// advise adds what to do next to the error of a prompt that cannot be answered.
func (s *server) advise(ctx context.Context, err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	advised := *f
	switch provider.NeedOf(err) {
	case provider.NeedsModel:
		if !s.anyReady(ctx) {
			advised.Message = "No model can be used yet. Run 'xcsh-ls login' in a terminal, or start xcsh-ls acp with --model."
			return loginNeeded{&advised}
		}
		advised.Message += " Select one in the options of the session, start xcsh-ls acp with --model, or run 'xcsh-ls login' in a terminal."
	case provider.NeedsKey:
		if login, _ := f.Data["login"].(string); login != "" { // the message names the commands of another protocol
			advised.Message = login
		}
		advised.Message += fmt.Sprintf(" Run 'xcsh-ls login %v' in a terminal, or choose another model in the options of the session.", f.Data["provider"])
	}
	return &advised
}

// anyReady reports whether the user has a model to choose. The offline demo does not count.
func (s *server) anyReady(ctx context.Context) bool {
	return slices.ContainsFunc(s.desk.Sessions.Sources(ctx), func(source provider.Source) bool {
		return source.Ready && source.Kind != provider.DemoSource
	})
}

// loginNeeded is the error of a prompt that no choice of a model makes answerable.
type loginNeeded struct{ error }

func (e loginNeeded) Unwrap() error { return e.error }
