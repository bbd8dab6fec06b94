package find

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/environ"
	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

const (
	// maxOutput bounds the output of a program, in bytes. One that writes more is killed.
	maxOutput = 256 << 10

	// afterwards is how long the output may be held open by processes that a program left.
	afterwards = 300 * time.Millisecond
)

// errTooMuch reports a program that writes without end.
var errTooMuch = errors.New("it printed too much")

// run implements [Machine.Run].
func run(ctx context.Context, c Command) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	out := &limited{full: cancel}
	cmd.Dir, cmd.Stdout, cmd.WaitDelay = c.Dir, out, afterwards
	cmd.Env = append(environ.Keep(os.Environ()), c.Env...)
	err := procgroup.Run(cmd)
	switch {
	case out.over:
		return "", errTooMuch
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay): // it has ended; a process that it left has not
		err = nil
	}
	return out.kept.String(), err
}

// limited keeps an output that is not too long. It is written to by one goroutine. The buffer is not embedded, because
// its ReadFrom would be used in place of Write.
type limited struct {
	kept bytes.Buffer
	full func() // called when the output is too long
	over bool
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	if l.over = l.over || l.kept.Len()+len(p) > maxOutput; l.over {
		l.full()
		return len(p), nil
	}
	return l.kept.Write(p)
}
