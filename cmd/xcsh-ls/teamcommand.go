//go:build !noteam

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// teamCommands returns the command for the store of a team.
func teamCommands(f *flags) []*cobra.Command {
	c := &cobra.Command{
		Use:   "team",
		Short: "Share sessions with your team and your other machines",
		Long: "Keep the sessions of this machine in a PostgreSQL database, which your team or your other machines\n" +
			"share. Nothing is sent before you have agreed for the project: see xcsh-ls team share.\n\n" +
			"The store is the one in XCSH_TEAM_URL, or in PGSERVICE and the other variables of PostgreSQL.\n" +
			"Passwords come from ~/.pgpass, or from the program in XCSH_TEAM_PASSWORD_COMMAND.\n" +
			"XCSH_TEAM_INSECURE=1 accepts a server that does not prove who it is. See docs/team.md.",
		Example: examples("# List the commands of team", "xcsh-ls team"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError(cmd, fmt.Errorf("unknown command %q", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(teamInitCommand(f), teamGrantCommand(f), teamShareCommand(f), teamStatusCommand(f), teamPushCommand(f), teamPullCommand(f),
		teamListCommand(f), teamSearchCommand(f), teamSharedCommand(f), teamWatchCommand(f), teamPurgeCommand(f), teamDeleteCommand(f),
		teamUndeleteCommand(f), teamMaintainCommand(f), teamDoctorCommand(f))
	withCodes(c.Commands()...)
	return []*cobra.Command{c}
}

// onTeamStore runs a command that administers the store. A signal ends its context.
func onTeamStore(f *flags, run func(context.Context, *cobra.Command, teamSource, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		log, err := openLog(*f)
		if err != nil {
			return err
		}
		cwd, err := os.Getwd()
		if err != nil {
			return err
		}
		var s lsp.Settings
		f.override(&s)
		p, err := openPlace(s, func() []string { return []string{cwd} }, log)
		if err != nil {
			return err
		}
		ctx, stop := untilSignal(cmd.Context())
		defer stop()
		return run(ctx, cmd, p.teamSource(s, []string{cwd}), args)
	}
}

// sessionFile returns the path of the session file that target names.
func sessionFile(ctx context.Context, env *commands.Env, target string) (string, error) {
	info, err := execute[commands.InfoResult](ctx, env, "xcsh.info", commands.Subject{Source: target})
	return info.Path, err
}

// inTeam runs a command with the sessions of the store, for the project of the current directory. A signal ends its context. What the
// command leaves unsent is reported by the command.
func inTeam(f *flags, run func(context.Context, *cobra.Command, *commands.Env, *teamLink, []string) error) func(*cobra.Command, []string) error {
	return inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) (err error) {
		link, ok := env.Team.(*teamLink)
		if !ok {
			return fault.New(fault.Refused, "No team store is set up. Set XCSH_TEAM_URL to its address, or PGSERVICE to a service of ~/.pg_service.conf.")
		}
		ctx, stop := untilSignal(cmd.Context())
		defer stop()
		defer func() {
			closeErr := env.Sessions.Close(context.WithoutCancel(ctx))
			_, finishErr := link.finish(context.WithoutCancel(ctx))
			err = cmp.Or(err, closeErr, finishErr)
		}()
		return run(ctx, cmd, env, link, args)
	})
}
