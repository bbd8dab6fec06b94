package tool

import (
	"context"
	"time"
)

// The default time limits.
const (
	DefaultTimeout = defaultTimeout
	StrictTimeout  = strictTimeout
)

// WithCompareEvery makes a guard compare protected files at another interval.
func (b *Background) WithCompareEvery(d time.Duration) *Background {
	b.guard.every = d
	return b
}

// NewBash returns bash with another time until a background command counts as started.
func NewBash(o Options, settle time.Duration) Tool {
	shell := NewShell(o)
	shell.settle = settle
	return newBashOf(shell)
}

// ReadProcess waits for the end of a command.
func (b *Background) ReadProcess(ctx context.Context, id string, wait time.Duration) (ended bool, err error) {
	s, err := b.commands.Read(ctx, id, wait)
	return s.Ending != nil, err
}

// WithGrace returns a shell that kills commands after another time.
func (s Shell) WithGrace(d time.Duration) Shell {
	s.grace = d
	return s
}
