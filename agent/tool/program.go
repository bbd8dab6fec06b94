package tool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Program is an executable of the user's that a model calls.
type Program struct {
	Path      string   // absolute
	Env       []string // variables beyond those that tools need
	Input     []byte   // its standard input
	Timeout   time.Duration
	MaxOutput int // bytes; one that writes more is ended
}

// ProgramEnd is the end of a program.
type ProgramEnd struct {
	ExitCode  int
	Errors    string // the end of its standard error, as a user would read it
	Cancelled bool
	TimedOut  bool
	TooMuch   bool     // it exceeded MaxOutput
	Notes     []string // for the model: what the sandbox blocked, and changes to protected files that were undone
}

// maxErrors is how much of a program's standard error is kept, in bytes.
const maxErrors = 4 << 10

// RunProgram runs a program in the folder of a call, in the sandbox at the level of the call's permission,
// and in a process group of its own, as bash does. take gets its standard output, in pieces, on another
// goroutine but never after RunProgram returned. A program that fails is no error; an error means that
// it was not run.
func (s Shell) RunProgram(ctx context.Context, env Env, p Program, take func([]byte)) (end ProgramEnd, err error) {
	unsaved, err := SaveEdits(ctx, env.Files, env.Cwd, true)
	if err != nil {
		return end, err
	}
	changed, err := guarded(ctx, env.Cwd, env.Permission.Level, env.Permission, env.Background, func() (err error) {
		end, err = s.runProgram(ctx, env.Cwd, env.Permission.Level, p, take)
		return err
	})
	end.Notes = append(end.Notes, changed.notes()...)
	if note := unsavedNote(env.Cwd, unsaved); note != "" {
		end.Notes = append(end.Notes, note)
	}
	return end, err
}

func (s Shell) runProgram(ctx context.Context, cwd string, level sandbox.Level, p Program, take func([]byte)) (end ProgramEnd, err error) {
	if err := checkCwd(cwd); err != nil {
		return end, err
	}
	argv, env, policy, err := s.confined(cwd, level, []string{p.Path})
	if err != nil {
		return end, err
	}
	input, feed, err := os.Pipe()
	if err != nil {
		return end, fault.New(fault.IO, "Cannot run a program: %w", err)
	}
	complaints, errs, err := os.Pipe()
	if err != nil {
		return end, errors.Join(fault.New(fault.IO, "Cannot run a program: %w", err), input.Close(), feed.Close())
	}
	run, err := s.start(ctx, argv, append(env, p.Env...), cwd, streams{in: input, errors: errs})
	_, _ = input.Close(), errs.Close() // the child has its own
	if err != nil {
		_, _ = feed.Close(), complaints.Close()
		return end, err
	}
	defer run.group.Close()
	var pipes sync.WaitGroup
	pipes.Go(func() {
		_, _ = io.Copy(feed, bytes.NewReader(p.Input)) // a program need not read it
		_ = feed.Close()
	})
	var last lastPart
	read := make(chan struct{})
	pipes.Go(func() {
		defer close(read)
		_, _ = io.Copy(&last, complaints)
	})

	limited, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	size := 0
	run.read(func(b []byte) {
		if size += len(b); size > p.MaxOutput {
			stop(errTooMuch)
			return
		}
		take(b)
	})
	e := run.wait(limited, p.Timeout, s.grace)
	late := time.NewTimer(lingerFor)
	defer late.Stop()
	select {
	case <-read:
	case <-late.C: // something in the background holds it
	}
	_, _ = feed.Close(), complaints.Close()
	pipes.Wait()
	end = ProgramEnd{ExitCode: e.code, Errors: printable(string(last.kept)), TimedOut: e.timedOut}
	end.TooMuch = errors.Is(context.Cause(limited), errTooMuch)
	end.Cancelled = e.cancelled && !end.TooMuch
	if blocked := sandbox.Blocked(policy, cwd, end.Errors); level != sandbox.Outside && e.code != 0 && len(blocked) > 0 {
		end.Notes = append(end.Notes, Output{Blocked: blocked}.blockedNote())
	}
	return end, nil
}

var errTooMuch = errors.New("the output is too large")

// lastPart keeps the end of its input.
type lastPart struct{ kept []byte }

func (l *lastPart) Write(b []byte) (int, error) {
	l.kept = append(l.kept, b...)
	if extra := len(l.kept) - maxErrors; extra > 0 {
		l.kept = append(l.kept[:0], l.kept[extra:]...)
	}
	return len(b), nil
}

// Printable returns output as a user would read it: without terminal commands, control characters and
// bytes that are not valid UTF-8.
func Printable(s string) string { return printable(s) }

// Head returns the beginning of a text within the limits of a result, and a note about the rest; "" if
// nothing was cut.
func Head(s string) (shown, note string) {
	shown, cut := head(s)
	switch {
	case cut.FirstLineExceedsLimit:
		shown = firstBytes(s, MaxBytes)
	case !cut.Truncated:
		return s, ""
	}
	return shown, "[Showing the first " + sizeText(int64(len(shown))) + " of " + sizeText(int64(len(s))) + ".]"
}
