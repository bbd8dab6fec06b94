package main

import (
	"errors"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// The exit codes of the commands, which scripts rely on; docs/headless.md says them to people.
const (
	exitFailed     = 1   // whatever has no code of its own
	exitUsage      = 2   // the command line is wrong, and nothing was done
	exitIncomplete = 3   // the model stopped before its answer was complete
	exitSignal     = 128 // and the number of the signal that stopped the command
)

// exitCode ends the process with that code and without a message.
type exitCode int

func (c exitCode) Error() string { return "" }

// failure ends the process with a code and the message of its error.
type failure struct {
	error
	code int
}

func (f failure) Unwrap() error { return f.error }

// statusOf is the code and the message that the process ends with.
func statusOf(err error) (code int, message string) {
	if err == nil {
		return 0, ""
	}
	code, message = exitUsage, err.Error()
	if silent, ok := errors.AsType[exitCode](err); ok {
		code = int(silent)
	} else if f, ok := errors.AsType[failure](err); ok {
		code = f.code
	}
	return code, message
}

// withCodes gives what goes wrong in a command its exit code. What cobra refuses before the
// command's own code runs has none: that is a mistake on the command line.
func withCodes(commands ...*cobra.Command) {
	for _, c := range commands {
		run := c.RunE
		if run == nil {
			continue
		}
		c.RunE = func(cmd *cobra.Command, args []string) error {
			err := run(cmd, args)
			switch {
			case err == nil:
				return nil
			case fault.Is(err, fault.InvalidArgument):
				return failure{err, exitUsage}
			}
			if _, ok := errors.AsType[failure](err); ok {
				return err
			}
			return failure{err, exitFailed}
		}
	}
}

// stopped is why a command ended that a signal stopped.
type stopped struct{ signal os.Signal }

func (s stopped) Error() string { return "stopped: " + s.signal.String() }

// code is what shells show of a program that the signal ended.
func (s stopped) code() int {
	if number, ok := s.signal.(syscall.Signal); ok {
		return exitSignal + int(number)
	}
	return exitFailed
}
