package lsp_test

import (
	"context"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent"
)

// liveFake replaces the session manager.
type liveFake struct {
	mu       sync.Mutex
	listener func(agent.Event)
	closed   chan string // folders closed
	done     chan struct{}
	blockEnd chan struct{} // Close waits for it when set
}

func newLiveFake() *liveFake {
	return &liveFake{closed: make(chan string, 16), done: make(chan struct{})}
}

func (l *liveFake) Subscribe(f func(agent.Event)) func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener = f
	return func() {}
}

func (l *liveFake) emit(e agent.Event) {
	l.mu.Lock()
	f := l.listener
	l.mu.Unlock()
	f(e)
}

func (l *liveFake) CloseFolder(_ context.Context, cwd string) error {
	l.closed <- cwd
	return nil
}

func (l *liveFake) Close(context.Context) error {
	if l.blockEnd != nil {
		<-l.blockEnd
	}
	close(l.done)
	return nil
}

// clockFake is a clock that only advance moves.
type clockFake struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timerFake
}

type timerFake struct {
	at time.Time
	f  func()
}

func newClockFake() *clockFake { return &clockFake{now: time.Unix(1e9, 0)} }

func (c *clockFake) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clockFake) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timerFake{at: c.now.Add(d), f: f}
	c.timers = append(c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := t.f != nil
		t.f = nil
		return was
	}
}

// advance moves the clock and calls the functions that are due.
func (c *clockFake) advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for _, t := range c.timers {
		if t.f != nil && !t.at.After(c.now) {
			due = append(due, t.f)
			t.f = nil
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}
