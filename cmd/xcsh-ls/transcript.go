package main

import (
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cli/browser"
	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func dumpCommand(f *flags) *cobra.Command {
	var raw bool
	var kept redaction
	c := &cobra.Command{
		Use:   "dump [ID|PATH]",
		Short: "Print a session as text",
		Long: "Print a session as text. By default, print the newest session of the current directory.\n" +
			"Likely secrets are replaced; see --no-redact. Control characters are escaped; see --raw.",
		Example:           examples("# Print the session whose id starts with 0190", "xcsh-ls dump 0190"),
		Args:              takes(0, 1, "one ID or PATH"),
		ValidArgsFunction: f.completeSession,
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			out, err := textOutput(cmd, raw)
			if err != nil {
				return err
			}
			target, err := source(cmd.Context(), env, args)
			if err != nil {
				return err
			}
			a := commands.DumpArgs{Subject: commands.Subject{Source: target}, Raw: raw, Redact: kept.redact(), Doubtful: kept.doubtful}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			progress := startBar("Reading the session", false)
			defer progress.End("")
			env.Reading = progress.count
			r, err := commands.WriteDump(ctx, env, a, progress.before(out))
			progress.End("")
			if err != nil {
				return err
			}
			if _, err = fmt.Fprintln(out); err != nil {
				return err
			}
			printRedaction(cmd, r.Redacted, r.Replaced, r.Doubtful)
			return nil
		}),
	}
	registerRaw(c, &raw)
	kept.register(c)
	return c
}

// redaction holds the flags of commands that replace secrets.
type redaction struct {
	none     bool
	doubtful string
}

func (r *redaction) register(c *cobra.Command) {
	own := c.Flags()
	own.BoolVar(&r.none, "no-redact", false, "keep likely passwords, keys and tokens, which are replaced otherwise")
	own.StringVar(&r.doubtful, "doubtful", "", "`keep|replace` text that may be a secret (default keep, and list it)")
	exclusive(c, "no-redact", "doubtful")
}

// redact returns the argument of the command.
func (r *redaction) redact() *bool {
	if r.none {
		return new(false)
	}
	return nil
}

// openPage opens an exported page in the user's browser.
func openPage(a commands.ExportArgs, path string) error {
	if !a.IsPage(path) {
		return fault.New(fault.InvalidArgument, "--open needs an HTML page; %s was exported and not opened.", path)
	}
	browser.Stdout = os.Stderr // a browser's messages are no result
	if err := browser.OpenURL(fileURL(path)); err != nil {
		return fault.New(fault.IO, "The page was exported but could not be opened in a browser: %w", err).With("path", path)
	}
	return nil
}

// fileURL returns the file: URL of an absolute path.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// printRedaction lists the replaced secrets and the possible secrets that were kept.
func printRedaction(cmd *cobra.Command, kinds map[string]int, replaced []exporter.Replaced, doubtful []exporter.Doubt) {
	if len(kinds) > 0 {
		cmd.PrintErrln("Redacted: " + countsText(kinds) + " (pass --no-redact to keep them)")
	}
	for _, of := range replaced {
		cmd.PrintErrln("  " + of.Kind + " in " + strings.Join(of.Where, ", "))
	}
	if len(doubtful) == 0 {
		return
	}
	cmd.PrintErrln("Kept text that may be secret; review it or pass --doubtful replace:")
	for _, d := range doubtful {
		cmd.PrintErrln("  " + commands.DoubtText(d))
	}
}

// countsText returns the count of each kind.
func countsText(kinds map[string]int) string {
	parts := make([]string, 0, len(kinds))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", visible.Line(kind), kinds[kind]))
	}
	return strings.Join(parts, ", ")
}

func contextCommand(f *flags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "context ID|PATH",
		Short: "Print the context that a model would receive",
		Long: "Print the messages that a model would receive if the session were continued, one per line, after\n" +
			"the model, the thinking level and the mode. With --json, print the complete messages.",
		Example:           examples("# Print the complete context of a session", "xcsh-ls context 0190 --json"),
		Args:              takes(1, 1, "ID|PATH"),
		ValidArgsFunction: f.completeSession,
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			a := commands.ContextArgs{Subject: commands.Subject{Source: args[0]}}
			r, err := execute[commands.ContextResult](cmd.Context(), env, "xcsh.context", a)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return printContext(cmd.OutOrStdout(), stdoutScreen(), r)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

// printContext prints a summary, then a row for each message.
func printContext(w io.Writer, to screen, r commands.ContextResult) error {
	_, err := fmt.Fprintf(w, "%s · model %s · thinking %s · mode %s\n", plural(len(r.Context.Messages), "message", "messages"),
		visible.Line(r.Context.Models["default"]), visible.Line(r.Context.ThinkingLevel), visible.Line(r.Context.Mode))
	if err != nil {
		return err
	}
	t := table{screen: to, head: []string{"NUMBER", "MESSAGE"}, shrink: []int{1}, dim: []int{0}}
	for i, line := range commands.Previews(r.Context) {
		t.add(strconv.Itoa(i+1), line)
	}
	return t.print(w)
}
