package main

import (
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

// leashCommand runs a background command of a model. It ends with the server, which holds the other end of its
// standard input, even if the server is killed.
func leashCommand() *cobra.Command {
	return &cobra.Command{
		Use: "leash -- PROGRAM [ARG]...", Hidden: true, DisableFlagsInUseLine: true,
		Short: "Run a program until standard input ends",
		Args:  takes(1, math.MaxInt, "PROGRAM"),
		RunE: func(_ *cobra.Command, args []string) error {
			code, err := procgroup.Leash(args, os.Stdin)
			if err != nil {
				return fault.New(fault.IO, "Cannot run %s: %w", args[0], err)
			}
			return exitCode(code)
		},
	}
}

// newLeash returns the command line that runs background commands on a leash. It is nil on systems without process
// groups.
func newLeash(system string) []string {
	program, err := self()
	if err != nil || system == "windows" {
		return nil
	}
	return []string{program, "leash", "--"}
}
