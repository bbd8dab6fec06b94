package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/task"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// Approval is a tool call that needs the user's approval.
type Approval struct {
	Cwd       string
	SessionID string
	approval.Prompt
}

// Asker shows a permission prompt to the user. It is called on its own goroutine and removes
// the prompt when ctx ends. It returns an [*approval.Denial] to deny the call with a reason, and another
// error if the prompt could not be shown.
type Asker func(ctx context.Context, a Approval) (approval.Decision, error)

// addGate adds a gate to the tools of s that change something.
func (m *Manager) addGate(s *Session) {
	mode := m.cfg.Approval
	if mode == "" {
		mode = approval.Ask
	}
	s.gate = approval.NewGate(approval.Config{
		Root: s.cwd, Mode: mode, Memory: m.cfg.Rules, Protected: m.cfg.Protected, Sandbox: m.cfg.Sandbox, Sensitive: m.cfg.Sensitive, Changed: s.publishApprovals,
		Report: func(err error) { m.log.Warn("a permanent permission could not be stored", zap.Error(err)) },
	})
	if m.cfg.Ask != nil {
		s.gate.Attach(func(ctx context.Context, p approval.Prompt) (approval.Decision, error) {
			return m.cfg.Ask(ctx, Approval{Cwd: s.cwd, SessionID: s.current().Header().ID, Prompt: p})
		})
	}
}

// publishApprovals publishes the pending approvals, also when none are left. The
// list is read and shown in one step, so that an older one is never shown after a newer one.
func (s *Session) publishApprovals() {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	raw, err := json.Marshal(s.gate.Pending())
	if err != nil { // prompts are made of JSON and texts
		s.m.log.Error("prompts could not be encoded", zap.Error(err))
		return
	}
	same := s.approvals == string(raw) || s.approvals == "" && string(raw) == "[]"
	s.approvals = string(raw)
	if same {
		return
	}
	s.emit(s.current(), event.ApprovalsChanged{Approvals: raw})
}

// Approve answers a permission prompt. Returns a NotFound error if it is not pending, such
// as after it was answered.
func (s *Session) Approve(id string, d approval.Decision) error { return s.gate.Answer(id, d) }

// Deny denies the call of a permission prompt and gives the model the user's reason. Its errors are those
// of [Session.Approve].
func (s *Session) Deny(id, reason string) error { return s.gate.Deny(id, reason) }

// Revise approves the call of a permission prompt once, with the file's text that the user wrote in place of the
// proposed one. base is the [tool.Sum] of the text that it replaces. Its errors are those of [approval.Gate.Revise].
func (s *Session) Revise(id, base, content string) error { return s.gate.Revise(id, base, content) }

// SetApproval changes which tool calls need approval in this folder.
func (s *Session) SetApproval(mode approval.Mode) error {
	if err := s.gate.SetMode(mode); err != nil {
		return err
	}
	s.emit(s.current(), event.ApprovalModeChanged{Mode: string(mode)})
	return nil
}

// ApprovalMode returns which tool calls need approval in this folder.
func (s *Session) ApprovalMode() approval.Mode { return s.gate.Mode() }

// Permit asks whether a tool may change something. The change is computed before the question, so
// that the user sees it, and again after the question, which may have waited for hours: a change
// that differs from the shown one is not written.
func (h *host) Permit(ctx context.Context, call provider.Block, t tool.Tool, args json.RawMessage) (tool.Permission, error) {
	r := approval.Request{ID: call.ID, Tool: cmp.Or(t.Name, call.Name), Args: args, Digest: t.Digest, MCP: t.Remote, Edits: t.Edits, Task: h.task} // the call may have another name
	if tool.EndsPlan(t.Name, args) {
		r.Tool, r.EndsPlan = tool.ExitPlanMode, true
	}
	if t.Preview == nil {
		return h.permit(ctx, r)
	}
	_, env := h.main().Tools(ctx)
	shown, err := t.PreviewWithin(ctx, env, args)
	if err != nil {
		return tool.Permission{}, err // the model receives the reason
	}
	r.Preview = shown
	if t.Name == task.Name {
		return h.permitTasks(ctx, r)
	}
	p, err := h.permit(ctx, r)
	if err != nil || p.Revision != nil { // a revision names the content that it replaces
		return p, err
	}
	now, err := t.PreviewWithin(ctx, env, args)
	if err != nil {
		return tool.Permission{}, err
	}
	if now.Diff != shown.Diff || now.Target != shown.Target || !slices.Equal(now.Paths, shown.Paths) {
		return tool.Permission{}, fault.New(fault.Stale, "The file changed while this %s call was waiting for approval, so nothing was done. Read the file again and repeat the call.", call.Name)
	}
	return p, nil
}

// main returns the conversation that the user sees: that of h, or the one for which h works.
func (h *host) main() *host {
	if h.parent != nil {
		return h.parent
	}
	return h
}

// permit requests permission from the gate.
func (h *host) permit(ctx context.Context, r approval.Request) (tool.Permission, error) {
	r = h.asked(ctx, r)
	grant, err := h.s.gate.Ask(ctx, r)
	if err != nil {
		return tool.Permission{}, err
	}
	p := tool.Permission{Level: grant.Level, Revision: grant.Revision, Widen: func(ctx context.Context, blocked []string) (tool.Permission, error) {
		// A command that ran without approval asks for the usual rights first.
		shown := make([]string, len(blocked))
		for i, line := range blocked {
			shown[i] = visible.Line(line) // a command wrote it
		}
		r.Blocked, r.Unsandboxed = shown, grant.Level != sandbox.Strict
		return h.permit(ctx, r)
	}}
	if h.s.ApprovalMode() != approval.Yolo {
		p.Keep = func(ctx context.Context, paths []string) error { return h.keepChanges(ctx, r, paths) }
	}
	return p, nil
}

// keepChanges asks the user whether to keep a command's changes of protected files.
func (h *host) keepChanges(ctx context.Context, r approval.Request, paths []string) error {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = path
		if rel, err := filepath.Rel(h.s.cwd, path); err == nil {
			names[i] = filepath.ToSlash(rel)
		}
	}
	title := "Keep this command's changes: "
	if rawjson.Truthy(rawjson.Get(r.Args, "background")) {
		title = "Keep changes made while this command was running in the background: "
	}
	_, err := h.s.gate.Ask(ctx, approval.Request{
		ID: r.ID, Tool: r.Tool, Args: r.Args, Changed: true, Task: r.Task,
		Preview: tool.Preview{Title: title + strings.Join(names, ", "), Paths: paths},
	})
	return err
}
