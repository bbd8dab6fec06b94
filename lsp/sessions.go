package lsp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
)

// sessions are the live sessions. The server forwards their events, closes those of removed folders and
// closes all of them at the end. It is safe for concurrent use.
type sessions struct {
	log *zap.Logger

	mu          sync.Mutex
	live        Live          // nil before initialize and for a backend without sessions; guarded by mu
	unsubscribe func()        // guarded by mu
	closed      bool          // guarded by mu
	last        chan struct{} // closed when the last removed folder is closed; guarded by mu
}

func newSessions(log *zap.Logger) *sessions {
	none := make(chan struct{})
	close(none)
	return &sessions{log: log, last: none}
}

// open takes ownership of the sessions, forwards their events and closes the previous sessions, if any.
// If the server has stopped in the meantime, it closes the new ones at once.
func (ss *sessions) open(live Live, forward func(agent.Event)) {
	if live == nil {
		return
	}
	ss.mu.Lock()
	unused, unsubscribe := live, func() {}
	if !ss.closed {
		unused = ss.live
		if unused != nil {
			unsubscribe = ss.unsubscribe
		}
		ss.live, ss.unsubscribe = live, live.Subscribe(forward)
	}
	ss.mu.Unlock()
	if unused != nil {
		unsubscribe()
		_ = unused.Close(context.Background()) // it has no unsaved changes
	}
}

// closeFolder ends the session of a removed folder. It does so on another goroutine, because it waits for
// writes, and for one folder after the other.
func (ss *sessions) closeFolder(cwd string) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.live == nil || ss.closed {
		return
	}
	live, before, done := ss.live, ss.last, make(chan struct{})
	ss.last = done
	go func() {
		defer close(done)
		<-before
		err := safely(func() error { return live.CloseFolder(context.Background(), cwd) })
		if err != nil {
			ss.log.Error("a folder's session could not be closed", zap.String("cwd", cwd), zap.Error(err))
		}
	}()
}

// close closes every session. It waits at most grace for folders that are being closed, and again for
// the sessions.
func (ss *sessions) close(grace time.Duration) {
	ss.mu.Lock()
	ss.closed = true
	live, last, unsubscribe := ss.live, ss.last, ss.unsubscribe
	ss.mu.Unlock()
	if live == nil {
		return
	}
	if !waitFor(last, grace) {
		ss.log.Warn("a folder's session is still closing; leaving it behind")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if err := safely(func() error { return live.Close(ctx) }); err != nil {
			ss.log.Error("sessions could not be closed", zap.Error(err))
		}
		unsubscribe()
	}()
	if !waitFor(done, grace+settleTime) {
		ss.log.Warn("the sessions are still closing; leaving them behind")
	}
}

// safely turns a panic of f into an error, so that the server still shuts down.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
