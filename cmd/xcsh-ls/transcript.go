package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func dumpCommand(f *flags) *cobra.Command {
	var raw bool
	c := &cobra.Command{
		Use:   "dump [ID|PATH]",
		Short: "Print a session as text",
		Long: "Print a session as text. By default, print the newest session of the current directory.\n" +
			"Control characters are escaped; see --raw.",
		Example: examples("# Print the session whose id starts with 0190", "xcsh-ls dump 0190"),
		Args:    takes(0, 1, "one ID or PATH"),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			out, err := textOutput(cmd, raw)
			if err != nil {
				return err
			}
			target, err := source(cmd.Context(), env, args)
			if err != nil {
				return err
			}
			a := commands.DumpArgs{Subject: commands.Subject{Source: target}, Raw: raw}
			r, err := execute[commands.DumpResult](cmd.Context(), env, "xcsh.dump", a)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(out, r.Text)
			return err
		}),
	}
	registerRaw(c, &raw)
	return c
}

func exportCommand(f *flags) *cobra.Command {
	var a commands.ExportArgs
	c := &cobra.Command{
		Use:   "export [ID|PATH] [OUT]",
		Short: "Export a session as HTML, Markdown, JSONL or agent-base JSON",
		Long: "Export a session to a file. By default, export the newest session of the current directory\n" +
			"as an HTML page.",
		Example: examples(
			"# Export the newest session as an HTML page", "xcsh-ls export",
			"# Export a session as Markdown, without likely secrets", "xcsh-ls export 0190 notes.md --redact",
		),
		Args: takes(0, 2, "ID|PATH and OUT"),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) (err error) {
			if a.Source, err = source(cmd.Context(), env, args); err != nil {
				return err
			}
			return export(cmd, env, a, args[min(1, len(args)):])
		}),
	}
	own := c.Flags()
	own.StringVar(&a.Format, "format", "", "output `FORMAT`: html, markdown, jsonl or agentBase (default by the extension of OUT, or html)")
	own.StringVar(&a.Theme, "theme", "", "initial `THEME` of the HTML page: auto, light or dark (default auto)")
	own.BoolVar(&a.Redact, "redact", false, "replace likely passwords, keys and tokens")
	own.StringVar(&a.Doubtful, "doubtful", "", "with --redact, `keep|replace` text that may be a secret (default keep, and list it)")
	own.BoolVar(&a.Overwrite, "overwrite", false, "replace an existing file")
	own.BoolVar(&a.IncludeTool, "include-tool", false, "include tool results in the agentBase format")
	own.BoolVar(&a.RegisterInIndex, "register-in-index", false, "add the agentBase file to index.json in its directory")
	return c
}

// exportFile handles the --export flag, whose session is always a path.
func exportFile(cmd *cobra.Command, f flags, path string, out []string) error {
	env, err := headless(&f, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return fault.New(fault.NotFound, "File not found: %s", path)
	}
	return export(cmd, env, commands.ExportArgs{Subject: commands.Subject{Source: absolutePath(path)}, Overwrite: true}, out)
}

func export(cmd *cobra.Command, env *commands.Env, a commands.ExportArgs, out []string) error {
	if len(out) > 0 {
		a.Path = filepath.ToSlash(out[0])
	}
	r, err := execute[commands.ExportResult](cmd.Context(), env, "xcsh.export", a)
	if fault.Is(err, fault.FileExists) {
		return fault.New(fault.FileExists, "%w Pass --overwrite to replace it.", err)
	}
	if err != nil {
		return err
	}
	cmd.Println("Exported to:", visible.Line(r.Path))
	if len(r.Losses) > 0 {
		cmd.PrintErrln("Omitted: " + countsText(r.Losses))
	}
	if r.Note != "" {
		cmd.PrintErrln("Note: " + visible.Line(r.Note))
	}
	if a.Redact {
		printRedaction(cmd, r)
	}
	return nil
}

// printRedaction lists the replaced secrets and the possible secrets that were kept.
func printRedaction(cmd *cobra.Command, r commands.ExportResult) {
	cmd.PrintErrln(redactedText(r.Redacted))
	for _, of := range r.Replaced {
		cmd.PrintErrln("  " + of.Kind + " in " + strings.Join(of.Where, ", "))
	}
	if len(r.Doubtful) == 0 {
		return
	}
	cmd.PrintErrln("Kept text that may be secret; review it or pass --doubtful replace:")
	for _, d := range r.Doubtful {
		cmd.PrintErrln("  " + commands.DoubtText(d))
	}
}

// redactedText returns how many secrets of each kind were replaced.
func redactedText(kinds map[string]int) string {
	if len(kinds) == 0 {
		return "Redacted: no likely secrets found."
	}
	return "Redacted: " + countsText(kinds)
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
		Example: examples("# Print the complete context of a session", "xcsh-ls context 0190 --json"),
		Args:    takes(1, 1, "ID|PATH"),
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
	t := table{screen: to, shrink: []int{1}}
	for i, line := range commands.Previews(r.Context) {
		t.add(strconv.Itoa(i+1), line)
	}
	return t.print(w)
}
