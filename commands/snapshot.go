package commands

import (
	"context"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

var snapshot = New(Spec{
	Name: "xcsh.snapshot", Title: "Session Snapshot", Flags: ReadOnly, Early: true,
	Doc: "Return everything that a panel needs to draw the folder's session.",
}, runSnapshot)

var stats = New(Spec{
	Name: "xcsh.stats", Title: "Session Statistics", Flags: Palette | ReadOnly, Arg: "source",
	Doc: "Return the numbers of messages, tool calls and tokens, the cost, and how full the model's context window is.",
}, runStats)

// SnapshotArgs are the arguments of xcsh.snapshot.
type SnapshotArgs struct {
	Folder
	Last    *int `json:"last,omitempty" jsonschema:"Only the newest messages: at most this many, 1 to 500, and at most 4 MiB. xcsh.messages returns the others. Default: all messages."`
	History bool `json:"history,omitempty" jsonschema:"With last: the older messages include those before the context, which xcsh.messages returns with history. Default: false."`
}

func (a SnapshotArgs) check() error { return checkRange("last", a.Last, paging.MaxMessages) }

func runSnapshot(ctx context.Context, env *Env, a SnapshotArgs) (snap agent.Snapshot, err error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return agent.Snapshot{}, err
	}
	if r := live.Reading(); r != nil && a.Last != nil {
		snap, err = r.SnapshotLast(*a.Last, a.History)
		snap.Pending = append(snap.Pending, "changes")
	} else if err = env.readWhole(ctx, live); err == nil {
		if snap, err = live.SnapshotLast(ctx, valueOr(a.Last, 0), a.History); err == nil {
			var changesErr error
			if snap.Changes, changesErr = live.SnapshotChanges(ctx); changesErr != nil { // return the conversation anyway
				env.Log.Warn("could not add the changes of files to a snapshot", zap.Error(changesErr))
			}
		}
	}
	if err != nil {
		return agent.Snapshot{}, err
	}
	snap.State = live.WithReadiness(ctx, snap.State)
	return snap, nil
}

func runStats(ctx context.Context, env *Env, a Subject) (agent.Stats, error) {
	live, liveErr := env.live(ctx, a.Folder)
	var stats agent.Stats
	var tokens int
	var state session.ContextState
	known := false // how full the window is
	err := env.withSource(ctx, a, func(sub subject) (err error) {
		if stats, err = agent.StatsOf(sub.doc); err != nil {
			return err
		}
		if known = liveErr == nil && sub.live == live && live.RemembersContext(); known {
			return nil
		}
		tokens, state, err = agent.ContextTokens(sub.doc, sub.leaf)
		return err
	})
	switch {
	case err != nil:
		return agent.Stats{}, err
	case liveErr != nil:
		return stats, liveErr
	case known:
		stats.Context, err = live.CurrentUsage(ctx)
	default:
		stats.Context = live.ContextUsage(ctx, tokens, state)
	}
	return stats, err
}
