package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

var approve = New(Spec{
	Name: "xcsh.approve", Title: "Answer Permission Prompt", Flags: NeedsTrust, Input: InputText, Arg: "id",
	Doc: "Answer a pending permission prompt. xcsh.snapshot and the event approvals_changed list them.",
}, runApprove)

var setApproval = New(Spec{
	Name: "xcsh.setApproval", Title: "Set Approval Mode…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "mode",
	Doc: "Set what the tools of the folder's session may do without asking.",
}, runSetApproval)

// ApproveArgs are the arguments of xcsh.approve.
type ApproveArgs struct {
	Folder
	ID       string            `json:"id" jsonschema:"The ID of the tool call."`
	Decision approval.Decision `json:"decision" jsonschema:"once, session, workspace or deny; session-wider or workspace-wider for a prompt with wider rules."`
	Reason   string            `json:"reason,omitempty" jsonschema:"Why the call is denied, for the model. Only with the decision deny."`
	Content  *string           `json:"content,omitempty" jsonschema:"The whole text of the file that is written instead of the proposed one. Only with the decision once, and for a prompt whose preview has base. The result of the call says that the user changed the proposal."`
	Base     string            `json:"base,omitempty" jsonschema:"The SHA-256 of the file's text that content replaces, in hex. If the file has another text, nothing is written."`
}

// ApproveResult is the decision.
type ApproveResult struct {
	Decision approval.Decision `json:"decision"`
}

// SetApprovalArgs are the arguments of xcsh.setApproval.
type SetApprovalArgs struct {
	Folder
	Mode approval.Mode `json:"mode" jsonschema:"read-only, ask, auto-edit or yolo."`
}

// ApprovalResult is the approval mode.
type ApprovalResult struct {
	Mode approval.Mode `json:"mode"`
}

func runApprove(ctx context.Context, env *Env, a ApproveArgs) (ApproveResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return ApproveResult{}, err
	}
	if a.ID == "" {
		if a.ID, err = env.ask().pending(ctx, live); err != nil {
			return ApproveResult{}, err
		}
	}
	if a.Decision == "" {
		if a.Decision, err = env.ask().decision(ctx, live, a.ID); err != nil {
			return ApproveResult{}, err
		}
	}
	return ApproveResult{Decision: a.Decision}, answerPrompt(live, a)
}

func answerPrompt(live *agent.Session, a ApproveArgs) error {
	switch {
	case a.Reason != "" && a.Decision != approval.Deny:
		return fault.New(fault.InvalidArgument, "A reason is only allowed with the decision deny.").With("field", "reason")
	case a.Content != nil && a.Decision != approval.Once:
		return fault.New(fault.InvalidArgument, "Another text is only allowed with the decision once.").With("field", "content")
	case a.Content != nil:
		return live.Revise(a.ID, a.Base, *a.Content)
	case a.Reason != "":
		return live.Deny(a.ID, a.Reason)
	}
	return live.Approve(a.ID, a.Decision)
}

// decision asks for the answer to a pending approval. Each choice names exactly what it allows.
func (p prompter) decision(ctx context.Context, live *agent.Session, id string) (approval.Decision, error) {
	snapshot, err := live.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	var asked approval.Prompt
	for _, pending := range snapshot.Approvals {
		if pending.ID == id {
			asked = pending
		}
	}
	answers := answersTo(asked)
	return choose(ctx, p, need{
		question: strings.Join(append([]string{"Allow this action?"}, asked.Warnings()...), "\n"), nothing: "No answer selected",
		input: InputText, field: "decision", choices: []approval.Decision{approval.Once, approval.Session, approval.Workspace, approval.Deny},
	}, answers, func(d approval.Decision) string { return decisionTitle(d, asked) })
}

// maxAllows is the longest description of what a choice allows, in UTF-16 units. A choice
// with a longer one is not offered.
const maxAllows = 400

func answersTo(p approval.Prompt) []approval.Decision {
	if allows := p.Allows(); allows == "" || rawjson.UTF16Len(allows) > maxAllows {
		return []approval.Decision{approval.Once, approval.Deny}
	}
	all := []approval.Decision{approval.Once, approval.Session, approval.Workspace}
	if wider := p.AllowsWider(); wider != "" && rawjson.UTF16Len(wider) <= maxAllows {
		all = append(all, approval.SessionWider, approval.WorkspaceWider)
	}
	return append(all, approval.Deny)
}

func decisionTitle(d approval.Decision, p approval.Prompt) string {
	switch d {
	case approval.Once:
		return "Allow"
	case approval.Session:
		return "Allow for this session: " + fault.OneLine(p.Allows())
	case approval.Workspace:
		return "Always allow in this folder: " + fault.OneLine(p.Allows())
	case approval.SessionWider:
		return "Allow for this session: " + fault.OneLine(p.AllowsWider())
	case approval.WorkspaceWider:
		return "Always allow in this folder: " + fault.OneLine(p.AllowsWider())
	default:
		return "Deny"
	}
}

// pending asks for one of the pending approvals.
func (p prompter) pending(ctx context.Context, live *agent.Session) (string, error) {
	snapshot, err := live.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	if len(snapshot.Approvals) == 0 {
		return "", fault.New(fault.NotFound, "There is no pending approval in %s.", live.Cwd())
	}
	ids := make([]string, len(snapshot.Approvals))
	for i, pending := range snapshot.Approvals {
		ids[i] = pending.ID
	}
	picked, err := choose(ctx, p, need{
		question: "Select a permission prompt", nothing: "No permission prompt selected", input: InputText, field: "id", choices: ids,
	}, snapshot.Approvals, pendingTitle)
	return picked.ID, err
}

// pendingTitle returns the choice for a tool call.
func pendingTitle(p approval.Prompt) string {
	what := p.Preview.Title
	if what == "" {
		what = p.Tool + " " + string(p.Args)
	}
	return rawjson.UTF16Prefix(fault.OneLine(what), choiceLength) + " · " + p.ID
}

func runSetApproval(ctx context.Context, env *Env, a SetApprovalArgs) (ApprovalResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return ApprovalResult{}, err
	}
	if a.Mode == "" {
		if a.Mode, err = choose(ctx, env.ask(), need{
			question: "Select an approval mode", nothing: "No approval mode selected", input: InputText, field: "mode", choices: approval.Modes,
		}, approval.Modes, func(m approval.Mode) string { return string(m) }); err != nil {
			return ApprovalResult{}, err
		}
	}
	if !slices.Contains(approval.Modes, a.Mode) {
		return ApprovalResult{}, fault.New(fault.InvalidArgument, "%q is not an approval mode; use read-only, ask, auto-edit or yolo.", a.Mode).With("field", "mode")
	}
	return ApprovalResult{Mode: a.Mode}, live.SetApproval(a.Mode)
}
