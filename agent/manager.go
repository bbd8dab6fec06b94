package agent

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Config is what a [Manager] and its sessions work with. Store and Finder are required.
type Config struct {
	Store      *session.Store
	Finder     session.Finder
	Hooks      []hook.Hook
	TerminalID string // names the breadcrumb; "" for none
	InMemory   bool   // sessions never get a file
	Watch      bool   // notice what other programs do to session files; needs the real file system
	Log        *zap.Logger
}

// Manager keeps one live [Session] per working directory. It is safe for concurrent use.
type Manager struct {
	cfg   Config
	log   *zap.Logger
	hooks hook.Runner

	watcher *watcher // nil when files are not watched

	mu       sync.Mutex
	sessions map[string]*Session // guarded by mu; by cleaned cwd
	seqs     map[string]uint64   // guarded by mu; the last event's number, by session id
	closed   bool                // guarded by mu

	subMu       sync.Mutex
	subscribers map[int]func(Event) // guarded by subMu
	nextSub     int                 // guarded by subMu
}

// NewManager returns a manager without sessions.
func NewManager(cfg Config) *Manager {
	m := &Manager{cfg: cfg, log: cfg.Log, sessions: map[string]*Session{}, seqs: map[string]uint64{}, subscribers: map[int]func(Event){}}
	if m.log == nil {
		m.log = zap.NewNop()
	}
	m.hooks = hook.Runner{Hooks: cfg.Hooks, Report: func(err error) { m.log.Warn("hook failed", zap.Error(err)) }}
	if cfg.Watch {
		m.startWatching()
	}
	return m
}

// Session returns the live session of cwd. On first use that is a new one, which has
// no file before a model answered.
func (m *Manager) Session(ctx context.Context, cwd string) (*Session, error) {
	s, opened, err := m.session(ctx, filepath.Clean(cwd))
	if opened && m.watcher != nil {
		m.watcher.watch(s.cwd) // may wait for the watcher, which may wait for mu
	}
	return s, err
}

func (m *Manager) session(ctx context.Context, cwd string) (s *Session, opened bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, false, fault.New(fault.Cancelled, "The server is shutting down.")
	}
	if s := m.sessions[cwd]; s != nil {
		return s, false, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	log, err := m.create(cwd, session.NewOptions{})
	if err != nil {
		return nil, false, err
	}
	s = &Session{cwd: cwd, m: m, ops: make(chan struct{}, 1), log: log}
	m.sessions[cwd] = s
	return s, true, nil
}

// Live returns the live session of cwd, or nil when none was opened yet.
func (m *Manager) Live(cwd string) *Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[filepath.Clean(cwd)]
}

// LiveIn returns the working directory whose live session has its file at path.
func (m *Manager) LiveIn(path string) (cwd string, ok bool) {
	if path == "" {
		return "", false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for cwd, s := range m.sessions {
		if s.current().Path() == path {
			return cwd, true
		}
	}
	return "", false
}

// create makes the log of a new session.
func (m *Manager) create(cwd string, o session.NewOptions) (*session.Log, error) {
	if m.cfg.InMemory {
		return m.cfg.Store.Memory(cwd, o), nil
	}
	return m.cfg.Store.Create(cwd, o)
}

// Subscribe calls f for every event of every session, in order per session, until
// cancel is called. f must not block and must not call back.
func (m *Manager) Subscribe(f func(Event)) (cancel func()) {
	m.subMu.Lock()
	defer m.subMu.Unlock()
	id := m.nextSub
	m.nextSub++
	m.subscribers[id] = f
	return func() {
		m.subMu.Lock()
		defer m.subMu.Unlock()
		delete(m.subscribers, id)
	}
}

// nextSeq numbers the next event of a session. The count goes on when the session is
// left and resumed.
func (m *Manager) nextSeq(sessionID string) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seqs[sessionID]++
	return m.seqs[sessionID]
}

func (m *Manager) publish(e Event) {
	m.subMu.Lock()
	defer m.subMu.Unlock()
	for id := range m.nextSub {
		if f := m.subscribers[id]; f != nil {
			f(e)
		}
	}
}

// CloseFolder ends the live session of cwd, if there is one. Its pending writes are on
// disk when it returns; the error is the first that kept one from it.
func (m *Manager) CloseFolder(ctx context.Context, cwd string) error {
	cwd = filepath.Clean(cwd)
	m.mu.Lock()
	s := m.sessions[cwd]
	delete(m.sessions, cwd)
	m.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.shutdown(ctx)
}

// Close ends every session. No session can be opened afterwards.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	sessions := m.sessions
	m.sessions, m.closed = map[string]*Session{}, true
	m.mu.Unlock()
	var err error
	for _, s := range sessions {
		err = errors.Join(err, s.shutdown(ctx))
	}
	if m.watcher != nil {
		m.watcher.stop()
	}
	return err
}
