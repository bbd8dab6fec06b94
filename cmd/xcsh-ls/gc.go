package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func gcCommand(f *flags) *cobra.Command {
	var yes, trash, asJSON bool
	var older string
	var also []string
	c := &cobra.Command{
		Use:   "gc",
		Short: "Find and remove files that no session needs",
		Long: "List the files that no session needs: unreferenced images, unfinished files, stale locks and\n" +
			"indexes of missing sessions.\n" +
			"With --yes, move them to the trash. Only --trash deletes data permanently.",
		Example: examples(
			"# List the files", "xcsh-ls gc",
			"# Move them to the trash, and delete old files from the trash", "xcsh-ls gc --yes --trash",
		),
		Args: takes(0, 0, ""),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, _ []string) error {
			o := upkeep.GCOptions{Trash: trash}
			if cmd.Flags().Changed("older-than") {
				var err error
				if o.OlderThan, err = parseAge("older-than", older); err != nil {
					return err
				}
			}
			for _, dir := range also {
				o.Also = append(o.Also, absolutePath(dir))
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return collect(ctx, cmd, env, o, yes, asJSON)
		}),
	}
	c.Flags().BoolVar(&yes, "yes", false, "remove the files instead of only listing them")
	c.Flags().StringVar(&older, "older-than", "", "keep files newer than `AGE`: 12h, 30d, 6w, or a number of days (default one hour; 30 days in the trash)")
	c.Flags().BoolVar(&trash, "trash", false, "also delete old files in the trash permanently")
	c.Flags().StringArrayVar(&also, "also", nil, "also search `DIR` for sessions; can be repeated")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

// gcReport is the output of --json.
type gcReport struct {
	*upkeep.Garbage
	Done   bool             `json:"done"` // set with --yes
	Result *upkeep.GCResult `json:"result,omitempty"`
}

// collect finds garbage and removes it if yes is set.
func collect(ctx context.Context, cmd *cobra.Command, env *commands.Env, o upkeep.GCOptions, yes, asJSON bool) error {
	progress := startBar("Searching for unneeded files", asJSON)
	o.Progress = progress.files
	g, err := upkeep.FindGarbage(ctx, env.Store, env.Finder, o)
	progress.End("")
	if err != nil {
		return err
	}
	report := gcReport{Garbage: g, Done: yes}
	if !asJSON {
		if err := printGarbage(cmd, g); err != nil {
			return err
		}
	}
	if yes {
		r, err := g.Remove(ctx)
		if err != nil {
			return err
		}
		report.Result = &r
	}
	switch {
	case asJSON:
		err = printJSON(cmd.OutOrStdout(), report)
	case yes:
		printCollected(cmd, *report.Result)
	case !g.Empty():
		cmd.Println("Nothing was removed. Pass --yes to remove these files.")
	}
	if err == nil && report.Result != nil && len(report.Result.Failed) > 0 {
		return exitCode(exitFailed)
	}
	return err
}

// printGarbage lists the unneeded files, then the number and size of each kind.
func printGarbage(cmd *cobra.Command, g *upkeep.Garbage) error {
	files := table{screen: stdoutScreen(), head: []string{"KIND", "MODIFIED", "FILE", "ORIGIN"}, dim: []int{1, 3}}
	var totals []string
	for _, kind := range []struct {
		mark  string
		items []upkeep.GCItem
	}{{"blob", g.Blobs}, {"leftover", g.Leftovers}, {"lock", g.Locks}, {"index", g.Indexes}, {"trash", g.Trash}} {
		var size int64
		for _, i := range kind.items {
			size += i.Size
			files.add(kind.mark, i.Modified, i.Path, was(i))
		}
		if n := len(kind.items); n > 0 {
			totals = append(totals, fmt.Sprintf("%s: %s, %s", kind.mark, plural(n, "file", "files"), sizeText(size)))
		}
	}
	if err := files.print(cmd.OutOrStdout()); err != nil {
		return err
	}
	for _, line := range totals {
		cmd.Println(line)
	}
	if g.Empty() {
		cmd.Println("Nothing to remove.")
	}
	return nil
}

// was describes the original path of a file in the trash.
func was(i upkeep.GCItem) string {
	if i.Was == "" {
		return ""
	}
	return "(was " + i.Was + ")"
}

func sizeText(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

// printCollected prints the files that were moved, removed, kept because they are in use, or could not be removed.
func printCollected(cmd *cobra.Command, r upkeep.GCResult) {
	if r.Into != "" {
		cmd.Printf("Moved %s to: %s\n", plural(len(r.Moved), "file", "files"), visible.Line(r.Into))
	}
	if n := len(r.Removed); n > 0 {
		cmd.Printf("Removed %s.\n", plural(n, "file", "files"))
	}
	for _, path := range r.Kept {
		cmd.Printf("Kept, because it is in use now: %s\n", visible.Line(path))
	}
	for _, f := range r.Failed {
		cmd.PrintErrln(visible.Line(f.Message))
	}
}
