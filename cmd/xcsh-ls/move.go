package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

func moveCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "move ID|PATH [DIR]",
		Short: "Move a session to another directory",
		Long: "Move a session, its file and its artifacts, to the sessions of directory DIR, by default the\n" +
			"current directory, where it is then listed and continued. Sessions of pi and omp can't be moved;\n" +
			"xcsh-ls import copies them.",
		Example: examples("# Continue a session in the current directory after its own was renamed", "xcsh-ls move 0190"),
		Args:    takes(1, 2, "ID|PATH [DIR]"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			return f.completeSession(cmd, args, begun)
		},
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, args []string) (err error) {
			to := env.Folders()[0]
			if len(args) > 1 {
				to = absolutePath(args[1])
			}
			defer func() { err = cmp.Or(err, env.Sessions.Close(context.WithoutCancel(cmd.Context()))) }()
			a := commands.MoveArgs{Subject: commands.Subject{Source: args[0]}, To: to}
			r, err := execute[commands.MoveResult](cmd.Context(), env, "xcsh.move", a)
			switch f, ok := errors.AsType[*fault.Error](err); {
			case ok && f.Kind == fault.OutsideRoot:
				path, _ := f.Data["path"].(string)
				return fault.New(fault.OutsideRoot, "Sessions of pi and omp can't be moved, because these programs would not find them again. Copy it: %s",
					commandLine("import", path, "--cwd", to))
			case err != nil:
				return err
			case r.Session.File != nil:
				cmd.Println("Moved to:", visible.Line(*r.Session.File))
			}
			return nil
		}),
	}
}

// lostAdvice describes how to bring a session back into a list.
func lostAdvice(l library.Lost) string {
	switch {
	case l.Reason == library.LostHeader:
		return "Copy the readable part to a new file: " + commandLine("doctor", l.Path, "--salvage", "NEW.jsonl")
	case l.Dialect != session.Xcsh:
		return fmt.Sprintf("It belongs to %s. Copy it to the sessions of an existing directory: %s", l.Dialect, commandLine("import", l.Path, "--cwd", "DIR"))
	case l.Reason == library.LostPlace && l.Cwd != "":
		return "Move it to its directory: " + commandLine("move", l.Path, l.Cwd)
	}
	return "Assign it to an existing directory: " + commandLine("move", l.Path, "DIR")
}

// commandLine returns a command line of this program, to be copied into a shell.
func commandLine(args ...string) string {
	for i, arg := range args {
		args[i] = shellWord(arg)
	}
	return "xcsh-ls " + strings.Join(args, " ")
}

func shellWord(s string) string {
	if runtime.GOOS == "windows" {
		if strings.ContainsAny(s, " &'()^;,=") {
			return `"` + s + `"` // a path contains no quotes there
		}
		return s
	}
	if quoted, err := syntax.Quote(s, syntax.LangBash); err == nil {
		return quoted
	}
	return s // with a zero byte, which no argument has
}
