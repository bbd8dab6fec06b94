package publish_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// TestEachFaultOfTheFileSystem fails each operation, also those that read, once or from then on. The session file never changes, and
// all lines arrive when the file system works again.
func TestEachFaultOfTheFileSystem(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	for _, s := range stories() {
		for _, mode := range []st.Mode{st.Once, st.Dead, st.Short} {
			for at := 1; at > 0; at++ {
				w := newWorld()
				m := w.machine(t, "ann")
				s.setup(w, m)
				w.limit = 2 * leaseTime
				s.then(w, m)
				content := string(m.content())
				broken := &st.FaultFs{Fs: m.disk, At: at, Mode: mode, Reads: true}
				m.fs = broken
				m.start()
				m.flush()
				require.Equal(t, content, string(m.content()))
				if !broken.Fired() {
					at = -1
				}
				m.fs = m.disk
				m.restart(true)
				require.Zero(t, m.flush(), s.name)
				require.Equal(t, content, string(m.content()))
				require.Equal(t, string(m.body()), w.body(t, m.p.State(path).SID))
				w.check(t, split(string(m.body())))
			}
		}
	}
}

// TestAFileThatCannotBeReadIsTriedAgain reports the reason in its state.
func TestAFileThatCannotBeReadIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 3))
	m.fs = &st.FaultFs{Fs: m.disk, At: 1, Mode: st.Dead, Reads: true}
	m.start()
	left := m.flush()
	require.Equal(t, 1, left.Sessions)
	require.EqualValues(t, 0, left.Bytes, "its size cannot be read either")
	require.True(t, fault.Is(left.Err, fault.IO))
	require.Contains(t, left.Err.Error(), path)
	require.Equal(t, publish.Waiting, m.p.State(path).Phase)
}

// TestFilesThatAreNoSessions are not sent: a missing one, one without a header yet, and one that disappears.
func TestFilesThatAreNoSessions(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	require.Zero(t, m.flush())
	require.Equal(t, publish.Off, m.p.State(path).Phase)
	require.NoError(t, writeFile(m.disk, path, header()[:20]))
	require.Zero(t, m.flush())
	require.Equal(t, publish.Off, m.p.State(path).Phase)
	m.put(lines("a", 0, 3))
	sid := m.sent()
	content := string(m.content())
	require.NoError(t, m.disk.Remove(path))
	require.Zero(t, m.flush())
	require.Equal(t, publish.Off, m.p.State(path).Phase)
	require.NoError(t, writeFile(m.disk, path, content+line("a", 3)))
	require.Equal(t, sid, m.sent())
	require.NoError(t, writeFile(m.disk, path, strings.Replace(content, headerID, "2f9d2a6b9c0d1234", 1)))
	require.NotEqual(t, sid, m.sent(), "another session under the same name")
	require.Len(t, w.sessions(t), 2)
}

// TestBackOffGrowsWhileTheStoreIsDown to two seconds for a caller that waits, and starts over.
// Proves: TM-10
func TestBackOffGrowsWhileTheStoreIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.offline = unreachable()
	m.put(lines("a", 0, 3))
	left := m.flush()
	require.Equal(t, 1, left.Sessions)
	require.EqualValues(t, len(m.body()), left.Bytes)
	require.Equal(t, fmt.Sprintf("1 session (%d bytes) waits to be sent to the team.", left.Bytes), left.String())
	require.True(t, fault.Is(left.Err, fault.Offline))
	waits := w.taken()
	require.Equal(t, 15*time.Millisecond, waits[0], "20 ms, of which half is random")
	require.Equal(t, 30*time.Millisecond, waits[1])
	require.LessOrEqual(t, slices.Max(waits), 2*time.Second)
	require.Greater(t, slices.Max(waits), time.Second)
	s := m.p.State(path)
	require.Equal(t, publish.Waiting, s.Phase)
	since := s.Since
	require.False(t, since.IsZero())
	m.add(line("a", 3))
	m.flush()
	require.Equal(t, since, m.p.State(path).Since, "of the first line that was not sent")
	m.offline = nil
	m.sent()
	require.Empty(t, m.events)
}

// taken returns the waits so far, and forgets them.
func (w *world) taken() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	waits := w.waits
	w.waits = nil
	return waits
}

// TestErrorsThatDoNotPassAreReportedOnce and tried again rarely.
// Proves: TM-10, TM-18
func TestErrorsThatDoNotPassAreReportedOnce(t *testing.T) {
	t.Parallel()
	for kind, passes := range map[fault.Kind]bool{
		fault.Offline: true, fault.ReadOnly: true, fault.Stale: true, fault.IO: true,
		fault.Refused: false, fault.Denied: false, fault.InvalidArgument: false, fault.Internal: false, fault.NotFound: false,
	} {
		w := newWorld()
		w.limit = 25 * time.Minute
		m := w.machine(t, "ann")
		m.offline = fault.New(kind, "The test fails.")
		m.put(lines("a", 0, 3))
		background := m.background(t)
		m.p.Touched(path)
		<-background.ended
		background.wait()
		waits := w.taken()
		if passes {
			require.Equal(t, publish.Waiting, m.p.State(path).Phase, kind)
			require.Zero(t, m.count(publish.Failed), kind)
			require.Greater(t, slices.Max(waits), 40*time.Second)
			require.LessOrEqual(t, slices.Max(waits), time.Minute)
			continue
		}
		require.Equal(t, publish.Stuck, m.p.State(path).Phase, kind)
		require.Equal(t, 1, m.count(publish.Failed), kind)
		require.Contains(t, waits, 10*time.Minute, kind)
		require.Less(t, len(waits), 40)
		m.offline = nil
		m.sent()
	}
}

