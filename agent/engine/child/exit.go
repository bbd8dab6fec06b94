package child

import (
	"errors"
	"fmt"
	"os"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The reasons for which a child is ended, other than a request.
var (
	ErrTooLong    = errors.New("child: line is too long")
	ErrNotReading = errors.New("child: input is not read")
)

// ErrEnded is returned for a child that has ended, or is being closed.
var ErrEnded = errors.New("child: it has ended")

// Exit is how a child ended.
type Exit struct {
	// Code is the exit code, -1 if a signal ended the child.
	Code int

	// Signal is the name of the signal that ended the child, such as "killed"; "" if it exited.
	Signal string

	// Err is set if the child was ended because it broke a limit. It is a Provider error with the class "engine"
	// that wraps ErrTooLong or ErrNotReading; its message is for the user.
	Err error

	// Left are the ids of processes of the child that could not be ended.
	Left []int
}

// String returns the end of a sentence that begins with the name of the program, such as "exited with code 1".
func (e Exit) String() string {
	if e.Signal != "" {
		return "was ended by a signal: " + e.Signal
	}
	return fmt.Sprintf("exited with code %d", e.Code)
}

// broken returns the error of a child that broke a limit.
func (c *Child) broken(cause error, words string) error {
	return &fault.Error{
		Kind: fault.Provider, Message: fault.OneLine(c.config.Name + " " + words), Err: cause,
		Data: map[string]any{"class": "engine"},
	}
}

// exitOf returns how a process ended.
func exitOf(state *os.ProcessState) Exit {
	if state == nil {
		return Exit{Code: -1}
	}
	return Exit{Code: state.ExitCode(), Signal: signalOf(state)}
}
