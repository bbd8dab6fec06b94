package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// inFolder is implemented by the arguments of every command.
type inFolder interface{ folder() *Folder }

// namesSession is implemented by arguments that accept any session.
type namesSession interface{ source() string }

// checkedArgs is implemented by arguments that can be invalid in themselves. An invalid call
// has no side effects.
type checkedArgs interface{ check() error }

// check checks the arguments and enforces the Needs flags. A session that the call names has a file, and package
// agent refuses to change it while a turn runs in it; all others are checked here, before
// the user is asked for anything.
func (c *Command) check(ctx context.Context, env *Env, args any) error {
	if a, ok := args.(checkedArgs); ok {
		if err := a.check(); err != nil {
			return err
		}
	}
	if c.Flags.Has(NeedsTrust) && env.restricted() {
		return fault.New(fault.Denied, "%s is disabled because the workspace is not trusted.", c.Name)
	}
	if err := c.settle(ctx, env, args); err != nil {
		return err
	}
	if c.Flags&(NeedsIdle|NeedsPersistent) == 0 {
		return nil
	}
	s, ok := args.(namesSession)
	named := ok && s.source() != ""
	if named && !c.refusal.always {
		return nil
	}
	return c.checkLive(ctx, env, args, named)
}

// checkLive checks the live session of the folder that args are about. If the user has to
// choose the folder, the choice is stored in args, so that they are asked once.
func (c *Command) checkLive(ctx context.Context, env *Env, args any, named bool) error {
	in, ok := args.(inFolder)
	if !ok {
		return nil
	}
	f := in.folder()
	cwd, err := env.cwd(ctx, *f)
	if err != nil {
		return err
	}
	f.Cwd = cwd
	live, err := env.Sessions.Session(ctx, cwd)
	if err != nil {
		return err
	}
	if c.Flags.Has(NeedsPersistent) && !live.Persistent() {
		message := c.refusal.inMemory
		if named {
			message = c.refusal.inMemoryNamed
		}
		return fault.New(fault.NotPersistent, "%s", message)
	}
	if c.Flags.Has(NeedsIdle) {
		return live.CheckIdle(c.refusal.doing)
	}
	return nil
}
