package child

import (
	"time"

	"go.uber.org/zap"
)

// The defaults of a [Config].
const (
	maxLine    = 64 << 20
	writeLimit = 10 * time.Second
	inputGrace = 2 * time.Second
	termGrace  = 1 * time.Second
)

// Config describes a program to be started.
type Config struct {
	Path string   // absolute
	Args []string // without the program's name
	Env  []string // the whole environment, "NAME=value"
	Dir  string   // the working directory, which must exist

	Name string // of the program, for messages; Path if empty
	Log  *zap.Logger

	// MaxLine is the length of the longest line that is read, in bytes without the line feed. A child that sends more is
	// ended with [ErrTooLong]. 0 is 64 MiB.
	MaxLine int

	// WriteLimit is how long the child may not read while something is written to it. It is ended then with
	// [ErrNotReading]. 0 is 10 s.
	WriteLimit time.Duration

	// InputGrace is the time between the end of the input and SIGTERM when a child is closed, and TermGrace that between
	// SIGTERM and SIGKILL. 0 is 2 s and 1 s. There is no SIGTERM on Windows.
	InputGrace, TermGrace time.Duration
}

// withDefaults returns the configuration with the defaults filled in.
func (c Config) withDefaults() Config {
	if c.Name == "" {
		c.Name = c.Path
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.MaxLine <= 0 {
		c.MaxLine = maxLine
	}
	for limit, value := range map[*time.Duration]time.Duration{
		&c.WriteLimit: writeLimit, &c.InputGrace: inputGrace, &c.TermGrace: termGrace,
	} {
		if *limit <= 0 {
			*limit = value
		}
	}
	return c
}
