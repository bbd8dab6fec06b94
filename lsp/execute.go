package lsp

import (
	"context"
	"encoding/json"

	"github.com/spf13/afero"
	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/spool"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// executeCommand runs a command of the table. It passes the arguments as the client's bytes, and
// answers with the result encoded as JSON.
func (s *server) executeCommand(ctx context.Context, raw json.RawMessage) (any, error) {
	var p struct {
		Command       json.RawMessage `json:"command"`
		Arguments     json.RawMessage `json:"arguments"`
		WorkDoneToken json.RawMessage `json:"workDoneToken"`
		PartialToken  json.RawMessage `json:"partialResultToken"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, conn.ParamsError(protocol.MethodWorkspaceExecuteCommand, "params", err)
	}
	var name string
	if err := json.Unmarshal(orNull(p.Command), &name); err != nil || name == "" {
		return nil, conn.ParamsError(protocol.MethodWorkspaceExecuteCommand, "command", err)
	}
	args, err := commandArguments(p.Arguments)
	if err != nil {
		return nil, conn.ParamsError(protocol.MethodWorkspaceExecuteCommand, "arguments", err)
	}
	s.progress.attach(conn.CallOf(ctx), parseToken(p.WorkDoneToken))
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if token := parseToken(p.PartialToken); token != "" {
		work := ctx
		ctx = commands.WithPartial(ctx, func(part any) {
			s.conn.CaughtUp(work)
			s.sendPart(token, part)
		})
	}
	env, err := s.envForCommand(ctx)
	if err != nil {
		return nil, err
	}
	answer := spool.New(s.temp())
	ctx = commands.WithAnswer(commands.WithRoom(ctx, s.enter), answer)
	res, err := s.opts.Commands.Execute(ctx, env, name, args)
	s.transcripts.mayHaveChanged()
	s.pending.commandDone(name)
	if err != nil {
		_ = answer.Close() // the error of the command is what counts
		return nil, err
	}
	if answer.Len() > 0 {
		return answer, nil
	}
	out, err := conn.EncodeJSON(res)
	if err != nil {
		return nil, fault.New(fault.Internal, "The result of %s could not be encoded: %w.", name, err)
	}
	return out, nil
}

// temp returns the file system for large results.
func (s *server) temp() afero.Fs {
	if s.opts.Temp != nil {
		return s.opts.Temp
	}
	return afero.NewOsFs()
}

// sendPart queues a part of a result. It is written before the answer.
func (s *server) sendPart(token progressToken, part any) {
	s.notify(protocol.MethodProgress, struct {
		Token json.RawMessage `json:"token"`
		Value any             `json:"value"`
	}{json.RawMessage(token), part}, "")
}

// commandArguments decodes the list of arguments. Absent and null mean none. Some clients send a
// single object instead of a list of one.
func commandArguments(raw json.RawMessage) ([]json.RawMessage, error) {
	if isEmptyJSON(raw) {
		return nil, nil
	}
	if raw[0] == '{' {
		return []json.RawMessage{raw}, nil
	}
	var args []json.RawMessage
	err := json.Unmarshal(raw, &args)
	return args, err
}
