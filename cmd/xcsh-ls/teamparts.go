package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// teamParts are what the store of a team adds to a program. All are nil if none is set up.
type teamParts struct {
	shared agent.Shared
	team   commands.Team
	report func(*agent.Manager) // passes the events of the store to a manager from then on
}

// ownTeam is the store of a team that this program has opened.
type ownTeam interface {
	commands.Team
	// start begins to send in the background. It returns at once.
	start()
	// finish sends what is left, for as long as the user's settings say, and closes the connection. unsent is a sentence about the
	// sessions that wait, "" if there are none. Repeated calls do nothing.
	finish(ctx context.Context) (unsent string, err error)
}

// startTeam begins to send sessions in the background, if a store is set up.
func startTeam(t commands.Team) {
	if own, ok := t.(ownTeam); ok {
		own.start()
	}
}

// finishTeam sends what is left before the program ends, and says on errs what is not sent. The files have it, so that this is no
// failure.
func finishTeam(ctx context.Context, t commands.Team, errs io.Writer) {
	own, ok := t.(ownTeam)
	if !ok {
		return
	}
	unsent, err := own.finish(ctx)
	if err != nil {
		fmt.Fprintln(errs, visible.Line(err.Error()))
	}
	if unsent != "" {
		fmt.Fprintln(errs, visible.Line(unsent))
	}
}

// lastTeam is the store of the backend that a server uses at the moment.
type lastTeam struct {
	log *zap.Logger

	mu   sync.Mutex
	team commands.Team // guarded by mu
}

// opening returns open, after which the store of the backend before is closed: no command has used it.
func (l *lastTeam) opening(open func(context.Context, lsp.Settings, lsp.Client) (lsp.Backend, error)) func(context.Context, lsp.Settings, lsp.Client) (lsp.Backend, error) {
	return func(ctx context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
		b, err := open(ctx, s, c)
		if err != nil {
			return b, err
		}
		l.mu.Lock()
		before := l.team
		l.team = b.Team
		l.mu.Unlock()
		if before != nil {
			go l.end(before)
		}
		return b, nil
	}
}

// close sends what is left and closes the store.
func (l *lastTeam) close() {
	l.mu.Lock()
	last := l.team
	l.mu.Unlock()
	l.end(last)
}

func (l *lastTeam) end(t commands.Team) {
	finishTeam(context.Background(), t, zap.NewStdLog(l.log).Writer())
}
