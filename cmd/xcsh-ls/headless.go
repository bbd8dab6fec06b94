package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// headless is the environment of the commands without an editor: the folder is the
// current directory and nobody can be asked.
func headless(f *flags) (*commands.Env, error) {
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
	b, err := openBackend(s, nil, false, log)
	if err != nil {
		return nil, err
	}
	return &commands.Env{
		Sessions: b.Sessions, Store: b.Store, Finder: b.Finder, Fs: b.Fs, UI: commands.Headless{},
		Folders: func() []string { return []string{cwd} }, Log: log,
	}, nil
}

// execute runs one command of the table and reads its result into R. An interrupt
// cancels it.
func execute[R any](ctx context.Context, env *commands.Env, name string, args any) (R, error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	var none R
	raw, err := json.Marshal(args)
	if err != nil {
		return none, err
	}
	result, err := commands.Default.Execute(ctx, env, name, []json.RawMessage{raw})
	if err != nil {
		return none, err
	}
	r, ok := result.(R)
	if !ok {
		return none, fmt.Errorf("%s answered with %T", name, result)
	}
	return r, nil
}

// newest is the session a command is about when none is named.
func newest(ctx context.Context, env *commands.Env) (string, error) {
	path, ok, err := env.Finder.MostRecent(ctx, env.Folders()[0])
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

func listCommand(f *flags) *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use: "list [QUERY]", Short: "List the sessions of the current directory", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := headless(f)
			if err != nil {
				return err
			}
			a := commands.ListArgs{Scope: "folder"}
			if all {
				a.Scope = "all"
			}
			if len(args) > 0 {
				a.Query = args[0]
			}
			r, err := execute[commands.ListResult](cmd.Context(), env, "xcsh.list", a)
			if err != nil {
				return err
			}
			for _, p := range r.Problems {
				cmd.PrintErrln(p.Message)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return printSessions(cmd.OutOrStdout(), r.Sessions, all)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "sessions of every directory")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printSessions(w io.Writer, infos []session.Info, cwd bool) error {
	out := bufio.NewWriter(w)
	if len(infos) == 0 {
		fmt.Fprintln(out, "No sessions found")
	}
	for _, i := range infos {
		fmt.Fprintf(out, "%s  %-40s  %s · %d messages", i.ID, i.Name, i.TimeAgo, i.MessageCount)
		if cwd {
			fmt.Fprintf(out, " · %s", i.Cwd)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

func dumpCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "dump [ID|PATH]", Short: "Print a session as text; the newest one by default", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := headless(f)
			if err != nil {
				return err
			}
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
		},
	}
}

func exportCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "export [ID|PATH] [OUT]", Short: "Write a session as an HTML page; the newest one by default", Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := headless(f)
			if err != nil {
				return err
			}
			target, err := source(cmd.Context(), env, args)
			if err != nil {
				return err
			}
			return export(cmd, env, target, args[min(1, len(args)):])
		},
	}
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
	return export(cmd, env, absolutePath(path), out)
}

func export(cmd *cobra.Command, env *commands.Env, target string, out []string) error {
	a := commands.ExportArgs{Subject: commands.Subject{Source: target}, Overwrite: true}
	if len(out) > 0 {
		a.Path = filepath.ToSlash(out[0])
	}
	r, err := execute[commands.ExportResult](cmd.Context(), env, "xcsh.export", a)
	if err != nil {
		return err
	}
	cmd.Println("Exported to:", r.Path)
	return nil
}

func contextCommand(f *flags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "context ID|PATH", Short: "Print what a model would be shown of a session", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := headless(f)
			if err != nil {
				return err
			}
			a := commands.ContextArgs{Subject: commands.Subject{Source: args[0]}}
			r, err := execute[commands.ContextResult](cmd.Context(), env, "xcsh.context", a)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return printContext(cmd.OutOrStdout(), r)
		},
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

func doctorCommand(f *flags) *cobra.Command {
	var salvage string
	var all bool
	c := &cobra.Command{
		Use: "doctor [ID|PATH]", Short: "Check the environment, or one session file", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := headless(f)
			if err != nil {
				return err
			}
			switch {
			case all && (len(args) > 0 || salvage != ""):
				return fault.New(fault.InvalidArgument, "--all is about every session; it takes no other one.")
			case all:
				return printLost(cmd, env)
			case len(args) == 0 && salvage != "":
				return fault.New(fault.InvalidArgument, "--salvage needs the session to save from.")
			case len(args) == 0:
				return printEnvironment(cmd, env)
			case salvage != "":
				return saveWhatIsLeft(cmd, env, args[0], salvage)
			}
			r, err := execute[commands.DoctorResult](cmd.Context(), env, "xcsh.doctor", commands.Subject{Source: args[0]})
			if err != nil {
				return err
			}
			return printProblems(cmd, r.Problems)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "find the sessions that no list shows")
	c.Flags().StringVar(&salvage, "salvage", "", "write what can be read of the session into a new file")
	return c
}

// printProblems lists findings and fails when a reader would lose something.
func printProblems(cmd *cobra.Command, problems []session.Problem) error {
	lost := false
	for _, p := range problems {
		mark := "note"
		if p.Lost {
			mark, lost = "LOST", true
		}
		cmd.Printf("%s  %s  %s\n", mark, p.Kind, p.Message)
	}
	if len(problems) == 0 {
		cmd.Println("No problems found.")
	}
	if lost {
		return exitCode(1)
	}
	return nil
}

// printLost lists the sessions that no list shows, and what to do about each.
func printLost(cmd *cobra.Command, env *commands.Env) error {
	lost, problems, err := env.Finder.Lost(cmd.Context())
	if err != nil {
		return err
	}
	for _, l := range lost {
		cmd.Printf("%s  %s\n    %s\n", l.Reason, l.Path, l.Advice)
	}
	if len(problems) > 0 || len(lost) == 0 {
		err = printProblems(cmd, problems)
	}
	if len(lost) > 0 {
		return exitCode(1)
	}
	return err
}

func printEnvironment(cmd *cobra.Command, env *commands.Env) error {
	cmd.Println("xcsh-ls", versionText())
	for _, r := range env.Finder.Roots {
		state := "not there yet"
		if ok, err := dirState(r.Sessions); err != nil {
			state = err.Error()
		} else if ok {
			state = "readable"
		}
		cmd.Printf("%-5s sessions  %s  (%s)\n", r.Dialect, r.Sessions, state)
	}
	r, err := execute[commands.ListResult](cmd.Context(), env, "xcsh.list", commands.ListArgs{Scope: "all", IncludeEmpty: true})
	if err != nil {
		return err
	}
	cmd.Printf("%d sessions can be read\n", len(r.Sessions))
	return printProblems(cmd, r.Problems)
}

// dirState reports whether a directory exists; an error is why it cannot be read.
func dirState(dir string) (bool, error) {
	_, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}

func saveWhatIsLeft(cmd *cobra.Command, env *commands.Env, path, out string) error {
	n, err := env.Store.Salvage(absolutePath(path), absolutePath(out), env.Folders()[0])
	if err != nil {
		return err
	}
	cmd.Printf("Saved %d entries to: %s\n", n, absolutePath(out))
	return nil
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
