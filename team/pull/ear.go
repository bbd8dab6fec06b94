package pull

import (
	"context"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/team"
)

const (
	deafTime  = time.Second            // until a notification of our own has to be there
	nonceTime = 100 * time.Millisecond // between such notifications: the first may be before the store listens
	againTime = time.Minute            // until the store is asked for notifications again
)

// ear listens for the notifications of a store while there are followers.
type ear struct {
	p   *Puller
	off bool // never listens

	mu        sync.Mutex
	followers map[*follower]struct{} // guarded by mu
	end       context.CancelFunc     // of the listening goroutine; guarded by mu
	done      chan struct{}          // closed when it has ended; guarded by mu
	hearing   bool                   // notifications arrive; guarded by mu
}

// join adds a follower, until leave is called. The first one begins to listen, and the last one waits until that has ended.
func (e *ear) join(ctx context.Context, f *follower) (leave func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.followers[f] = struct{}{}
	if e.end == nil && !e.off {
		listening, end := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan struct{})
		e.end, e.done = end, done
		go func() {
			defer close(done)
			e.run(listening)
		}()
	}
	return func() { e.leave(f) }
}

func (e *ear) leave(f *follower) {
	e.mu.Lock()
	delete(e.followers, f)
	var done chan struct{}
	if len(e.followers) == 0 && e.end != nil {
		e.end()
		done, e.end, e.done = e.done, nil, nil
	}
	e.mu.Unlock()
	if done != nil {
		<-done
	}
}

func (e *ear) hears() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hearing
}

// run listens until ctx ends. A store that is deaf, or cannot be reached, is asked again after a minute.
func (e *ear) run(ctx context.Context) {
	for ctx.Err() == nil {
		e.listen(ctx)
		if wait(ctx, e.p.After, againTime) != nil {
			return
		}
	}
}

// listen listens until the connection breaks, or turns out to deliver nothing.
func (e *ear) listen(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	nonce, heard := team.NewSID(), make(chan struct{})
	var once sync.Once
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = e.p.Store.Ear(ctx, func(sid team.SID) { // without it the lengths are asked for
			if sid == nonce {
				once.Do(func() { close(heard) })
			}
			e.woken(sid)
		})
	}()
	if e.test(ctx, nonce, heard, ended) {
		e.set(true) // what was appended before is never notified
		<-ended
		e.set(false)
	}
	cancel()
	<-ended
}

// test reports whether a notification that another connection sends arrives.
func (e *ear) test(ctx context.Context, nonce team.SID, heard, ended <-chan struct{}) bool {
	for range int(deafTime / nonceTime) {
		e.p.Store.Tell(ctx, nonce, 0)
		c, stop := e.p.After(nonceTime)
		select {
		case <-heard:
			stop()
			return true
		case <-ended:
			stop()
			return false
		case <-c:
		}
	}
	return false
}

// set records whether notifications arrive, and makes all followers look.
func (e *ear) set(hearing bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hearing = hearing
	for f := range e.followers {
		f.poke()
	}
}

// woken makes the followers of a session look.
func (e *ear) woken(sid team.SID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for f := range e.followers {
		if f.sid == sid {
			f.poke()
		}
	}
}
