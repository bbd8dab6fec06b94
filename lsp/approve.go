package lsp

import (
	"context"
	"encoding/json"
	"errors"

	"go.lsp.dev/jsonrpc2"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/commands"
)

// ApproveParams are the parameters of xcsh/approve: a tool of the agent wants to change
// something.
type ApproveParams struct {
	Cwd       string          `json:"cwd"`
	SessionID string          `json:"sessionId"`
	ID        string          `json:"id"` // of the tool call
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	Title     string          `json:"title,omitempty"`
	Diff      string          `json:"diff,omitempty"`  // unified
	Paths     []string        `json:"paths,omitempty"` // files that would be changed
}

// ApproveResult is the answer to xcsh/approve.
type ApproveResult struct {
	Decision approval.Decision `json:"decision"` // once, session, workspace or deny
}

// approve asks the person whether a tool may change something: through a client that opted
// in with ui.hooks, else in a message box. An answer that is none is a no.
func (s *server) approve(ctx context.Context, r agent.Approval, hooks bool) (approval.Decision, error) {
	if hooks {
		decision, err := s.approveByClient(ctx, r)
		var wire *jsonrpc2.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc2.MethodNotFound {
			return decision, err
		}
	}
	return s.approveByMessage(ctx, r)
}

func (s *server) approveByClient(ctx context.Context, r agent.Approval) (approval.Decision, error) {
	raw, err := encodeJSON(ApproveParams{
		Cwd: r.Cwd, SessionID: r.SessionID, ID: r.ID, Tool: r.Tool, Args: r.Args,
		Title: r.Preview.Title, Diff: r.Preview.Diff, Paths: r.Preview.Paths,
	})
	if err != nil {
		return approval.Deny, err
	}
	var result *ApproveResult
	if err := s.ask(ctx, MethodApprove, raw, &result); err != nil {
		return approval.Deny, err
	}
	if result == nil {
		return approval.Deny, nil
	}
	switch result.Decision {
	case approval.Once, approval.Session, approval.Workspace:
		return result.Decision, nil
	}
	return approval.Deny, nil
}

// maxQuestion bounds what is shown of a tool call in a message box, in bytes.
const maxQuestion = 400

func (s *server) approveByMessage(ctx context.Context, r agent.Approval) (approval.Decision, error) {
	text := "xcsh wants to use " + r.Tool + ": " + clip(string(r.Args), maxQuestion)
	if title := r.Preview.Title; title != "" {
		text = "xcsh wants to: " + clip(title, maxQuestion)
	}
	answers := []approval.Decision{approval.Once, approval.Session, approval.Deny}
	i, err := clientUI{s}.Ask(ctx, commands.Question{Text: text, Choices: []string{"Allow", "Allow for this session", "Deny"}})
	if err != nil || i < 0 {
		return approval.Deny, err
	}
	return answers[i], nil
}

// clip cuts a text to n bytes, never inside a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
