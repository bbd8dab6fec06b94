// Command xcsh-ls is a language server on standard input and output that brings the
// conversations of terminal coding agents into editors, and a few commands over the
// same conversations for a shell.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// version is stamped by the linker; see the Makefile.
var version = ""

func main() { os.Exit(run()) }

// run is main with an exit code, so that deferred work is done before the end.
func run() int {
	root := rootCommand()
	root.SetArgs(withoutValue(os.Args[1:]))
	code, message := statusOf(root.ExecuteContext(context.Background()))
	if message != "" {
		fmt.Fprintln(os.Stderr, message)
	}
	return code
}

func rootCommand() *cobra.Command {
	var f flags
	root := &cobra.Command{
		Use:   "xcsh-ls [--stdio] | --export SESSION.jsonl [OUT]",
		Short: "Conversations of terminal coding agents, in every editor",
		Long: "Without arguments xcsh-ls is a language server on standard input and output.\n" +
			"The commands below work on the same sessions from a shell.",
		Args:          cobra.MaximumNArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.export != "" {
				return exportFile(cmd, f, f.export, args)
			}
			if len(args) > 0 {
				return fault.New(fault.InvalidArgument, "unknown command %q; see xcsh-ls help", args[0])
			}
			return serve(cmd.Context(), f)
		},
	}
	root.SetOut(os.Stdout) // cobra prints to standard error otherwise
	f.register(root)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(listCommand(&f), dumpCommand(&f), exportCommand(&f), importCommand(&f), runCommand(&f), acpCommand(&f), contextCommand(&f), doctorCommand(&f), gcCommand(&f), sandboxCommand(), versionCommand())
	withCodes(append(root.Commands(), root)...)
	return root
}

// flags are the start-up flags. Those of the server apply to its first workspace folder.
type flags struct {
	agentDir, sessionDir string
	noSession            bool
	continueLast         bool
	resume, fork         target
	export               string
	logFile, logLevel    string
	terminalID           string
	model, thinking      string
	approval             string
}

func (f *flags) register(root *cobra.Command) {
	all, own := root.PersistentFlags(), root.Flags()
	all.StringVar(&f.agentDir, "agent-dir", "", "agent directory instead of ~/.xcsh/agent")
	all.StringVar(&f.sessionDir, "session-dir", "", "one directory for all sessions, instead of one per working directory")
	all.StringVar(&f.logFile, "log-file", "", "append the log to a file instead of standard error")
	all.StringVar(&f.logLevel, "log-level", "warn", "debug, info, warn or error")
	own.Bool("stdio", true, "speak on standard input and output (the only way; editors pass it)")
	own.StringVar(&f.export, "export", "", "write this session file as HTML and exit")
	f.registerStartup(root)
}

// registerStartup registers what the first folder begins with.
func (f *flags) registerStartup(c *cobra.Command) {
	own := c.Flags()
	own.BoolVar(&f.noSession, "no-session", false, "keep sessions in memory")
	own.BoolVar(&f.continueLast, "continue", false, "begin with the last session of the first folder")
	own.Var(&f.resume, "resume", "begin with this session: an id or a path; without a value ask which")
	own.Var(&f.fork, "fork", "begin with a copy of this session: an id or a path")
	own.StringVar(&f.terminalID, "terminal-id", "", "name of the breadcrumb that --continue follows; a command takes that of its terminal")
	own.StringVar(&f.model, "model", "", "model of new sessions: provider/id; offline/demo needs no key")
	own.StringVar(&f.thinking, "thinking", "", "thinking level of new sessions: off, minimal, low, medium, high, xhigh or max")
	own.StringVar(&f.approval, "approval", "", "what tools may change without asking: read-only, ask, auto-edit or yolo")
	c.MarkFlagsMutuallyExclusive("continue", "resume", "fork")
}

// target is a flag that names a session. Given without a name is not the same as not given.
type target struct {
	given bool
	name  string
}

// Set is called by the flag package for every time the flag is given.
func (t *target) Set(name string) error {
	t.given, t.name = true, name
	return nil
}

// String returns the name that was given.
func (t *target) String() string { return t.name }

// Type is what help calls the value.
func (t *target) Type() string { return "ID|PATH" }

// withoutValue lets --resume stand alone: at the end of the arguments or before another flag
// it has no value, as in the terminal programs.
func withoutValue(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		switch {
		case arg == "--":
			return args
		case arg == "--resume" && (i == len(args)-1 || strings.HasPrefix(args[i+1], "-")):
			args[i] = "--resume="
		}
	}
	return args
}

// check refuses values that mean nothing.
func (f *flags) check() error {
	if f.approval != "" && !slices.Contains(approval.Modes, approval.Mode(f.approval)) {
		return fault.New(fault.InvalidArgument, "--approval %q: the modes are read-only, ask, auto-edit and yolo.", f.approval)
	}
	if f.thinking != "" && !slices.Contains(provider.Levels, provider.Level(f.thinking)) {
		return fault.New(fault.InvalidArgument, "--thinking %q: the levels are off, minimal, low, medium, high, xhigh and max.", f.thinking)
	}
	if _, ok := provider.ParseRef(f.model); f.model != "" && !ok {
		return fault.New(fault.InvalidArgument, "--model %q: a model is named provider/id.", f.model)
	}
	return nil
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) { cmd.Println("xcsh-ls", versionText()) },
	}
}

// versionText is the stamped version, else what the module system knows.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
