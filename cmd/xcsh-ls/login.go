package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/picker"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func loginCommand(f *flags) *cobra.Command {
	var stdin, remove bool
	c := &cobra.Command{
		Use:   "login [flags] [PROVIDER|ENGINE]",
		Short: "Use a service with an API key, or log in to an agent",
		Long: "Store the API key of a service, or log in to an agent that is installed on this machine.\n" +
			"Without an argument, login lists the ways to get an answer and asks for one.\n\n" +
			"The key is read from the terminal without showing it, or from standard input if that is a file or\n" +
			"a pipe. It is stored in auth.json in the agent directory, where the terminal programs read it too,\n" +
			"and readable only by you. Logins in that file are never changed.\n\n" +
			"An agent such as pi has its own login, which runs in this terminal.",
		Example: examples(
			"# Choose a way in a terminal", "xcsh-ls login",
			"# Store the API key of Anthropic", "xcsh-ls login anthropic",
			"# Read the key from a password manager", "pass show anthropic | xcsh-ls login anthropic --stdin",
			"# Remove the stored key", "xcsh-ls login --remove anthropic",
		),
		Args: takes(0, 1, "one provider or engine"),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			l := login{cmd: cmd, env: env, stdin: stdin}
			err := l.run(ctx, args, remove)
			if s, ok := context.Cause(ctx).(stopped); ok && err != nil { //nolint:errorlint // the cause is not wrapped
				return failure{err, s.code()}
			}
			return err
		}),
	}
	c.Flags().BoolVar(&stdin, "stdin", false, "read the key from standard input")
	c.Flags().BoolVar(&remove, "remove", false, "remove the stored key of PROVIDER")
	exclusive(c, "stdin", "remove")
	return c
}

// login is a run of the command.
type login struct {
	cmd   *cobra.Command
	env   *commands.Env
	stdin bool // --stdin
}

// tell prints a line for the user.
func (l login) tell(format string, args ...any) {
	fmt.Fprintln(l.cmd.ErrOrStderr(), visible.Text(fmt.Sprintf(format, args...)))
}

func (l login) run(ctx context.Context, args []string, remove bool) error {
	if remove {
		return l.remove(ctx, args)
	}
	var chosen way
	var err error
	if len(args) == 0 {
		if _, terminal := picker.Terminal(); !terminal || l.stdin {
			return fault.New(fault.InvalidArgument, "Name a service, such as 'xcsh-ls login anthropic', or run 'xcsh-ls login' in a terminal to choose one.")
		}
		chosen, err = l.choose(ctx)
	} else {
		chosen, err = l.named(ctx, args[0])
	}
	if err != nil {
		return err
	}
	switch {
	case chosen.engine != nil:
		return l.engine(ctx, *chosen.engine)
	case chosen.source.Kind == provider.ServiceSource:
		return l.service(ctx, chosen.source)
	}
	if !chosen.source.Ready {
		return fault.New(fault.NotFound, "%s is not running. Start it, then try again.", chosen.source.Name)
	}
	l.tell("%s needs no login.", chosen.source.Name)
	return l.next(ctx, chosen.source.ID)
}

func (l login) remove(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usageError(l.cmd, fmt.Errorf("missing argument: PROVIDER"))
	}
	r, err := execute[commands.SetKeyResult](ctx, l.env, "xcsh.setKey", commands.SetKeyArgs{Provider: args[0], Remove: true})
	if err != nil {
		return err
	}
	l.tell("Removed the API key of %s from %s.", r.Provider, r.Stored)
	return nil
}

// service stores the API key of a service.
func (l login) service(ctx context.Context, s provider.Source) error {
	key, err := l.key(ctx, s)
	if err != nil {
		return err
	}
	r, err := execute[commands.SetKeyResult](ctx, l.env, "xcsh.setKey", commands.SetKeyArgs{Provider: s.ID, Key: key})
	if err != nil {
		return err
	}
	l.tell("Stored the API key of %s in %s.", s.Name, r.Stored)
	return l.next(ctx, s.ID)
}

// next tells which model answers now, and the next command. id is the provider that was chosen.
func (l login) next(ctx context.Context, id string) error {
	state, err := execute[agent.State](ctx, l.env, "xcsh.state", commands.Folder{})
	if err != nil {
		return err
	}
	if state.Ready != nil && state.Ready.OK && state.Model != nil && state.Model.Provider == id {
		l.tell("%s will answer. Try: xcsh-ls run \"what is in README.md?\"", state.Model)
		return nil
	}
	r, err := execute[commands.ProvidersResult](ctx, l.env, "xcsh.providers", commands.Folder{})
	if err != nil {
		return err
	}
	for _, s := range r.Providers {
		if s.ID == id && s.Default != "" {
			l.tell("Try: xcsh-ls run --model %s \"what is in README.md?\"", s.Default)
			return nil
		}
	}
	l.tell("Choose one of its models with 'xcsh-ls models', and pass it as --model %s/ID to 'xcsh-ls run'.", id)
	return nil
}

// engine runs the login of an agent in this terminal.
func (l login) engine(ctx context.Context, e commands.EngineItem) error {
	switch {
	case e.Path == "":
		return fault.New(fault.NotFound, "%s is not installed.", e.Name)
	case !e.Usable && e.Problem != "":
		return fault.New(fault.Denied, "%s", e.Problem)
	}
	if _, terminal := picker.Terminal(); !terminal {
		return fault.New(fault.InvalidArgument, "The login of %s needs a terminal.", e.Name)
	}
	r, err := execute[commands.LoginResult](ctx, l.env, "xcsh.login", commands.LoginArgs{Engine: e.Name})
	if err != nil {
		return err
	}
	l.tell("Starting %s.", strings.Join(r.Command, " "))
	if strings.HasSuffix(r.Message, "/login") {
		l.tell("Enter /login in it, and leave it when you are logged in.")
	}
	program := exec.CommandContext(ctx, r.Command[0], r.Command[1:]...)
	program.Dir, err = os.UserHomeDir() // not in the project, whose extensions it might run
	if err != nil {
		return fault.New(fault.IO, "The home directory is unknown: %w.", err)
	}
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, os.Stdout, os.Stderr
	program.Cancel = func() error { return program.Process.Signal(os.Interrupt) } // it got the signal of the terminal too
	if err := program.Run(); err != nil {
		return fault.New(fault.Provider, "The login of %s failed: %w.", e.Name, err)
	}
	l.tell("Try: xcsh-ls run --engine %s \"what is in README.md?\"", e.Name)
	return nil
}

// usable reports whether an agent on this machine can be chosen.
func usableEngine(e commands.EngineItem) bool { return e.Name != engine.Own && e.Usable }
