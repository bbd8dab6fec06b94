package catalog_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/catalog"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

const (
	cwd = "/work/web"
	key = "git:example.com/acme/web#"
	dir = "/agent/xcsh-ls/team"
)

// clock is a clock that the test moves. The limit of a list passes only if late is set.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	late  bool
	ticks chan time.Time // of the polling
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *clock) setLate(late bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = late
}

func (c *clock) After(d time.Duration) <-chan time.Time {
	if d >= time.Second {
		return c.ticks
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := make(chan time.Time, 1)
	if c.late {
		passed <- c.now
	}
	return passed
}

// world is a store with ann's sessions, and kim's machine.
type world struct {
	t       *testing.T
	server  *teamtest.Server
	ann     *teamtest.Store
	project int
	clock   *clock
	fs      afero.Fs

	mu      sync.Mutex
	store   team.Store // that kim's machine is connected to
	offline error
	states  map[string]publish.State
	local   map[team.SID]bool
	changed chan string

	c *catalog.Catalog
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, server: teamtest.NewServer(), fs: afero.NewMemMapFs(), changed: make(chan string, 100),
		states: map[string]publish.State{}, local: map[team.SID]bool{},
		clock: &clock{now: time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC), ticks: make(chan time.Time)},
	}
	w.server.Member("ann", "core", 2)
	w.server.Member("kim", "core", 2)
	w.ann = w.connect("ann")
	w.project = w.newProject(key)
	w.store = w.connect("kim")
	w.start()
	return w
}

// start begins a new process of kim.
func (w *world) start() {
	w.c = catalog.New(catalog.Config{
		Connected: func(ctx context.Context) (team.Store, team.Hello, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.offline != nil {
				return nil, team.Hello{}, w.offline
			}
			hello, err := w.store.Hello(ctx, team.Device{ID: team.NewDeviceID(), Label: "kim"})
			return w.store, hello, err
		},
		Key: func(dir string) string {
			if dir == cwd {
				return key
			}
			return ""
		},
		State: func(path string) publish.State { return w.states[path] },
		Local: func(sid team.SID) bool { return w.local[sid] },
		Fs:    w.fs, Dir: dir, Clock: w.clock,
		Changed: func(key string) { w.changed <- key },
	})
	w.t.Cleanup(w.c.Close)
}

func (w *world) connect(user string) *teamtest.Store {
	w.t.Helper()
	s := w.server.Connect(user)
	_, err := s.Hello(w.t.Context(), team.Device{ID: team.NewDeviceID(), Label: "laptop of " + user})
	require.NoError(w.t, err)
	return s
}

func (w *world) newProject(key string) int {
	w.t.Helper()
	p, err := w.ann.Project(w.t.Context(), "core", key, "web")
	require.NoError(w.t, err)
	return p.ID
}

// setOffline ends the connection, or restores it.
func (w *world) setOffline(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.offline = err
}

func (w *world) setStore(s team.Store) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.store = s
}

// open creates a session of a user with a title.
func (w *world) open(s team.Store, id, title string, visible team.Visibility) team.SID {
	w.t.Helper()
	sid := team.NewSID()
	_, err := s.Open(w.t.Context(), team.Opening{
		Project: w.project, SID: sid, HeaderID: id, Dialect: session.Pi, FileName: id + ".jsonl", Head: []byte("head\n"), Visible: visible, Title: title,
		Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	})
	require.NoError(w.t, err)
	return sid
}

// fork creates a variant of a session.
func (w *world) fork(s team.Store, sid team.SID) team.SID {
	w.t.Helper()
	variant := team.NewSID()
	tip, err := s.Fork(w.t.Context(), team.Forking{SID: sid, Gen: 1, New: variant, Head: []byte("head\n")})
	require.NoError(w.t, err)
	require.Equal(w.t, team.OK, tip.Code)
	return variant
}

// list lists without problems.
func (w *world) list(query string, local ...library.Info) []library.Info {
	w.t.Helper()
	remote, problems, err := w.c.List(w.t.Context(), cwd, query, local)
	require.NoError(w.t, err)
	require.Empty(w.t, problems)
	return remote
}

// sids returns the ids of sessions in the store.
func sids(infos []library.Info) (all []string) {
	for _, i := range infos {
		all = append(all, i.Team.SID)
	}
	return all
}

// slow is a store that answers when the test allows it.
type slow struct {
	team.Store
	open chan struct{}
}

func (s *slow) wait(ctx context.Context) error {
	select {
	case <-s.open:
		return nil
	case <-ctx.Done():
		return fault.New(fault.Cancelled, "The call ended.")
	}
}

func (s *slow) Projects(ctx context.Context) ([]team.Project, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Store.Projects(ctx)
}

func (s *slow) Search(ctx context.Context, projects []int, query string, limit int) ([]team.Hit, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Store.Search(ctx, projects, query, limit)
}

func unreachable() error { return fault.New(fault.Offline, "The team store cannot be reached (test).") }

func name(format string, args ...any) string { return fmt.Sprintf(format, args...) }
