package commands

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

var promptHistory = New(Spec{
	Name: "xcsh.history", Title: "Prompt History", Flags: ReadOnly, Arg: "query", Early: true,
	Doc: "Return earlier prompts, from here and from the terminal programs, newest first. Prompts without an answer come before all others.",
}, runHistory)

// defaultHistory is the number of prompts that the terminal programs load.
const defaultHistory = 100

// HistoryArgs are the arguments of xcsh.history.
type HistoryArgs struct {
	Folder
	Query string `json:"query,omitempty" jsonschema:"Words that a prompt must all contain, each at the beginning of a word. Default: all prompts."`
	Limit *int   `json:"limit,omitempty" jsonschema:"The maximum number, 0 to 1000. Default: 100."`
	Scope string `json:"scope,omitempty" jsonschema:"folder or all. Default: all, as in the terminal programs."`
}

// HistoryResult holds prompts.
type HistoryResult struct {
	Prompts []PastPrompt `json:"prompts"`
	Problem string       `json:"problem,omitempty" jsonschema:"Why prompts are missing: an error of the database."`
}

// PastPrompt is an entry of the prompt history.
type PastPrompt struct {
	ID         int64  `json:"id,omitempty" jsonschema:"For xcsh.forget; absent while the prompt is not in the database."`
	Prompt     string `json:"prompt"`
	CreatedAt  string `json:"createdAt"`
	Cwd        string `json:"cwd,omitempty"`
	Unanswered bool   `json:"unanswered,omitempty" jsonschema:"The program ended before the model answered."`
}

func runHistory(ctx context.Context, env *Env, a HistoryArgs) (r HistoryResult, err error) {
	r.Prompts = []PastPrompt{}
	cwd, err := env.resolver().historyCwd(ctx, a)
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
		r.Problem = err.Error() // return the prompts that are available
	}
	for _, e := range store.Unanswered(a.Query, cwd) {
		// It is usually in the history, too.
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

// historyCwd returns the directory whose prompts to list, "" for all.
func (r resolver) historyCwd(ctx context.Context, a HistoryArgs) (string, error) {
	switch a.Scope {
	case "", "all":
		return "", nil
	case "folder":
		return r.cwd(ctx, a.Folder)
	default:
		return "", fault.New(fault.InvalidArgument, "scope must be folder or all, not %q.", a.Scope).With("field", "scope")
	}
}
