package lsp

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/commands"
)

// Reviewer returns the file changes of the live session of a folder. It is safe for concurrent use.
type Reviewer interface {
	// Changes returns the changes of the session; ok is false if the folder has no live session.
	Changes(ctx context.Context, cwd string, q wire.ChangesQuery) (r wire.Changes, ok bool, err error)

	// Report publishes an event of the session, if there is one.
	Report(cwd string, e event.Event)
}

// sessionReviewer calls the same commands as a client.
type sessionReviewer struct{ s *server }

// Changes implements [Reviewer]. It opens no session: a folder without one has no changes to review.
func (r sessionReviewer) Changes(ctx context.Context, cwd string, q wire.ChangesQuery) (wire.Changes, bool, error) {
	env := r.s.readOnlyEnv()
	if env == nil || env.Sessions == nil || env.Sessions.Live(cwd) == nil {
		return wire.Changes{}, false, nil
	}
	args := commands.ChangesArgs{Subject: commands.Subject{Folder: commands.Folder{Cwd: cwd}}, ChangesQuery: q}
	all, err := commands.Call[wire.Changes](ctx, r.s.opts.Commands, env, "xcsh.changes", args)
	return all, err == nil, err
}

// Report implements [Reviewer].
func (r sessionReviewer) Report(cwd string, e event.Event) {
	if env := r.s.readOnlyEnv(); env != nil && env.Sessions != nil {
		if live := env.Sessions.Live(cwd); live != nil {
			live.Report(e)
		}
	}
}
