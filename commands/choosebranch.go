package commands

import (
	"context"
	"fmt"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// ChooseBranchName is the command that answers [BranchQuestion].
const ChooseBranchName = "xcsh.chooseBranch"

var chooseBranch = New(Spec{
	Name: ChooseBranchName, Title: "Choose Branch…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "choice",
	Doc: "Decide what to do after another program continued the session on another branch. xcsh.snapshot and the event foreign_branch describe it.",
}, runChooseBranch)

// ChooseBranchArgs are the arguments of xcsh.chooseBranch.
type ChooseBranchArgs struct {
	Folder
	Choice   agent.BranchChoice `json:"choice" jsonschema:"follow: continue on the other branch. stay: continue on the current one. fork: continue the current one in a new session; the other program keeps the file."`
	BranchID string             `json:"branchId,omitempty" jsonschema:"The branch that the user saw; fails with notFound if it is another one by now. Default: the current one."`
}

// ChooseBranchResult describes the folder's live session after the command.
type ChooseBranchResult struct {
	Choice      agent.BranchChoice `json:"choice"`
	Changed     bool               `json:"changed" jsonschema:"The leaf moved, or another session is live."`
	CancelledBy string             `json:"cancelledBy,omitempty" jsonschema:"The hook that prevented it, if changed is false."`
	Session     agent.State        `json:"session"`
}

func runChooseBranch(ctx context.Context, env *Env, a ChooseBranchArgs) (r ChooseBranchResult, err error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return r, err
	}
	if a.Choice == "" {
		b, err := live.ForeignBranch()
		if err != nil {
			return r, err
		}
		if a.Choice, err = choose(ctx, env.ask(), need{
			question: b.Text, nothing: "No choice selected",
			input: InputText, field: "choice", choices: agent.BranchChoices,
		}, agent.BranchChoices, branchChoiceTitle); err != nil {
			return r, err
		}
	}
	out, err := live.ChooseBranch(ctx, a.BranchID, a.Choice)
	if err != nil {
		return r, err
	}
	r = ChooseBranchResult{Choice: a.Choice, Changed: out.Changed, CancelledBy: out.CancelledBy}
	r.Session, err = stateOf(ctx, live)
	return r, err
}

func (a ChooseBranchArgs) check() error {
	if a.Choice == "" || slices.Contains(agent.BranchChoices, a.Choice) {
		return nil
	}
	return fault.New(fault.InvalidArgument, "%q is not a choice; use follow, stay or fork.", a.Choice).With("field", "choice")
}

func branchChoiceTitle(c agent.BranchChoice) string {
	switch c {
	case agent.FollowBranch:
		return "Follow"
	case agent.ForkBranch:
		return "Fork"
	default:
		return "Stay"
	}
}

// BranchQuestion is the question that an editor without an interface of its own asks about
// another program's branch. Its choices are those of [agent.BranchChoices].
func BranchQuestion(e event.ForeignBranch) Question {
	text := fmt.Sprintf("%s Follow it, stay on your branch, or fork your branch into a new session?", e.Text)
	if e.Prompt != "" {
		text += "\nNewest prompt there: " + e.Prompt
	}
	return Question{Text: text, Choices: titlesOf(agent.BranchChoices, branchChoiceTitle)}
}
