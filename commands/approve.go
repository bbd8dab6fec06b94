package commands

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

var approve = New(Spec{
	Name: "xcsh.approve", Title: "Answer Permission Request", Input: InputText, Arg: "id",
	Doc: "Answer a tool call that waits for permission, as xcsh.snapshot and the event approvals_changed name it.",
}, runApprove)

var setApproval = New(Spec{
	Name: "xcsh.setApproval", Title: "Set Approval Mode…", Flags: Palette, Input: InputText, Arg: "mode",
	Doc: "Set what the tools of the folder's session may do without asking.",
}, runSetApproval)

// ApproveArgs are the arguments of xcsh.approve.
type ApproveArgs struct {
	Folder
	ID       string            `json:"id" jsonschema:"Of the tool call."`
	Decision approval.Decision `json:"decision" jsonschema:"once, session, workspace or deny."`
}

// ApproveResult is what was decided.
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
		if a.ID, err = env.pickPending(ctx, live); err != nil {
			return ApproveResult{}, err
		}
	}
	if a.Decision == "" {
		a.Decision, err = choose(ctx, env, need{
			question: "What is the answer?", nothing: "No answer selected", input: InputText, field: "decision", choices: decisions,
		}, decisions, func(d approval.Decision) string { return decisionTitles[d] })
		if err != nil {
			return ApproveResult{}, err
		}
	}
	return ApproveResult{Decision: a.Decision}, live.Approve(a.ID, a.Decision)
}

var decisions = []approval.Decision{approval.Once, approval.Session, approval.Workspace, approval.Deny}

var decisionTitles = map[approval.Decision]string{
	approval.Once: "Allow", approval.Session: "Allow for this session", approval.Workspace: "Always allow in this folder", approval.Deny: "Deny",
}

// pickPending asks for one of the tool calls that wait for permission.
func (env *Env) pickPending(ctx context.Context, live *agent.Session) (string, error) {
	snapshot, err := live.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	if len(snapshot.Approvals) == 0 {
		return "", fault.New(fault.NotFound, "Nothing waits for permission in %s.", live.Cwd())
	}
	ids := make([]string, len(snapshot.Approvals))
	for i, p := range snapshot.Approvals {
		ids[i] = p.ID
	}
	p, err := choose(ctx, env, need{
		question: "Answer which request?", nothing: "No request selected", input: InputText, field: "id", choices: ids,
	}, snapshot.Approvals, pendingTitle)
	return p.ID, err
}

// pendingTitle words a tool call as a choice.
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
		if a.Mode, err = choose(ctx, env, need{
			question: "Which approval mode?", nothing: "No approval mode selected", input: InputText, field: "mode", choices: approval.Modes,
		}, approval.Modes, func(m approval.Mode) string { return string(m) }); err != nil {
			return ApprovalResult{}, err
		}
	}
	if !slices.Contains(approval.Modes, a.Mode) {
		return ApprovalResult{}, fault.New(fault.InvalidArgument, "%q is not an approval mode; it is read-only, ask, auto-edit or yolo.", a.Mode).With("field", "mode")
	}
	return ApprovalResult{Mode: a.Mode}, live.SetApproval(a.Mode)
}
