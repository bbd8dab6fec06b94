package replicate_test

import (
	"bytes"
	"context"
	"os"
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
	"github.com/xcsh-ls/xcsh-ls/team/publish"
	"github.com/xcsh-ls/xcsh-ls/team/replicate"
)

// TestOneProcessOfAMachineSends what terminals write; another one takes over when it ends or is killed.
// Proves: TM-26 (the lock)
func TestOneProcessOfAMachineSends(t *testing.T) {
	for _, killed := range []bool{false, true} {
		inWorldOf(t, killed, func(w *world) {
			first := w.sharing("ann")
			second := first.another().start()
			w.pass(11 * time.Second)
			second.line.taken()
			first.add(session1, user(2))
			second.r.Touched(second.path(session1))
			w.pass(11 * time.Second)
			require.Equal(t, user(1)+user(2), w.bodies("kim")[session1+".0"])
			require.NotContains(t, second.line.taken(), "Append")

			second.put(session2, user(1))
			second.turn(session2, user(2))
			require.Contains(t, second.line.taken(), "Append", "a turn of its own is sent at once")
			if killed {
				first.kill()
			} else {
				first.close()
			}
			first.add(session1, user(3))
			w.pass(21 * time.Second)
			require.Contains(t, second.line.taken(), "Append")
			require.Equal(t, user(1)+user(2)+user(3), w.bodies("kim")[session1+".0"])
			second.close()
			exists, err := afero.Exists(second.fs, dir+"/push.lock")
			require.NoError(t, err)
			require.False(t, exists)
		})
	}
}

// inWorldOf is inWorld for a case.
func inWorldOf(t *testing.T, killed bool, story func(w *world)) {
	t.Helper()
	t.Run(map[bool]string{true: "killed", false: "closed"}[killed], func(t *testing.T) { inWorld(t, story) })
}

// TestAConsentOfAnotherProcessIsNoticed with the next turn.
func TestAConsentOfAnotherProcessIsNoticed(t *testing.T) {
	inWorld(t, func(w *world) {
		server := w.machine("ann").start()
		shell := server.another()
		shell.share(replicate.Sharing{Scope: "new"})
		shell.close()
		require.Empty(t, server.line.taken())
		server.put(session1, user(1))
		server.turn(session1, user(2))
		require.Len(t, w.bodies("kim"), 1)
		server.close()
	})
}

// TestOnlyUnsentFilesAreTouchedAtTheStart of projects that are shared.
func TestOnlyUnsentFilesAreTouchedAtTheStart(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.sharing("ann")
		m.close()
		m.begin()
		m.put(session2, user(1))
		elsewhere := m.path("0000000000000000")
		m.write(elsewhere, st.Header("0000000000000000", "/elsewhere")+"\n"+user(1))
		m.start()
		w.pass(11 * time.Second)
		require.Equal(t, 1, strings.Count(strings.Join(m.line.taken(), " "), "Append"))
		require.Len(t, w.bodies("ann"), 2)
		m.add(session1, user(2))
		m.close()
		m.begin()
		left, err := m.r.Push(context.Background())
		require.NoError(t, err)
		require.Zero(t, left)
		require.Equal(t, user(1)+user(2), w.bodies("kim")[session1+".0"])
		m.close()
	})
}

// slowOpening is a file system whose opening of files can take time.
type slowOpening struct {
	afero.Fs

	mu    sync.Mutex
	takes func(name string) time.Duration
}

func (s *slowOpening) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	s.mu.Lock()
	takes := s.takes(name)
	s.mu.Unlock()
	if takes > 0 {
		<-time.After(takes)
	}
	return s.Fs.OpenFile(name, flag, perm)
}

func (s *slowOpening) Open(name string) (afero.File, error) { return s.OpenFile(name, os.O_RDONLY, 0) }

// TestAPushSendsWhatTheBackgroundIsLookingAt and does not take the file for one that was sent.
func TestAPushSendsWhatTheBackgroundIsLookingAt(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.sharing("ann")
		m.close()
		slow := &slowOpening{Fs: m.fs, takes: func(string) time.Duration { return 0 }}
		m.fs = slow
		m.begin()
		m.start()
		w.pass(time.Second)
		m.add(session1, user(2))
		// The push lists the files for a second. In this time the background, which it woke, lists them too, and then reads one for long.
		lists := 0
		slow.mu.Lock()
		slow.takes = func(name string) time.Duration {
			if strings.HasSuffix(name, ".jsonl") {
				return 3 * time.Second
			}
			if !strings.HasSuffix(name, "/sessions") {
				return 0
			}
			if lists++; lists > 1 {
				return 0
			}
			return time.Second
		}
		slow.mu.Unlock()
		left, err := m.r.Push(context.Background())
		require.NoError(t, err)
		require.Zero(t, left)
		require.Equal(t, user(1)+user(2), w.bodies("kim")[session1+".0"])
		m.close()
	})
}

