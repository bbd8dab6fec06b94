package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// errClosed is the reason of calls that are made after Close.
var errClosed = errors.New("the session has ended")

// errReplaced is the reason of calls of a server whose definition has changed.
var errReplaced = errors.New("its definition has changed; it starts with the next prompt")

// failure is an error about a server, as a message for the user, with the last lines of its standard error.
func (s *server) failure(kind fault.Kind, format string, args ...any) *fault.Error {
	err := fault.New(kind, format, args...)
	err.Message = s.secrets.message(err.Message)
	return err.With("server", s.def.Name)
}

// notStarted returns the error of a server that did not start.
func (s *server) notStarted(why string, stderr []string) error {
	err := s.failure(fault.Provider, "The MCP server %q could not be started: %s.%s", s.def.Name, strings.TrimSuffix(why, "."), s.quoted(stderr))
	return err
}

// quoted returns lines of the standard error as the end of a message.
func (s *server) quoted(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return " Its last output: " + s.secrets.line(strings.Join(lines, " / "))
}

// silent returns the error of a server that did not answer in time.
func (s *server) silent(limit time.Duration, starting bool) error {
	rest := ""
	if starting {
		rest = " Its tools come when it does."
	}
	return s.failure(fault.Provider, "The MCP server %q does not answer; %g s have passed.%s", s.def.Name, limit.Seconds(), rest)
}

// wantsSignIn returns the error of a server that the user has to sign in to.
func (s *server) wantsSignIn() error {
	how := s.def.SignIn
	if how == "" {
		how = "Sign in with the program that you use it with"
	}
	how = strings.TrimSuffix(how, ".")
	if again := s.host.options.Reconnect; again != nil {
		how += ", then " + again(s.def.Name)
	}
	return s.failure(fault.Denied, "The MCP server %q wants a sign-in. %s.", s.def.Name, how)
}

// notConnected returns the error of a call for the model.
func notConnected(tool, server string, why error) error {
	return fault.New(fault.Provider, "The tool %s is of the MCP server %q, which is not connected: %w", tool, server, why).With("server", server)
}

// protocolError returns the words of an error that a server answered with.
func protocolError(err error) (string, bool) {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e.Message, true
	}
	return "", false
}

// startReason returns why a program could not be started.
func startReason(err error) string {
	err = reason(err)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	if words, ok := protocolError(err); ok {
		return words
	}
	return err.Error()
}

// missingTool returns the error for a name that no tool has. Names are those of the tools of the same server.
func missingTool(name string, names []string) error {
	const most = 20
	name = fault.OneLine(name)
	if len(names) == 0 {
		return fault.New(fault.NotFound, "There is no tool %s now.", name)
	}
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fault.New(fault.NotFound, "There is no tool %s now. These are of the same server: %s%s.", name, strings.Join(names, ", "), more)
}
