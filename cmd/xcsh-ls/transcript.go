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
			a := commands.DumpArgs{Subject: commands.Subject{Source: target}, Raw: raw, Redact: kept.redact(), Doubtful: kept.doubtful}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			r, err := commands.WriteDump(ctx, env, a, out)
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

func exportCommand(f *flags) *cobra.Command {
	var a commands.ExportArgs
	var kept redaction
	var opens bool
	c := &cobra.Command{
		Use:   "export [ID|PATH] [OUT]",
		Short: "Export a session as HTML, Markdown, JSONL or agent-base JSON",
		Long: "Export a session to a file. By default, export the newest session of the current directory\n" +
			"as an HTML page. Likely secrets are replaced; see --no-redact.",
		Example: examples(
			"# Export the newest session as an HTML page and open it", "xcsh-ls export --open",
			"# Export a session as Markdown, including likely secrets", "xcsh-ls export 0190 notes.md --no-redact",
		),
		Args: takes(0, 2, "ID|PATH and OUT"),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) (err error) {
			if a.Source, err = source(cmd.Context(), env, args); err != nil {
				return err
			}
			a.Redact, a.Doubtful = kept.redact(), kept.doubtful
			return export(cmd, env, a, args[min(1, len(args)):], opens)
		}),
	}
	own := c.Flags()
	own.StringVar(&a.Format, "format", "", "output `FORMAT`: html, markdown, text, jsonl or agentBase (default by the extension of OUT, or html)")
	own.StringVar(&a.Theme, "theme", "", "initial `THEME` of the HTML page: auto, light or dark (default auto)")
	kept.register(c)
	own.Bool("redact", true, "the default, for scripts of earlier versions")
	own.Lookup("redact").Hidden = true
	exclusive(c, "redact", "no-redact")
	own.BoolVar(&opens, "open", false, "open the page in the browser")
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
	kept := redaction{none: f.noRedact}
	a := commands.ExportArgs{Subject: commands.Subject{Source: absolutePath(path)}, Overwrite: true, Redact: kept.redact()}
	return export(cmd, env, a, out, false)
}

func export(cmd *cobra.Command, env *commands.Env, a commands.ExportArgs, out []string, opens bool) error {
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
	printRedaction(cmd, r.Redacted, r.Replaced, r.Doubtful)
	if !opens {
		return nil
	}
	return openPage(a, r.Path)
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
