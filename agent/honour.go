package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/configured"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The settings of the set-up that this package honours; see package configured.

// honoured returns the tools that the set-up leaves on. A tool that it denies fails with the reason, and one that only
// reads and needs approval counts as one that changes something.
func (h *host) honoured(ctx context.Context, list []tool.Tool) []tool.Tool {
	found := h.found(ctx)
	if len(found.Settings) == 0 {
		return list
	}
	list = slices.DeleteFunc(slices.Clone(list), func(t tool.Tool) bool { return !configured.HasTool(found, t.Name) })
	for i, t := range list {
		switch a, path := configured.ToolApproval(found, t.Name); a {
		case configured.Deny:
			list[i].Check = func(json.RawMessage) (json.RawMessage, error) {
				return nil, fault.New(fault.Denied, "The setting tools.approval in %s denies all %s calls.", path, t.Name)
			}
		case configured.Prompt:
			list[i].Changes, list[i].Reads = true, nil
		case configured.Allow, configured.NoApproval:
		}
	}
	return list
}

// asked returns a request for approval with what the set-up says about the tool.
func (h *host) asked(ctx context.Context, r approval.Request) approval.Request {
	found := h.found(ctx)
	switch a, _ := configured.ToolApproval(found, r.Tool); a {
	case configured.Prompt:
		r.AlwaysAsk = true
	case configured.Allow:
		r.Allowed = true
	case configured.Deny, configured.NoApproval:
	}
	if program, _ := h.configuredShell(found); program != "" && r.Tool == "bash" {
		r.OtherShell = !tool.KnownShell(program)
	}
	return r
}

// shell returns how the commands of the conversation are run.
func (h *host) shell(ctx context.Context) tool.ShellSetup {
	program, prefix := h.configuredShell(h.found(ctx))
	if rest, ok := strings.CutPrefix(program, "~/"); ok {
		program = filepath.Join(h.s.m.setups().Home, filepath.FromSlash(rest))
	}
	return tool.ShellSetup{Program: program, Prefix: prefix, Variables: h.variables(ctx)}
}

// configuredShell returns what [configured.Shell] does, but the flag takes precedence.
func (h *host) configuredShell(found *setup.Resolved) (program, prefix string) {
	program, prefix = configured.Shell(found)
	return cmp.Or(h.s.m.cfg.ShellPath, program), prefix
}

// variables returns the variables by which commands of a session of pi know it.
func (h *host) variables(ctx context.Context) []string {
	if dialectOf(h.log) != session.Pi {
		return nil
	}
	all := []string{"PI_SESSION_ID=" + h.log.Header().ID}
	if path := h.log.Path(); path != "" {
		all = append(all, "PI_SESSION_FILE="+path)
	}
	c, err := h.log.ContextState()
	if err != nil {
		return all // the next request reports it
	}
	if p, _, err := h.s.answering(ctx, h.log, c); err == nil {
		all = append(all, "PI_PROVIDER="+p.model.Provider, "PI_MODEL="+p.model.ID, "PI_REASONING_LEVEL="+string(p.level))
	}
	return all
}

// retry returns the retries of the requests of a turn, and makes the queue send its messages as the set-up says.
func (h *host) retry(ctx context.Context) loop.Retry {
	found := h.found(ctx)
	for _, when := range []loop.When{loop.Steering, loop.FollowUp} {
		h.s.queue.Together(when, configured.Together(found, when))
	}
	return configured.Retry(found, h.s.m.cfg.Retry)
}

// compaction returns when a conversation with the model is compacted.
func (h *host) compaction(ctx context.Context, model provider.Model) compaction.Settings {
	return configured.Compaction(h.found(ctx), h.s.m.cfg.Compaction, model.Ref())
}
