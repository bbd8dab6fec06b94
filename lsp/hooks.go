package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// clientHooks lets the client cancel a change of session, a move of its leaf, a compaction, and a rewind of files, add
// entries to the session, and give the summary of a compaction. It exists only for clients that opted in
// with ui.hooks. Before must not be called on the goroutine that reads. While the backend opens, the
// client cannot be asked and nothing is cancelled.
type clientHooks struct {
	s   *server
	add hook.Add // nil if entries cannot be added; set before the first event
}

var _ hook.Writer = (*clientHooks)(nil)

// Attach implements [hook.Writer].
func (h *clientHooks) Attach(add hook.Add) { h.add = add }

// Before asks the client. A client that does not support the request, or answers null, cancels
// nothing. If the client does not answer in time, the change is cancelled.
func (h *clientHooks) Before(ctx context.Context, e hook.Event) (hook.Decision, error) {
	method, params := beforeRequest(e)
	if method == "" {
		return hook.Decision{}, nil
	}
	raw, err := conn.EncodeJSON(params)
	if err != nil {
		return hook.Decision{}, err
	}
	var result json.RawMessage
	err = h.s.ask(ctx, method, raw, &result)
	var wire *jsonrpc2.Error
	switch {
	case errors.Is(err, errNotRunning), errors.As(err, &wire) && wire.Code == jsonrpc2.MethodNotFound:
		return hook.Decision{}, nil
	case errors.Is(err, errUnanswered): // it may have asked the user, who has not agreed
		return hook.Decision{Cancel: true}, nil
	case err != nil:
		return hook.Decision{}, err
	case len(result) == 0 || string(result) == "null":
		return hook.Decision{}, nil
	}
	return h.decide(ctx, e, result)
}

// decide reads the client's answer. An answer that is valid in part keeps its effect; the rest is
// reported to the user.
func (h *clientHooks) decide(ctx context.Context, e hook.Event, result json.RawMessage) (hook.Decision, error) {
	answer, err := hook.ParseAnswer(e.Name, result)
	if err != nil && !answer.Cancel && len(answer.Entries) == 0 && answer.Compaction == nil {
		err = fmt.Errorf("the editor %w", err)
		h.warn(err)
		return hook.Decision{}, err
	}
	if err != nil {
		h.warn(fmt.Errorf("the editor %w", err))
	}
	if len(answer.Entries) > 0 {
		err := errors.New("entries are not supported here")
		if h.add != nil {
			err = h.add(ctx, e, "", answer.Entries)
		}
		if err != nil {
			h.warn(fmt.Errorf("the editor could not add entries to the session: %w", err))
		}
	}
	return hook.Decision{Cancel: answer.Cancel, Compaction: answer.Compaction}, nil
}

// warn shows the user an error of the client's answer.
func (h *clientHooks) warn(err error) {
	h.s.log.Warn("hook", zap.Error(err))
	text := visible.Line(err.Error())
	h.s.showMessage(commands.LevelWarning, "Hook: "+strings.TrimSuffix(text, ".")+".")
}

// beforeRequest returns the request for an event. The method is "" if the client is not asked about
// it.
func beforeRequest(e hook.Event) (method string, params any) {
	switch e.Name {
	case hook.BeforeSwitch:
		return MethodBeforeSwitch, BeforeSwitchParams{Cwd: e.Cwd, Reason: e.Reason, TargetSessionFile: e.TargetSessionFile}
	case hook.BeforeFork:
		return MethodBeforeFork, BeforeForkParams{Cwd: e.Cwd, EntryID: e.EntryID}
	case hook.BeforeTree:
		return MethodBeforeTree, BeforeTreeParams{
			Cwd: e.Cwd, EntryID: entryOrNull(e.EntryID), OldLeafID: entryOrNull(e.OldLeafID), UserWantsSummary: e.UserWantsSummary,
		}
	case hook.BeforeCompact:
		return MethodBeforeCompact, BeforeCompactParams{Cwd: e.Cwd, Reason: e.Reason, CustomInstructions: e.CustomInstructions, FirstKeptEntryID: e.FirstKeptEntryID, TokensBefore: e.TokensBefore}
	case hook.BeforeRewind:
		p := BeforeRewindParams{Cwd: e.Cwd}
		if e.Plan != nil {
			p.Plan = *e.Plan
		}
		return MethodBeforeRewind, p
	default:
		return "", nil
	}
}

// entryOrNull returns an entry's id for the wire. "", before the first entry, is null.
func entryOrNull(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

// After does nothing: the client gets xcsh/sessionChanged.
func (*clientHooks) After(context.Context, hook.Event) {}
