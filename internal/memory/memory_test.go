package memory_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/memory"
)

// world is a server with a clock that only pass moves.
type world struct {
	now       time.Time
	timers    []*timer
	allocated uint64
	busy      bool
	freed     int
	keeper    *memory.Keeper
}

type timer struct {
	at      time.Time
	f       func()
	stopped bool
}

func newWorld() *world {
	w := &world{now: time.Unix(1_000_000, 0)}
	w.keeper = memory.New(memory.Config{
		Clock: w, Busy: func() bool { return w.busy },
		Allocated: func() uint64 { return w.allocated }, Free: func() { w.freed++ },
	})
	return w
}

func (w *world) Now() time.Time { return w.now }

func (w *world) AfterFunc(d time.Duration, f func()) func() bool {
	at := &timer{at: w.now.Add(d), f: f}
	w.timers = append(w.timers, at)
	return func() bool { at.stopped = true; return true }
}

// pass lets time pass, in steps of 100 ms.
func (w *world) pass(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(100 * time.Millisecond)
		due := w.timers
		w.timers = nil
		for _, at := range due {
			switch {
			case at.stopped:
			case at.at.After(w.now):
				w.timers = append(w.timers, at)
			default:
				at.f()
			}
		}
	}
}

// work does work that allocates n bytes.
func (w *world) work(n uint64) {
	end := w.keeper.Begin()
	w.allocated += n
	end()
}

const (
	small = 32 << 20
	large = small + 1
)

func TestMemoryIsGivenBackOnceTheServerIsIdle(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.work(large)
	w.pass(1900 * time.Millisecond)
	require.Zero(t, w.freed, "too early")
	w.pass(100 * time.Millisecond)
	require.Equal(t, 1, w.freed)
	w.pass(time.Hour)
	require.Equal(t, 1, w.freed, "once")
	require.Empty(t, w.timers)
}

func TestSmallWorkGivesNothingBack(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for range 100 {
		w.work(small)
	}
	w.pass(time.Hour)
	require.Zero(t, w.freed)
}

func TestWorkPutsTheReturnOff(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.work(large)
	for range 10 {
		w.pass(time.Second)
		w.work(1)
	}
	require.Zero(t, w.freed, "the server was never idle for two seconds")
	end := w.keeper.Begin()
	w.pass(time.Minute)
	require.Zero(t, w.freed, "work is running")
	end()
	w.pass(1900 * time.Millisecond)
	require.Zero(t, w.freed)
	w.pass(2 * time.Second)
	require.Equal(t, 1, w.freed)
}

// While the client has not read an answer, its memory cannot be given back.
func TestAnAnswerThatIsNotReadPutsTheReturnOff(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.busy = true
	w.work(large)
	w.pass(time.Minute)
	require.Zero(t, w.freed)
	w.busy = false
	w.pass(2 * time.Second)
	require.Equal(t, 1, w.freed)
}

func TestMemoryIsGivenBackEveryThirtySecondsAtMost(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for range 20 { // 60 s
		w.work(large)
		w.pass(3 * time.Second)
	}
	require.Equal(t, 2, w.freed)
	w.pass(time.Minute)
	require.Equal(t, 3, w.freed, "the last work counts, too")
	w.work(large)
	w.pass(2 * time.Second)
	require.Equal(t, 4, w.freed, "long after the last time")
}

func TestNothingIsGivenBackAfterClose(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.work(large)
	w.keeper.Close()
	w.work(large)
	w.pass(time.Hour)
	require.Zero(t, w.freed)
	var none *memory.Keeper
	none.Begin()()
	none.Close()
}

// kept keeps an allocation from being optimized away.
var kept []byte

// The real functions: allocations are counted, and what was freed returns to the operating system.
func TestTheRuntimesOwnMemory(t *testing.T) { //nolint:paralleltest // it looks at the memory of the process
	clock := &world{now: time.Unix(0, 0)}
	k := memory.New(memory.Config{Clock: clock})
	end := k.Begin()
	kept = make([]byte, 128<<20)
	kept = nil
	end()
	require.Len(t, clock.timers, 1, "the allocation was not counted")
	clock.pass(2 * time.Second)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	require.Less(t, m.HeapSys-m.HeapReleased, uint64(64<<20))
}

// Work may begin and end on any goroutine while memory is given back.
func TestConcurrentWork(t *testing.T) {
	t.Parallel()
	k := memory.New(memory.Config{Free: func() {}})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				k.Begin()()
			}
		})
	}
	all.Wait()
	k.Close()
}
