package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// slashChanges shows the file changes of the newest turn, or of the session.
func slashChanges(ctx context.Context, env *Env, cwd, args string) (string, error) {
	r, err := SlashChanges(ctx, env, cwd, args)
	if err != nil {
		return "", err
	}
	return changesMarkdown(cwd, r), nil
}

// SlashChanges returns the changes for /changes, with hunks. args are those of the slash command.
func SlashChanges(ctx context.Context, env *Env, cwd, args string) (wire.Changes, error) {
	since := "turn"
	switch args {
	case "", "turn":
	case "session":
		since = args
	default:
		return wire.Changes{}, fault.New(fault.InvalidArgument, "Use /changes or /changes session.")
	}
	return do[wire.Changes](ctx, env, "xcsh.changes", ChangesArgs{
		Subject: subjectIn(cwd), ChangesQuery: wire.ChangesQuery{Since: since, Hunks: new(true)},
	})
}

// confirmRewind is the argument that carries out a plan, as in "/rewind confirm 2-0f3a".
const confirmRewind = "confirm"

// slashRewind plans how to undo the file changes of the newest prompts, and carries out such a plan. The conversation stays,
// because clients can't remove shown messages; the model is notified of the changed files.
func slashRewind(ctx context.Context, env *Env, cwd, args string) (string, error) {
	word, token, _ := strings.Cut(args, " ")
	if word != confirmRewind {
		n, err := promptCount(cmp.Or(args, "1"))
		if err != nil {
			return "", err
		}
		plan, err := rewindTo(ctx, env, cwd, n, "")
		if err != nil {
			return "", err
		}
		return planAnswer(cwd, n, plan), nil
	}
	count, token, ok := strings.Cut(strings.TrimSpace(token), "-")
	n, err := promptCount(count)
	if err != nil || !ok || token == "" {
		return "", fault.New(fault.InvalidArgument, "Use /rewind to make a plan; it names the command that carries it out.")
	}
	r, err := rewindTo(ctx, env, cwd, n, token)
	if err != nil {
		return "", err
	}
	return RewoundText(r) + " To undo that, use /redo.", nil
}

func promptCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fault.New(fault.InvalidArgument, "Use /rewind N, where N is the number of prompts to go back.")
	}
	return n, nil
}

// rewindTo plans to undo the newest n prompts of the branch, or carries out the plan with that token.
func rewindTo(ctx context.Context, env *Env, cwd string, n int, token string) (wire.RewindResult, error) {
	live, err := env.live(ctx, folderOf(cwd))
	if err != nil {
		return wire.RewindResult{}, err
	}
	before, err := nthPrompt(live, n)
	if err != nil {
		return wire.RewindResult{}, err
	}
	a := RewindArgs{Folder: folderOf(cwd), RewindArgs: wire.RewindArgs{Before: &before, PlanToken: token}}
	if token == "" {
		a.DryRun = new(true)
	}
	return do[wire.RewindResult](ctx, env, "xcsh.rewind", a)
}

// nthPrompt returns the n-th newest prompt of the live session's branch.
func nthPrompt(live *agent.Session, n int) (id string, err error) {
	err = live.View(func(d *session.Document, leaf session.Leaf) error {
		have := 0
		for _, i := range slices.Backward(d.PathTo(leaf)) {
			if d.Role(i) != "user" || d.ID(i) == "" {
				continue
			}
			if have++; have == n {
				id = d.ID(i)
				return nil
			}
		}
		if have == 0 {
			return fault.New(fault.NotFound, "The session has no prompts yet.")
		}
		return fault.New(fault.NotFound, "The conversation has only %s.", counted(have, "prompt"))
	})
	return id, err
}

// planAnswer describes a plan and how to carry it out.
func planAnswer(cwd string, n int, plan wire.RewindResult) string {
	switch {
	case nothingToRewind(plan):
		return "There is nothing to undo: the files already have this state."
	case plan.Conflicts > 0:
		return RewindPlanMarkdown(cwd, plan) + "\nNo file is changed unless all files can be undone. Resolve the conflicts, or use an editor to leave files out."
	}
	return RewindPlanMarkdown(cwd, plan) + fmt.Sprintf("\nTo carry out this plan, send:\n\n```\n/rewind %s %d-%s\n```", confirmRewind, n, *plan.PlanToken)
}

// slashRedo undoes the newest rewind.
func slashRedo(ctx context.Context, env *Env, cwd, _ string) (string, error) {
	r, err := do[wire.RewindResult](ctx, env, "xcsh.rewind", RewindArgs{
		Folder: folderOf(cwd), RewindArgs: wire.RewindArgs{Redo: new(""), DryRun: new(false)},
	})
	if err != nil {
		return "", err
	}
	return strings.Replace(RewoundText(r), "Rewound", "Undid the rewind of", 1), nil
}
