package agent

import "context"

// Manager keeps one live [Session] per working directory.
type Manager struct{}

// Session returns the live session of cwd, opening one on first use.
func (m *Manager) Session(ctx context.Context, cwd string) (*Session, error) { return nil, nil }

// Subscribe calls f for every event of every session, in order per session, until
// cancel is called. f must not block.
func (m *Manager) Subscribe(f func(Event)) (cancel func()) { return func() {} }

// CloseFolder ends the live session of cwd, if there is one.
func (m *Manager) CloseFolder(ctx context.Context, cwd string) error { return nil }

// Close ends every session: pending writes are on disk when it returns.
func (m *Manager) Close(ctx context.Context) error { return nil }
