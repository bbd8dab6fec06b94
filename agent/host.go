package agent

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/configured"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/recorded"
	"github.com/xcsh-ls/xcsh-ls/agent/serving"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// host is a session as a run sees it. The log is that of the run's beginning: changing
// the session ends the run first.
type host struct {
	s     *Session
	log   *session.Log
	notes notes
	rules rules
	guide *guide // what the model was instructed with in this turn, nil if it has to be read again

	finding  sync.Mutex
	resolved *setup.Resolved // guarded by finding; see found

	inTurn  bool          // it is that of a turn, which may start servers
	serving *serving.Turn // see served

	program *session.Dialect // set where the session cannot be read

	ahead ahead // of the commands of the turn

	parent *host  // of a subagent: the conversation that it works for; else nil
	task   string // of a subagent: its name

	history bool // the last request has a history that the service compacted
}

// Record stores a message as an entry.
func (h *host) Record(m json.RawMessage) (string, error) {
	was := h.log.OnDisk()
	id, err := h.log.Append(draftOf(m))
	if err == nil {
		err = h.secure(m)
	}
	h.s.m.wrote(h.log.Path())
	h.tracked(m, id, was)
	if !was && h.log.OnDisk() {
		h.s.leaveBreadcrumb(h.log.Path()) // no change of session left one when this was the first
		h.s.m.publish(SessionsChanged{Cwd: h.s.cwd})
		h.s.m.watcher.watch(h.s.cwd)
	}
	return id, err
}

// Emit publishes an event.
func (h *host) Emit(e event.Event) {
	switch of := e.(type) {
	case event.MessageUpdate:
		if of.Update.Type == event.ToolCallStart {
			h.called(of.Update.ToolName)
		}
	case event.AgentEnd:
		of.Changes = h.s.turnChanges(h.s.ledgerOf(h.log))
		e = of
	}
	h.s.emit(h.log, e)
}

// Request makes the next request of the recorded conversation. It waits while the editor does not
// read its events, so that an unattended turn neither fills the memory nor costs more.
func (h *host) Request(ctx context.Context) (provider.Provider, provider.Request, error) {
	return h.requestTo(ctx, h.s.answering)
}

// requestTo is Request to the model that pick returns.
func (h *host) requestTo(ctx context.Context, pick picker) (provider.Provider, provider.Request, error) {
	if pace := h.s.m.cfg.Pace; pace != nil {
		pace(ctx)
	}
	if err := h.noteBackground(); err != nil {
		return nil, provider.Request{}, err
	}
	if err := h.remind(); err != nil {
		return nil, provider.Request{}, err
	}
	c, _, err := h.log.Context()
	if err != nil {
		return nil, provider.Request{}, err
	}
	p, _, err := pick(ctx, h.log, c.State())
	if err != nil {
		return nil, provider.Request{}, err
	}
	return h.request(ctx, c, p)
}

// request makes the next request of the recorded conversation to a model.
func (h *host) request(ctx context.Context, c session.Context, p picked) (provider.Provider, provider.Request, error) {
	model, level := p.model, p.level
	service, err := h.s.m.cfg.Models.Service(model)
	if err != nil {
		return nil, provider.Request{}, err
	}
	// Looked up for each request: a key can expire while a tool runs.
	key, err := h.s.m.cfg.Models.Key(ctx, model)
	if err != nil {
		return nil, provider.Request{}, err
	}
	tiers, err := h.s.tiers(h.log)
	if err != nil {
		return nil, provider.Request{}, err
	}
	own, err := h.setup()
	if err != nil {
		return nil, provider.Request{}, err
	}
	system, tools := h.instructions(ctx, own)
	messages, unsigned := h.messages(ctx, c, model)
	if unsigned && slices.Contains(model.SupportedLevels(), provider.Off) {
		level = provider.Off // with thinking, the answer that the results belong to needs its own
	}
	size := h.s.memo(h.log).Size(c.Messages, func() int { return provider.FixedLen(system, tools) })
	return h.watching(service, c, own), provider.Request{
		Model: model, Thinking: level, Tier: tiers.For(model), Key: key, SessionID: h.log.Header().ID, Size: size,
		Messages: messages, Prepared: true, System: system, Tools: tools, Budgets: configured.Budgets(h.found(ctx)),
	}, nil
}

// guide is the system prompt and the tools of a setup.
type guide struct {
	own    recorded.Setup
	system string
	tools  []provider.Tool

	version int64 // of the tools of servers
}

// instructions returns the system prompt and the tools, which the caller must not change. Their files are read at
// the beginning of a turn, and again after a tool that changes something and while commands run in the background:
// reading them for every request costs more than the rest of a step that only reads.
func (h *host) instructions(ctx context.Context, own recorded.Setup) (string, []provider.Tool) {
	version := h.served(ctx).Version(ctx)
	if h.guide == nil || len(h.s.background.Running()) > 0 || h.guide.version != version || !reflect.DeepEqual(h.guide.own, own) {
		if h.guide != nil {
			h.forgetFound() // commands in the background change files at any time
		}
		system, tools := h.instruct(ctx, own)
		h.guide = &guide{own, system, tools, version}
	}
	return h.guide.system, slices.Clip(h.guide.tools)
}

// Find returns the tool of a server that a call means.
func (h *host) Find(ctx context.Context, call provider.Block) (m loop.Meant, ok bool, err error) {
	if call.ArgumentsError != "" {
		return m, false, nil
	}
	m.Tool, m.Args, ok, err = h.find(ctx, call.Name, call.Arguments)
	if ok && err == nil {
		on := h.honoured(ctx, []tool.Tool{m.Tool})
		if len(on) == 0 {
			return m, false, nil
		}
		m.Tool = on[0]
	}
	if ok && err == nil {
		own, setupErr := h.setup()
		if setupErr != nil || !own.Allows(m.Tool.Name, m.Tool.Changes) {
			err = fault.New(fault.Denied, "The tool %s is turned off in this session.", fault.OneLine(call.Name))
		}
		m.Tool = h.looking(m.Tool)
	}
	return m, ok, err
}

// Tools returns the tools of the conversation by name, and their environment.
func (h *host) Tools(ctx context.Context) (map[string]tool.Tool, tool.Env) {
	byName := map[string]tool.Tool{}
	own, err := h.setup()
	if err != nil {
		h.s.m.log.Warn("the tools that the session records cannot be read", zap.Error(err))
	}
	for _, t := range h.tools(ctx, own) {
		if err != nil {
			break // a tool may be one that the session turned off
		}
		t = h.sensing(t)
		if h.s.m.cfg.Setups != nil {
			t = h.noting(t)
		}
		byName[t.Name] = h.looking(t)
	}
	h.accept(byName)
	return byName, tool.Env{
		Cwd: h.s.cwd, Files: h.s.captured(h.main().log), Keep: h.s.keeper(h.log), Background: h.s.background, Reach: h.reach, Shell: h.shell(ctx),
		Resource: func(tool, address string, write bool) (string, error) { return h.resource(ctx, tool, address, write) },
		Abandoned: func(name string) {
			h.s.m.log.Error("a tool call did not stop and was abandoned", zap.String("tool", name))
		},
	}
}
