package agent

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// The types of the events of a command that the person runs.
const (
	bashUpdate = "bash_execution_update" // Text: the output so far
	bashEnd    = "bash_execution_end"    // Message
)

// Bash runs a command of the person in the folder and records it: the model is shown it with
// the next prompt, unless exclude is set. The end of ctx stops the command, which is recorded
// too. While a turn runs the record waits for its end, because nothing may come between a
// tool call and its result; the message is returned at once.
func (s *Session) Bash(ctx context.Context, command string, exclude bool) (json.RawMessage, error) {
	if s.m.cfg.Shell == nil {
		return nil, fault.New(fault.Denied, "Commands cannot be run here.")
	}
	log := s.current()
	if err := log.Claim(); err != nil {
		return nil, err
	}
	out, err := s.m.cfg.Shell.Run(ctx, tool.Command{Line: command, Cwd: s.cwd}, func(partial tool.Output) {
		s.emit(log, loop.Event{Type: bashUpdate, Text: partial.Output})
	})
	if err != nil {
		return nil, err
	}
	message := bashMessage(command, out, exclude, s.m.now().UnixMilli())
	s.emit(log, loop.Event{Type: bashEnd, Message: message})
	return message, s.recordLater(context.WithoutCancel(ctx), log, message)
}

// bashMessage is a command and what came of it, as session files have it.
func bashMessage(command string, out tool.Output, exclude bool, now int64) json.RawMessage {
	m := new(rawjson.Object).String("role", "bashExecution").String("command", command).String("output", out.Output)
	if out.ExitCode != nil {
		m.Raw("exitCode", number(int64(*out.ExitCode)))
	}
	m.Raw("cancelled", boolean(out.Cancelled)).Raw("truncated", boolean(out.Truncated))
	if out.FullOutputPath != "" {
		m.String("fullOutputPath", out.FullOutputPath)
	}
	m.Raw("timestamp", number(now))
	if exclude {
		m.Raw("excludeFromContext", boolean(true))
	}
	return m.Bytes()
}

func number(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

func boolean(b bool) []byte { return strconv.AppendBool(nil, b) }

// recordLater records a message now, or when the turn that runs is over.
func (s *Session) recordLater(ctx context.Context, log *session.Log, message json.RawMessage) error {
	return s.exclusive(ctx, func() error { // no turn begins meanwhile
		if s.hold(message) {
			return nil
		}
		_, err := log.Append(session.DraftMessage(message))
		return err
	})
}

// hold keeps a message until the turn that runs is over. It reports false when none runs.
func (s *Session) hold(message json.RawMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return false
	}
	s.held = append(s.held, message)
	return true
}

// recordHeld records what waited for the end of a run, and ends the run in the moment in
// which nothing waits any more.
func (s *Session) recordHeld(log *session.Log) {
	for {
		s.mu.Lock()
		held := s.held
		s.held = nil
		if held == nil {
			s.run = nil
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		for _, message := range held {
			if _, err := log.Append(session.DraftMessage(message)); err != nil {
				s.emit(log, loop.Event{Type: loop.NotSaved, ErrorMessage: err.Error()})
			}
		}
	}
}
