package agent

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/task"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Manager keeps one live [Session] per working directory. It is safe for concurrent use.
type Manager struct {
	cfg   Config
	log   *zap.Logger
	hooks hook.Runner

	watcher *watcher       // nil when files are not watched
	settles sync.WaitGroup // of openFile
	images  imaging.Fitter
	writes  writes
	books   books
	running sync.Map      // the paths of the looks before commands that run
	newFile atomic.Uint32 // the permission bits of the last file that was made, 0 before the first

	mu       sync.Mutex
	sessions map[string]*Session     // guarded by mu; by cleaned cwd
	opening  map[string]*Session     // guarded by mu; by canonical path, see reserve
	unsaved  map[string]*session.Log // guarded by mu; by canonical path, see leave
	large    map[string]bool         // guarded by mu; by session id, see reportLarge
	closed   bool                    // guarded by mu

	subMu       sync.Mutex
	subscribers map[int]func(Event) // guarded by subMu
	nextSub     int                 // guarded by subMu
	seqs        map[string]uint64   // guarded by subMu; the last event's number, by session id
}

// CheckAgentDir fails with a message for the user if the files of an agent directory must not be
// run. Without a manager all directories are allowed.
func (m *Manager) CheckAgentDir(dir string) error {
	if m == nil || m.cfg.AgentDirs == nil {
		return nil
	}
	return m.cfg.AgentDirs(dir)
}

// ShareDirs returns the agent directories that are searched for a share script, in this order.
func (m *Manager) ShareDirs() []string {
	if dirs := m.cfg.ShareDirs; dirs != nil {
		return dirs
	}
	return []string{m.cfg.Finder.Roots[0].AgentDir}
}

// NewManager returns a manager without sessions.
func NewManager(cfg Config) *Manager {
	m := &Manager{cfg: cfg, log: cfg.Log, sessions: map[string]*Session{}, opening: map[string]*Session{}, unsaved: map[string]*session.Log{}, subscribers: map[int]func(Event){}, seqs: map[string]uint64{}}
	if m.log == nil {
		m.log = zap.NewNop()
	}
	m.hooks = hook.Runner{Hooks: cfg.Hooks, Report: func(err error) { m.log.Warn("hook failed", zap.Error(err)) }}
	m.hooks.Attach(m.addEntries)
	if cfg.Watch {
		m.startWatching()
	}
	return m
}

func (m *Manager) now() time.Time {
	if m.cfg.Now != nil {
		return m.cfg.Now()
	}
	return m.cfg.Finder.Now()
}

// Session returns the live session of cwd. On first use that is a new one, which has
// no file before a model answered.
func (m *Manager) Session(ctx context.Context, cwd string) (*Session, error) {
	s, opened, err := m.session(ctx, filepath.Clean(cwd))
	if opened {
		m.watcher.watch(s.cwd) // may wait for the watcher, which may wait for mu
	}
	if opened {
		s.notifyHooks(ctx, hook.Event{Name: hook.Start, Reason: "startup"})
		s.changed(ReasonStart, "")
		s.offerUnanswered()
		<-s.ops // other callers begin after the events above
	}
	return s, err
}

// session is Session without its events: for a session that was opened, the caller holds the
// operations.
func (m *Manager) session(ctx context.Context, cwd string) (s *Session, opened bool, err error) {
	if s, err := m.opened(cwd); s != nil || err != nil {
		return s, false, err
	}
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	// It reads directories, so it is not under mu; it writes nothing.
	initial := m.initialEngine()
	log, err := m.create(cwd, session.NewOptions{For: initial.writes()})
	if err != nil {
		return nil, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.unendedLocked(cwd); s != nil || m.closed {
		return s, false, m.closedFaultLocked()
	}
	s = &Session{cwd: cwd, m: m, ops: make(chan struct{}, 1), log: log, engine: initial, slots: task.NewSlots()}
	s.ops <- struct{}{}
	m.addGate(s)
	s.addBackground()
	m.addServers(s)
	m.sessions[cwd] = s
	return s, true, nil
}

func (m *Manager) opened(cwd string) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unendedLocked(cwd), m.closedFaultLocked()
}

// unendedLocked returns the session of cwd, nil if there is none or it has just ended.
func (m *Manager) unendedLocked(cwd string) *Session {
	if s := m.sessions[cwd]; s != nil && !s.isEnded() {
		return s
	}
	return nil
}

// closedFaultLocked returns the error of a closed manager, or nil.
func (m *Manager) closedFaultLocked() error {
	if !m.closed {
		return nil
	}
	return fault.New(fault.Cancelled, "The server is shutting down.")
}

// Live returns the live session of cwd, or nil when none was opened yet.
func (m *Manager) Live(cwd string) *Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unendedLocked(filepath.Clean(cwd))
}

// LiveIn returns the working directory whose live session has its file at path,
// however either is spelled.
func (m *Manager) LiveIn(path string) (cwd string, ok bool) {
	return m.liveAt(path, m.canonical(path))
}

