package publish_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// info returns the only session of the list.
func (w *world) info(t testing.TB) team.Info {
	t.Helper()
	infos, err := w.Connect("ann").List(t.Context(), team.ListQuery{Project: 1, Limit: 10})
	require.NoError(t, err)
	require.Len(t, infos, 1)
	return infos[0]
}

// entries returns the entries of the texts that a search finds.
func (w *world) entries(t testing.TB, query string) (found []string) {
	t.Helper()
	hits, err := w.Connect("ann").Search(t.Context(), []int{1}, query, 100)
	require.NoError(t, err)
	for _, h := range hits {
		found = append(found, h.Entry)
	}
	return found
}

func costly(id, text string) string {
	return `{"type":"message","id":"` + id + `","message":{"role":"assistant","content":[{"type":"text","text":"` + text + `"}],"usage":{"cost":{"total":0.25}}}}` + "\n"
}

// TestASessionIsDescribed by its first prompt, its messages and costs, and its texts, all without secrets and home directories.
func TestASessionIsDescribed(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("16C7e4", 6)
	w := newWorld()
	m := w.machine(t, "ann")
	m.decided = decisions(consent.New, consent.Team, true)
	m.put(st.User("e1", "", "Look into /home/ann/web with "+token) + "\n" + costly("e2", "The parser fails.") + costly("e3", strings.Repeat("long ", 4000)) +
		`{"type":"compaction","id":"e4","summary":"About lexers"}` + "\n" + "damaged\n")
	m.p.Touched(path)
	require.Zero(t, m.again())
	i := w.info(t)
	require.Contains(t, i.FirstPrompt, "Look into ~/web with ")
	require.NotContains(t, i.FirstPrompt, token)
	require.Equal(t, []any{3, 0.5}, []any{i.Messages, i.Cost})
	require.Equal(t, []string{"e2"}, w.entries(t, "parser"))
	require.Equal(t, []string{"e4"}, w.entries(t, "lexers"))
	require.Empty(t, w.entries(t, token))
	hits, err := m.login.Search(t.Context(), []int{1}, "long", 10)
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.Len(t, strings.NewReplacer("<b>", "", "</b>", "").Replace(hits[0].Excerpt), 8<<10, "cut")
	body := w.body(t, i.SID)
	require.Equal(t, int64(strings.Index(body, `{"type":"message","id":"e3"`)), hits[0].Off)

	m.retitle("Parsers of /home/ann/web", "user")
	m.p.Touched(path)
	require.Zero(t, m.again())
	require.Equal(t, "Parsers of ~/web", w.info(t).Title)
	require.Equal(t, 3, w.info(t).Messages, "a title changes nothing else")
	hits, err = m.login.Search(t.Context(), []int{1}, "parsers", 10)
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.EqualValues(t, team.TitleOff, hits[0].Off)
}

// TestADescriptionIsSentOnce by one machine, also over the end of the process.
func TestADescriptionIsSentOnce(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 10))
	m.sent()
	f := &faulty{Store: m.login}
	m.wrap = func(team.Store) team.Store { return f }
	modified := w.info(t).Modified
	m.sent()
	require.Empty(t, f.calls)
	m.restart(true)
	m.sent()
	require.Equal(t, []string{"head"}, f.calls)
	f.calls = nil
	m.restart(false)
	m.sent()
	require.NotContains(t, f.calls, "sethead")

	o := w.machine(t, "bob")
	of := &faulty{Store: o.login}
	o.wrap = func(team.Store) team.Store { return of }
	o.put(lines("a", 0, 10))
	o.sent()
	require.NotContains(t, of.calls, "sethead", "another machine wrote it")
	require.NotContains(t, of.calls, "said")
	require.Equal(t, modified, w.info(t).Modified)
	w.pass(leaseTime)
	o.add(line("b", 1))
	o.sent()
	require.Equal(t, 11, w.info(t).Messages)
	require.Equal(t, []string{"a000001"}, w.entries(t, strings.Repeat("a", 1)))
}

// TestARewrittenBodyHasItsOwnTexts.
func TestARewrittenBodyHasItsOwnTexts(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(st.User("old1", "", "needle") + "\n" + st.User("old2", "", "needle") + "\n")
	m.sent()
	require.Equal(t, []string{"old2", "old1"}, w.entries(t, "needle"))
	m.put(st.User("new1", "", "needle") + "\n")
	m.sent()
	require.Equal(t, []string{"new1"}, w.entries(t, "needle"))
	require.Equal(t, 1, w.info(t).Messages)
	m.add(st.User("new2", "", "needle") + "\n")
	m.sent()
	require.Equal(t, []string{"new2", "new1"}, w.entries(t, "needle"))
}

// timed is a store that records when it is called.
type timed struct {
	team.Store
	w *world

	mu        sync.Mutex
	at        map[string]time.Time // of the last call
	described chan struct{}
}

