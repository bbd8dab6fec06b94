package commands

import (
	"cmp"
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// changer changes titles and descriptions of sessions, live or not.
type changer struct {
	store    *session.Store
	sessions *agent.Manager
}

func newChanger(env *Env) changer { return changer{store: env.Store, sessions: env.Sessions} }

// rename sets the session's title.
func (c changer) rename(ctx context.Context, of located, title string) error {
	if of.live != nil {
		return of.live.Rename(ctx, title)
	}
	return c.inFile(ctx, of, func(log *session.Log) error {
		_, err := log.SetTitle(session.Title{Text: title, Source: "user"})
		return err
	})
}

// describe sets the session's description and returns it as it was stored.
func (c changer) describe(ctx context.Context, of located, text string) (stored string, err error) {
	if of.live != nil {
		return of.live.Describe(ctx, text)
	}
	err = c.inFile(ctx, of, func(log *session.Log) (err error) {
		stored, err = log.SetDescription(text)
		return err
	})
	return stored, err
}

// inFile calls f to change a session that is not live.
func (c changer) inFile(ctx context.Context, of located, f func(*session.Log) error) error {
	end, err := c.sessions.BeginShared(ctx, of.path)
	if err != nil {
		return err
	}
	defer end()
	log, err := c.store.Open(of.path)
	if err != nil {
		return err
	}
	if err = f(log); err == nil {
		c.sessions.ListChanged(of.cwd)
	}
	return cmp.Or(err, log.Close())
}
