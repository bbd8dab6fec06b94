package publish_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

const (
	headerID = "1f9d2a6b9c0d1234"
	path     = "/s/2026-01-02T03-04-05_1f9d2a6b9c0d1234.jsonl"
	key      = "git:example.com/acme/web#"
)

// flushTime is the timeout of a Flush by the clock of the test.
const flushTime = 5 * time.Second

// world is a store, and a clock that jumps to the end of every wait.
type world struct {
	*teamtest.Server

	mu     sync.Mutex
	now    time.Time
	waited time.Duration      // since Flush began
	stop   context.CancelFunc // ends a Flush; nil without one
	waits  []time.Duration
	limit  time.Duration
}

func newWorld() *world {
	w := &world{Server: teamtest.NewServer(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), limit: flushTime}
	w.Member("ann", "core", 3)
	w.Member("bob", "core", 2)
	return w
}

func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// After implements [publish.Clock]. A wait beyond the end of a Flush ends it, at a time at which nothing is due.
func (w *world) After(d time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	w.mu.Lock()
	w.waits = append(w.waits, d)
	w.waited += d
	ends := w.waited > w.limit && w.stop != nil
	if ends {
		w.stop()
	}
	w.mu.Unlock()
	if !ends {
		w.pass(d)
		c <- w.Now()
	}
	return c
}

