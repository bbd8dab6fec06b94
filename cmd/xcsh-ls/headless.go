package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// headless returns the environment of the commands without an editor: the folder is the current
// directory, and no user can be asked. errs shows messages to the user.
func headless(f *flags, errs io.Writer) (*commands.Env, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	log, err := openLog(*f)
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var s lsp.Settings
	f.override(&s)
	if s.TerminalID == "" {
		s.TerminalID = library.TerminalID(library.Env{Getenv: os.Getenv}, terminalDevice())
	}
	folders := func() []string { return []string{cwd} }
	if err := allow(s, folders); err != nil {
		return nil, err
	}
	b, err := openBackend(withoutChoice(s), lsp.Client{Approve: denyAll(errs), Folders: folders, Advice: shellAdvice}, false, log)
	if err != nil {
		return nil, err
	}
	return &commands.Env{
		Sessions: b.Sessions, Store: b.Store, Finder: b.Finder, Fs: b.Fs, Workspace: b.Files, PDF: b.PDF, UI: commands.Headless{},
		Team: b.Team, Folders: folders, Log: log,
	}, nil
}

// terminalDevice returns the device of the terminal on standard input or, because that may be a pipe with
// text for the prompt, on standard error. It returns "" if there is none or the system doesn't report it.
// Terminals are then distinguished by the variables that they set.
func terminalDevice() string {
	for _, f := range []*os.File{os.Stdin, os.Stderr} {
		info, err := f.Stat()
		if err != nil || info.Mode()&os.ModeCharDevice == 0 {
			continue
		}
		device, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
		if err == nil && (strings.HasPrefix(device, "/dev/pts/") || strings.HasPrefix(device, "/dev/tty")) {
			return device // unlike /dev/null
		}
	}
	return ""
}

// denyAll answers requests for permission without an editor: it denies every action that requires the
// user's approval. The first time, it shows the flag that allows such actions. No flag approves a plan.
func denyAll(errs io.Writer) agent.Asker {
	var first, plan sync.Once
	return func(_ context.Context, a agent.Approval) (approval.Decision, error) {
		if a.EndsPlan {
			plan.Do(func() {
				fmt.Fprintln(errs, "Plan mode is still on because no one can approve the plan. To approve it, continue the session in an editor or in the terminal program.")
			})
			return approval.Deny, nil
		}
		first.Do(func() {
			fmt.Fprintln(errs, "A tool call was denied because no one can approve it. Pass --approval auto-edit to allow edits, or --approval yolo to allow commands, too.")
		})
		return approval.Deny, nil
	}
}

// inFolder runs a command in the environment of the current directory.
func inFolder(f *flags, run func(*cobra.Command, *commands.Env, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		env, err := headless(f, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		return run(cmd, env, args)
	}
}

// execute runs one command of the table and reads its result into R. An interrupt cancels it.
func execute[R any](ctx context.Context, env *commands.Env, name string, args any) (R, error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	return commands.Call[R](ctx, commands.Default, env, name, args)
}

// newest returns the session that a command uses if none is named.
func newest(ctx context.Context, env *commands.Env) (string, error) {
	path, ok, err := env.Finder.MostRecent(ctx, env.Folders()[0], session.Xcsh)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fault.New(fault.NotFound, "No sessions found")
	}
	return path, nil
}

func source(ctx context.Context, env *commands.Env, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	return newest(ctx, env)
}

// printJSON prints v without raw control characters, some of which encoding/json leaves unescaped.
func printJSON(w io.Writer, v any) error {
	out := visible.NewJSONWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	return out.Flush()
}
