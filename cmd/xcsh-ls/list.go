package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func listCommand(f *flags) *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "list [WORD...]",
		Short: "List sessions",
		Long: "List the sessions of the current directory, newest first. With WORD, list only the sessions\n" +
			"that contain all words.\n\n" +
			"On a terminal, the columns are aligned and cut to its width. Otherwise, tabs separate them.",
		Example:           examples("# Search the sessions of all directories", "xcsh-ls list --all flaky test"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			a := commands.ListArgs{Scope: "folder", Query: strings.Join(args, " ")}
			if all {
				a.Scope = "all"
			}
			doing := "Reading sessions"
			if a.Query != "" {
				doing = "Searching sessions"
			}
			progress := startBar(doing, asJSON)
			env.Reading = progress.count
			r, err := execute[commands.ListResult](cmd.Context(), env, "xcsh.list", a)
			progress.End("")
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
	t := table{
		screen: to, head: []string{"ID", "NAME", "UPDATED", "LENGTH", "DIRECTORY"},
		shrink: []int{1, 4}, dim: []int{2, 3, 4}, // name, then directory
		drop: []int{3, 2, 4}, paths: []int{4}, ids: true, // without the length first, without the directory last
	}
	for _, i := range infos {
		row := []string{i.ID, i.Name, i.TimeAgo, plural(i.MessageCount, "message", "messages")}
		if cwd {
			row = append(row, i.Cwd)
		}
		t.add(row...)
	}
	return t.print(w)
}
