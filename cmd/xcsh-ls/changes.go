package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func changesCommand(f *flags) *cobra.Command {
	var asJSON, patch bool
	var since string
	c := &cobra.Command{
		Use:   "changes [ID|PATH]",
		Short: "List the file changes of a session",
		Long: "List the changes that the last turn of a session made to files, by default of the newest session\n" +
			"of the current directory. Your own changes are not listed. Nothing is written.",
		Example: examples(
			"# Show all changes of a session as a patch", "xcsh-ls changes 0190 --since session --patch",
		),
		Args:              takes(0, 1, "one ID or PATH"),
		ValidArgsFunction: f.completeSession,
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			target, err := source(cmd.Context(), env, args)
			if err != nil {
				return err
			}
			a := commands.ChangesArgs{Subject: commands.Subject{Source: target}, ChangesQuery: wire.ChangesQuery{Since: since}}
			if patch {
				a.Hunks = new(true)
			}
			r, err := execute[wire.Changes](cmd.Context(), env, "xcsh.changes", a)
			switch {
			case err != nil:
				return noEntry(err, "since")
			case asJSON:
				return printJSON(cmd.OutOrStdout(), r)
			}
			for _, l := range r.Limits {
				cmd.PrintErrln(visible.Line(l.Text))
			}
			folder := env.Folders()[0]
			if patch {
				return printPatch(cmd.OutOrStdout(), folder, r.Files)
			}
			return printChanges(cmd, folder, r)
		}),
	}
	c.Flags().StringVar(&since, "since", "turn", "show the changes since `turn|session|ENTRY`: the last turn, the beginning, or a prompt")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	c.Flags().BoolVar(&patch, "patch", false, "print the changes as a patch")
	exclusive(c, "json", "patch")
	return c
}

// printChanges prints a row for each file, and the totals.
func printChanges(cmd *cobra.Command, folder string, r wire.Changes) error {
	t := table{
		screen: stdoutScreen(), head: []string{"STATUS", "LINES", "FILE", "REVIEW", "NOTE"},
		shrink: []int{2, 4}, dim: []int{4}, paths: []int{2}, // file, then note
		drop: []int{4, 3}, // note, then review
	}
	for _, f := range r.Files {
		size := fmt.Sprintf("+%d -%d", f.Added, f.Removed)
		if f.Binary {
			size = "binary"
		}
		review := ""
		if f.Pending > 0 {
			review = fmt.Sprintf("%d to review", f.Pending)
		}
		t.add(f.Status, size, changedName(folder, f), review, f.Text)
	}
	if err := t.print(cmd.OutOrStdout()); err != nil {
		return err
	}
	if len(r.Files) == 0 {
		cmd.Println("No files were changed.")
	}
	if r.Interrupted {
		cmd.PrintErrln("A rewind was interrupted. The next command that changes the session completes it.")
	}
	return nil
}

// changedName returns the path of a file, and the one that it was renamed from.
func changedName(folder string, f wire.File) string {
	name := commands.ShownPath(folder, f.Path)
	if f.From != "" {
		name = commands.ShownPath(folder, f.From) + " => " + name
	}
	return name
}

// printPatch prints the hunks of text files as a patch. Other files are named in a comment.
func printPatch(w io.Writer, folder string, files []wire.File) error {
	var b strings.Builder
	for _, f := range files {
		name := visible.Line(commands.ShownPath(folder, f.Path))
		old, current := "a/"+visible.Line(commands.ShownPath(folder, cmp.Or(f.From, f.Path))), "b/"+name
		if f.Status == wire.Added {
			old = "/dev/null"
		}
		if f.Status == wire.Deleted {
			current = "/dev/null"
		}
		if len(f.Hunks) == 0 {
			fmt.Fprintf(&b, "# %s %s\n", f.Status, visible.Line(changedName(folder, f)))
			continue
		}
		fmt.Fprintf(&b, "--- %s\n+++ %s\n", old, current)
		for _, h := range f.Hunks {
			b.WriteString(strings.TrimSuffix(h.Text, "\n") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
