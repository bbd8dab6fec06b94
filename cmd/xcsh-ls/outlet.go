package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// exitClosedPipe is the exit code that shells report for a program that SIGPIPE ended.
const exitClosedPipe = exitSignal + 13

// outlet is standard output. The error of a write to a closed pipe, as of head, ends a command quietly.
type outlet struct{ to io.Writer }

// closedPipe is the error of a write whose reader is gone.
type closedPipe struct{ error }

func (c closedPipe) Unwrap() error { return c.error }

// Write writes b.
func (o outlet) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if err != nil && isClosedPipe(err) {
		err = closedPipe{err}
	}
	return n, err
}

// stdout is standard output without escapes. Only text that can't control a terminal may be written to it.
var stdout io.Writer = outlet{os.Stdout}

// contentOutput returns the writer for the content of a file, which is not changed. Only a terminal, which would interpret control
// sequences, gets them escaped; flush writes the end of the text.
func contentOutput(cmd *cobra.Command) (w io.Writer, flush func() error) {
	if !stdoutIsTerminal() {
		return stdout, func() error { return nil }
	}
	safe := visible.NewWriter(cmd.OutOrStdout())
	return safe, safe.Flush
}
