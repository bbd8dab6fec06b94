package commands

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var approve = New(Spec{
	Name: "xcsh.approve", Title: "Answer Permission Request",
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
	return ApproveResult{Decision: a.Decision}, live.Approve(a.ID, a.Decision)
}

func runSetApproval(ctx context.Context, env *Env, a SetApprovalArgs) (ApprovalResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return ApprovalResult{}, err
	}
	if a.Mode == "" {
		return ApprovalResult{}, fault.New(fault.ArgumentNeeded, "Which approval mode?").
			With("input", InputText).With("choices", approval.Modes).With("field", "mode")
	}
	if !slices.Contains(approval.Modes, a.Mode) {
		return ApprovalResult{}, fault.New(fault.InvalidArgument, "%q is not an approval mode; it is read-only, ask, auto-edit or yolo.", a.Mode).With("field", "mode")
	}
	return ApprovalResult{Mode: a.Mode}, live.SetApproval(a.Mode)
}
