package agent

import (
	"context"
	"encoding/json"
	"slices"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Approval is a tool call that waits for a person's word.
type Approval struct {
	Cwd       string
	SessionID string
	approval.Prompt
}

// Asker puts a question to a person. It is called from a goroutine of its own; when ctx
// ends the question is to be taken off the screen. An error says that nobody could be
// asked.
type Asker func(ctx context.Context, a Approval) (approval.Decision, error)

// approvalsChanged is the type of the event with everything that waits for a person's word.
const approvalsChanged = "approvals_changed"

// approvalModeChanged is the type of the event that tells what needs the person's word from
// now on.
const approvalModeChanged = "approval_mode_changed"

// addGate puts a gate before the tools of s that change something.
func (m *Manager) addGate(s *Session) {
	mode := m.cfg.Approval
	if mode == "" {
		mode = approval.Ask
	}
	s.gate = approval.NewGate(approval.Config{
		Root: s.cwd, Mode: mode, Memory: m.cfg.Rules, Protected: m.cfg.Protected, Changed: s.tellApprovals,
		Report: func(err error) { m.log.Warn("what was allowed could not be remembered", zap.Error(err)) },
	})
	if m.cfg.Ask != nil {
		s.gate.Attach(func(ctx context.Context, p approval.Prompt) (approval.Decision, error) {
			return m.cfg.Ask(ctx, Approval{Cwd: s.cwd, SessionID: s.current().Header().ID, Prompt: p})
		})
	}
}

// tellApprovals shows what waits for a person's word, also that nothing does any more. The
// list is read and shown in one step, so that an older one is never shown after a newer one.
func (s *Session) tellApprovals() {
	s.telling.Lock()
	defer s.telling.Unlock()
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
	s.emit(s.current(), loop.Event{Type: approvalsChanged, Approvals: raw})
}

// Approve answers a prompt. One that does not wait, because it was answered, is kind
// notFound.
func (s *Session) Approve(id string, d approval.Decision) error { return s.gate.Answer(id, d) }

// SetApproval changes what needs the person's word in this folder.
func (s *Session) SetApproval(mode approval.Mode) error {
	if err := s.gate.SetMode(mode); err != nil {
		return err
	}
	s.emit(s.current(), loop.Event{Type: approvalModeChanged, Mode: string(mode)})
	return nil
}

// ApprovalMode is what needs the person's word in this folder.
func (s *Session) ApprovalMode() approval.Mode { return s.gate.Mode() }

// Permit asks whether a tool may change something. What would change is worked out first,
// so that the person sees it, and again after the question, which may have waited for hours:
// nothing is written that differs from what was shown.
func (h *host) Permit(ctx context.Context, call provider.Block, t tool.Tool, args json.RawMessage) error {
	r := approval.Request{ID: call.ID, Tool: call.Name, Args: args}
	if t.Preview == nil {
		_, err := h.s.gate.Ask(ctx, r)
		return err
	}
	_, env := h.Tools()
	shown, err := t.Preview(ctx, env, args)
	if err != nil {
		return err // what cannot be worked out cannot be done; the model is told why
	}
	r.Preview = shown
	if _, err := h.s.gate.Ask(ctx, r); err != nil {
		return err
	}
	now, err := t.Preview(ctx, env, args)
	if err != nil {
		return err
	}
	if now.Diff != shown.Diff || !slices.Equal(now.Paths, shown.Paths) {
		return fault.New(fault.Stale, "The file changed while the person was asked about this %s call, so nothing was done. Read it again and make the call anew.", call.Name)
	}
	return nil
}
