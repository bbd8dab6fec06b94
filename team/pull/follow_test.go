package pull_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pull"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

// moody is a store whose ear and whose answers can fail.
type moody struct {
	*teamtest.Store
	mu      sync.Mutex
	deaf    bool // the ear listens and hears nothing
	refuses bool // the ear ends at once
	offline bool // every answer fails
	hangUp  context.CancelFunc
	ears    int
	asked   int
}

func (m *moody) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// counts returns how often the ear was opened and the store was asked.
func (m *moody) counts() (ears, asked int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ears, m.asked
}

func (m *moody) Ear(ctx context.Context, woken func(team.SID)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.mu.Lock()
	m.ears++
	m.hangUp = cancel
	deaf, refuses := m.deaf, m.refuses || m.offline
	m.mu.Unlock()
	switch {
	case refuses:
		return errOffline
	case deaf:
		<-ctx.Done()
		return errOffline
	}
	return m.Store.Ear(ctx, woken)
}

func (m *moody) fails() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	if m.offline {
		return errOffline
	}
	return nil
}

func (m *moody) Tips(ctx context.Context, sids []team.SID, since team.Cursor) ([]team.Length, team.Cursor, error) {
	if err := m.fails(); err != nil {
		return nil, 0, err
	}
	return m.Store.Tips(ctx, sids, since)
}

func (m *moody) Tip(ctx context.Context, sid team.SID) (team.Tip, error) {
	if err := m.fails(); err != nil {
		return team.Tip{}, err
	}
	return m.Store.Tip(ctx, sid)
}

// following is a session that is followed in a bubble of time.
type following struct {
	*testing.T
	world *world
	store *moody
	p     *published
	stop  context.CancelFunc

	mu    sync.Mutex
	got   []byte
	again int // how often the body began again
	err   error
	ended bool
}

// follow runs a story about a session that is followed.
func follow(t *testing.T, mood func(*moody), story func(f *following)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &following{T: t, world: newWorld(t)}
		f.p = f.world.publish(conversation(5), 300)
		f.store = &moody{Store: f.world.kim}
		if mood != nil {
			mood(f.store)
		}
		m := at(afero.NewMemMapFs(), f.store)
		m.config.After = nil // the clock of the bubble
		ctx, stop := context.WithCancel(t.Context())
		f.stop = stop
		go func() {
			err := pull.NewFollowing(m.puller(), false).Follow(ctx, f.p.sid, f.take)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.err, f.ended = err, true
		}()
		synctest.Wait()
		story(f)
		stop()
		synctest.Wait()
		require.True(t, f.ended)
	})
}

func (f *following) take(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b == nil {
		f.got = nil
		f.again++
		return
	}
	f.got = append(f.got, b...)
}

// has requires that all bytes of the session arrived.
func (f *following) has() {
	f.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Equal(f, string(f.p.body), string(f.got))
}

func (f *following) lacks() {
	f.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Less(f, len(f.got), len(f.p.body))
}

// more appends a line to the session; tell notifies, too.
func (f *following) more(tell bool) {
	f.Helper()
	f.world.append(f.p, []byte(st.User("zzzzzzzz", "", "more")+"\n"))
	if tell {
		f.world.ann.Tell(f.Context(), f.p.sid, int64(len(f.p.body)))
	}
}

func (f *following) pass(d time.Duration) { <-time.After(d) }

func TestFollowHears(t *testing.T) {
	follow(t, nil, func(f *following) {
		f.pass(time.Second)
		f.has()
		for range 3 {
			f.more(true)
			f.has() // no time passes
		}
		f.more(false)
		f.lacks()
		f.pass(10 * time.Second) // a notification that was lost
		f.has()
		tip, err := f.world.kim.Tip(f.Context(), f.p.sid)
		require.NoError(f, err)
		require.True(f, tip.Heard, "writers notify")
		f.stop()
		synctest.Wait()
		requireKind(f, fault.Cancelled, f.err)
	})
}