// pass moves all clocks.
func (w *world) pass(d time.Duration) {
	w.Advance(d)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// machine is an agent directory of a user with one session file.
type machine struct {
	t     testing.TB
	w     *world
	user  string
	fs    afero.Fs                      // of the Publisher
	disk  afero.Fs                      // of the test
	wrap  func(s team.Store) team.Store // nil: the store itself
	login *teamtest.Store
	hello team.Hello

	mu        sync.Mutex
	draw      func() team.SID                  // nil: random
	image     func(h team.Sum) ([]byte, error) // nil: none is sent
	complete  func() error                     // nil: nothing completes a file that is behind
	onConsent func()                           // is called in each step; may be nil
	clock     publish.Clock                    // nil: that of w
	anyCwd    bool                             // every folder is the project
	decided   consent.Decisions
	events    []publish.Event
	unread    error // of the decisions
	offline   error

	p *publish.Publisher
}

func decisions(share consent.Share, visible consent.Visible, redact bool) consent.Decisions {
	return consent.Decisions{Projects: map[string]consent.Project{
		key: {Team: "core", Share: share, Since: "2025-01-01T00:00:00Z", Visible: visible, Redact: redact},
	}, Sessions: map[string]consent.Share{}}
}

func (w *world) machine(t testing.TB, user string) *machine {
	t.Helper()
	return w.machineOn(t, user, afero.NewMemMapFs())
}

func (w *world) machineOn(t testing.TB, user string, disk afero.Fs) *machine {
	t.Helper()
	m := &machine{t: t, w: w, user: user, fs: disk, disk: disk, decided: decisions(consent.New, consent.Team, false)}
	m.login = w.Connect(user)
	var err error
	m.hello, err = m.login.Hello(t.Context(), team.Device{ID: team.NewDeviceID(), Label: "test"})
	require.NoError(t, err)
	m.start()
	return m
}

func (m *machine) states() shipping.States {
	return shipping.States{Fs: m.fs, Dir: "/agent/xcsh-ls/team/state"}
}

// start begins a new process.
func (m *machine) start() {
	m.p = publish.New(publish.Config{
		Home: "/home/ann", Complete: m.completed(),
		Store: func() (team.Store, int, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.offline != nil {
				return nil, 0, m.offline
			}
			if m.wrap != nil {
				return m.wrap(m.login), m.hello.User, nil
			}
			return m.login, m.hello.User, nil
		},
		Fs: m.fs, States: m.states(),
		Image: func(h team.Sum) ([]byte, error) {
			if m.image == nil {
				return nil, fault.New(fault.NotFound, "No image.")
			}
			return m.image(h)
		},
		Consent: func() (consent.Decisions, error) {
			if m.onConsent != nil {
				m.onConsent()
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.decided, m.unread
		},
		Project: m.projectOf,
		Draw: func() team.SID {
			if m.draw != nil {
				return m.draw()
			}
			return team.NewSID()
		},
		Clock: cmp.Or[publish.Clock](m.clock, m.w), Jitter: func() float64 { return 0.5 },
		Event: func(e publish.Event) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.events = append(m.events, e)
		},
	})
}

// projectOf returns the project of a folder.
func (m *machine) projectOf(cwd string, _ consent.Decisions) (identity.Project, error) {
	if cwd != "/p" && !m.anyCwd {
		return identity.Project{}, nil
	}
	return identity.Project{Key: key, Root: "/p"}, nil
}

// completed is the function that completes files.
func (m *machine) completed() func(context.Context, string, team.SID) error {
	if m.complete == nil {
		return nil
	}
	return func(_ context.Context, file string, sid team.SID) error {
		require.Equal(m.t, path, file)
		require.False(m.t, sid.IsZero())
		return m.complete()
	}
}

// restart begins a new process, with or without the state file.
func (m *machine) restart(keepState bool) {
	if !keepState {
		require.NoError(m.t, m.disk.RemoveAll("/agent"))
	}
	m.start()
}

// flush sends the lines of the file.
func (m *machine) flush() publish.Left {
	m.p.Touched(path)
	return m.again()
}

// again is flush without a change of the file.
func (m *machine) again() publish.Left {
	ctx, stop := context.WithCancel(m.t.Context())
	defer stop()
	m.w.mu.Lock()
	m.w.waited, m.w.stop = 0, stop
	m.w.mu.Unlock()
	return m.p.Flush(ctx)
}

// sent is flush that leaves nothing.
func (m *machine) sent() team.SID {
	m.t.Helper()
	require.Zero(m.t, m.flush())
	s := m.p.State(path)
	require.Equal(m.t, publish.Sent, s.Phase)
	require.Zero(m.t, s.Unsent)
	require.True(m.t, s.Since.IsZero())
	require.Equal(m.t, string(whole(m.body())), m.w.body(m.t, s.SID))
	return s.SID
}

func (m *machine) count(kind publish.EventKind) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func header() string { return st.Header(headerID, "/p") + "\n" }

// put replaces the body of the file in place.
func (m *machine) put(body string) {
	require.NoError(m.t, afero.WriteFile(m.disk, path, []byte(header()+body), 0o600))
}

// add appends to the file.
func (m *machine) add(lines string) {
	if ok, _ := afero.Exists(m.disk, path); !ok {
		m.put("")
	}
	f, err := m.disk.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(m.t, err)
	_, err = f.WriteString(lines)
	require.NoError(m.t, err)
	require.NoError(m.t, f.Close())
}

func (m *machine) body() []byte {
	content := m.content()
	head, err := shipping.ReadHead(bytes.NewReader(content))
	require.NoError(m.t, err)
	return content[head.Len():]
}

// retitle changes the header of the file by rewriting it.
func (m *machine) retitle(title, source string) {
	head := rawjson.SetString(bytes.TrimSpace([]byte(header())), "title", title)
	head = rawjson.SetString(head, "titleSource", source)
	require.NoError(m.t, afero.WriteFile(m.disk, path, append(append(head, '\n'), m.body()...), 0o600))
}

// session is a session of the store.
type session struct {
	tip  team.Tip
	body string
}

// sessions returns all sessions of the store that ann sees.
func (w *world) sessions(t testing.TB) map[team.SID]session {
	t.Helper()
	s := w.Connect("ann")
	infos, err := s.List(t.Context(), team.ListQuery{Project: 1, Limit: 1000})
	require.NoError(t, err)
	all := map[team.SID]session{}
	for _, i := range infos {
		tip, err := s.Tip(t.Context(), i.SID)
		require.NoError(t, err)
		var body bytes.Buffer
		require.NoError(t, s.Read(t.Context(), i.SID, tip.Gen, 0, 1<<40, func(seg team.Segment) error {
			require.EqualValues(t, body.Len(), seg.Off)
			body.Write(seg.Bytes)
			require.Equal(t, team.SumOf(body.Bytes()), seg.Sum)
			return nil
		}))
		require.EqualValues(t, tip.Len, body.Len())
		require.Equal(t, tip.Sum, team.SumOf(body.Bytes()))
		all[i.SID] = session{tip, body.String()}
	}
	return all
}

func (w *world) body(t testing.TB, sid team.SID) string {
	t.Helper()
	all := w.sessions(t)
	require.Contains(t, all, sid)
	return all[sid].body
}

// check requires that every line is in the store, and none twice in a session.
func (w *world) check(t testing.TB, lines []string) {
	t.Helper()
	found := map[string]bool{}
	for sid, s := range w.sessions(t) {
		here := map[string]bool{}
		for line := range strings.Lines(s.body) {
			require.False(t, here[line], "%s is twice in %s", line, sid)
			here[line], found[line] = true, true
		}
	}
	for _, line := range lines {
		require.True(t, found[line], "%s is missing", line)
	}
}

// whole returns content up to its last newline.
func whole(content []byte) []byte { return content[:bytes.LastIndexByte(content, '\n')+1] }

// line returns the n-th line of a machine. No two are equal.
func line(who string, n int) string {
	return st.User(fmt.Sprintf("%s%06d", who, n), "", strings.Repeat(who, n%50)) + "\n"
}

// lines returns some lines of a machine.
func lines(who string, from, to int) string {
	var b strings.Builder
	for n := from; n < to; n++ {
		b.WriteString(line(who, n))
	}
	return b.String()
}

func split(body string) []string { return slices.Collect(strings.Lines(body)) }

func unreachable() error { return fault.New(fault.Offline, "The team store cannot be reached (test).") }

// fixtures are the session files that the real programs wrote, by name.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/sessions/*/*.jsonl")
	require.NoError(t, err)
	require.Greater(t, len(paths), 90)
	all := map[string][]byte{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		all[filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path)] = content
	}
	return all
}

const leaseTime = 31 * time.Second // and a little more

func (m *machine) content() []byte {
	content, err := afero.ReadFile(m.disk, path)
	require.NoError(m.t, err)
	return content
}

func writeFile(fsys afero.Fs, path, content string) error {
	return afero.WriteFile(fsys, path, []byte(content), 0o600)
}

const (
	consentAll  = consent.All
	consentTeam = consent.Team
)
