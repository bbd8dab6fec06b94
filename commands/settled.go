package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
)

// settled waits until all that is known of the session of a folder is certain, and it may be changed. It fails if that session
// cannot be read, so that a command for it never runs in the folder's previous session.
func (env *Env) settled(ctx context.Context, live *agent.Session) error {
	if err := env.readWhole(ctx, live); err != nil {
		return err
	}
	return live.Settled(ctx)
}

// readWhole waits until a session that was shown early is read whole.
func (env *Env) readWhole(ctx context.Context, live *agent.Session) error {
	if live.Reading() != nil {
		p := env.UI.Progress(ctx, "Reading the session")
		defer p.End("")
	}
	return live.Read(ctx)
}

// settle waits as settled does, for the folder that a call of a command is about; for all workspace folders if the user would
// have to choose it. A folder without a live session has nothing to wait for.
func (c *Command) settle(ctx context.Context, env *Env, args any) error {
	in, ok := args.(inFolder)
	if !ok || c.Early || env.Sessions == nil {
		return nil
	}
	for _, cwd := range env.foldersOf(*in.folder()) {
		if live := env.Sessions.Live(cwd); live != nil {
			if err := env.settled(ctx, live); err != nil {
				return err
			}
		}
	}
	return nil
}

// foldersOf returns the folder that f names, or else the workspace folders.
func (env *Env) foldersOf(f Folder) []string {
	if f.Cwd != "" {
		cwd, err := directory(f.Cwd, "cwd")
		if err != nil {
			return nil // the command reports it
		}
		return []string{cwd}
	}
	if env.Folders == nil {
		return nil
	}
	return env.Folders()
}