// A store that listens and delivers nothing, as behind a pooler, is asked.
// Proves: TM-42
func TestFollowFindsThatItIsDeaf(t *testing.T) {
	for name, mood := range map[string]func(*moody){
		"deaf":    func(m *moody) { m.deaf = true },
		"refuses": func(m *moody) { m.refuses = true },
	} {
		t.Run(name, func(t *testing.T) {
			follow(t, mood, func(f *following) {
				f.pass(5 * time.Second)
				f.has()
				f.more(true)
				f.pass(500 * time.Millisecond)
				f.has()
				_, asked := f.store.counts()
				f.pass(10 * time.Second)
				synctest.Wait()
				_, now := f.store.counts()
				require.InDelta(f, 20, now-asked, 1, "twice a second")
				f.store.set(func() { f.store.deaf, f.store.refuses = false, false })
				f.pass(time.Minute)
				synctest.Wait()
				ears, _ := f.store.counts()
				require.Equal(f, 2, ears, "it is tried again")
				f.more(true)
				f.has() // no time passes
			})
		})
	}
}

// The session is looked at after each reconnection: what was appended meanwhile is never notified.
func TestFollowReconnects(t *testing.T) {
	follow(t, nil, func(f *following) {
		f.pass(time.Second)
		f.has()
		f.store.set(func() { f.store.hangUp() })
		synctest.Wait()
		f.more(true)
		f.pass(500 * time.Millisecond)
		f.has()
		f.pass(time.Minute + time.Second)
		f.more(true)
		f.has()
		ears, _ := f.store.counts()
		require.Equal(f, 2, ears)
	})
}

func TestFollowWaitsForTheStore(t *testing.T) {
	follow(t, nil, func(f *following) {
		f.pass(time.Second)
		f.store.set(func() { f.store.offline = true; f.store.hangUp() })
		f.more(false)
		f.pass(time.Hour)
		f.lacks()
		require.False(f, f.ended)
		f.store.set(func() { f.store.offline = false })
		f.pass(3 * time.Second)
		f.has()
	})
}

func TestFollowReadsAnotherGenerationAgain(t *testing.T) {
	follow(t, nil, func(f *following) {
		f.pass(time.Second)
		f.has()
		ann := f.world.ann
		lease, err := ann.Lease(f.Context(), f.p.sid, false)
		require.NoError(f, err)
		body := []byte(strings.Repeat("another line\n", 9))
		sum := team.SumOf(body)
		require.NoError(f, ann.Stage(f.Context(), team.Stage{SID: f.p.sid, Gen: 2, Was: team.EmptySum, Bytes: body, Sum: sum}))
		tip, err := ann.Publish(f.Context(), team.Publish{
			SID: f.p.sid, WasGen: 1, WasLen: lease.Len, WasSum: lease.Sum, Gen: 2, Len: int64(len(body)), Sum: sum, Fence: lease.Fence,
		})
		require.NoError(f, err)
		require.Equal(f, team.OK, tip.Code)
		f.p.body = body
		ann.Tell(f.Context(), f.p.sid, 1)
		f.has()
		require.Equal(f, 1, f.again)
		f.more(true)
		f.has()
	})
}

// A follower who was removed, or whose session was deleted, learns it within a minute.
// Proves: TM-19
func TestFollowEnds(t *testing.T) {
	for name, end := range map[string]func(f *following){
		"deleted": func(f *following) { require.NoError(f, f.world.ann.Delete(f.Context(), f.p.sid, false)) },
		"removed": func(f *following) { f.world.server.Member("kim", "core", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			follow(t, nil, func(f *following) {
				f.pass(time.Second)
				f.has()
				end(f)
				f.pass(71 * time.Second)
				synctest.Wait()
				require.True(f, f.ended)
				requireKind(f, fault.NotFound, f.err)
				require.Equal(f, string(f.p.body), string(f.got), "what came stays")
			})
		})
	}
}

func TestFollowStopsAtALie(t *testing.T) {
	follow(t, nil, func(f *following) {
		f.pass(time.Second)
		f.world.appendSum(f.p, []byte("lie\n"), team.Sum{1})
		f.world.ann.Tell(f.Context(), f.p.sid, 1)
		synctest.Wait()
		require.True(f, f.ended)
		requireKind(f, fault.Damaged, f.err)
		require.Equal(f, string(f.p.body), string(f.got))
	})
}

