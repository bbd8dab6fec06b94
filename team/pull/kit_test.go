package pull_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pull"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

const (
	cwd      = "/work/web"
	ownRoot  = "/home/kim/.xcsh/agent"
	piRoot   = "/home/kim/.pi/agent"
	headerID = "0123456789abcdef"
	named    = "2026-01-02T03-04-05-000Z_" + headerID + ".jsonl"
)

// world is a store with the writer ann, who sends, and kim, who pulls.
type world struct {
	t       testing.TB
	server  *teamtest.Server
	ann     *teamtest.Store
	kim     *teamtest.Store
	project int
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, server: teamtest.NewServer()}
	w.server.Member("ann", "core", 2)
	w.server.Member("kim", "core", 2)
	w.ann, w.kim = w.connect("ann"), w.connect("kim")
	project, err := w.ann.Project(context.Background(), "core", "name:web", "web")
	require.NoError(t, err)
	w.project = project.ID
	return w
}

func (w *world) connect(user string) *teamtest.Store {
	w.t.Helper()
	s := w.server.Connect(user)
	_, err := s.Hello(context.Background(), team.Device{ID: team.NewDeviceID(), Label: user + "'s"})
	require.NoError(w.t, err)
	return s
}

// published is a session in the store.
type published struct {
	sid  team.SID
	head []byte
	body []byte
}

// publish sends a session file, cut into segments of size bytes.
func (w *world) publish(content []byte, size int, change ...func(*team.Opening)) *published {
	w.t.Helper()
	h, err := shipping.ReadHead(bytes.NewReader(content))
	require.NoError(w.t, err)
	dialect := session.GuessDialect(h.HasSlot(), h.Header(), session.DialectMarks{})
	o := team.Opening{
		Project: w.project, SID: team.NewSID(), HeaderID: h.Header().ID, Dialect: dialect, FileName: named,
		Head: h.Shipped("").Raw, Visible: team.Shared, Title: h.Title().Text,
	}
	for _, f := range change {
		f(&o)
	}
	known, err := w.ann.Open(context.Background(), o)
	require.NoError(w.t, err)
	p := &published{sid: known[0].SID, head: o.Head}
	body := content[h.Len():]
	for len(body) > 0 {
		n := min(size, len(body))
		w.append(p, body[:n])
		body = body[n:]
	}
	tip, err := w.ann.Tip(context.Background(), p.sid)
	require.NoError(w.t, err)
	require.NoError(w.t, w.ann.Release(context.Background(), p.sid, tip.Fence))
	return p
}

// append adds a segment.
func (w *world) append(p *published, b []byte) {
	w.t.Helper()
	w.appendSum(p, b, team.SumOf(append(bytes.Clone(p.body), b...)))
	p.body = append(p.body, b...)
}

// appendSum adds a segment with a checksum that need not be its own.
func (w *world) appendSum(p *published, b []byte, sum team.Sum) {
	w.t.Helper()
	tip, err := w.ann.Tip(context.Background(), p.sid)
	require.NoError(w.t, err)
	after, err := w.ann.Append(context.Background(), team.Append{
		SID: p.sid, Gen: tip.Gen, Len: tip.Len, Sum: tip.Sum, Fence: tip.Fence, Bytes: b, New: sum,
	})
	require.NoError(w.t, err)
	require.Equal(w.t, team.OK, after.Code)
}

// machine is the machine of kim.
type machine struct {
	fs      afero.Fs
	library library.Finder
	config  pull.Config
}

// at is a machine whose files are on fsys.
func at(fsys afero.Fs, store team.Store) *machine {
	m := &machine{fs: fsys}
	m.library = library.Finder{
		Fs: fsys, Home: "/home/kim", Temp: "/tmp", Now: func() time.Time { return time.Unix(0, 0) },
		Roots: []library.Root{library.OwnRoot(library.AgentPlaces(ownRoot))},
	}
	m.config = pull.Config{Store: store, After: atOnce}
	return m
}

// withPi gives the machine sessions of pi.
func (m *machine) withPi() *machine {
	m.library.Roots = append(m.library.Roots, library.Root{Places: library.AgentPlaces(piRoot), Dialect: session.Pi})
	return m
}

func (m *machine) puller() *pull.Puller {
	m.config.Library = m.library
	if m.config.Sessions == nil {
		m.config.Sessions = session.NewStore(session.StoreConfig{
			Fs: m.fs, DirFor: m.library.DirFor, RootFor: m.library.FileRoot, LockDir: "/locks",
			Now: func() time.Time { return time.Unix(0, 0) },
		})
	}
	return pull.New(m.config)
}

