package commands

import (
	"context"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/agent/history"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

var forget = New(Spec{
	Name: "xcsh.forget", Title: "Forget Prompts",
	Doc: "Remove prompts from the history that xcsh.history shows, for good. Programs that run keep what they have read; sessions keep what was said in them.",
}, runForget)

// maxForget is how many entries are forgotten one by one: other programs wait meanwhile.
const maxForget = 1000

// ForgetArgs are the arguments of xcsh.forget.
type ForgetArgs struct {
	Folder
	IDs     []int64  `json:"ids,omitempty" jsonschema:"Entries, by the ids that xcsh.history gives. At most 1000 together with prompts."`
	Prompts []string `json:"prompts,omitempty" jsonschema:"Texts: every entry that is exactly one of them."`
	All     bool     `json:"all,omitempty" jsonschema:"Everything, of every program and folder."`
	Confirm *bool    `json:"confirm,omitempty" jsonschema:"Must be true with all. Absent: the person is asked."`
	Compact bool     `json:"compact,omitempty" jsonschema:"Leave no trace of the texts in the database's files and make them smaller. Other programs wait meanwhile."`
}

// ForgetResult says what is gone.
type ForgetResult struct {
	Forgotten int `json:"forgotten" jsonschema:"How many entries are gone."`
}

func runForget(ctx context.Context, env *Env, a ForgetArgs) (ForgetResult, error) {
	if !a.All && a.IDs == nil && a.Prompts == nil && a.Confirm == nil {
		id, err := env.pickPastPrompt(ctx)
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
		return ForgetResult{}, fault.New(fault.InvalidArgument, "xcsh.forget takes all, or ids and prompts.").With("field", "all")
	case some > maxForget:
		return ForgetResult{}, fault.New(fault.InvalidArgument, "xcsh.forget takes at most %d ids and prompts, not %d.", maxForget, some).With("field", "ids")
	case a.Confirm != nil && !*a.Confirm:
		return ForgetResult{}, forgetConfirmNeeded()
	}
	if a.All && a.Confirm == nil {
		if err := env.confirmForget(ctx); err != nil {
			return ForgetResult{}, err
		}
	}
	gone, err := env.Sessions.History().Forget(ctx, history.Forgetting{IDs: a.IDs, Prompts: a.Prompts, All: a.All, Compact: a.Compact})
	return ForgetResult{Forgotten: gone}, err
}

// pickPastPrompt asks for one of the newest prompts. The history may be empty.
func (env *Env) pickPastPrompt(ctx context.Context) (id int64, err error) {
	entries, err := env.Sessions.History().Recent(ctx, defaultHistory, "")
	if err != nil {
		return 0, err
	}
	if len(entries) == 0 {
		return 0, fault.New(fault.NotFound, "The prompt history is empty")
	}
	ids := make([]int64, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	entry, err := choose(ctx, env, need{
		question: "Forget which prompt?", nothing: "No prompt selected", input: InputText, field: "ids", choices: ids,
	}, entries, promptTitle)
	return entry.ID, err
}

// promptTitle words a prompt as a choice.
func promptTitle(e history.Entry) string {
	return fmt.Sprintf("%s · %d", rawjson.UTF16Prefix(oneLine(e.Prompt), choiceLength), e.ID)
}

// confirmForget asks the person. Without one, consent has to come with the call.
func (env *Env) confirmForget(ctx context.Context) error {
	answer, err := env.UI.Ask(ctx, Question{
		Text:    "Forget all prompts of every program? They cannot be taken back.",
		Choices: []string{"Forget", "Cancel"},
	})
	switch {
	case err != nil:
		return err
	case answer == Unasked:
		return forgetConfirmNeeded()
	case answer != 0:
		return fault.New(fault.Cancelled, "No prompt was forgotten.")
	}
	return nil
}

func forgetConfirmNeeded() error {
	return fault.New(fault.InvalidArgument, "Forgetting all prompts needs \"confirm\": true.").With("field", "confirm")
}
