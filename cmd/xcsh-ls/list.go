package main

import (
	"bufio"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session"
)

func listCommand(f *flags) *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use: "list [QUERY]", Short: "List the sessions of the current directory", Args: cobra.MaximumNArgs(1),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			a := commands.ListArgs{Scope: "folder"}
			if all {
				a.Scope = "all"
			}
			if len(args) > 0 {
				a.Query = args[0]
			}
			r, err := execute[commands.ListResult](cmd.Context(), env, "xcsh.list", a)
			if err != nil {
				return err
			}
			for _, p := range r.Problems {
				cmd.PrintErrln(p.Message)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return printSessions(cmd.OutOrStdout(), r.Sessions, all)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "sessions of every directory")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printSessions(w io.Writer, infos []session.Info, cwd bool) error {
	out := bufio.NewWriter(w)
	if len(infos) == 0 {
		fmt.Fprintln(out, "No sessions found")
	}
	for _, i := range infos {
		fmt.Fprintf(out, "%s  %-40s  %s · %d messages", i.ID, i.Name, i.TimeAgo, i.MessageCount)
		if cwd {
			fmt.Fprintf(out, " · %s", i.Cwd)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}
