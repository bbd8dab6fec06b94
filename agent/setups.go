package agent

import (
	"context"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Setup returns the set-up that holds in a folder. It starts nothing. Without [Config.Setups] it is empty.
func (m *Manager) Setup(ctx context.Context, q setup.Query) (*setup.Resolved, error) {
	found := m.setups().Resolve(ctx, q)
	return found, ctx.Err()
}

// TrustSetup records the user's decision about the set-up that was shown as r.
func (m *Manager) TrustSetup(r *setup.Resolved, state setup.TrustState) error {
	return m.setups().Decide(r, state)
}

// reportSetup reports the problems of a set-up in use.
func (m *Manager) reportSetup(problems []setup.Problem) {
	if m.cfg.SetupProblem == nil {
		return
	}
	for _, p := range problems {
		m.cfg.SetupProblem(p)
	}
}

// AskTrust reports whether the user has to be asked about the set-up that was found, which is so once for each
// content.
func (m *Manager) AskTrust(r *setup.Resolved) bool { return m.setups().Ask(r) }

// GrantSetup lets the set-up that was found be used until the process ends.
func (m *Manager) GrantSetup(r *setup.Resolved, state setup.TrustState) { m.setups().Grant(r, state) }

func (m *Manager) setups() *setup.Finder {
	if m.cfg.Setups != nil {
		return m.cfg.Setups
	}
	return &setup.Finder{Fs: afero.NewMemMapFs()}
}

// Found returns the set-up that holds for the session.
func (s *Session) Found(ctx context.Context) *setup.Resolved {
	return s.m.setups().Resolve(ctx, s.setupQuery(s.current()))
}

// setupQuery is what the set-up of a conversation is looked up for.
func (s *Session) setupQuery(log *session.Log) setup.Query { return s.setupQueryOf(dialectOf(log)) }

// setupQueryOf is what the set-up of a session of a program is looked up for.
func (s *Session) setupQueryOf(program session.Dialect) setup.Query {
	return setup.Query{Cwd: s.cwd, Program: program, Restricted: s.m.cfg.Restricted != nil && s.m.cfg.Restricted()}
}

// Dialect returns the program whose rules the session's file follows.
func (s *Session) Dialect() session.Dialect { return dialectOf(s.current()) }
