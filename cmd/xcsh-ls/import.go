package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

func importCommand(f *flags) *cobra.Command {
	var a commands.ImportArgs
	var asJSON bool
	c := &cobra.Command{
		Use: "import [PATH|DIR...]", Short: "Bring sessions of agent-base, or session files from elsewhere, among those of the current directory",
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			a.Paths = args
			if a.Cwd != "" {
				a.Cwd = absolutePath(a.Cwd)
			}
			for i, path := range args {
				a.Paths[i] = absolutePath(path)
			}
			r, err := execute[commands.ImportResult](cmd.Context(), env, "xcsh.import", a)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), r)
			} else {
				err = printImported(cmd.OutOrStdout(), r.Files)
			}
			if err == nil && slices.ContainsFunc(r.Files, func(f commands.ImportedFile) bool { return f.Status == "failed" }) {
				return exitCode(exitFailed)
			}
			return err
		}),
	}
	own := c.Flags()
	own.StringVar(&a.Cwd, "cwd", "", "the directory whose sessions they become (default: the current one)")
	own.BoolVar(&a.DryRun, "dry-run", false, "change nothing, only say what would become of each file")
	own.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// printImported prints a line for each file.
func printImported(w io.Writer, files []commands.ImportedFile) error {
	out := bufio.NewWriter(w)
	if len(files) == 0 {
		fmt.Fprintln(out, "Nothing to import")
	}
	for _, file := range files {
		fmt.Fprintf(out, "%-8s  %s", file.Status, file.Path)
		if file.Session != "" {
			fmt.Fprintf(out, "  %s", file.Session)
		}
		if file.Reason != "" {
			fmt.Fprintf(out, "  %s", file.Reason)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}
