package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// setups returns the finder of set-ups in the agent directories of the roots.
func (p place) setups(mayUse func(dir string) bool) *setup.Finder {
	f := &setup.Finder{Fs: p.fs, Home: p.env.Home, Getenv: os.Getenv, Usable: mayUse, Private: private(p.finder.Roots), Decisions: p.gate.Store, Memory: &setup.Memory{}, Last: &setup.LastGood{}}
	for _, d := range p.preferences(mayUse, nil).Dirs {
		f.Dirs = append(f.Dirs, setup.Dir{Path: d.Path, Program: d.Program})
	}
	return f
}

// maxToldProblems bounds the problems of set-ups that the user is notified of; all are in the log and in xcsh.setup.
const maxToldProblems = 5

// setupProblems returns a function that notifies the user, once, of a file of a set-up that is not used.
func setupProblems(tell func(about, text string), log *zap.Logger) func(setup.Problem) {
	var mu sync.Mutex
	told := map[string]bool{}
	return func(p setup.Problem) {
		mu.Lock()
		known, n := told[p.Text], len(told)
		if !known && n <= maxToldProblems {
			told[p.Text] = true
		}
		mu.Unlock()
		switch {
		case known:
		case n < maxToldProblems:
			tell(p.Text, visible.Line(p.Text))
		case n == maxToldProblems:
			tell(p.Text, "More files of the set-up are not used. To list them, run 'xcsh-ls setup' in a terminal.")
		default:
			log.Debug(p.Text)
		}
	}
}

func setupCommand(f *flags) *cobra.Command {
	var program, trust string
	var asJSON bool
	c := &cobra.Command{
		Use:   "setup",
		Short: "Print the set-up of the current directory",
		Long: "Print the MCP servers, skills, templates, instructions, rules and settings that hold in the current\n" +
			"directory, each with its file, and the parts that are left out and why. Nothing is started.\n\n" +
			"The parts of a directory's own are left out until you trust it, except for instructions such as\n" +
			"AGENTS.md. If the programs that it starts change, you have to trust it again.",
		Example: examples(
			"# The set-up of sessions that oh-my-pi wrote", "xcsh-ls setup --program omp",
			"# Trust the directory, but not its servers", "xcsh-ls setup --trust without-servers",
		),
		Args: takes(0, 0, ""),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, _ []string) error {
			a := commands.SetupArgs{Program: program}
			r, err := execute[commands.SetupResult](cmd.Context(), env, "xcsh.setup", a)
			if err != nil {
				return err
			}
			if trust != "" {
				state, err := commands.TrustDecision(trust)
				if err != nil {
					return fault.New(fault.InvalidArgument, "--trust must be all, without-servers or none.")
				}
				if err := env.Sessions.TrustSetup(&r.Resolved, state); err != nil {
					return err
				}
				if r, err = execute[commands.SetupResult](cmd.Context(), env, "xcsh.setup", a); err != nil {
					return err
				}
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return printSetup(cmd.OutOrStdout(), &r.Resolved)
		}),
	}
	c.Flags().StringVar(&program, "program", "", "the `PROGRAM` whose sessions the set-up is for: xcsh, pi or omp")
	c.Flags().StringVar(&trust, "trust", "", "trust the directory's set-up: `all`, without-servers or none")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

// printSetup prints a set-up, one section for each part.
func printSetup(w io.Writer, r *setup.Resolved) error {
	var out strings.Builder
	section := func(title string, rows [][2]string) {
		if len(rows) == 0 {
			return
		}
		fmt.Fprintf(&out, "\n%s\n", title)
		for _, row := range rows {
			fmt.Fprintf(&out, "  %s\n", visible.Line(strings.TrimSuffix(row[0], ": ")))
			if row[1] != "" {
				fmt.Fprintf(&out, "    %s\n", visible.Line(row[1]))
			}
		}
	}
	fmt.Fprintf(&out, "Set-up of %s in %s\n", r.Program, visible.Line(r.Folder))
	if r.Trust.Question != "" {
		fmt.Fprintf(&out, "\n%s\nTo use it, run: xcsh-ls setup --program %s --trust all\n", visible.Line(r.Trust.Question), r.Program)
	}
	section("MCP servers", linesOf(r.Servers, func(s setup.Server) [2]string { return [2]string{s.Name + ": " + s.Starts, s.Path} }))
	section("Skills", linesOf(r.Skills, func(s setup.Skill) [2]string { return [2]string{s.Name + ": " + s.Description, s.Path} }))
	section("Templates", linesOf(r.Templates, func(t setup.Template) [2]string { return [2]string{"/" + t.Name + ": " + t.Description, t.Path} }))
	section("Agents", linesOf(r.Agents, func(a setup.Agent) [2]string { return [2]string{a.Name + ": " + a.Description, a.Path} }))
	section("System prompt", promptRows(r))
	section("Instructions", linesOf(r.Context, func(f setup.File) [2]string { return [2]string{f.Path, ""} }))
	section("Rules", linesOf(r.Rules, func(x setup.Rule) [2]string {
		return [2]string{x.Name + " (" + string(x.Use) + "): " + x.Description, x.Path}
	}))
	section("Settings", linesOf(r.Settings, func(s setup.Setting) [2]string { return [2]string{s.Name + ": " + s.Value, s.Path} }))
	section("Extensions (run in the program only)", linesOf(r.Extensions, func(e setup.Extension) [2]string { return [2]string{e.Name, e.Path} }))
	section("Left out", linesOf(r.LeftOut, func(o setup.LeftOut) [2]string {
		return [2]string{string(o.Kind) + " " + o.Name + ": " + o.Why, o.Path}
	}))
	section("Problems", linesOf(r.Problems, func(p setup.Problem) [2]string { return [2]string{p.Text, ""} }))
	if strings.Count(out.String(), "\n") == 1 {
		out.WriteString("\nNo servers, skills, templates, instructions, rules or settings found.\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func promptRows(r *setup.Resolved) (rows [][2]string) {
	if r.System != nil {
		rows = append(rows, [2]string{"replaced by", r.System.Path})
	}
	if r.Append != nil {
		rows = append(rows, [2]string{"followed by", r.Append.Path})
	}
	return rows
}

func linesOf[T any](list []T, row func(T) [2]string) (rows [][2]string) {
	for _, v := range list {
		rows = append(rows, row(v))
	}
	return rows
}
