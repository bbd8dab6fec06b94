package commands

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/history"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var promptHistory = New(Spec{
	Name: "xcsh.history", Title: "Prompt History", Flags: ReadOnly, Arg: "query",
	Doc: "What was said before, here and in the terminal programs, newest first; behind what never got an answer.",
}, runHistory)

// defaultHistory is how many prompts the terminal programs load.
const defaultHistory = 100

// HistoryArgs are the arguments of xcsh.history.
type HistoryArgs struct {
	Folder
	Query string `json:"query,omitempty" jsonschema:"Words that must all be found, each where a word begins with it. Absent: all prompts."`
	Limit *int   `json:"limit,omitempty" jsonschema:"How many at most: 0 to 1000. Absent: 100."`
	Scope string `json:"scope,omitempty" jsonschema:"folder or all. Absent: all, as in the terminal programs."`
}

// HistoryResult holds prompts.
type HistoryResult struct {
	Prompts []PastPrompt `json:"prompts"`
	Problem string       `json:"problem,omitempty" jsonschema:"Why prompts are missing: a sentence about the database."`
}

// PastPrompt is what was said before.
type PastPrompt struct {
	ID         int64  `json:"id,omitempty" jsonschema:"For xcsh.forget; absent while the prompt is not in the database."`
	Prompt     string `json:"prompt"`
	CreatedAt  string `json:"createdAt"`
	Cwd        string `json:"cwd,omitempty"`
	Unanswered bool   `json:"unanswered,omitempty" jsonschema:"The program ended before the model answered."`
}

func runHistory(ctx context.Context, env *Env, a HistoryArgs) (r HistoryResult, err error) {
	r.Prompts = []PastPrompt{}
	cwd, err := env.historyCwd(ctx, a)
	if err != nil {
		return r, err
	}
	limit := defaultHistory
	if a.Limit != nil {
		limit = max(0, min(*a.Limit, history.MaxLimit))
	}
	store := env.Sessions.History()
	var entries []history.Entry
	if strings.TrimSpace(a.Query) == "" {
		entries, err = store.Recent(ctx, limit, cwd)
	} else {
		entries, err = store.Search(ctx, a.Query, limit, cwd)
	}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		r.Problem = err.Error() // the history is a convenience; who asks gets what there is
	}
	for _, e := range store.Unanswered(a.Query, cwd) {
		// It is in the history as well, most likely.
		same := func(o history.Entry) bool { return o.Prompt == e.Prompt && o.Cwd == e.Cwd }
		if i := slices.IndexFunc(entries, same); i >= 0 {
			e.ID = entries[i].ID
			entries = slices.Delete(entries, i, i+1)
		}
		r.Prompts = append(r.Prompts, pastPrompt(e, true))
	}
	for _, e := range entries {
		r.Prompts = append(r.Prompts, pastPrompt(e, false))
	}
	r.Prompts = r.Prompts[:min(limit, len(r.Prompts))]
	return r, nil
}

func pastPrompt(e history.Entry, unanswered bool) PastPrompt {
	return PastPrompt{ID: e.ID, Prompt: e.Prompt, CreatedAt: session.FormatTime(e.Created.UTC().Truncate(time.Second)), Cwd: e.Cwd, Unanswered: unanswered}
}

// historyCwd is the directory whose prompts are wanted, "" for all.
func (env *Env) historyCwd(ctx context.Context, a HistoryArgs) (string, error) {
	switch a.Scope {
	case "", "all":
		return "", nil
	case "folder":
		return env.cwd(ctx, a.Folder)
	default:
		return "", fault.New(fault.InvalidArgument, "scope must be folder or all, not %q.", a.Scope).With("field", "scope")
	}
}
