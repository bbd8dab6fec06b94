package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/recorded"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxListed bounds the tools that a notice lists.
const maxListed = 12

// setup returns the system prompt and the tools that a conversation records for itself. It is read
// again each time: the leaf may have moved to a branch that records others.
func (h *host) setup() (own recorded.Setup, err error) {
	err = h.log.View(func(d *session.Document, leaf session.Leaf) error {
		own, err = recorded.Of(d, leaf)
		return err
	})
	return own, err
}

// tools returns the tools of this program that a conversation with the setup has.
func (m *Manager) tools(own recorded.Setup) (tools []tool.Tool) {
	for _, t := range m.cfg.Tools {
		if own.Allows(t.Name, t.Changes) {
			tools = append(tools, t)
		}
	}
	return tools
}

// Instructions returns the system prompt and the tools of the conversation up to leaf in d, a document
// of this session. It may be called within [Session.View].
func (s *Session) Instructions(ctx context.Context, d *session.Document, leaf session.Leaf) (system string, tools []provider.Tool) {
	own, err := recorded.Of(d, leaf)
	if err != nil {
		s.m.log.Warn("the setup that the session records cannot be read", zap.Error(err)) // the next request reports it
	}
	h := &host{s: s, log: s.current()}
	h.resolved = s.m.setups().Resolve(ctx, s.setupQueryOf(d.Dialect())) // the session's own lock may be held
	h.program = new(d.Dialect())
	return h.instruct(ctx, own)
}

// instruct returns the system prompt and the tools of the conversation with a recorded setup.
func (h *host) instruct(ctx context.Context, own recorded.Setup) (system string, tools []provider.Tool) {
	for _, t := range h.tools(ctx, own) {
		tools = append(tools, t.Tool)
	}
	cfg := h.s.m.cfg
	switch used, _ := h.s.m.usesPrompt(h.log, own); {
	case used:
		system = cfg.RecordedSystem(ctx, h.s.cwd, own.Prompt)
	case cfg.System != nil:
		system = cfg.System(ctx, h.found(ctx), tools)
	}
	return system + h.s.around.of(h.log) + h.served(ctx).Instructions(), tools
}

// usesPrompt reports whether the recorded system prompt is used. why is the reason for the user if it
// must not be.
func (m *Manager) usesPrompt(log *session.Log, own recorded.Setup) (used bool, why error) {
	if own.Prompt == "" || m.cfg.RecordedSystem == nil {
		return false, nil
	}
	if path := log.Path(); path != "" && m.cfg.SessionPrompts != nil {
		why = m.cfg.SessionPrompts(path)
	}
	return why == nil, why
}

// announceSetup notifies the user, with the first prompt, of the setup that a session records.
func (s *Session) announceSetup(ctx context.Context, log *session.Log) error {
	if s.setupShown.Load() == log {
		return nil
	}
	h := &host{s: s, log: log}
	own, err := h.setup()
	if err != nil {
		return err
	}
	s.setupShown.Store(log)
	if text := h.describeSetup(ctx, own); text != "" {
		s.emit(log, notice(text))
	}
	return nil
}

// describeSetup returns the effect of a setup in words, "" if it has none.
func (h *host) describeSetup(ctx context.Context, own recorded.Setup) string {
	var sentences []string
	switch used, why := h.s.m.usesPrompt(h.log, own); {
	case why != nil:
		sentences = append(sentences, why.Error())
	case used && own.Cut:
		sentences = append(sentences, "This session has its own system prompt, which is used up to its maximum length.")
	case used:
		sentences = append(sentences, "This session has its own system prompt, which is used in place of the usual instructions.")
	}
	if !own.Limits() {
		return strings.Join(sentences, " ")
	}
	existing, available := toolNames(h.tools(ctx, recorded.Setup{})), toolNames(h.tools(ctx, own))
	missing := h.missing(ctx, own, existing)
	switch {
	case len(available) == len(existing):
	case len(available) == 0:
		sentences = append(sentences, "None of its tools exists here.")
	default:
		sentences = append(sentences, "Its tools are "+listed(available)+".")
	}
	if len(missing) > 0 && len(available) > 0 {
		sentences = append(sentences, "Recorded tools that don't exist here: "+listed(missing)+".")
	}
	return strings.Join(sentences, " ")
}

// missing returns the recorded tools that the conversation doesn't have. existing are those that it has before the first
// prompt: tools that the user's settings turn off exist, too, and a server that was not started yet may have any tool.
func (h *host) missing(ctx context.Context, own recorded.Setup, existing []string) []string {
	missing := own.Missing(slices.Concat(existing, toolNames(h.s.m.cfg.Tools)))
	if len(missing) == 0 {
		return nil
	}
	wanted := h.s.wantedServers(h.log, h.found(ctx))
	return slices.DeleteFunc(missing, func(name string) bool { return h.s.servers.MayHave(wanted, name) })
}

// toolNames returns the names of tools.
func toolNames(tools []tool.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}

// listed joins names from a session file for a sentence.
func listed(names []string) string {
	more := ""
	if n := len(names) - maxListed; n > 0 {
		names, more = names[:maxListed], fmt.Sprintf(" and %d more", n)
	}
	shown := slices.Clone(names)
	for i, name := range shown {
		shown[i] = visible.Line(name)
	}
	return strings.Join(shown, ", ") + more
}
