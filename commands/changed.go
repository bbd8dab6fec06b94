package commands

import (
	"cmp"
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// changed is the session that a change is about.
type changed struct {
	live *agent.Session // nil when it is live nowhere
	cwd  string         // the folder of the call
	path string         // "" for the folder's live session
}

// toChange finds the session that s names: as it is live, in whatever folder that is, or its
// file.
func (env *Env) toChange(ctx context.Context, s Subject) (changed, error) {
	live, err := env.live(ctx, s.Folder)
	if err != nil {
		return changed{}, err
	}
	c := changed{live: live, cwd: live.Cwd()}
	if s.Source == "" {
		return c, nil
	}
	if c.path, err = env.find(ctx, c.cwd, s.Source); err != nil {
		return changed{}, err
	}
	return env.changeAt(c.cwd, c.path), nil
}

// changeAt is the session whose file is at path.
func (env *Env) changeAt(cwd, path string) changed {
	c := changed{cwd: cwd, path: path}
	if at, isLive := env.Sessions.LiveIn(path); isLive {
		c.live = env.Sessions.Live(at)
	}
	return c
}

// rename gives the session a title.
func (env *Env) rename(ctx context.Context, c changed, title string) error {
	if c.live != nil {
		return c.live.Rename(ctx, title)
	}
	return env.inFile(c, func(log *session.Log) error {
		_, err := log.SetTitle(session.Title{Text: title, Source: "user"})
		return err
	})
}

// describe gives the session a description and returns it as it was stored.
func (env *Env) describe(ctx context.Context, c changed, text string) (stored string, err error) {
	if c.live != nil {
		return c.live.Describe(ctx, text)
	}
	return stored, env.inFile(c, func(log *session.Log) error {
		stored, err = log.SetDescription(text)
		return err
	})
}

// inFile changes a session that is not live.
func (env *Env) inFile(c changed, f func(*session.Log) error) error {
	log, err := env.Store.Open(c.path)
	if err != nil {
		return err
	}
	if err = f(log); err == nil {
		env.Sessions.ListChanged(c.cwd)
	}
	return cmp.Or(err, log.Close())
}
