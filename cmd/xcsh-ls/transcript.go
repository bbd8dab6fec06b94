package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

func dumpCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "dump [ID|PATH]", Short: "Print a session as text; the newest one by default", Args: cobra.MaximumNArgs(1),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			target, err := source(cmd.Context(), env, args)
			if err != nil {
				return err
			}
			r, err := execute[commands.DumpResult](cmd.Context(), env, "xcsh.dump", commands.Subject{Source: target})
			if err != nil {
				return err
			}
			cmd.Println(r.Text)
			return nil
		}),
	}
}

func exportCommand(f *flags) *cobra.Command {
	var a commands.ExportArgs
	c := &cobra.Command{
		Use: "export [ID|PATH] [OUT]", Short: "Write a session as an HTML page, Markdown, JSONL or for agent-base; the newest one by default", Args: cobra.MaximumNArgs(2),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) (err error) {
			if a.Source, err = source(cmd.Context(), env, args); err != nil {
				return err
			}
			return export(cmd, env, a, args[min(1, len(args)):])
		}),
	}
	own := c.Flags()
	own.StringVar(&a.Format, "format", "", "html, markdown, jsonl or agentBase (default: by the ending of OUT, else html)")
	own.StringVar(&a.Theme, "theme", "", "how a page begins: auto, light or dark (default auto)")
	own.BoolVar(&a.Redact, "redact", false, "replace what looks like a password, key or token")
	own.BoolVar(&a.Overwrite, "overwrite", false, "replace a file that exists")
	own.BoolVar(&a.IncludeTool, "include-tool", false, "for agentBase: keep what tools answered")
	own.BoolVar(&a.RegisterInIndex, "register-in-index", false, "for agentBase: put the session into index.json beside it")
	return c
}

// exportFile is the --export flag: its session is always a path.
func exportFile(cmd *cobra.Command, f flags, path string, out []string) error {
	env, err := headless(&f)
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
	if err != nil {
		return err
	}
	cmd.Println("Exported to:", r.Path)
	if len(r.Losses) > 0 {
		cmd.PrintErrln("Left out: " + countsText(r.Losses))
	}
	if r.Note != "" {
		cmd.PrintErrln("Note: " + r.Note)
	}
	if a.Redact {
		cmd.PrintErrln(redactedText(r.Redacted))
	}
	return nil
}

// redactedText says how many secrets of each kind were replaced.
func redactedText(kinds map[string]int) string {
	if len(kinds) == 0 {
		return "Redacted: nothing looked like a secret."
	}
	return "Redacted: " + countsText(kinds)
}

// countsText lists how many there are of each kind.
func countsText(kinds map[string]int) string {
	parts := make([]string, 0, len(kinds))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, kinds[kind]))
	}
	return strings.Join(parts, ", ")
}

func contextCommand(f *flags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "context ID|PATH", Short: "Print what a model would be shown of a session", Args: cobra.ExactArgs(1),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			a := commands.ContextArgs{Subject: commands.Subject{Source: args[0]}}
			r, err := execute[commands.ContextResult](cmd.Context(), env, "xcsh.context", a)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return printContext(cmd.OutOrStdout(), r)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printContext(w io.Writer, r commands.ContextResult) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%d messages · model %s · thinking %s · mode %s\n",
		len(r.Context.Messages), r.Context.Models["default"], r.Context.ThinkingLevel, r.Context.Mode)
	for i, line := range commands.Previews(r.Context) {
		fmt.Fprintf(out, "%4d  %s\n", i+1, line)
	}
	return out.Flush()
}
