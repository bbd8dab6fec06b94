package main

import (
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
		Use:   "import [PATH|DIR]...",
		Short: "Import agent-base conversations and session files",
		Long: "Copy agent-base conversations, or session files from elsewhere, into the sessions of the current\n" +
			"directory. Without arguments, import from agent-base. The originals are not changed.",
		Example: examples(
			"# Show what an import from agent-base would do", "xcsh-ls import --dry-run",
			"# Import a session file from a backup", "xcsh-ls import backup/session.jsonl",
		),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			a.Paths = args
			if a.Cwd != "" {
				a.Cwd = absolutePath(a.Cwd)
			}
			for i, path := range args {
				a.Paths[i] = absolutePath(path)
			}
			if !asJSON {
				env.UI = shellUI{line: stderrLine(), clock: wallClock}
			}
			r, err := execute[commands.ImportResult](cmd.Context(), env, "xcsh.import", a)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), r)
			} else {
				err = printImported(cmd.OutOrStdout(), stdoutScreen(), r.Files)
			}
			if err == nil && slices.ContainsFunc(r.Files, func(f commands.ImportedFile) bool { return f.Status == "failed" }) {
				return exitCode(exitFailed)
			}
			return err
		}),
	}
	own := c.Flags()
	own.StringVar(&a.Cwd, "cwd", "", "import into the sessions of directory `DIR` (default the current directory)")
	own.BoolVar(&a.DryRun, "dry-run", false, "report the result for each file without writing anything")
	own.BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

// printImported prints a row for each file.
func printImported(w io.Writer, to screen, files []commands.ImportedFile) error {
	if len(files) == 0 {
		_, err := fmt.Fprintln(w, "Nothing to import")
		return err
	}
	t := table{screen: to, head: []string{"RESULT", "FILE", "SESSION", "REASON"}, dim: []int{3}}
	for _, file := range files {
		t.add(string(file.Status), file.Path, file.Session, file.Reason)
	}
	return t.print(w)
}