// TestEventsOfTheState come at most once a second, and only for changes.
func TestEventsOfTheState(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.sharing("ann")
		m.events = nil
		w.pass(time.Minute)
		require.Empty(t, m.events)
		m.line.set(func(l *line) { l.down = true })
		for n := range 20 {
			m.add(session1, user(10+n))
			m.r.TurnEnded(m.path(session1))
			w.pass(500 * time.Millisecond)
		}
		synctest.Wait()
		require.LessOrEqual(t, len(m.events), 3)
		last := m.events[len(m.events)-1]
		require.Equal(t, replicate.Event{Kind: replicate.StateChanged, State: "offline", Unsent: 1}, last)
		m.line.set(func(l *line) { l.down = false })
		m.r.TurnEnded(m.path(session1))
		w.pass(3 * time.Second)
		last = m.events[len(m.events)-1]
		require.Equal(t, replicate.Event{Kind: replicate.StateChanged, State: "ok"}, last)
		m.close()
	})
}

// TestADeletedSessionStaysHere and the user is notified.
// Proves: TM-36
func TestADeletedSessionStaysHere(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.sharing("ann")
		sid := m.sid()
		require.NoError(t, m.r.Delete(context.Background(), sid, false))
		m.turn(session1, user(2))
		gone := m.event(replicate.Gone)
		require.Equal(t, m.path(session1), gone.Path)
		require.True(t, fault.Is(gone.Err, fault.NotFound))
		require.Contains(t, m.read(m.path(session1)), user(2))
		require.NoError(t, m.r.Delete(context.Background(), sid, true))
		m.r.TurnEnded(m.path(session1))
		w.pass(time.Minute)
		require.Equal(t, user(1)+user(2), w.bodies("kim")[session1+".0"])
		m.close()
	})
}

// TestPullAndFollowNeedNoConsent of the user who reads.
func TestPullAndFollowNeedNoConsent(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.sharing("ann")
		k := w.machine("kim").start()
		path, n, err := k.r.Pull(context.Background(), m.sid(), cwd, nil)
		require.NoError(t, err)
		require.EqualValues(t, len(user(1)), n)
		require.Contains(t, k.read(path), user(1))
		require.Empty(t, k.decisions().Projects)

		var got bytes.Buffer
		begins := 0
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- k.r.Follow(ctx, m.sid(), cwd, func(b []byte, begin bool) error {
				if begin {
					begins++
				}
				got.Write(b)
				return nil
			})
		}()
		w.pass(2 * time.Second)
		m.turn(session1, user(2))
		w.pass(12 * time.Second)
		stop()
		requireKind(t, fault.Cancelled, <-ended)
		require.Equal(t, 1, begins)
		require.Equal(t, k.read(path)+user(2), got.String())

		broken := fault.New(fault.Internal, "The panel is gone.")
		require.Equal(t, error(broken), k.r.Follow(context.Background(), m.sid(), cwd, func([]byte, bool) error { return broken }))
		_, _, err = k.r.Pull(context.Background(), team.NewSID(), cwd, nil)
		requireKind(t, fault.NotFound, err)
		m.close()
		k.close()
	})
}

// TestEachFaultOfAConsent leaves the former decision or the new one, and a repeated consent succeeds.
func TestEachFaultOfAConsent(t *testing.T) {
	inWorld(t, func(w *world) {
		faults := 0
		for _, mode := range []st.Mode{st.Once, st.Dead, st.Short} {
			for at := 1; at > 0; at++ {
				m := w.machine("ann")
				disk := m.fs
				broken := &st.FaultFs{Fs: disk, At: at, Mode: mode}
				m.fs = broken
				m.begin()
				s := replicate.Sharing{Cwd: cwd, Scope: "new"}
				plan, err := m.r.Plan(context.Background(), s)
				if err == nil {
					err = m.r.Share(context.Background(), s, plan.Token)
				}
				m.r.Kill()
				m.fs = disk
				_, shared := m.decisions().Projects[key]
				if err == nil {
					require.True(t, shared)
				}
				if !broken.Fired() {
					at = -1
				} else {
					faults++
				}
				m.kill()
				w.pass(time.Second) // a lock without its owner's name is abandoned by then
				m.start()
				m.share(s)
				require.Equal(t, "ok", m.r.Status().State)
				m.close()
			}
		}
		require.Greater(t, faults, 30)
	})
}