// running is a Publisher in the background.
type running struct {
	ended <-chan struct{} // closed when it has to end
	stop  context.CancelFunc
	done  chan struct{}
}

// wait ends it.
func (r running) wait() {
	r.stop()
	<-r.done
}

// background begins Run. It ends at the limit of the clock.
func (m *machine) background(t testing.TB) running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	m.w.mu.Lock()
	m.w.waited, m.w.stop = 0, stop
	m.w.mu.Unlock()
	r := running{ctx.Done(), stop, make(chan struct{})}
	go func() {
		defer close(r.done)
		m.p.Run(ctx)
	}()
	t.Cleanup(r.wait)
	return r
}

// TestRunSendsWhileFilesGrow sends many files in the background, which another goroutine writes.
func TestRunSendsWhileFilesGrow(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.limit = time.Hour
	m := w.machine(t, "ann")
	a := &parallel{Store: m.login}
	m.wrap = func(team.Store) team.Store { return a }
	run := m.background(t)
	names := []string{}
	for i := range 10 {
		names = append(names, fmt.Sprintf("/s/%d.jsonl", i))
	}
	text := map[string]string{}
	for round := range 20 {
		for i, name := range names {
			text[name] += line("a", 100*i+round)
			head := strings.Replace(header(), headerID, fmt.Sprintf("%016x", i), 1)
			require.NoError(t, writeFile(m.disk, name, head+text[name]))
			m.p.Touched(name)
		}
	}
	left := m.p.Flush(t.Context())
	require.Zero(t, left)
	for _, name := range names {
		s := m.p.State(name)
		require.Equal(t, publish.Sent, s.Phase)
		require.Equal(t, text[name], w.body(t, s.SID))
	}
	run.wait()
	require.LessOrEqual(t, a.most, 8, "four of Run, and four of Flush")
}

// parallel counts the calls that run at a time.
type parallel struct {
	team.Store

	mu        sync.Mutex
	now, most int
}

func (p *parallel) Append(ctx context.Context, a team.Append) (team.Tip, error) {
	p.mu.Lock()
	p.now++
	p.most = max(p.most, p.now)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.now--
	}()
	return p.Store.Append(ctx, a)
}

// telling counts notifications.
type telling struct {
	team.Store
	notified []int64
}

func (s *telling) Tell(_ context.Context, _ team.SID, n int64) { s.notified = append(s.notified, n) }

// TestFollowersAreNotifiedOnlyIfThereAreSome, once in 200 ms, and of the end.
func TestFollowersAreNotifiedOnlyIfThereAreSome(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	s := &telling{Store: m.login}
	m.wrap = func(team.Store) team.Store { return s }
	m.put(lines("a", 0, 1))
	sid := m.sent()
	require.Empty(t, s.notified)
	require.NoError(t, m.login.Follow(t.Context(), []team.SID{sid}))
	m.put(lines("a", 0, 1) + strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 10))
	m.sent()
	require.EqualValues(t, len(m.body()), s.notified[len(s.notified)-1])
	require.LessOrEqual(t, len(s.notified), 2, "ten batches at once")
}

// TestAnInterruptedFlushLeavesTheRest for the next one.
func TestAnInterruptedFlushLeavesTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(strings.Repeat(line("a", 49), 20000))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	a := m.answer()
	a.change = func(team.Append) (team.Tip, error, bool) { stop(); return team.Tip{}, nil, false }
	m.p.Touched(path)
	left := m.p.Flush(ctx)
	require.Equal(t, 1, left.Sessions)
	require.Positive(t, left.Bytes)
	require.NotEmpty(t, left.String())
	a.change = nil
	require.Zero(t, m.again())
	require.Equal(t, publish.Sent, m.p.State(path).Phase)
	require.Equal(t, string(m.body()), w.body(t, m.p.State(path).SID))
}

// TestTwoProcessesOfOneMachine send one file, which is appended to and rewritten, at the same time. There is one session.
// Proves: TM-26
func TestTwoProcessesOfOneMachine(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		w := newWorld()
		w.limit = time.Hour
		m := w.machine(t, "ann")
		twin := &machine{t: t, w: w, user: m.user, fs: m.disk, disk: m.disk, login: m.login, hello: m.hello, decided: m.decided}
		twin.start()
		body := ""
		for n := range 5 {
			body += lines("a", 10*n, 10*n+10)
			if n == 3 && round%2 == 0 {
				body = lines("c", 0, 30)
			}
			m.put(body)
			var both sync.WaitGroup
			for _, one := range []*machine{m, twin} {
				one.p.Touched(path)
				both.Go(func() { one.p.Flush(t.Context()) })
			}
			both.Wait()
		}
		all := w.sessions(t)
		require.Len(t, all, 1)
		require.Equal(t, body, w.body(t, m.p.State(path).SID))
	}
}
