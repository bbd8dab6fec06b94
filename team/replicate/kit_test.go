package replicate_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/connect"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/gitremote"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
	"github.com/xcsh-ls/xcsh-ls/team/replicate"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

const (
	cwd      = "/work/web"
	key      = "git:example.com/acme/web#"
	agent    = "/home/ann/.xcsh/agent"
	dir      = agent + "/xcsh-ls/team"
	session1 = "0123456789abcdef"
	session2 = "fedcba9876543210"
)

// world is a store in memory, whose clock follows that of the bubble.
type world struct {
	*testing.T
	server *teamtest.Server
	pids   int
}

// inWorld runs a story in a bubble.
func inWorld(t *testing.T, story func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, server: teamtest.NewServer()}
		w.server.Member("ann", "core", 3)
		w.server.Member("kim", "core", 2)
		story(w)
	})
}

// pass moves both clocks.
func (w *world) pass(d time.Duration) {
	const step = 500 * time.Millisecond
	for ; d > 0; d -= step {
		<-time.After(min(step, d))
		w.server.Advance(min(step, d))
		synctest.Wait()
	}
}

// line is the store as one machine reaches it.
type line struct {
	*teamtest.Store

	mu     sync.Mutex
	calls  []string
	down   bool          // no call arrives
	slow   time.Duration // of each call
	cut    int           // this call loses its answer, and those after it do not arrive; 0: none
	hello  func(h *team.Hello)
	closed bool
}

func unreachable() error { return fault.New(fault.Offline, "The team store cannot be reached (test).") }

// before notes a call. lost reports that its answer does not arrive.
func (l *line) before(name string) (lost bool, err error) {
	l.mu.Lock()
	slow := l.slow
	l.mu.Unlock()
	if slow > 0 {
		<-time.After(slow)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, name)
	if l.down || l.cut > 0 && len(l.calls) > l.cut {
		return false, unreachable()
	}
	return l.cut > 0 && len(l.calls) == l.cut, nil
}

// called makes a call.
func called[T any](l *line, name string, f func() (T, error)) (v T, err error) {
	lost, err := l.before(name)
	if err != nil {
		return v, err
	}
	if v, err = f(); lost {
		return *new(T), unreachable()
	}
	return v, err
}

func (l *line) Hello(ctx context.Context, d team.Device) (team.Hello, error) {
	return called(l, "Hello", func() (team.Hello, error) {
		h, err := l.Store.Hello(ctx, d)
		if l.hello != nil {
			l.hello(&h)
		}
		return h, err
	})
}

func (l *line) Teams(ctx context.Context) ([]team.Membership, error) {
	return called(l, "Teams", func() ([]team.Membership, error) { return l.Store.Teams(ctx) })
}

func (l *line) Project(ctx context.Context, name, key, display string) (team.Project, error) {
	return called(l, "Project", func() (team.Project, error) { return l.Store.Project(ctx, name, key, display) })
}

func (l *line) Open(ctx context.Context, o team.Opening) ([]team.Known, error) {
	return called(l, "Open", func() ([]team.Known, error) { return l.Store.Open(ctx, o) })
}

func (l *line) Tip(ctx context.Context, sid team.SID) (team.Tip, error) {
	return called(l, "Tip", func() (team.Tip, error) { return l.Store.Tip(ctx, sid) })
}

func (l *line) Append(ctx context.Context, a team.Append) (team.Tip, error) {
	return called(l, "Append", func() (team.Tip, error) { return l.Store.Append(ctx, a) })
}

func (l *line) Lease(ctx context.Context, sid team.SID, force bool) (team.Tip, error) {
	return called(l, "Lease", func() (team.Tip, error) { return l.Store.Lease(ctx, sid, force) })
}

func (l *line) Writer(ctx context.Context, sid team.SID) (team.Writer, error) {
	return called(l, "Writer", func() (team.Writer, error) { return l.Store.Writer(ctx, sid) })
}

func (l *line) Release(ctx context.Context, sid team.SID, fence int64) error {
	_, err := called(l, "Release", func() (int, error) { return 0, l.Store.Release(ctx, sid, fence) })
	return err
}

func (l *line) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

// taken returns the calls so far, and forgets them.
func (l *line) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := l.calls
	l.calls = nil
	return calls
}

func (l *line) set(f func(l *line)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l)
}

// machine is a machine of a user with the sessions of one folder.
type machine struct {
	w       *world
	fs      afero.Fs
	user    string
	line    *line
	locks   *lock.Locker
	library library.Finder
	env     map[string]string
	host    string
	store   team.Store // nil: line
	open    error

	mu     sync.Mutex
	events []replicate.Event
	alive  map[int]bool
	pid    int

	r *replicate.Replicator
}

// machine returns a machine with a repository at cwd, on which nothing runs.
func (w *world) machine(user string) *machine {
	w.Helper()
	m := &machine{w: w, fs: afero.NewMemMapFs(), user: user, env: map[string]string{}, host: "db.example.com", alive: map[int]bool{}}
	for name, content := range map[string]string{
		"HEAD": "ref: refs/heads/main\n", "config": "[remote \"origin\"]\n\turl = https://example.com/acme/web.git\n",
	} {
		m.write(cwd+"/.git/"+name, content)
	}
	require.NoError(w, m.fs.MkdirAll(cwd+"/.git/objects", 0o700))
	m.begin()
	return m
}

// another returns another process of the machine.
func (m *machine) another() *machine {
	o := &machine{w: m.w, fs: m.fs, user: m.user, env: m.env, host: m.host, alive: m.alive}
	o.begin()
	return o
}

