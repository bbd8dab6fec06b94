// Package memory gives memory back to the operating system after work that took much of it. The runtime does so slowly
// by itself, and a server that sits idle after a large answer would keep the memory for minutes.
package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// large is how many bytes work must allocate to count.
	large = 32 << 20
	// idleTime is how long nothing may have run before memory is given back: it takes a full garbage collection.
	idleTime = 2 * time.Second
	// interval is the time between two such collections, at least.
	interval = 30 * time.Second
)

// Clock is the time. Its timers call f on a goroutine of their own.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Config is the environment of a [Keeper].
type Config struct {
	Clock     Clock         // nil means the real one
	Busy      func() bool   // reports whether the server still holds results, such as answers that the client has not read; nil: never
	Allocated func() uint64 // returns the number of bytes allocated since the start; nil asks the runtime
	Free      func()        // gives memory back; nil calls [debug.FreeOSMemory]
}

// Keeper knows which work took much memory, and gives memory back once the server is idle. It is safe for concurrent
// use. A nil Keeper does nothing.
type Keeper struct {
	c Config

	mu      sync.Mutex // guards the fields below
	running int
	last    time.Time // when the last work ended
	freed   time.Time // when memory was given back; the zero value: never
	armed   bool      // a timer is waiting
	stop    func() bool
	closed  bool
}

// New returns a Keeper.
func New(c Config) *Keeper {
	if c.Clock == nil {
		c.Clock = realClock{}
	}
	if c.Busy == nil {
		c.Busy = func() bool { return false }
	}
	if c.Allocated == nil {
		c.Allocated = allocated
	}
	if c.Free == nil {
		c.Free = free
	}
	return &Keeper{c: c}
}

// Begin notes that work begins, and returns a function to call once when it has ended. What other work allocates at the same
// time counts for both.
func (k *Keeper) Begin() (end func()) {
	if k == nil {
		return func() {}
	}
	before := k.c.Allocated()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running++
	return func() { k.ended(k.c.Allocated() - before) }
}

func (k *Keeper) ended(bytes uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running--
	k.last = k.c.Clock.Now()
	if bytes > large && !k.armed && !k.closed {
		k.armed = true
		k.waitLocked(k.remainingLocked())
	}
}

// Close stops the timer. Nothing is given back any more.
func (k *Keeper) Close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	if k.armed {
		k.armed = false
		k.stop()
	}
}

// waitLocked starts the timer.
func (k *Keeper) waitLocked(d time.Duration) { k.stop = k.c.Clock.AfterFunc(d, k.check) }

// remainingLocked returns how long to wait before memory may be given back, at most 0 if it may be now.
func (k *Keeper) remainingLocked() time.Duration {
	now := k.c.Clock.Now()
	wait := idleTime - now.Sub(k.last)
	if !k.freed.IsZero() {
		wait = max(wait, interval-now.Sub(k.freed))
	}
	return wait
}

// check gives memory back if the server is idle, and otherwise waits again.
func (k *Keeper) check() {
	if k.isDue(k.c.Busy()) {
		k.c.Free() // without the lock: it takes as long as a garbage collection
	}
}

// isDue reports whether to give memory back now.
func (k *Keeper) isDue(busy bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.armed {
		return false
	}
	wait := k.remainingLocked()
	if busy || k.running > 0 {
		wait = max(wait, idleTime)
	}
	if wait > 0 {
		k.waitLocked(wait)
		return false
	}
	k.armed, k.freed = false, k.c.Clock.Now()
	return true
}

// free collects twice: buffers in a [sync.Pool] survive the first collection.
func free() {
	runtime.GC()
	debug.FreeOSMemory()
}

// allocated returns the number of bytes allocated on the heap since the start.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