func (m *machine) pull(t testing.TB, sid team.SID) (string, error) {
	t.Helper()
	return m.puller().Pull(t.Context(), sid, cwd, nil)
}

// atOnce is a clock with which every wait is over at once.
func atOnce(time.Duration) (<-chan time.Time, func() bool) {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c, func() bool { return true }
}

// files returns the contents of all files below the roots, hidden ones included.
func files(t testing.TB, fsys afero.Fs) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, afero.Walk(fsys, "/", func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && !strings.HasPrefix(filepath.ToSlash(path), "/locks/") {
			content, err := afero.ReadFile(fsys, path)
			require.NoError(t, err)
			all[filepath.ToSlash(path)] = string(content)
		}
		return nil
	}))
	return all
}

// visible returns the files that a list of sessions shows.
func visible(t testing.TB, fsys afero.Fs) map[string]string {
	t.Helper()
	all := files(t, fsys)
	for path := range all {
		if !library.IsSessionName(filepath.Base(path)) {
			delete(all, path)
		}
	}
	return all
}

// requirePulled requires that a file is the session, behind a header for the folder.
func requirePulled(t testing.TB, fsys afero.Fs, path string, p *published) {
	t.Helper()
	content, err := afero.ReadFile(fsys, path)
	require.NoError(t, err)
	h, err := shipping.ReadHead(bytes.NewReader(content))
	require.NoError(t, err)
	require.Equal(t, string(p.body), string(content[h.Len():]))
	if h.Header().Cwd != "" {
		require.Equal(t, cwd, h.Header().Cwd)
	}
	info, err := fsys.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func requireKind(t testing.TB, kind fault.Kind, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, kind, fault.KindOf(err), "%v", err)
}

// conversation is a session file with n turns.
func conversation(n int) []byte {
	lines := []string{st.Header(headerID, "/elsewhere/web")}
	parent := ""
	for i := range n {
		id := string([]byte{'a', '0' + byte(i/10%10), '0' + byte(i%10), 'b', 'c', 'd', 'e', 'f'})
		lines = append(lines, st.User(id, parent, strings.Repeat("word ", i%7)))
		parent = id
	}
	return []byte(st.File(lines...))
}

// faulty is a store whose call number at fails, counted from 1: before it takes effect, or, with lost, behind it.
type faulty struct {
	team.Store
	at   int
	lost bool
	ever bool // all later calls fail, too
	mu   sync.Mutex
	n    int
}

func (f *faulty) fails() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return f.n == f.at || f.ever && f.at > 0 && f.n > f.at
}

func (f *faulty) fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n >= f.at
}

var errOffline = fault.New(fault.Offline, "The team store cannot be reached (injected).")

func call[T any](f *faulty, do func() (T, error)) (T, error) {
	fails := f.fails()
	if fails && !f.lost {
		var zero T
		return zero, errOffline
	}
	v, err := do()
	if fails {
		var zero T
		return zero, errOffline
	}
	return v, err
}

func (f *faulty) Tip(ctx context.Context, sid team.SID) (team.Tip, error) {
	return call(f, func() (team.Tip, error) { return f.Store.Tip(ctx, sid) })
}

func (f *faulty) Head(ctx context.Context, sid team.SID) (team.Head, error) {
	return call(f, func() (team.Head, error) { return f.Store.Head(ctx, sid) })
}

func (f *faulty) Lease(ctx context.Context, sid team.SID, force bool) (team.Tip, error) {
	return call(f, func() (team.Tip, error) { return f.Store.Lease(ctx, sid, force) })
}

func (f *faulty) Publish(ctx context.Context, p team.Publish) (team.Tip, error) {
	return call(f, func() (team.Tip, error) { return f.Store.Publish(ctx, p) })
}

func (f *faulty) Stage(ctx context.Context, s team.Stage) error {
	_, err := call(f, func() (int, error) { return 0, f.Store.Stage(ctx, s) })
	return err
}

func (f *faulty) SetHead(ctx context.Context, sid team.SID, h team.Head) (int, error) {
	return call(f, func() (int, error) { return f.Store.SetHead(ctx, sid, h) })
}

func (f *faulty) Read(ctx context.Context, sid team.SID, gen int, from int64, most int, each func(team.Segment) error) error {
	_, err := call(f, func() (int, error) { return 0, f.Store.Read(ctx, sid, gen, from, most, each) })
	return err
}

func (f *faulty) SumAt(ctx context.Context, sid team.SID, gen int, off int64) (end int64, sum team.Sum, err error) {
	_, err = call(f, func() (int, error) { end, sum, err = f.Store.SumAt(ctx, sid, gen, off); return 0, err })
	return end, sum, err
}