// Two sessions are followed over one ear, which ends with the last of them. Notifications of other sessions, which any user can send, ask
// for nothing.
func TestOneEar(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.publish(conversation(5), 300)
		store := &moody{Store: w.kim}
		m := at(afero.NewMemMapFs(), store)
		m.config.After = nil
		f := pull.NewFollowing(m.puller(), false)
		var all sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		defer all.Wait()
		defer cancel()
		for range 2 {
			all.Go(func() {
				if err := f.Follow(ctx, p.sid, func([]byte) {}); !fault.Is(err, fault.Cancelled) {
					t.Error(err)
				}
			})
		}
		<-time.After(time.Second)
		ears, asked := store.counts()
		require.Equal(t, 1, ears)
		w.ann.Tell(t.Context(), team.NewSID(), 5)
		synctest.Wait()
		_, now := store.counts()
		require.Equal(t, asked, now)
	})
}

// A file grows while no server of this machine writes to it.
func TestFollowAFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.publish(conversation(5), 300)
		m := at(afero.NewMemMapFs(), w.kim)
		path, err := m.pull(t, p.sid)
		require.NoError(t, err)
		m.config.After = nil
		puller := m.puller()
		ctx, stop := context.WithCancel(t.Context())
		var grown int64
		ended := make(chan error, 1)
		go func() {
			ended <- pull.NewFollowing(puller, true).FollowFile(ctx, p.sid, path, func(n int64) { grown += n })
		}()
		line := []byte(st.User("zzzzzzzz", "", "more") + "\n")
		w.append(p, line)
		<-time.After(time.Second)
		requirePulled(t, m.fs, path, p)
		lock, err := puller.Sessions.Locks.OpenSession("/locks", headerID, path)
		require.NoError(t, err)
		w.append(p, line)
		<-time.After(5 * time.Second)
		content, err := afero.ReadFile(m.fs, path)
		require.NoError(t, err)
		require.False(t, bytes.HasSuffix(content, p.body), "a server has it")
		require.NoError(t, lock.Release())
		<-time.After(time.Second)
		requirePulled(t, m.fs, path, p)
		synctest.Wait()
		require.Equal(t, int64(2*len(line)), grown)
		stop()
		requireKind(t, fault.Cancelled, <-ended)
	})
}

// restored has another body than before, as after a backup was restored and another device continued.
type restored struct {
	*teamtest.Store
	mu  sync.Mutex
	sid team.SID // the session that is returned in place of any other, once it is set
}

func (r *restored) is(sid team.SID) team.SID {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sid != (team.SID{}) {
		return r.sid
	}
	return sid
}

func (r *restored) Tip(ctx context.Context, sid team.SID) (team.Tip, error) {
	return r.Store.Tip(ctx, r.is(sid))
}

func (r *restored) Tips(ctx context.Context, sids []team.SID, since team.Cursor) ([]team.Length, team.Cursor, error) {
	return r.Store.Tips(ctx, []team.SID{r.is(sids[0])}, since)
}

func (r *restored) SumAt(ctx context.Context, sid team.SID, gen int, off int64) (int64, team.Sum, error) {
	return r.Store.SumAt(ctx, r.is(sid), gen, off)
}

func (r *restored) Read(ctx context.Context, sid team.SID, gen int, from int64, most int, each func(team.Segment) error) error {
	return r.Store.Read(ctx, r.is(sid), gen, from, most, each)
}

func TestFollowReadsARestoredStoreAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		before := w.publish(conversation(9), 300)
		store := &restored{Store: w.kim}
		m := at(afero.NewMemMapFs(), store)
		m.config.After = nil
		f := &following{T: t, p: before}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- pull.NewFollowing(m.puller(), true).Follow(ctx, before.sid, f.take) }()
		<-time.After(time.Second)
		f.has()
		other := bytes.Replace(conversation(20), []byte("word word"), []byte("WORD WORD"), 1)
		f.p = w.publish(bytes.Replace(other, []byte(headerID), []byte("fedcba9876543210"), 1), 300)
		store.mu.Lock()
		store.sid = f.p.sid
		store.mu.Unlock()
		<-time.After(time.Second)
		f.has()
		require.Equal(t, 1, f.again)
		stop()
		requireKind(t, fault.Cancelled, <-ended)
	})
}
