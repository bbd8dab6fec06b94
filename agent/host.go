package agent

import (
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/history"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// host is a session as a run sees it. The log is that of the run's beginning: changing
// the session ends the run first.
type host struct {
	s    *Session
	log  *session.Log
	mark *history.Mark // of the prompt that the run began with
}

// Record stores a message as an entry.
func (h *host) Record(m json.RawMessage) (string, error) {
	was := h.log.OnDisk()
	id, err := h.log.Append(session.DraftMessage(m))
	if err == nil {
		answered(h.mark, h.log, m)
	}
	if !was && h.log.OnDisk() {
		h.s.leaveBreadcrumb(h.log.Path()) // no change of session left one when this was the first
		h.s.m.publish(SessionsChanged{Cwd: h.s.cwd})
	}
	return id, err
}

// Emit shows an event.
func (h *host) Emit(e loop.Event) { h.s.emit(h.log, e) }

// Request makes the next request of the conversation as it is recorded now.
func (h *host) Request(ctx context.Context) (provider.Provider, provider.Request, error) {
	c, _, err := h.log.Context()
	if err != nil {
		return nil, provider.Request{}, err
	}
	model, level, _, err := h.s.choice(ctx, c.State())
	if err != nil {
		return nil, provider.Request{}, err
	}
	service, err := h.s.m.cfg.Models.Service(model)
	if err != nil {
		return nil, provider.Request{}, err
	}
	// Asked anew for each request: a key can expire while a tool runs.
	key, err := h.s.m.cfg.Models.Key(ctx, model)
	if err != nil {
		return nil, provider.Request{}, err
	}
	system, tools := h.s.Instructions(ctx)
	return service, provider.Request{
		Model: model, Thinking: level, Key: key, SessionID: h.log.Header().ID,
		Messages: provider.Prepare(convert.Messages(c.Messages), model), System: system, Tools: tools,
	}, nil
}

// Tools returns what the model can do in this folder.
func (h *host) Tools() (map[string]tool.Tool, tool.Env) {
	byName := map[string]tool.Tool{}
	for _, t := range h.s.m.cfg.Tools {
		byName[t.Name] = t
	}
	return byName, tool.Env{Cwd: h.s.cwd, Files: h.s.m.cfg.Workspace, Keep: h.s.keeper(h.log)}
}

// Instructions returns what a model is told in this folder before anything else, and what it can do there. It may be
// called within [Session.View].
func (s *Session) Instructions(ctx context.Context) (system string, tools []provider.Tool) {
	for _, t := range s.m.cfg.Tools {
		tools = append(tools, t.Tool)
	}
	if s.m.cfg.System != nil {
		system = s.m.cfg.System(ctx, s.cwd)
	}
	return system, tools
}
