package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func listCommand(f *flags) *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "list [QUERY]",
		Short: "List sessions",
		Long: "List the sessions of the current directory, newest first. With QUERY, list only the sessions\n" +
			"that contain its words.\n\n" +
			"On a terminal, the columns are aligned and cut to its width. Otherwise, tabs separate them.",
		Example: examples("# Search the sessions of all directories", "xcsh-ls list --all \"flaky test\""),
		Args:    takes(0, 1, "one QUERY"),
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
				cmd.PrintErrln(visible.Line(p.Message))
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return printSessions(cmd.OutOrStdout(), stdoutScreen(), r.Sessions, all)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "list the sessions of all directories")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

// printSessions prints a row for each session, with its working directory if cwd is set.
func printSessions(w io.Writer, to screen, infos []library.Info, cwd bool) error {
	if len(infos) == 0 {
		_, err := fmt.Fprintln(w, "No sessions found")
		return err
	}
	t := table{screen: to, shrink: []int{1, 4}} // name, working directory
	for _, i := range infos {
		row := []string{i.ID, i.Name, i.TimeAgo, plural(i.MessageCount, "message", "messages")}
		if cwd {
			row = append(row, i.Cwd)
		}
		t.add(row...)
	}
	return t.print(w)
}
