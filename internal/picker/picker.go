package picker

import (
	"context"
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/mattn/go-isatty"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Errors of [Run] if the user chooses nothing.
var (
	ErrClosed      = errors.New("picker: closed")      // with Esc
	ErrInterrupted = errors.New("picker: interrupted") // with Ctrl-C
)

// Row is one choice.
type Row struct {
	Text   string // its name
	Detail string // shown behind the name where there is room
	Aside  string // a short text at the right edge
	Search string // more text that a query can match, not shown
}

// List is what the user chooses from.
type List struct {
	Title  string
	Action string     // what Enter does with a row: "resume"
	Noun   string     // several rows: "sessions"
	Rows   <-chan Row // in their order; the sender closes it
	Screen Screen
}

// Screen is a terminal.
type Screen struct{ In, Out *os.File }

// Terminal returns the terminal of the process: standard input with standard error or, if that is
// redirected, standard output. The result of a command can then go to a file or a pipe. ok is false if
// there is none or it can't move its cursor.
func Terminal() (s Screen, ok bool) {
	if !isatty.IsTerminal(os.Stdin.Fd()) || os.Getenv("TERM") == "dumb" {
		return Screen{}, false
	}
	for _, out := range []*os.File{os.Stderr, os.Stdout} {
		if isatty.IsTerminal(out.Fd()) {
			return Screen{os.Stdin, out}, true
		}
	}
	return Screen{}, false
}

// Run shows a list and returns the index of the chosen row, in the order in which the rows were sent. The
// other results are [ErrClosed], [ErrInterrupted], the cause of ctx's end, and an IO error. The terminal is
// always restored. Rows that arrive after the end of Run stay in the channel.
func Run(ctx context.Context, l List) (int, error) {
	program := tea.NewProgram(newModel(l), tea.WithInput(l.Screen.In), tea.WithOutput(l.Screen.Out), tea.WithoutSignalHandler())
	// Not tea.WithContext: a program that is killed closes its input while it is still read.
	quit := context.AfterFunc(ctx, program.Quit)
	defer quit()
	final, err := program.Run()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err != nil {
		return 0, fault.New(fault.IO, "Cannot use the terminal: %w.", err)
	}
	m, _ := final.(model)
	return m.result()
}
