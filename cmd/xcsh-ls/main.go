// Command xcsh-ls is a language server on standard input and output that brings the
// sessions of terminal coding agents into editors. Its other commands work with the
// same sessions from a shell.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// version is stamped by the linker; see the Makefile.
var version = ""

func main() { os.Exit(run()) }

// run is main with an exit code, so that deferred calls run before the process exits.
func run() int {
	// Command output never controls the terminal, whatever its origin.
	out, errs := visible.NewWriter(stdout), visible.NewWriter(os.Stderr)
	root := rootCommand()
	root.SetOut(out) // cobra prints to standard error otherwise
	root.SetErr(errs)
	root.SetArgs(withoutValue(os.Args[1:]))
	code, message := statusOf(root.ExecuteContext(context.Background()))
	_ = out.Flush() // the command reports a failed write
	if message != "" {
		fmt.Fprintln(errs, message)
	}
	_ = errs.Flush()
	return code
}

func rootCommand() *cobra.Command {
	var f flags
	root := &cobra.Command{
		Use:   "xcsh-ls [flags]",
		Short: "Use the sessions of terminal coding agents in any editor",
		Long: "Use the sessions of terminal coding agents in any editor.\n\n" +
			"Without a command, xcsh-ls runs a language server on standard input and output, which editors\n" +
			"start; on a terminal, it prints this help. The commands work with the same sessions from a shell.",
		Example: examples(
			"# Run the language server, as editors do", "xcsh-ls --stdio",
			"# List the sessions of the current directory", "xcsh-ls list",
			"# Try a prompt without an API key", "xcsh-ls run --model offline/demo \"what is in README.md?\"",
			"# Export a session file as an HTML page", "xcsh-ls --export session.jsonl page.html",
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if f.export == "" && len(args) > 0 {
				return usageError(cmd, fmt.Errorf("unknown command %q", args[0]))
			}
			return takes(0, 1, "one output path")(cmd, args)
		},
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.export != "" {
				return exportFile(cmd, f, f.export, args)
			}
			if f.resume.given && f.resume.name == "" && !cmd.Flags().Changed("stdio") && isTerminal(os.Stdin) {
				return resumeInShell(cmd, f)
			}
			if !cmd.Flags().Changed("stdio") && isTerminal(os.Stdin) {
				return cmd.Help() // no editor is there
			}
			return serve(cmd.Context(), f)
		},
	}
	f.register(root)
	root.SetFlagErrorFunc(usageError)
	root.Version = versionText()
	root.SetVersionTemplate("xcsh-ls {{.Version}}\n")
	root.Flags().Bool("version", false, "print the version")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(listCommand(&f), modelsCommand(&f), loginCommand(&f), toolsCommand(&f), changesCommand(&f), rewindCommand(&f), moveCommand(&f), dumpCommand(&f), exportCommand(&f), importCommand(&f), runCommand(&f), acpCommand(&f), contextCommand(&f), setupCommand(&f), doctorCommand(&f), gcCommand(&f), sandboxCommand(), leashCommand(), pdfTextCommand(), versionCommand())
	root.AddCommand(teamCommands(&f)...)
	extraCommands(root)
	f.completeFlags(root)
	withCodes(append(root.Commands(), root)...)
	return root
}

// flags are the startup flags. Those of the server apply to its first workspace folder.
type flags struct {
	agentDir, sessionDir string
	allowAgentDirs       []string
	noSession            bool
	continueLast         bool
	resume, fork         target
	export               string
	noRedact             bool // of export
	logFile, logLevel    string
	terminalID           string
	model, thinking      string
	approval, sandbox    string
	shellPath            string
	retries, retryLimit  string
	engine               string // of run and acp
	noServerFiles        bool   // of acp
}

func (f *flags) register(root *cobra.Command) {
	all, own := root.PersistentFlags(), root.Flags()
	all.StringVar(&f.agentDir, "agent-dir", "", "use agent directory `DIR` instead of ~/.xcsh/agent")
	all.StringArrayVar(&f.allowAgentDirs, "allow-agent-dir", nil, "allow agent directory `DIR` even if it is inside a workspace; remembered until its content changes")
	all.StringVar(&f.sessionDir, "session-dir", "", "store all sessions in `DIR` instead of one directory per working directory")
	all.StringVar(&f.logFile, "log-file", "", "append the log to `FILE` instead of standard error")
	all.StringVar(&f.logLevel, "log-level", "warn", "minimum `LEVEL` of log messages: debug, info, warn or error")
	own.Bool("stdio", true, "use standard input and output, the only transport; editors pass this flag")
	own.StringVar(&f.export, "export", "", "export session `FILE` as HTML and exit; an argument sets the output path")
	own.BoolVar(&f.noRedact, "no-redact", false, "with --export, keep likely secrets, which are replaced otherwise")
	f.registerStartup(root, "first workspace folder")
}

