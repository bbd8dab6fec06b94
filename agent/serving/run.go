package serving

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/environ"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

const (
	maxOutput = 16 << 10 // bytes of a value
	pipeWait  = time.Second
)

var errTooLong = errors.New("its output is too long")

// Shell returns a runner of commands in a directory that is no project. A command of the user's own file gets all variables of env,
// and one of a folder only those that programs may see. Its standard error is dropped: it may contain secrets.
func Shell(env []string, dir string) Runner {
	return func(ctx context.Context, command string, own bool) (string, error) {
		cmd := tool.ValueCommand(ctx, command)
		if cmd == nil {
			return "", errors.New("there is no shell")
		}
		cmd.Dir, cmd.WaitDelay = dir, pipeWait
		if cmd.Env = environ.Keep(env); own {
			cmd.Env = env
		}
		var out limited
		cmd.Stdout = &out
		if err := procgroup.Run(cmd); err != nil {
			return "", errors.New("the command failed") // the reason could quote it
		}
		return out.buffer.String(), nil
	}
}

// limited is a buffer that takes no more than a value may have. It doesn't embed the buffer, whose ReadFrom has no limit.
type limited struct{ buffer bytes.Buffer }

func (l *limited) Write(b []byte) (int, error) {
	if l.buffer.Len()+len(b) > maxOutput {
		return 0, errTooLong
	}
	return l.buffer.Write(b)
}
