package tool

import (
	"sync"
	"time"
)

// throttle calls a function when it is poked, but not more often than every so often: a
// poke in between is answered as soon as it may be. The function is never called by two
// goroutines at a time.
type throttle struct {
	every time.Duration
	call  func()

	mu      sync.Mutex // guards the fields below; held during call
	last    time.Time
	timer   *time.Timer // runs while a poke waits
	stopped bool
}

func newThrottle(every time.Duration, call func()) *throttle {
	return &throttle{every: every, call: call}
}

func (t *throttle) poke() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped || t.timer != nil {
		return
	}
	if wait := t.every - time.Since(t.last); wait > 0 {
		t.timer = time.AfterFunc(wait, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.timer = nil
			t.fire()
		})
		return
	}
	t.fire()
}

func (t *throttle) fire() {
	if !t.stopped {
		t.last = time.Now()
		t.call()
	}
}

// stop waits for a running call and prevents further ones.
func (t *throttle) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}
