package main

import (
	"errors"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The exit codes of the commands, which scripts rely on. docs/headless.md documents them for users.
const (
	exitFailed     = 1   // any failure without a code of its own
	exitUsage      = 2   // invalid command line; nothing was done
	exitIncomplete = 3   // the model stopped before its answer was complete
	exitSignal     = 128 // plus the number of the signal that stopped the command
)

// exitCode ends the process with that code and no message.
type exitCode int

func (c exitCode) Error() string { return "" }

// failure ends the process with a code and the error's message.
type failure struct {
	error
	code int
}

func (f failure) Unwrap() error { return f.error }

// statusOf returns the exit code and the message with which the process ends.
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

// withCodes gives errors of a command their exit codes. Errors that cobra returns before the command's
// own code runs get none: they are mistakes on the command line.
func withCodes(commands ...*cobra.Command) {
	for _, c := range commands {
		run := c.RunE
		if run == nil {
			continue
		}
		c.RunE = func(cmd *cobra.Command, args []string) error {
			err := checkChoices(cmd)
			if err == nil {
				err = run(cmd, args)
			}
			_, closed := errors.AsType[closedPipe](err)
			switch {
			case err == nil:
				return nil
			case closed:
				return exitCode(exitClosedPipe)
			case fault.Is(err, fault.InvalidArgument):
				return failure{err, exitUsage}
			case fault.Is(err, fault.Ambiguous):
				return failure{withCandidates(err), exitFailed}
			}
			if _, ok := errors.AsType[failure](err); ok {
				return err
			}
			if fault.Is(err, fault.Limit) {
				return failure{err, exitIncomplete}
			}
			if f, ok := errors.AsType[*fault.Error](err); ok && f.Data["class"] == string(provider.Empty) {
				return failure{err, exitIncomplete}
			}
			return failure{err, exitFailed}
		}
	}
}

// stopped is the error of a command that a signal stopped.
type stopped struct{ signal os.Signal }

func (s stopped) Error() string { return "stopped: " + s.signal.String() }

// code is the exit code that shells report for a program that the signal ended.
func (s stopped) code() int {
	if number, ok := s.signal.(syscall.Signal); ok {
		return exitSignal + int(number)
	}
	return exitFailed
}
