//go:build !noteam

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
	"github.com/xcsh-ls/xcsh-ls/team"
)

func teamDeleteCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a session from the team store",
		Long: "Move a session of the team store to its trash, from which it can be restored for 30 days. No\n" +
			"user can read it from now on, and it is not sent again. Files on this and other machines stay.",
		Example:           examples("# Delete a session", "xcsh-ls team delete 1f9d2a6b"),
		Args:              takes(1, 1, "one ID"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: inTeam(f, func(ctx context.Context, cmd *cobra.Command, env *commands.Env, t *teamLink, args []string) error {
			i, err := t.one(ctx, env.Folders()[0], args[0])
			if err == nil {
				err = t.Delete(ctx, i.Team.SID, false)
			}
			if err == nil {
				cmd.Printf("Deleted from the team store. To restore it: xcsh-ls team undelete %s\n", visible.Line(i.Team.SID))
			}
			return err
		}),
	}
}

func teamUndeleteCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "undelete SID",
		Short: "Restore a session from the trash of the team store",
		Long: "Restore a session that was deleted from the team store. SID is its whole id, which delete has\n" +
			"printed, and shared prints.",
		Example:           examples("# Restore a session", "xcsh-ls team undelete 1f9d2a6b-9c0d-4b7e-8f00-0123456789ab"),
		Args:              takes(1, 1, "one SID"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: inTeam(f, func(ctx context.Context, cmd *cobra.Command, _ *commands.Env, t *teamLink, args []string) error {
			var sid team.SID
			if err := sid.UnmarshalText([]byte(args[0])); err != nil {
				return fault.New(fault.InvalidArgument, "%s is not the whole id of a session in the team store.", args[0])
			}
			err := t.Delete(ctx, args[0], true)
			if err == nil {
				cmd.Println("Restored.")
			}
			return err
		}),
	}
}
