package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/picker"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// noTerminal is the error of --resume without a value where the user can't be asked.
func noTerminal() error {
	return fault.New(fault.InvalidArgument,
		"--resume without a value needs a terminal to choose a session on. Pass --resume ID; 'xcsh-ls list' prints the sessions with their IDs.")
}

// pickSession lets the user choose one of the folder's sessions on the terminal. The newest are shown while
// others are still read. The error is of kind notFound if there are none, and cancelled if the user chooses
// none.
func pickSession(ctx context.Context, env *commands.Env) (library.Info, error) {
	screen, ok := picker.Terminal()
	if !ok {
		return library.Info{}, noTerminal()
	}
	cwd := env.Folders()[0]
	reading, stop := context.WithCancel(ctx)
	defer stop()
	l := readRows(reading, env, cwd)
	if !<-l.some {
		if ctx.Err() != nil {
			return library.Info{}, notSelected()
		}
		return library.Info{}, fault.New(fault.NotFound, "No sessions found")
	}
	i, err := picker.Run(ctx, picker.List{
		Title: "Resume a session of " + cwd, Action: "resume", Noun: "sessions", Rows: l.rows, Screen: screen,
	})
	stop()
	<-l.ended
	switch {
	case errors.Is(err, picker.ErrInterrupted):
		return library.Info{}, failure{notSelected(), exitSignal + int(syscall.SIGINT)}
	case errors.Is(err, picker.ErrClosed), ctx.Err() != nil:
		return library.Info{}, notSelected()
	case err != nil:
		return library.Info{}, err
	}
	return l.infos[i], nil
}

func notSelected() error { return fault.New(fault.Cancelled, "No session selected") }

// sessionRows are the sessions of a folder as they are found.
type sessionRows struct {
	rows  chan picker.Row // closed at the end of the list
	some  chan bool       // gets one value: whether there is a session
	ended chan struct{}   // closed after the last change
	infos []library.Info  // of the rows; not to be read before ended
}

// readRows starts to read the sessions of a folder, newest first, until the end of ctx.
func readRows(ctx context.Context, env *commands.Env, cwd string) *sessionRows {
	l := &sessionRows{rows: make(chan picker.Row, 64), some: make(chan bool, 1), ended: make(chan struct{})}
	owners := env.Store.Owners()
	go func() {
		defer close(l.ended)
		defer close(l.rows)
		// An error is that of ctx, or leaves an incomplete list, from which the user can still choose.
		_, _, _ = env.Finder.List(ctx, cwd, library.ListOptions{Each: func(i library.Info) {
			l.infos = append(l.infos, i)
			if len(l.infos) == 1 {
				l.some <- true
			}
			_, open := owners[i.Path]
			select {
			case l.rows <- rowOf(i, open):
			case <-ctx.Done():
			}
		}})
		if len(l.infos) == 0 {
			l.some <- false
		}
	}()
	return l
}

// rowOf describes a session; open reports that a process has it open.
func rowOf(i library.Info, open bool) picker.Row {
	r := picker.Row{Text: i.FirstMessage, Aside: i.TimeAgo + " · " + plural(i.MessageCount, "message", "messages")}
	if strings.TrimSpace(i.Title) != "" {
		r.Text, r.Detail = i.Title, i.FirstMessage
	}
	if open {
		r.Aside = "in use · " + r.Aside
	}
	r.Search = i.ID + " " + i.ModTime.Local().Format("2006-01-02 15:04 Monday January")
	return r
}

// resumeInShell handles --resume without a value if standard input is a terminal, so that no editor is
// connected: it prints the path of the chosen session, for another command, and how to continue it.
func resumeInShell(cmd *cobra.Command, f flags) error {
	if _, ok := picker.Terminal(); !ok {
		return noTerminal()
	}
	env, err := headless(&f, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	chosen, err := pickSession(ctx, env)
	if s, ok := errors.AsType[stopped](context.Cause(ctx)); ok && err != nil {
		return failure{err, s.code()}
	}
	if err != nil {
		return err
	}
	cmd.Println(visible.Line(chosen.Path))
	cmd.PrintErrf("No editor is connected. To continue the session here, run 'xcsh-ls run --resume %s PROMPT'.\n", visible.Line(chosen.ID))
	return nil
}

// maxCompleted is the number of sessions that a shell offers, the newest.
const maxCompleted = 50

// completeSessions completes the value of a flag that names a session: with the IDs and names of the
// newest sessions, of which only the beginnings are read, or with files.
func (f *flags) completeSessions(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if strings.ContainsAny(begun, `./\~`) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	const inOrder = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	env, err := headless(f, io.Discard)
	if err != nil {
		return nil, inOrder
	}
	recent, err := env.Finder.Recent(cmd.Context(), env.Folders()[0], maxCompleted)
	if err != nil {
		return nil, inOrder
	}
	var found []string
	for _, r := range recent {
		if strings.HasPrefix(r.ID, begun) {
			found = append(found, visible.Line(r.ID)+"\t"+visible.Line(r.Name+", "+r.TimeAgo))
		}
	}
	return found, inOrder
}

// completeSession is completeSessions for a command whose only argument is a session.
func (f *flags) completeSession(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return f.completeSessions(cmd, nil, begun)
}
