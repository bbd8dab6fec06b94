package pi

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
)

// startChild starts a program.
func (e *Engine) startChild(ctx context.Context, c command) (process, error) {
	started, err := child.Start(ctx, child.Config{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, Name: e.program.Name, Log: e.log})
	if err != nil {
		return nil, err
	}
	return running{started}, nil
}

// running is a child as a process.
type running struct{ *child.Child }

// Exit implements process.
func (r running) Exit() exit {
	x := r.Child.Exit()
	return exit{code: x.Code, signal: x.Signal, err: x.Err}
}