// liveAt is LiveIn for a path whose canonical form is key.
func (m *Manager) liveAt(path, key string) (cwd string, ok bool) {
	if path == "" {
		return "", false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for cwd, s := range m.sessions {
		if file := s.current().Path(); file == path || file != "" && m.canonical(file) == key {
			return cwd, true
		}
	}
	return "", false
}

// LiveNames returns the names of the live sessions' files.
func (m *Manager) LiveNames() map[string]bool {
	names := map[string]bool{}
	for _, s := range m.all() {
		names[filepath.Base(s.File())] = true
	}
	return names
}

// canonical is one spelling of a path that may have several.
func (m *Manager) canonical(path string) string {
	if m.cfg.Finder.RealPath != nil {
		if real, err := m.cfg.Finder.RealPath(path); err == nil {
			return real
		}
	}
	return filepath.Clean(path)
}

// isFile reports whether log has a file, and key is the canonical form of its path.
func (m *Manager) isFile(log *session.Log, key string) bool {
	return log.Path() != "" && m.canonical(log.Path()) == key
}

// reserve prevents other folders from opening the session file at path until release is called. It
// returns a Busy error if the file is live in another folder, or being opened there: a file has one
// writer.
func (m *Manager) reserve(path string, s *Session) (release func(), err error) {
	return m.reserveAt(path, m.canonical(path), s)
}

// reserveAt is reserve for a path whose canonical form is key.
func (m *Manager) reserveAt(path, key string, s *Session) (release func(), err error) {
	if cwd, live := m.liveAt(path, key); live && cwd != s.cwd {
		return nil, fault.New(fault.Busy, "%s is open in %s.", path, cwd).With("path", path)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if other := m.opening[key]; other != nil && other != s {
		return nil, fault.New(fault.Busy, "%s is being opened in %s.", path, other.cwd).With("path", path)
	}
	m.opening[key] = s
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.opening, key)
	}, nil
}

// leave closes a session that is live no longer. One that cannot be saved stays in
// memory: resuming it brings it back, and the end of the server tries again.
func (m *Manager) leave(log *session.Log) {
	defer m.wrote(log.Path())
	if err := log.Flush(); err != nil && log.Persistent() {
		m.log.Warn("the previous session is not completely saved", zap.String("path", log.Path()), zap.Error(err))
		m.mu.Lock()
		defer m.mu.Unlock()
		m.unsaved[m.canonical(log.Path())] = log
		return
	}
	if err := log.Close(); err != nil {
		m.log.Warn("a session was not closed cleanly", zap.String("path", log.Path()), zap.Error(err))
	}
}

// open opens the session at path, whose canonical form is key, or reuses one that was left
// unsaved.
func (m *Manager) open(path, key string) (*session.Log, error) {
	m.mu.Lock()
	log := m.unsaved[key]
	delete(m.unsaved, key)
	m.mu.Unlock()
	if log != nil {
		return log, nil
	}
	return m.openFile(path)
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

// ListChanged reports that the list of sessions of cwd is stale.
func (m *Manager) ListChanged(cwd string) { m.publish(SessionsChanged{Cwd: cwd}) }

// publishNumbered numbers the next event of a session and publishes it, which is one step, so that
// events come in the order of their numbers. The numbers continue when the session is left and
// resumed.
func (m *Manager) publishNumbered(sessionID string, event func(seq uint64) Event) {
	m.subMu.Lock()
	defer m.subMu.Unlock()
	m.seqs[sessionID]++
	m.deliver(event(m.seqs[sessionID]))
}

// lastSeq is the number of a session's newest event.
func (m *Manager) lastSeq(sessionID string) uint64 {
	m.subMu.Lock()
	defer m.subMu.Unlock()
	return m.seqs[sessionID]
}

func (m *Manager) publish(e Event) {
	m.subMu.Lock()
	defer m.subMu.Unlock()
	m.deliver(e)
}

// deliver needs subMu.
func (m *Manager) deliver(e Event) {
	for id := range m.nextSub {
		if f := m.subscribers[id]; f != nil {
			f(e)
		}
	}
}

// CloseFolder ends the live session of cwd, if there is one. Its pending writes are on
// disk when it returns; the error is the first that kept one from it. A session that cannot be
// ended before ctx ends stays the folder's: something still writes to its file.
func (m *Manager) CloseFolder(ctx context.Context, cwd string) error {
	cwd = filepath.Clean(cwd)
	m.mu.Lock()
	s := m.sessions[cwd]
	m.mu.Unlock()
	if s == nil {
		return nil
	}
	return m.end(ctx, s)
}

// end ends a session and forgets it.
func (m *Manager) end(ctx context.Context, s *Session) error {
	err := s.shutdown(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.isEnded() && m.sessions[s.cwd] == s {
		delete(m.sessions, s.cwd)
	}
	return err
}

// Close ends all sessions concurrently: one that cannot be ended must not delay the others. No
// session can be opened afterwards.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	sessions, unsaved := maps.Clone(m.sessions), m.unsaved
	m.unsaved, m.closed = map[string]*session.Log{}, true
	m.mu.Unlock()
	cwds := slices.Sorted(maps.Keys(sessions))
	errs := make([]error, len(cwds))
	var ending sync.WaitGroup
	for i, cwd := range cwds {
		ending.Go(func() { errs[i] = m.end(ctx, sessions[cwd]) })
	}
	ending.Wait()
	err := errors.Join(errs...)
	for _, log := range unsaved {
		err = errors.Join(err, log.Close())
	}
	m.hooks.Close(ctx)
	_ = m.cfg.History.Close(ctx) // it reported its errors, and the sessions do not depend on it
	if m.watcher != nil {
		m.watcher.stop()
	}
	m.awaitSettled(ctx)
	return err
}
