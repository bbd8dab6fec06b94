package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// maxGCDays keeps a number of days from being longer than a duration can be.
const maxGCDays = 100_000

func gcCommand(f *flags) *cobra.Command {
	var yes, trash, asJSON bool
	var days int
	var also []string
	c := &cobra.Command{
		Use: "gc", Short: "Find what no session needs any more; with --yes move it to the trash", Args: cobra.NoArgs,
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, _ []string) error {
			if days < 0 || days > maxGCDays {
				return fault.New(fault.InvalidArgument, "--older-than %d: it is a number of days from 0 to %d.", days, maxGCDays)
			}
			o := session.GCOptions{Trash: trash, OlderThan: time.Duration(days) * 24 * time.Hour}
			for _, dir := range also {
				o.Also = append(o.Also, absolutePath(dir))
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return collect(ctx, cmd, env, o, yes, asJSON)
		}),
	}
	c.Flags().BoolVar(&yes, "yes", false, "do it, instead of only saying what would be done")
	c.Flags().IntVar(&days, "older-than", 0, "touch nothing younger than `DAYS` (an hour; 30 days for the trash)")
	c.Flags().BoolVar(&trash, "trash", false, "also empty the trash, for good")
	c.Flags().StringArrayVar(&also, "also", nil, "a further directory `DIR` that holds sessions; may be given several times")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// gcReport is what is printed with --json.
type gcReport struct {
	*session.Garbage
	Done   bool              `json:"done"` // --yes was given
	Result *session.GCResult `json:"result,omitempty"`
}

// collect finds garbage and, when yes is set, removes it.
func collect(ctx context.Context, cmd *cobra.Command, env *commands.Env, o session.GCOptions, yes, asJSON bool) error {
	g, err := env.Store.Garbage(ctx, env.Finder, o)
	if err != nil {
		return err
	}
	report := gcReport{Garbage: g, Done: yes}
	if !asJSON {
		printGarbage(cmd, g)
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
		cmd.Println("Nothing was removed; --yes does it.")
	}
	if err == nil && report.Result != nil && len(report.Result.Failed) > 0 {
		return exitCode(exitFailed)
	}
	return err
}

// printGarbage lists what nothing needs, each kind with its sum.
func printGarbage(cmd *cobra.Command, g *session.Garbage) {
	for _, kind := range []struct {
		mark  string
		items []session.GCItem
	}{{"blob", g.Blobs}, {"leftover", g.Leftovers}, {"lock", g.Locks}, {"trash", g.Trash}} {
		var size int64
		for _, i := range kind.items {
			size += i.Size
			cmd.Printf("%-8s  %s  %s%s\n", kind.mark, i.Modified, i.Path, was(i))
		}
		if n := len(kind.items); n > 0 {
			cmd.Printf("%s: %d, %s\n", kind.mark, n, sizeText(size))
		}
	}
	if g.Empty() {
		cmd.Println("Nothing to remove.")
	}
}

func was(i session.GCItem) string {
	if i.Was == "" {
		return ""
	}
	return "  (was " + fault.OneLine(i.Was) + ")"
}

func sizeText(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

// printCollected says what was done.
func printCollected(cmd *cobra.Command, r session.GCResult) {
	if r.Into != "" {
		cmd.Printf("Moved %d files to: %s\n", len(r.Moved), r.Into)
	}
	if n := len(r.Removed); n > 0 {
		cmd.Printf("Removed %d.\n", n)
	}
	for _, path := range r.Kept {
		cmd.Printf("In use after all: %s\n", path)
	}
	for _, f := range r.Failed {
		cmd.PrintErrln(f.Message)
	}
}
