package replicate

import (
	"context"
	"path/filepath"
	"reflect"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// Start begins to send in the background, until ctx ends or Close is called. Without a consent in team.json it only remembers that: the
// sending begins with the first turn after a consent.
func (r *Replicator) Start(ctx context.Context) {
	r.mu.Lock()
	r.background = ctx
	r.mu.Unlock()
	r.wake()
	if r.c.Device.Getenv(shareVariable) != "" {
		r.goesUntil(ctx, r.agreeInContainer)
	}
}

// wake starts the background goroutines if the user shares something. It reports whether they run.
func (r *Replicator) wake() bool {
	d, err := r.consent.Read()
	r.decide(d, err)
	r.mu.Lock()
	until := r.background
	begin := until != nil && r.shares && !r.awake && !r.closed
	if begin {
		r.awake = true
	}
	awake := r.awake
	r.mu.Unlock()
	if begin {
		r.goesUntil(until, r.pub.Run)
		r.goesUntil(until, r.tend)
		r.goesUntil(until, r.notify)
		r.goesUntil(until, func(ctx context.Context) { _, _, _ = r.Connected(ctx) }) // for its epoch; errors are in the state
	}
	return awake
}

// decide records the decisions of the user as they are now. If they changed, all files are looked at again.
func (r *Replicator) decide(d consent.Decisions, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && reflect.DeepEqual(d, r.decided) {
		return
	}
	r.decided, r.shares = d, d.Shares()
	clear(r.seen)
	r.ringLocked()
}

// tend looks for changed files while this process has the lock, and takes the lock when its owner is gone.
func (r *Replicator) tend(ctx context.Context) {
	for {
		if r.takeLock() {
			d, err := r.consent.Read()
			r.decide(d, err)
			if err == nil {
				r.look(ctx, d)
			}
		}
		if !r.pause(ctx, lookTime, r.kick) {
			return
		}
	}
}

// takeLock reports whether this process looks for files. A lock that cannot be taken for another reason than its owner is no reason not to
// send: two processes that send the same lines do no harm.
func (r *Replicator) takeLock() bool {
	r.mu.Lock()
	has := r.sender != nil
	r.mu.Unlock()
	if has {
		return true
	}
	taken, err := r.c.Locks.OpenSession(r.c.Dir, "push", r.c.Dir)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sender, r.alone = taken, !fault.Is(err, fault.Busy)
	if err != nil && r.alone {
		r.c.Log.Warn("push.lock cannot be taken", zap.Error(err))
	}
	return r.alone
}

// lookAgain makes tend look at all files soon.
func (r *Replicator) lookAgain() {
	r.mu.Lock()
	clear(r.seen)
	r.mu.Unlock()
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// Touched notes that the session file at path may have changed. It never blocks. A process without the lock leaves files in which it had no turn to
// the one that has it.
func (r *Replicator) Touched(path string) {
	r.mu.Lock()
	sends := r.awake && (r.alone || r.own[path])
	r.flushed = r.flushed && !sends
	r.mu.Unlock()
	if sends {
		r.pub.Touched(path)
	}
}

// TurnEnded notes that a turn of this process in the session file at path ended: its lines are sent at once.
func (r *Replicator) TurnEnded(path string) {
	if path == "" || !r.wake() {
		return
	}
	r.mu.Lock()
	r.own[path], r.flushed = true, false
	r.mu.Unlock()
	r.pub.TurnEnded(path)
}

// Flush sends what is known to have changed, for FlushFor at most, and returns what is left, whose String is one sentence.
func (r *Replicator) Flush(ctx context.Context) publish.Left {
	ctx, cancel := r.limited(ctx, r.c.FlushFor)
	defer cancel()
	left := r.flush(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushed = true
	return left
}

// flush sends until ctx ends, also if a call of the store takes longer.
func (r *Replicator) flush(ctx context.Context) publish.Left {
	done := make(chan publish.Left, 1)
	flushing := r.goes(func(life context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		done <- r.pub.Flush(ctx)
	})
	if flushing {
		select {
		case left := <-done:
			return left
		case <-ctx.Done():
		}
		select {
		case left := <-done: // which looked at the files
			return left
		case <-r.c.Clock.After(graceTime):
		}
	}
	left, _ := r.pub.Unsent()
	return left
}

// Push is Flush for all sessions that the user shares, also those that other programs wrote. It ends with ctx.
func (r *Replicator) Push(ctx context.Context) (publish.Left, error) {
	d, err := r.consent.Read()
	if err != nil {
		return publish.Left{}, err
	}
	if d.Shares() {
		r.lookAgain()
		r.look(ctx, d)
	}
	return r.flush(ctx), nil
}

// Unsent counts the sessions that the user shares and the bytes of them that the store lacks, as far as this machine knows, also those
// that other programs wrote. It reads files and sends nothing.
func (r *Replicator) Unsent(ctx context.Context) (left publish.Left, err error) {
	d, err := r.consent.Read()
	if err != nil || !d.Shares() {
		return publish.Left{}, err
	}
	k := r.keys(d)
	for _, path := range r.c.Library.AllFiles() {
		if err := ctx.Err(); err != nil {
			return publish.Left{}, err
		}
		f, ok := r.read(path)
		if !ok || !k.sends(f) {
			continue
		}
		sent, _ := r.states.Sent(f.id, filepath.Base(path))
		if n := f.body() - sent.Len; n > 0 {
			left.Sessions++
			left.Bytes += n
		}
	}
	return left, nil
}

// State returns the state of a session file, from memory.
func (r *Replicator) State(path string) publish.State { return r.pub.State(path) }

// Close sends what is left, for FlushFor at most, gives the leases back and closes the store. Repeated calls do nothing.
func (r *Replicator) Close(ctx context.Context) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	flushed, store := r.flushed || !r.awake, r.conn.store
	r.mu.Unlock()
	ctx, cancel := r.limited(ctx, r.c.FlushFor)
	defer cancel()
	if !flushed {
		r.flush(ctx)
	}
	if store != nil {
		r.releaseAll(ctx)
	}
	return r.shut()
}

// shut ends all goroutines.
func (r *Replicator) shut() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	store, sender := r.conn.store, r.sender
	r.mu.Unlock()
	r.end()
	r.running.Wait()
	if err := sender.Release(); err != nil {
		r.c.Log.Warn("push.lock stays behind; the next process takes it over", zap.Error(err))
	}
	if store == nil {
		return nil
	}
	return store.Close()
}
