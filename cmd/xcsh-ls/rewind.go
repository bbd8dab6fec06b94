package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// rewindFlags are the flags of rewind.
type rewindFlags struct {
	before, to                 string
	redo                       string
	conversation, acrossHead   bool
	except                     []string
	dryRun, yes, asJSON, redos bool
}

func rewindCommand(f *flags) *cobra.Command {
	var r rewindFlags
	c := &cobra.Command{
		Use:   "rewind [ID|PATH]",
		Short: "Undo the file changes of a session",
		Long: "Undo the changes that a session made to files since a prompt, by default in the newest session\n" +
			"of the current directory. Your own changes stay. Either all files are rewound or none.\n\n" +
			"Without --yes, only print the plan. The exit code is 1 if a file can't be undone. Without\n" +
			"--before, --to and --redo, list the prompts of the session.",
		Example: examples(
			"# Plan to undo all changes since a prompt", "xcsh-ls rewind 0190 --before 5b1f09c2",
			"# Do it, and go back in the conversation, too", "xcsh-ls rewind 0190 --before 5b1f09c2 --conversation --yes",
			"# Undo the last rewind", "xcsh-ls rewind 0190 --redo --yes",
		),
		Args:              takes(0, 1, "one ID or PATH"),
		ValidArgsFunction: f.completeSession,
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) (err error) {
			r.redos = cmd.Flags().Changed("redo")
			target, err := source(cmd.Context(), env, args)
			if err != nil {
				return err
			}
			if r.before == "" && r.to == "" && !r.redos {
				return printPrompts(cmd, env, target)
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			defer func() { err = cmp.Or(err, env.Sessions.Close(context.WithoutCancel(ctx))) }()
			if err := openIn(ctx, env, target); err != nil {
				return err
			}
			return r.run(ctx, cmd, env)
		}),
	}
	own := c.Flags()
	own.StringVar(&r.before, "before", "", "undo all changes since before prompt `ENTRY`")
	own.StringVar(&r.to, "to", "", "undo all changes after `ENTRY`")
	own.StringVar(&r.redo, "redo", "", "undo the rewind `ENTRY`; without a value, the newest one")
	own.Lookup("redo").NoOptDefVal = newestRewind
	own.BoolVar(&r.conversation, "conversation", false, "go back in the conversation, too")
	own.BoolVar(&r.acrossHead, "across-head", false, "also undo changes of commands that moved HEAD; commits stay")
	own.StringArrayVar(&r.except, "except", nil, "leave file `PATH` as it is; can be repeated")
	own.BoolVar(&r.dryRun, "dry-run", false, "only print the plan, which is the default")
	own.BoolVar(&r.yes, "yes", false, "carry out the plan")
	own.BoolVar(&r.asJSON, "json", false, "print the result as JSON")
	exclusive(c, "before", "to", "redo")
	exclusive(c, "dry-run", "yes")
	exclusive(c, "conversation", "redo")
	return c
}

// newestRewind is the value of --redo without an argument.
const newestRewind = "newest"

// openIn makes a session the live session of its folder.
func openIn(ctx context.Context, env *commands.Env, target string) error {
	info, err := execute[commands.InfoResult](ctx, env, "xcsh.info", commands.Subject{Source: target})
	if err != nil {
		return err
	}
	if info.Cwd != "" {
		env.Folders = func() []string { return []string{info.Cwd} }
	}
	resumed, err := execute[commands.ResumeResult](ctx, env, "xcsh.resume", commands.ResumeArgs{Target: info.Path, OnOtherProject: "open"})
	if err == nil && resumed.CancelledBy != "" {
		err = fault.New(fault.Cancelled, "The session was not opened: cancelled by %s.", resumed.CancelledBy)
	}
	return err
}

// run plans the rewind and, with --yes, carries it out.
func (r rewindFlags) run(ctx context.Context, cmd *cobra.Command, env *commands.Env) error {
	a := commands.RewindArgs{RewindArgs: wire.RewindArgs{Conversation: r.conversation, AcrossHead: r.acrossHead, DryRun: new(true)}}
	switch {
	case r.redos:
		a.Redo = new(r.redo)
		if r.redo == newestRewind {
			a.Redo = new("")
		}
	case r.before != "":
		a.Before = &r.before
	default:
		a.To = &r.to
	}
	for _, path := range r.except {
		a.Except = append(a.Except, absolutePath(path))
	}
	plan, err := execute[wire.RewindResult](ctx, env, "xcsh.rewind", a)
	if err != nil {
		flag := "to"
		if r.before != "" {
			flag = "before"
		}
		return noEntry(err, flag)
	}
	if !r.yes || plan.Conflicts > 0 {
		return r.printPlan(cmd, env.Folders()[0], plan)
	}
	a.DryRun, a.PlanToken = nil, *plan.PlanToken
	done, err := execute[wire.RewindResult](ctx, env, "xcsh.rewind", a)
	switch {
	case err != nil:
		return err
	case r.asJSON:
		err = printJSON(cmd.OutOrStdout(), done)
	default:
		cmd.Println(visible.Line(commands.RewoundText(done)))
	}
	if err == nil && done.Rewound != nil && !*done.Rewound {
		return exitCode(exitFailed)
	}
	return err
}

// printPlan prints a plan. It fails if the plan has conflicts.
func (r rewindFlags) printPlan(cmd *cobra.Command, folder string, plan wire.RewindResult) error {
	if r.asJSON {
		if err := printJSON(cmd.OutOrStdout(), plan); err != nil {
			return err
		}
	} else {
		t := table{screen: stdoutScreen(), head: []string{"ACTION", "FILE", "NOTE"}, shrink: []int{2, 1}, dim: []int{2}, paths: []int{1}} // note, then file
		for _, p := range plan.Plan {
			t.add(p.Action, commands.ShownPath(folder, p.Path), strings.ReplaceAll(commands.PlanNote(p), "−", "-"))
		}
		if err := t.print(cmd.OutOrStdout()); err != nil {
			return err
		}
		for _, l := range plan.Limits {
			cmd.PrintErrln(visible.Line(l.Text))
		}
		cmd.Println(visible.Line(commands.RewindPlanText(plan)))
	}
	switch {
	case plan.Conflicts > 0:
		cmd.PrintErrln("Nothing was changed. Resolve the conflicts, or leave these files as they are with --except PATH.")
		return exitCode(exitFailed)
	case !r.asJSON:
		cmd.Println("Nothing was changed. Pass --yes to carry out this plan.")
	}
	return nil
}

// printPrompts lists the prompts to which a session can go back.
func printPrompts(cmd *cobra.Command, env *commands.Env, target string) error {
	tree, err := execute[commands.TreeResult](cmd.Context(), env, "xcsh.tree", commands.TreeArgs{Subject: commands.Subject{Source: target}})
	if err != nil {
		return err
	}
	t := table{screen: stdoutScreen(), head: []string{"ENTRY", "TIME", "PROMPT"}, shrink: []int{2}, drop: []int{1}, dim: []int{1}}
	for _, n := range tree.Nodes {
		if n.Role == "user" {
			t.add(n.ID, n.Timestamp, n.Preview)
		}
	}
	if len(t.rows) == 0 {
		return fault.New(fault.NotFound, "The session has no prompts yet.")
	}
	if err := t.print(cmd.OutOrStdout()); err != nil {
		return err
	}
	return fault.New(fault.InvalidArgument, "Pass one of these prompts with --before, an entry with --to, or --redo. Run '%s --help' for usage.", cmd.CommandPath())
}
