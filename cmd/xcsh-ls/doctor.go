package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func doctorCommand(f *flags) *cobra.Command {
	var salvage string
	var all bool
	c := &cobra.Command{
		Use:   "doctor [ID|PATH]",
		Short: "Check the environment or a session for problems",
		Long: "Check directories, sessions, models, engines and the sandbox. With ID or PATH, check that\n" +
			"session for damage. No session file is changed. The exit code is 1 if content can't be read.",
		Example: examples(
			"# Find sessions that no directory lists", "xcsh-ls doctor --all",
			"# Copy the readable part of a damaged session to a new file", "xcsh-ls doctor damaged.jsonl --salvage saved.jsonl",
		),
		Args:              takes(0, 1, "one ID or PATH"),
		ValidArgsFunction: f.completeSession,
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
			switch {
			case all && (len(args) > 0 || salvage != ""):
				return fault.New(fault.InvalidArgument, "--all checks every session; omit ID|PATH and --salvage.")
			case all:
				return printLost(cmd, env)
			case len(args) == 0 && salvage != "":
				return fault.New(fault.InvalidArgument, "--salvage requires the id or path of a session.")
			case len(args) == 0:
				return printEnvironment(cmd, env)
			case salvage != "":
				return salvageTo(cmd, env, args[0], salvage)
			}
			r, err := execute[commands.DoctorResult](cmd.Context(), env, "xcsh.doctor", commands.Subject{Source: args[0]})
			if err != nil {
				return err
			}
			return printProblems(cmd, r.Problems)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "find sessions that no directory lists")
	c.Flags().StringVar(&salvage, "salvage", "", "copy the readable part of the session to the new file `OUT`")
	return c
}

// printProblems lists findings and fails if any of them means lost data.
func printProblems(cmd *cobra.Command, problems []session.Problem) error {
	lost, t := false, table{screen: stdoutScreen(), head: []string{"LEVEL", "KIND", "PROBLEM"}}
	for _, p := range problems {
		mark := "note"
		if p.Lost {
			mark, lost = "LOST", true
		}
		t.add(mark, string(p.Kind), p.Message)
	}
	if err := t.print(cmd.OutOrStdout()); err != nil {
		return err
	}
	if len(problems) == 0 {
		cmd.Println("No problems found.")
	}
	if lost {
		return exitCode(1)
	}
	return nil
}

// printLost lists the sessions that no list shows, with advice for each.
func printLost(cmd *cobra.Command, env *commands.Env) error {
	lost, problems, err := env.Finder.Lost(cmd.Context())
	if err != nil {
		return err
	}
	for _, l := range lost {
		cmd.Printf("%s  %s\n    %s\n", l.Reason, visible.Line(l.Path), visible.Line(lostAdvice(l)))
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
		state := "does not exist yet"
		if ok, err := dirState(r.Sessions); err != nil {
			state = err.Error()
		} else if ok {
			state = "readable"
		}
		cmd.Printf("%s sessions: %s (%s)\n", r.Dialect, visible.Line(r.Sessions), visible.Line(state))
	}
	progress := startBar("Reading sessions", false)
	env.Reading = progress.count
	r, err := execute[commands.ListResult](cmd.Context(), env, "xcsh.list", commands.ListArgs{Scope: "all", IncludeEmpty: true})
	progress.End("")
	if err != nil {
		return err
	}
	cmd.Printf("readable sessions: %d\n", len(r.Sessions))
	printModels(cmd, env)
	printEngines(cmd, env)
	cmd.Println(sandbox.Supported().Sentence)
	if err := printSettings(cmd, env); err != nil {
		return err
	}
	return printProblems(cmd, r.Problems)
}

// printSettings lists the settings of each program that hold in the current directory, with their files, and the
// problems of the set-ups.
func printSettings(cmd *cobra.Command, env *commands.Env) error {
	var told []string
	for _, r := range env.Finder.Roots {
		found, err := execute[commands.SetupResult](cmd.Context(), env, "xcsh.setup", commands.SetupArgs{Program: r.Dialect.String()})
		if err != nil {
			return err
		}
		for _, s := range found.Settings {
			cmd.Printf("%s setting: %s = %s (%s)\n", found.Program, visible.Line(s.Name), visible.Line(s.Value), visible.Line(s.Path))
		}
		for _, p := range found.Problems {
			if !slices.Contains(told, p.Text) {
				told = append(told, p.Text)
				cmd.Println(visible.Line(p.Text))
			}
		}
	}
	return nil
}

// printModels lists the services that are available now.
func printModels(cmd *cobra.Command, env *commands.Env) {
	count := map[string]int{}
	for _, m := range env.Sessions.Models(cmd.Context()) {
		if m.Available {
			count[m.Provider]++
		}
	}
	var usable []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		usable = append(usable, fmt.Sprintf("%s (%d)", visible.Line(name), count[name]))
	}
	if len(usable) == 0 {
		usable = []string{"none"}
	}
	cmd.Println("Models ready to use:", strings.Join(usable, ", "))
}

// dirState reports whether a directory exists. The error is the reason why it cannot be read.
func dirState(dir string) (bool, error) {
	_, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}

func salvageTo(cmd *cobra.Command, env *commands.Env, target, out string) error {
	path := absolutePath(target)
	if _, err := os.Stat(path); err != nil { // a damaged file can be named by its path only
		if r, err := execute[library.Resolution](cmd.Context(), env, "xcsh.resolve", commands.ResolveArgs{Target: target}); err == nil {
			found, err := r.One()
			if err != nil {
				return err
			}
			path = found.Path
		}
	}
	n, err := env.Store.Salvage(path, absolutePath(out), env.Folders()[0])
	if err != nil {
		return err
	}
	cmd.Printf("Saved %s to: %s\n", plural(n, "entry", "entries"), visible.Line(absolutePath(out)))
	return nil
}
