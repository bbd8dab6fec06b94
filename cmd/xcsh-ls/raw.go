package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// registerRaw registers the flag of commands that print the text of a model or a session.
func registerRaw(c *cobra.Command, raw *bool) {
	c.Flags().BoolVar(raw, "raw", false, "print control characters unescaped; standard output must not be a terminal")
}

// textOutput returns the writer for text. With the flag --raw it passes text unchanged, but never to a
// terminal, which would interpret control sequences.
func textOutput(cmd *cobra.Command, raw bool) (io.Writer, error) {
	if !raw {
		return cmd.OutOrStdout(), nil
	}
	if stdoutIsTerminal() {
		return nil, fault.New(fault.InvalidArgument, "--raw prints control characters, which a terminal would interpret. Redirect standard output to a file or a pipe.")
	}
	return stdout, nil
}