// begin begins a new process, before Start.
func (m *machine) begin() {
	m.w.pids++
	m.pid = m.w.pids
	m.alive[m.pid] = true
	m.locks = lock.New(m.fs, lock.Options{PID: m.pid, Process: &lock.Process{}, Alive: func(pid int) bool { return m.alive[pid] }})
	m.line = &line{Store: m.w.server.Connect(m.user)}
	m.library = library.Finder{
		Fs: m.fs, Home: "/home/ann", Temp: "/tmp", Now: time.Now, Roots: []library.Root{library.OwnRoot(library.AgentPlaces(agent))},
	}
	m.r = replicate.New(replicate.Config{
		Open: func() (team.Store, connect.Address, error) {
			address := connect.Address{Conn: "postgres://ann@" + m.host + "/sessions", Hosts: []string{m.host}, SSLMode: "verify-full"}
			if m.store != nil {
				return m.store, address, m.open
			}
			return m.line, address, m.open
		},
		Fs: m.fs, Dir: dir, Library: m.library, Locks: m.locks,
		Sessions: session.NewStore(session.StoreConfig{Fs: m.fs, DirFor: m.library.DirFor, RootFor: m.library.FileRoot, LockDir: "/locks"}),
		Git:      gitremote.Machine{Fs: m.fs},
		Device:   identity.Surroundings{Getenv: func(name string) string { return m.env[name] }, Host: m.user + "'s laptop", Folder: cwd},
		Event: func(e replicate.Event) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.events = append(m.events, e)
		},
	})
}

// start starts the process.
func (m *machine) start() *machine {
	m.r.Start(context.Background())
	synctest.Wait()
	return m
}

func (m *machine) close() {
	m.w.Helper()
	require.NoError(m.w, m.r.Close(context.Background()))
}

// kill ends the process, and begins a new one.
func (m *machine) kill() {
	m.r.Kill()
	m.alive[m.pid] = false
	m.begin()
}

func (m *machine) write(path, content string) {
	require.NoError(m.w, afero.WriteFile(m.fs, path, []byte(content), 0o600))
}

func (m *machine) path(id string) string {
	in, err := m.library.DirFor(cwd)
	require.NoError(m.w, err)
	return filepath.Join(in, "2026-01-02T03-04-05-000Z_"+id+".jsonl")
}

// put writes a session file.
func (m *machine) put(id, body string) string {
	m.write(m.path(id), st.Header(id, cwd)+"\n"+body)
	return m.path(id)
}

// old is put for a session that began long ago.
func (m *machine) old(id, body string) string {
	path := m.put(id, body)
	m.write(path, strings.Replace(m.read(path), "2026-01-01", "1990-01-01", 1))
	return path
}

func (m *machine) read(path string) string {
	b, err := afero.ReadFile(m.fs, path)
	require.NoError(m.w, err)
	return string(b)
}

// add appends to a session file.
func (m *machine) add(id, lines string) {
	f, err := m.fs.OpenFile(m.path(id), os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(m.w, err)
	_, err = f.WriteString(lines)
	require.NoError(m.w, err)
	require.NoError(m.w, f.Close())
}

// share says yes.
func (m *machine) share(s replicate.Sharing) {
	m.w.Helper()
	if s.Cwd == "" {
		s.Cwd = cwd
	}
	plan, err := m.r.Plan(context.Background(), s)
	require.NoError(m.w, err)
	require.NoError(m.w, m.r.Share(context.Background(), s, plan.Token))
	synctest.Wait()
}

// turn adds lines in a turn.
func (m *machine) turn(id, lines string) {
	m.w.Helper()
	end, err := m.r.Begin(context.Background(), m.path(id))
	require.NoError(m.w, err)
	m.add(id, lines)
	m.r.Touched(m.path(id))
	end()
	m.w.pass(time.Second)
}

func (m *machine) decisions() consent.Decisions {
	d, err := consent.File{Fs: m.fs, Dir: dir, Locks: m.locks}.Read()
	require.NoError(m.w, err)
	return d
}

func (m *machine) kinds() (kinds []replicate.EventKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// event returns the only event of a kind.
func (m *machine) event(kind replicate.EventKind) replicate.Event {
	m.w.Helper()
	require.Contains(m.w, m.kinds(), kind)
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.IndexFunc(m.events, func(e replicate.Event) bool { return e.Kind == kind })
	return m.events[at]
}

// bodies returns the bodies of all sessions that a user sees, by id of the header and variant.
func (w *world) bodies(user string) map[string]string {
	w.Helper()
	s := w.server.Connect(user)
	all := map[string]string{}
	for project := 1; project < 4; project++ {
		infos, err := s.List(context.Background(), team.ListQuery{Project: project, Limit: 1000})
		require.NoError(w, err)
		for _, i := range infos {
			var body bytes.Buffer
			require.NoError(w, s.Read(context.Background(), i.SID, 1, 0, 1<<30, func(seg team.Segment) error {
				body.Write(seg.Bytes)
				return nil
			}))
			all[fmt.Sprintf("%s.%d", i.HeaderID, i.Variant)] = body.String()
		}
	}
	return all
}

// user returns the line of a message.
func user(n int) string {
	return st.User(fmt.Sprintf("e%05d", n), "", fmt.Sprintf("message %d", n)) + "\n"
}

func requireKind(t testing.TB, kind fault.Kind, err error) *fault.Error {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, kind, fault.KindOf(err), err.Error())
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	return f
}

// snapshot returns all files.
func (m *machine) snapshot() map[string]string {
	all := map[string]string{}
	require.NoError(m.w, afero.Walk(m.fs, "/", func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			all[path] = m.read(path)
		}
		return nil
	}))
	return all
}
