package pi

import "context"

// process is the child, as far as the engine needs it. Its methods are safe for concurrent use.
type process interface {
	// Lines are the lines that the child sends, without their ends. It is closed when no more will come.
	Lines() <-chan []byte

	// Write writes a line. A child that does not read is ended.
	Write(ctx context.Context, line []byte) error

	// Exit returns how the child ended. It waits for that.
	Exit() exit

	// Stderr returns the last lines of the error output, safe to show.
	Stderr() string

	// Close ends the child and everything that it started. Lines that were not received are discarded.
	Close(ctx context.Context) error
}

// exit is how a child ended.
type exit struct {
	code   int    // -1 if a signal ended it
	signal string // its name
	err    error  // the limit that it broke
}

// command describes the child.
type command struct {
	Path string
	Args []string
	Env  []string // all of it
	Dir  string
}

// starter starts a child.
type starter func(ctx context.Context, c command) (process, error)