// TestAFaultOfTheLockStopsNothing whichever operation fails.
func TestAFaultOfTheLockStopsNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		for at := 1; at > 0; at++ {
			w.anotherServer()
			m := w.machine("ann")
			m.share(replicate.Sharing{Scope: "all"})
			m.close()
			disk := m.fs
			broken := &st.FaultFs{Fs: disk, At: at, Mode: st.Dead, On: func(_, name string) bool { return strings.Contains(name, "push.lock") }}
			m.fs = broken
			m.begin()
			m.fs = disk
			m.put(session1, user(1))
			m.start()
			w.pass(11 * time.Second)
			require.Equal(t, map[string]string{session1 + ".0": user(1)}, w.bodies("kim"))
			m.close()
			if !broken.Fired() {
				require.Greater(t, at, 3)
				at = -1
			}
		}
	})
}

// TestAKillBetweenAnyTwoCalls loses no line and sends none twice.
func TestAKillBetweenAnyTwoCalls(t *testing.T) {
	inWorld(t, func(w *world) {
		for cut := 1; cut > 0; cut++ {
			w.anotherServer()
			m := w.machine("ann")
			m.line.cut = cut
			m.put(session1, user(1))
			s := replicate.Sharing{Cwd: cwd, Scope: "all"}
			m.start()
			if plan, err := m.r.Plan(context.Background(), s); err == nil {
				_ = m.r.Share(context.Background(), s, plan.Token) // the next process repeats it
			}
			w.pass(time.Second)
			if end, err := m.r.Begin(context.Background(), m.path(session1)); err == nil {
				m.add(session1, user(2))
				end()
			}
			w.pass(time.Second)
			if len(m.line.taken()) < cut {
				require.Greater(t, cut, 8)
				cut = -1
			}
			m.kill()
			m.start()
			m.share(s)
			m.turn(session1, user(3))
			w.pass(time.Minute)
			require.Equal(t, map[string]string{session1 + ".0": user(1) + user(2) + user(3)}, w.bodies("kim"))
			m.close()
		}
	})
}

// TestAFileThatIsBehindIsCompleted when nothing writes it on this machine, and not during a turn of this process.
func TestAFileThatIsBehindIsCompleted(t *testing.T) {
	inWorld(t, func(w *world) {
		desk := w.sharing("ann")
		desk.turn(session1, user(2))
		desk.close()

		laptop := w.machine("ann")
		laptop.start()
		laptop.share(replicate.Sharing{Scope: "all"})
		path := laptop.put(session1, line1) // a copy from a backup
		end, err := laptop.r.Begin(context.Background(), path)
		require.NoError(t, err)
		laptop.r.Touched(path)
		w.pass(2 * time.Minute)
		require.Equal(t, publish.Behind, laptop.r.State(path).Phase)
		require.NotContains(t, laptop.read(path), user(2), "a turn runs")
		end()
		w.pass(2 * time.Minute)
		require.Equal(t, desk.read(desk.path(session1)), laptop.read(path))
		require.Equal(t, map[string]string{session1 + ".0": user(1) + user(2)}, w.bodies("kim"))
		laptop.close()
	})
}

// TestUnsentSessionsAreCounted by a process that sends nothing.
func TestUnsentSessionsAreCounted(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.sharing("ann")
		left, err := m.r.Unsent(context.Background())
		require.NoError(t, err)
		require.Zero(t, left)
		m.close()
		m.add(session1, user(2))
		m.put(session2, user(3))
		m.begin()
		left, err = m.r.Unsent(context.Background())
		require.NoError(t, err)
		require.Equal(t, publish.Left{Sessions: 2, Bytes: int64(len(user(2) + user(3)))}, left)
		require.Equal(t, map[string]string{session1 + ".0": user(1)}, w.bodies("kim"))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = m.r.Unsent(ctx)
		require.ErrorIs(t, err, context.Canceled)
		m.close()
	})
}
