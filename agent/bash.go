package agent

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/agent/change/capture"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Bash runs a shell command of the user in the folder and records it: the model gets it with the
// next prompt, unless exclude is set. The end of ctx stops the command, which is recorded too, as
// does leaving the session. While a turn is running the record waits for its end, because nothing
// may come between a tool call and its result; the message is returned at once. A record that cannot
// be saved is reported as an event: the command has run, and its output is worth more than an error.
func (s *Session) Bash(ctx context.Context, command string, exclude bool) (json.RawMessage, error) {
	if message, hosted, err := s.hostedBash(ctx, command, exclude); hosted {
		return message, err
	}
	if s.m.cfg.Shell == nil {
		return nil, fault.New(fault.Denied, "This server does not run commands.")
	}
	ctx, log, c, err := s.beginCommand(ctx)
	if err != nil {
		return nil, err
	}
	defer s.endCommand(c)
	if _, err := tool.SaveEdits(ctx, s.m.cfg.Workspace, s.cwd, true); err != nil { // the user knows the unsaved files
		return nil, err
	}
	l := s.ledgerOf(log)
	looked := l.begin(ctx, capture.Origin{Tool: "bash", Folder: s.cwd}, true)
	defer looked.end(ctx) // before the command is over for a change of session
	out, err := s.m.cfg.Shell.Run(ctx, tool.Command{Line: command, Shell: (&host{s: s, log: log}).shell(ctx), Cwd: s.cwd, Keep: s.keeper(log), Own: true}, func(partial tool.Output) {
		s.emit(log, event.BashUpdate{Text: partial.Output})
	})
	if err != nil {
		return nil, err
	}
	message := bashMessage(command, out, exclude, s.m.now().UnixMilli())
	s.record(func(bool) { s.write(log, message) })
	return message, nil
}

// command is a running shell command of the user.
type command struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended and is recorded
	end    func()        // of [Manager.BeginShared]
}

// beginCommand makes a command known to the session that it is recorded in. No change of session
// misses it: a change in progress is waited for.
func (s *Session) beginCommand(ctx context.Context) (running context.Context, log *session.Log, c *command, err error) {
	err = s.exclusive(ctx, func() error {
		log = s.current()
		end, err := s.m.BeginShared(ctx, log.Path())
		if err != nil {
			return err
		}
		if err := log.Claim(); err != nil {
			end()
			return err
		}
		s.ledgerOf(log).restore()
		if !s.isRunning() {
			s.recoverBefore(ctx, log)
		}
		c = &command{done: make(chan struct{}), end: end}
		running, c.cancel = context.WithCancel(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.commands == nil {
			s.commands = map[*command]struct{}{}
		}
		s.commands[c] = struct{}{}
		return nil
	})
	return running, log, c, err
}

func (s *Session) endCommand(c *command) {
	c.cancel()
	s.mu.Lock()
	delete(s.commands, c)
	s.mu.Unlock()
	c.end()
	close(c.done)
}

// stopCommands stops the user's shell commands and waits until they are recorded.
func (s *Session) stopCommands(ctx context.Context) error {
	s.mu.Lock()
	running := slices.Collect(maps.Keys(s.commands))
	s.mu.Unlock()
	for _, c := range running {
		c.cancel()
	}
	for _, c := range running {
		select {
		case <-c.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// bashMessage returns the message that records a command and its output.
func bashMessage(command string, out tool.Output, exclude bool, now int64) json.RawMessage {
	m := new(rawjson.Object).String("role", "bashExecution").String("command", command).String("output", out.Output)
	if out.ExitCode != nil {
		m.Raw("exitCode", number(int64(*out.ExitCode)))
	}
	m.Raw("cancelled", boolean(out.Cancelled)).Raw("truncated", boolean(out.Truncated))
	if out.FullOutputPath != "" {
		m.String("fullOutputPath", out.FullOutputPath)
	}
	m.Raw("meta", out.Meta()).Raw("timestamp", number(now))
	if exclude {
		m.Raw("excludeFromContext", boolean(true))
	}
	return m.Bytes()
}

func number(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

func boolean(b bool) []byte { return strconv.AppendBool(nil, b) }

// heldRecord writes a record to the session that it belongs to. held reports that it waited for the end
// of a run, so that its caller has returned.
type heldRecord func(held bool)

// record writes a record now, or at the end of the current run. It does not wait for the session's
// operations, because a change of session waits for it.
func (s *Session) record(r heldRecord) {
	s.recording.Lock() // no run begins meanwhile
	defer s.recording.Unlock()
	if !s.hold(r) {
		r(false)
	}
}

// write appends a message to its session and then reports it.
func (s *Session) write(log *session.Log, message json.RawMessage) {
	id, err := log.Append(session.DraftMessage(message))
	if err != nil {
		s.emit(log, event.NotSaved{ErrorMessage: err.Error()})
	}
	s.emit(log, event.BashEnd{Message: message, EntryID: id})
}

// hold keeps a record until the run has ended. It reports false if there is none.
func (s *Session) hold(r heldRecord) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return false
	}
	s.held = append(s.held, r)
	return true
}

// recordHeld writes the records held during a run, and ends the run at the moment when none
// is waiting any more.
func (s *Session) recordHeld() {
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
		for _, write := range held {
			write(true)
		}
	}
}
