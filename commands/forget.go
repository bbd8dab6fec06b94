package commands

import (
	"context"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

var forget = New(Spec{
	Name: "xcsh.forget", Title: "Forget Prompts", Flags: NeedsTrust,
	Doc: "Remove prompts from the prompt history permanently. Running programs keep what they have loaded; sessions are not changed.",
}, runForget)

// maxForget is the maximum number of entries to remove in one call, because other programs
// wait for the database meanwhile.
const maxForget = 1000

// ForgetArgs are the arguments of xcsh.forget.
type ForgetArgs struct {
	Folder
	IDs     []int64  `json:"ids,omitempty" jsonschema:"The IDs of entries, from xcsh.history. At most 1000 IDs and prompts together."`
	Prompts []string `json:"prompts,omitempty" jsonschema:"Texts: remove every entry that equals one of them."`
	All     bool     `json:"all,omitempty" jsonschema:"Remove all prompts of every program and folder."`
	Confirm *bool    `json:"confirm,omitempty" jsonschema:"Must be true with all. Default: ask the user."`
	Compact bool     `json:"compact,omitempty" jsonschema:"Also erase the texts from the database's free space and shrink its files. Other programs wait meanwhile."`
}

// ForgetResult is the number of removed prompts.
type ForgetResult struct {
	Forgotten int `json:"forgotten" jsonschema:"The number of removed entries."`
}

func runForget(ctx context.Context, env *Env, a ForgetArgs) (ForgetResult, error) {
	if !a.All && a.IDs == nil && a.Prompts == nil && a.Confirm == nil {
		id, err := env.ask().pastPrompt(ctx, env.Sessions.History())
		if err != nil {
			return ForgetResult{}, err
		}
		a.IDs = []int64{id}
	}
	some := len(a.IDs) + len(a.Prompts)
	switch {
	case !a.All && some == 0:
		return ForgetResult{}, fault.New(fault.InvalidArgument, "xcsh.forget needs ids, prompts or all.").With("field", "ids")
	case a.All && some > 0:
		return ForgetResult{}, fault.New(fault.InvalidArgument, "xcsh.forget takes either all, or ids and prompts.").With("field", "all")
	case some > maxForget:
		return ForgetResult{}, fault.New(fault.InvalidArgument, "xcsh.forget takes at most %d ids and prompts, not %d.", maxForget, some).With("field", "ids")
	case a.Confirm != nil && !*a.Confirm:
		return ForgetResult{}, forgetConfirmNeeded()
	}
	if a.All && a.Confirm == nil {
		err := env.ask().confirm(ctx, "Remove the prompts of all programs from the history? This cannot be undone.", "Forget",
			forgetConfirmNeeded(), fault.New(fault.Cancelled, "No prompt was removed."))
		if err != nil {
			return ForgetResult{}, err
		}
	}
	gone, err := env.Sessions.History().Forget(ctx, history.Forgetting{IDs: a.IDs, Prompts: a.Prompts, All: a.All, Compact: a.Compact})
	return ForgetResult{Forgotten: gone}, err
}

// pastPrompt asks for one of the newest prompts. The history may be empty.
func (p prompter) pastPrompt(ctx context.Context, store *history.Store) (id int64, err error) {
	entries, err := store.Recent(ctx, defaultHistory, "")
	if err != nil {
		return 0, err
	}
	if len(entries) == 0 {
		return 0, fault.New(fault.NotFound, "The prompt history is empty.")
	}
	ids := make([]int64, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	entry, err := choose(ctx, p, need{
		question: "Select a prompt to forget", nothing: "No prompt selected", input: InputText, field: "ids", choices: ids,
	}, entries, promptTitle)
	return entry.ID, err
}

// promptTitle returns the choice for a prompt.
func promptTitle(e history.Entry) string {
	return fmt.Sprintf("%s · %d", rawjson.UTF16Prefix(oneLine(e.Prompt), choiceLength), e.ID)
}

func forgetConfirmNeeded() error {
	return fault.New(fault.InvalidArgument, "To remove all prompts, set \"confirm\" to true.").With("field", "confirm")
}
