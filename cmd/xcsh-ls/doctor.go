package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

func doctorCommand(f *flags) *cobra.Command {
	var salvage string
	var all bool
	c := &cobra.Command{
		Use: "doctor [ID|PATH]", Short: "Check the environment, or one session file", Args: cobra.MaximumNArgs(1),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) error {
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
		}),
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
	printModels(cmd, env)
	_, sandbox := tool.SandboxStatus()
	cmd.Println(sandbox)
	return printProblems(cmd, r.Problems)
}

// printModels says which services could be asked now.
func printModels(cmd *cobra.Command, env *commands.Env) {
	count := map[string]int{}
	for _, m := range env.Sessions.Models(cmd.Context()) {
		if m.Available {
			count[m.Provider]++
		}
	}
	var usable []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		usable = append(usable, fmt.Sprintf("%s (%d)", name, count[name]))
	}
	cmd.Println("models that can be used now:", strings.Join(usable, ", "))
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
