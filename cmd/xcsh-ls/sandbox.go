package main

import (
	"github.com/spf13/cobra"
)

// sandboxCommand reduces what this process may do and becomes another program. Landlock
// holds for a whole process and for ever, so that the server itself cannot use it.
func sandboxCommand() *cobra.Command {
	var write []string
	c := &cobra.Command{
		Use: "sandbox-exec [--write DIR]... -- PROGRAM [ARG]...", Hidden: true,
		Short: "Run a program that can write only below the given directories",
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return sandboxExec(write, args) },
	}
	c.Flags().StringArrayVar(&write, "write", nil, "a directory the program may write to")
	return c
}
