//go:build !noteam

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func teamPullCommand(f *flags) *cobra.Command {
	var project bool
	var newest int
	c := &cobra.Command{
		Use:   "pull [ID]",
		Short: "Pull sessions from the team store",
		Long: "Pull a session of the current directory's project from the team store, so that terminal programs\n" +
			"and editors can continue it here, or with --project all of them. The paths of the files are\n" +
			"printed. A file that exists stays, and gets the lines that it lacks.",
		Example: examples(
			"# Pull one session", "xcsh-ls team pull 1f9d2a6b",
			"# Pull the latest sessions of the project", "xcsh-ls team pull --project --newest 20",
		),
		Args: takes(0, 1, "one ID"),
		RunE: inTeam(f, func(ctx context.Context, cmd *cobra.Command, env *commands.Env, t *teamLink, args []string) error {
			if project == (len(args) > 0) {
				return fault.New(fault.InvalidArgument, "Name one session, or pass --project.")
			}
			if newest < 0 || newest > 0 && !project {
				return invalidValue("newest", newest, "a number above 0, with --project")
			}
			cwd := env.Folders()[0]
			if project {
				return t.pullProject(ctx, cmd, env, newest)
			}
			i, err := t.one(ctx, cwd, args[0])
			if err != nil {
				return err
			}
			return t.pullOne(ctx, cmd, cwd, i, "Pulling")
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().BoolVar(&project, "project", false, "pull all sessions of the project")
	c.Flags().IntVar(&newest, "newest", 0, "with --project, pull only the latest `N`")
	return c
}

// one returns the session of the store that id names.
func (t *teamLink) one(ctx context.Context, cwd, id string) (library.Info, error) {
	found, err := t.Find(ctx, cwd, id)
	switch {
	case err != nil:
		return library.Info{}, err
	case len(found) == 0:
		return library.Info{}, fault.New(fault.NotFound, "No session %s in the team store, or none that you may read.", id)
	case len(found) > 1:
		ids := make([]string, len(found))
		for i, info := range found {
			ids[i] = info.Team.SID
		}
		return library.Info{}, fault.New(fault.Ambiguous, "%s names several sessions of the team store: %s.", id, strings.Join(ids, ", "))
	}
	return found[0], nil
}

// pullOne pulls a session and prints the path of its file. doing is the title of its progress.
func (t *teamLink) pullOne(ctx context.Context, cmd *cobra.Command, cwd string, i library.Info, doing string) error {
	progress := startBar(doing, false)
	path, bytes, err := t.Pull(ctx, i.Team.SID, cwd, progress.bytes)
	progress.End("")
	if err != nil {
		return err
	}
	cmd.Println(visible.Line(path))
	cmd.PrintErrf("%s: %s pulled\n", visible.Line(i.Name), sizeText(bytes))
	return nil
}

// pullProject pulls the sessions of the project, at most newest of them unless it is 0. It continues
// after a session that fails.
func (t *teamLink) pullProject(ctx context.Context, cmd *cobra.Command, env *commands.Env, newest int) error {
	cwd := env.Folders()[0]
	remote, err := t.all(ctx, cwd, "")
	if err != nil {
		return err
	}
	if newest > 0 && len(remote) > newest {
		remote = remote[:newest]
	}
	failed := false
	for n, i := range remote {
		if err := t.pullOne(ctx, cmd, cwd, i, fmt.Sprintf("Pulling %d of %d", n+1, len(remote))); err != nil {
			if ctx.Err() != nil {
				return err
			}
			cmd.PrintErrf("%s: %s\n", visible.Line(i.ID), visible.Line(err.Error()))
			failed = true
		}
	}
	if failed {
		return exitCode(exitFailed)
	}
	return nil
}

// teamListed is the result of team list, team search and team shared in JSON.
type teamListed struct {
	Sessions []library.Info `json:"sessions"`
}

func teamListCommand(f *flags) *cobra.Command {
	return teamListing(f, &cobra.Command{
		Use:   "list",
		Short: "List the sessions in the team store",
		Long: "List the sessions of the current directory's project in the team store, the latest first, with\n" +
			"their owners and the machines that write at the moment.",
		Example: examples("# List the sessions of the project", "xcsh-ls team list"),
		Args:    takes(0, 0, ""),
	}, func(ctx context.Context, env *commands.Env, t *teamLink, _ []string) ([]library.Info, error) {
		return t.all(ctx, env.Folders()[0], "")
	})
}

func teamSearchCommand(f *flags) *cobra.Command {
	return teamListing(f, &cobra.Command{
		Use:   "search WORDS",
		Short: "Find sessions in the team store by their texts",
		Long: "List the sessions of the current directory's project in the team store whose prompts, answers or\n" +
			"titles contain all words. Texts can be found a short time after they were sent.",
		Example: examples("# Search the sessions of the team", "xcsh-ls team search \"flaky test\""),
		Args:    takes(1, 100, "the WORDS"),
	}, func(ctx context.Context, env *commands.Env, t *teamLink, args []string) ([]library.Info, error) {
		return t.all(ctx, env.Folders()[0], strings.Join(args, " "))
	})
}

func teamSharedCommand(f *flags) *cobra.Command {
	return teamListing(f, &cobra.Command{
		Use:   "shared",
		Short: "List your sessions in the team store",
		Long: "List the sessions in the team store that you sent, of all projects and with those in its trash,\n" +
			"also if their files are not on this machine any more.",
		Example: examples("# List them", "xcsh-ls team shared"),
		Args:    takes(0, 0, ""),
	}, func(ctx context.Context, _ *commands.Env, t *teamLink, _ []string) ([]library.Info, error) {
		return t.mine(ctx)
	})
}

// teamListing adds to c what the commands that list sessions of the store have in common.
func teamListing(f *flags, c *cobra.Command, list func(context.Context, *commands.Env, *teamLink, []string) ([]library.Info, error)) *cobra.Command {
	var asJSON bool
	c.RunE = inTeam(f, func(ctx context.Context, cmd *cobra.Command, env *commands.Env, t *teamLink, args []string) error {
		infos, err := list(ctx, env, t, args)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), teamListed{infos})
		}
		return printTeamSessions(cmd, infos)
	})
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

// printTeamSessions prints a row for each session of the store.
func printTeamSessions(cmd *cobra.Command, infos []library.Info) error {
	if len(infos) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "No sessions found")
		return err
	}
	t := table{
		screen: stdoutScreen(), head: []string{"ID", "OWNER", "NAME", "UPDATED", "READERS", "WRITER"},
		shrink: []int{2, 5}, dim: []int{3}, // name, then writer
		drop: []int{4, 3, 5}, // readers, time, writer
	}
	for _, i := range infos {
		writer := ""
		if i.Team.Writer != "" {
			writer = "written on " + i.Team.Writer
		}
		visibleTo := i.Team.Visible
		if i.Team.Deleted {
			visibleTo = "deleted"
		}
		t.add(i.Team.SID, i.Team.Owner, i.Name, i.TimeAgo, visibleTo, writer)
	}
	return t.print(cmd.OutOrStdout())
}