// registerStartup registers the flags that select the session of a folder at startup.
func (f *flags) registerStartup(c *cobra.Command, folder string) {
	own := c.Flags()
	own.BoolVar(&f.continueLast, "continue", false, "continue the last session of the "+folder)
	own.Var(&f.resume, "resume", "resume the session with this id or path; without a value, ask which")
	own.Var(&f.fork, "fork", "fork the session with this id or path and use the copy")
	own.StringVar(&f.terminalID, "terminal-id", "", "terminal `NAME` whose last session --continue opens (default in a shell: the current terminal)")
	f.registerAgent(c)
	exclusive(c, "continue", "resume", "fork")
}

// registerAgent registers the flags that configure new sessions.
func (f *flags) registerAgent(c *cobra.Command) {
	own := c.Flags()
	own.BoolVar(&f.noSession, "no-session", false, "keep sessions in memory instead of saving them")
	own.StringVar(&f.model, "model", "", "`MODEL` for new sessions, as PROVIDER/ID; offline/demo needs no API key")
	own.StringVar(&f.thinking, "thinking", "", "thinking `LEVEL` for new sessions: off, minimal, low, medium, high, xhigh or max")
	own.StringVar(&f.approval, "approval", "", "approval `MODE` for tools: read-only, ask, auto-edit or yolo")
	own.StringVar(&f.retries, "retries", "", "repeat a failed request to the model up to `N` times (default 3, and for two minutes if the service is overloaded)")
	own.StringVar(&f.retryLimit, "retry-limit", "", "longest wait before a retry, as a `DURATION` such as 90s or 5m (default 1m, and 2m if the service is overloaded)")
	own.StringVar(&f.sandbox, "sandbox", "", "sandbox for the model's commands: `on|off` (default on if the system supports it)")
	own.StringVar(&f.shellPath, "shell-path", "", "shell `PROGRAM` for commands (default bash, on Windows that of Git; the setting shellPath of a terminal program also changes it)")
}

// registerEngine registers the flag that chooses what answers.
func (f *flags) registerEngine(c *cobra.Command) {
	c.Flags().StringVar(&f.engine, "engine", "", "let `NAME` answer: a program such as pi that is installed here, or own for xcsh-ls itself")
	exclusive(c, "engine", "no-session")
}

// target is a flag that names a session. A flag without a name differs from an absent flag.
type target struct {
	given bool
	name  string
}

// Set is called by the flag package each time the flag is given.
func (t *target) Set(name string) error {
	t.given, t.name = true, name
	return nil
}

// String returns the given name.
func (t *target) String() string { return t.name }

// Type returns the name of the value in the help.
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

// check rejects invalid values.
func (f *flags) check() error {
	if f.approval != "" && !slices.Contains(approval.Modes, approval.Mode(f.approval)) {
		return invalidValue("approval", f.approval, "read-only, ask, auto-edit or yolo")
	}
	if f.sandbox != "" && f.sandbox != "on" && f.sandbox != "off" {
		return invalidValue("sandbox", f.sandbox, "on or off")
	}
	if f.thinking != "" && !slices.Contains(provider.Levels, provider.Level(f.thinking)) {
		return invalidValue("thinking", f.thinking, "off, minimal, low, medium, high, xhigh or max")
	}
	if _, err := f.retryCount(); err != nil {
		return err
	}
	if _, err := f.longestRetry(); err != nil {
		return err
	}
	if _, ok := provider.ParseRef(f.model); f.model != "" && !ok {
		return invalidValue("model", f.model, "PROVIDER/ID, such as offline/demo")
	}
	return nil
}

// retryCount returns the number of retries, nil without the flag.
func (f *flags) retryCount() (*int, error) {
	if f.retries == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(f.retries)
	if err != nil || n < 0 || n > lsp.MaxRetries {
		return nil, invalidValue("retries", f.retries, fmt.Sprintf("a whole number from 0 to %d", lsp.MaxRetries))
	}
	return &n, nil
}

// longestRetry returns the longest wait before a retry, 0 without the flag.
func (f *flags) longestRetry() (time.Duration, error) {
	if f.retryLimit == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(f.retryLimit)
	if err != nil || d < lsp.MinRetryLimit || d > lsp.MaxRetryLimit {
		return 0, invalidValue("retry-limit", f.retryLimit, "a duration from 1s to 1h, such as 90s")
	}
	return d, nil
}

// examples formats pairs of a comment and a command line.
func examples(lines ...string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 && i%2 == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("  " + line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: takes(0, 0, ""),
		Run: func(cmd *cobra.Command, _ []string) { cmd.Println("xcsh-ls", versionText()) },
	}
}

// versionText returns the stamped version, or else the version in the build information.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
