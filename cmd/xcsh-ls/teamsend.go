//go:build !noteam

package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// pushTime is how long team push waits for the store, unless the user says otherwise.
const pushTime = 30 * time.Second

func teamPushCommand(f *flags) *cobra.Command {
	var wait string
	c := &cobra.Command{
		Use:   "push [ID|PATH...]",
		Short: "Send the unsent lines of shared sessions",
		Long: "Send the lines of shared sessions that are not in the team store yet, of all projects for which\n" +
			"you have agreed, or of the sessions named. The exit code is 1 if some are not sent in time.",
		Example: examples(
			"# Send everything before a machine is removed", "xcsh-ls team push --wait 2m",
			"# Send one session", "xcsh-ls team push 0190",
		),
		RunE: inTeam(f, func(ctx context.Context, cmd *cobra.Command, env *commands.Env, t *teamLink, args []string) error {
			limit, err := time.ParseDuration(wait)
			if err != nil || limit <= 0 {
				return invalidValue("wait", wait, "a duration such as 30s")
			}
			var paths []string
			for _, id := range args {
				path, err := sessionFile(ctx, env, id)
				if err != nil {
					return err
				}
				paths = append(paths, path)
			}
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			return t.push(ctx, cmd, paths)
		}),
		ValidArgsFunction: f.completeSessions,
	}
	c.Flags().StringVar(&wait, "wait", pushTime.String(), "stop after `DURATION`")
	return c
}

func teamWatchCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "Send sessions of terminal programs as they grow",
		Long: "Send the sessions of shared projects to the team store as they grow, for terminal programs that\n" +
			"run without an editor. A signal ends it, after the remaining lines were sent.\n\n" +
			"With XCSH_TEAM_SHARE=new:HOST, where HOST is the host of the store, new sessions of the current\n" +
			"directory's project are shared without a question: for containers whose environment is yours.",
		Example: examples("# Send in the background, in a container", "xcsh-ls team watch &"),
		Args:    takes(0, 0, ""),
		RunE: inTeam(f, func(ctx context.Context, cmd *cobra.Command, _ *commands.Env, t *teamLink, _ []string) error {
			t.watch(ctx)
			unsent, err := t.finish(context.WithoutCancel(ctx))
			if err == nil && unsent != "" {
				cmd.PrintErrln(visible.Line(unsent))
				err = exitCode(exitFailed)
			}
			return err
		}),
	}
}
