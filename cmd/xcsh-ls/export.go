package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// toStdout is the output path that stands for standard output.
const toStdout = "-"

func exportCommand(f *flags) *cobra.Command {
	var a commands.ExportArgs
	var kept redaction
	var opens bool
	var output string
	c := &cobra.Command{
		Use:   "export [ID|PATH] [OUT]",
		Short: "Export a session as HTML, Markdown, JSONL or agent-base JSON",
		Long: "Export a session to a file. By default, export the newest session of the current directory\n" +
			"as an HTML page. Likely secrets are replaced; see --no-redact.\n\n" +
			"With - as OUT, write to standard output.",
		Example: examples(
			"# Export the newest session as an HTML page and open it", "xcsh-ls export --open",
			"# Export a session as Markdown, including likely secrets", "xcsh-ls export 0190 notes.md --no-redact",
			"# Read the newest session in a pager", "xcsh-ls export - --format markdown | less",
		),
		Args:              takes(0, 2, "ID|PATH and OUT"),
		ValidArgsFunction: f.completeSessionThenFile,
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) (err error) {
			named, out, err := exportTarget(cmd, args, output)
			if err != nil {
				return err
			}
			if a.Path, err = outputPath(out, a.Format); err != nil {
				return err
			}
			if a.Source, err = source(cmd.Context(), env, named); err != nil {
				return err
			}
			a.Redact, a.Doubtful = kept.redact(), kept.doubtful
			if out == toStdout {
				return exportToStdout(cmd, env, a, opens)
			}
			err = export(cmd, env, a, opens)
			if fault.Is(err, fault.NotFound) && len(args) == 1 && out == "" {
				err = meantOutput(err, args[0])
			}
			return err
		}),
	}
	own := c.Flags()
	own.StringVar(&output, "output", "", "write to file `OUT`, or to standard output if it is -")
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

// exportTarget returns the session that the arguments name, if any, and the output path, "" for the default.
func exportTarget(cmd *cobra.Command, args []string, output string) (named []string, out string, err error) {
	given := cmd.Flags().Changed("output")
	switch {
	case given && len(args) > 1:
		return nil, "", usageError(cmd, errTwoOutputs)
	case given:
		return args, output, nil
	case len(args) == 1 && args[0] == toStdout:
		return nil, toStdout, nil
	case len(args) == 2:
		return args[:1], args[1], nil
	}
	return args, "", nil
}

// extension matches the extension of a file, unlike the end of a title.
var extension = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.[A-Za-z][A-Za-z0-9]{0,7}$`) })

// outputPath returns the path for a command. It fails if the format is unknown.
func outputPath(out, format string) (string, error) {
	switch out {
	case toStdout:
		return "", nil
	case "copy", "clipboard", "--copy": // the terminal programs copy to the clipboard
		return "", fault.New(fault.InvalidArgument, "xcsh-ls export writes files only. To copy a session, pass the output of 'xcsh-ls dump' to the clipboard program of your system.")
	}
	ext := filepath.Ext(strings.Trim(out, `"'`))
	if format == "" && extension().MatchString(ext) && !commands.HasExportExtension("x"+ext) && !isDir(out) {
		return "", fault.New(fault.InvalidArgument,
			"Unknown extension %q: use .html, .md, .txt, .jsonl or .json (agent-base), or choose the format with --format.", ext)
	}
	return filepath.ToSlash(out), nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// meantOutput returns the error about a missing session whose name is probably that of the output.
func meantOutput(err error, name string) error {
	ext := filepath.Ext(name)
	if !extension().MatchString(ext) || strings.EqualFold(ext, ".jsonl") {
		return err
	}
	if _, unknown := outputPath(name, ""); unknown != nil {
		return fault.New(fault.NotFound, "%w %s", err, unknown.Error())
	}
	return fault.New(fault.NotFound, "%w To write the newest session to this file, pass --output %s.", err, name)
}

// exportToStdout writes an export to standard output while it reads the session.
func exportToStdout(cmd *cobra.Command, env *commands.Env, a commands.ExportArgs, opens bool) error {
	switch {
	case opens:
		return usageError(cmd, errNotWithStdout("--open"))
	case a.RegisterInIndex:
		return usageError(cmd, errNotWithStdout("--register-in-index"))
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	progress := startBar("Exporting", false)
	defer progress.End("")
	env.Reading = progress.count
	out, flush := contentOutput(cmd)
	r, err := commands.WriteExport(ctx, env, a, progress.before(out))
	if err == nil {
		err = flush()
	}
	progress.End("")
	if err != nil {
		return err
	}
	printExported(cmd, r)
	return nil
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
	if len(out) > 0 && out[0] == toStdout {
		return exportToStdout(cmd, env, a, false)
	}
	if len(out) > 0 {
		a.Path = filepath.ToSlash(out[0])
	}
	return export(cmd, env, a, false)
}

func export(cmd *cobra.Command, env *commands.Env, a commands.ExportArgs, opens bool) error {
	progress := startBar("Exporting", false)
	defer progress.End("")
	env.Reading = progress.count
	r, err := execute[commands.ExportResult](cmd.Context(), env, "xcsh.export", a)
	progress.End("")
	if fault.Is(err, fault.FileExists) {
		return fault.New(fault.FileExists, "%w Pass --overwrite to replace it.", err)
	}
	if err != nil {
		return err
	}
	cmd.Println("Exported to:", visible.Line(r.Path))
	printExported(cmd, r)
	if !opens {
		return nil
	}
	return openPage(a, r.Path)
}

// printExported prints the report of an export to standard error.
func printExported(cmd *cobra.Command, r commands.ExportResult) {
	if len(r.Losses) > 0 {
		cmd.PrintErrln("Omitted: " + countsText(r.Losses))
	}
	if r.Unlisted {
		cmd.PrintErrln("Note: agent-base can resume the session by name, but lists it only after its index is rebuilt. To add it to the index, pass --register-in-index.")
	}
	printRedaction(cmd, r.Redacted, r.Replaced, r.Doubtful)
}
