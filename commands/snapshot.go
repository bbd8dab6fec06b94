package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
)

var snapshot = New(Spec{
	Name: "xcsh.snapshot", Title: "Session Snapshot", Flags: ReadOnly,
	Doc: "Return everything that a panel needs to draw the folder's session.",
}, runSnapshot)

var stats = New(Spec{
	Name: "xcsh.stats", Title: "Session Statistics", Flags: Palette | ReadOnly, Arg: "source",
	Doc: "Return the numbers of messages, tool calls and tokens, the cost, and how full the model's context window is.",
}, runStats)

func runSnapshot(ctx context.Context, env *Env, a Folder) (agent.Snapshot, error) {
	live, err := env.live(ctx, a)
	if err != nil {
		return agent.Snapshot{}, err
	}
	return live.Snapshot(ctx)
}

func runStats(ctx context.Context, env *Env, a Subject) (agent.Stats, error) {
	live, liveErr := env.live(ctx, a.Folder)
	var stats agent.Stats
	var c session.Context
	known := false // how full the window is
	err := env.withSource(ctx, a, func(sub subject) (err error) {
		if stats, err = agent.StatsOf(sub.doc); err != nil {
			return err
		}
		if known = liveErr == nil && sub.live == live && live.RemembersContext(); known {
			return nil
		}
		c, _, err = session.BuildContext(sub.doc, sub.leaf, nil)
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
		stats.Context = live.ContextUsage(ctx, c)
	}
	return stats, err
}