func (s *timed) note(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[name] = s.w.Now()
}

func (s *timed) since(t testing.TB, from, to string) time.Duration {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Contains(t, s.at, from)
	require.Contains(t, s.at, to)
	return s.at[to].Sub(s.at[from])
}

func (s *timed) Append(ctx context.Context, a team.Append) (team.Tip, error) {
	s.note("append")
	return s.Store.Append(ctx, a)
}

func (s *timed) Said(ctx context.Context, sid team.SID, from, to int64, texts []team.Text) error {
	s.note("said")
	return s.Store.Said(ctx, sid, from, to, texts)
}

func (s *timed) SetHead(ctx context.Context, sid team.SID, h team.Head) (int, error) {
	rev, err := s.Store.SetHead(ctx, sid, h)
	s.described <- struct{}{}
	return rev, err
}

// timed makes the machine use a timed store after its first description.
func (m *machine) timed() *timed {
	m.put(lines("a", 0, 10))
	m.sent()
	s := &timed{Store: m.login, w: m.w, at: map[string]time.Time{}, described: make(chan struct{}, 100)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrap = func(team.Store) team.Store { return s }
	m.w.limit = time.Hour
	return s
}

// TestTextsWaitUntilTheFileRests.
func TestTextsWaitUntilTheFileRests(t *testing.T) {
	t.Parallel()
	m := newWorld().machine(t, "ann")
	s := m.timed()
	m.background(t)
	m.add(line("a", 10))
	m.p.Touched(path)
	<-s.described
	passed := s.since(t, "append", "said")
	require.GreaterOrEqual(t, passed, 29*time.Second)
	require.Less(t, passed, 2*time.Minute)
	require.Equal(t, 11, m.w.info(t).Messages)
}

// busyClock is the clock of a world in which the file grows before it rests.
type busyClock struct {
	*world
	grow func()
}

func (c busyClock) After(d time.Duration) <-chan time.Time {
	if d < time.Second {
		return c.world.After(d)
	}
	c.grow() // before the time passes: several goroutines wait
	c.pass(min(d, 20*time.Second))
	return nil
}

// TestAFileThatNeverRestsIsDescribedEvery10Minutes.
func TestAFileThatNeverRestsIsDescribedEvery10Minutes(t *testing.T) {
	t.Parallel()
	m := newWorld().machine(t, "ann")
	s := m.timed()
	n := 10
	var mu sync.Mutex
	m.clock = busyClock{m.w, func() {
		mu.Lock()
		defer mu.Unlock()
		m.add(line("a", n))
		n++
		m.p.Touched(path)
	}}
	m.restart(true)
	begin := m.w.Now()
	m.background(t)
	m.add(line("b", 1))
	m.p.Touched(path)
	<-s.described
	passed := m.w.Now().Sub(begin)
	require.GreaterOrEqual(t, passed, 9*time.Minute)
	require.Less(t, passed, 15*time.Minute)
}

// TestABehindFileIsCompletedWhenItRests, and not while a server has it open or a Flush waits.
func TestABehindFileIsCompletedWhenItRests(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m, o := w.machine(t, "ann"), w.machine(t, "bob")
	m.put(lines("a", 0, 10))
	sid := m.sent()
	w.pass(leaseTime)
	o.put(lines("a", 0, 7))
	done := make(chan struct{})
	tries := 0
	begin := w.Now()
	o.complete = func() error {
		if tries++; tries == 1 {
			require.GreaterOrEqual(t, w.Now().Sub(begin), 29*time.Second)
			return fault.New(fault.Busy, "The session is open.")
		}
		o.add(lines("a", 7, 10))
		close(done)
		return nil
	}
	o.start()
	require.Zero(t, o.flush())
	require.Zero(t, tries)
	s := o.p.State(path)
	require.Equal(t, publish.Behind, s.Phase)
	require.Equal(t, sid, s.SID)
	require.EqualValues(t, len(lines("a", 7, 10)), s.Newer)
	w.limit = time.Hour
	run := o.background(t)
	o.p.Touched(path)
	<-done
	run.wait()
	require.Equal(t, 2, tries)
	require.Equal(t, sid, o.sent())
	s = o.p.State(path)
	require.Zero(t, s.Newer)
	require.EqualValues(t, len(lines("a", 0, 10)), s.Agreed)
	require.Len(t, w.sessions(t), 1)
}

// TestWithoutImagesLinesAreSentAlone.
func TestWithoutImagesLinesAreSentAlone(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(imageLine(1, team.SumOf([]byte("an image"))))
	m.p = publish.New(publish.Config{
		Store: func() (team.Store, int, error) { return m.login, m.hello.User, nil },
		Fs:    m.fs, States: m.states(), Clock: w,
		Consent: func() (consent.Decisions, error) { return m.decided, nil },
		Project: m.projectOf,
	})
	m.sent()
}
