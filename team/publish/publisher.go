package publish

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// atOnce is how many files are sent at a time.
const atOnce = 4

// Publisher sends the lines of session files to the team's store. [Publisher.Run] sends in the background, [Publisher.Flush] until all is
// sent. It is safe for concurrent use.
type Publisher struct {
	c     Config
	rules ruleCache

	mu      sync.Mutex
	files   map[string]*queued // by path
	ring    []*queued          // all files, for the round robin
	turn    int                // index in ring of the file that is looked at first
	waiting int                // callers of Flush
	changed chan struct{}      // is closed and replaced when a file becomes due or a step ends
}

// queued is a file with its place in the queue. All fields but pusher are guarded by the Publisher's mutex.
type queued struct {
	*pusher
	wanted   bool      // a step is due at the time due
	due      time.Time // zero: at once
	running  bool
	touched  bool // while it was running
	forget   bool // before the next step
	failures int  // in a row
	state    State
	reported string // the message of the last reported failure
	texts    bool   // all lines are in the store, and only the description of the session is not
	rested   bool   // the description is sent in the next step
}

// New returns a Publisher. It starts nothing.
func New(c Config) *Publisher {
	p := &Publisher{c: c.withDefaults(), files: map[string]*queued{}, changed: make(chan struct{})}
	p.rules = ruleCache{secrets: c.Secrets, made: map[int]shipping.Rules{}}
	return p
}

// Touched notes that a file may have changed. Its lines are sent when it rested for a moment. It never blocks.
func (p *Publisher) Touched(path string) { p.want(path, settling) }

// TurnEnded is Touched for a file with a turn that ended: its lines are sent at once, also during a back-off.
func (p *Publisher) TurnEnded(path string) { p.want(path, 0) }

// want queues a file for a step after a delay. A delay of 0 ends a back-off.
func (p *Publisher) want(path string, after time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.c.Clock.Now()
	q := p.fileLocked(path)
	if q.state.Since.IsZero() {
		q.state.Since = now
	}
	switch {
	case q.running:
		q.touched = true
	case after == 0:
		q.failures = 0
		q.wantAt(now)
	case !q.wanted || q.state.Phase == Pending || q.state.Phase == Sent:
		q.wantAt(now.Add(after))
	}
	q.texts = false
	if q.state.Phase == Sent || q.state.Phase == Off || q.state.Phase == Behind {
		q.state.Phase = Pending
	}
	p.signalLocked()
}

// wantAt queues a step, not later than an earlier request.
func (q *queued) wantAt(due time.Time) {
	if !q.wanted || due.Before(q.due) {
		q.wanted, q.due = true, due
	}
}

// fileLocked returns a file of the queue, which is added if necessary.
func (p *Publisher) fileLocked(path string) *queued {
	q := p.files[path]
	if q == nil {
		q = &queued{pusher: &pusher{c: &p.c, rules: &p.rules, path: path, size: newSizer()}}
		p.files[path], p.ring = q, append(p.ring, q)
	}
	return q
}

// Woken notes that the session sid changed in the store: a file that waits until it is free is tried at once.
func (p *Publisher) Woken(sid team.SID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.ring {
		if q.state.SID == sid && q.state.Phase == Kept {
			q.wantAt(p.c.Clock.Now())
		}
	}
	p.signalLocked()
}

// Retry ends all back-offs: the network changed, or the user asked for it.
func (p *Publisher) Retry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retryLocked(true)
	p.signalLocked()
}

// retryLocked makes waiting files due at once: those whose error passes, or all.
func (p *Publisher) retryLocked(all bool) {
	now := p.c.Clock.Now()
	for _, q := range p.ring {
		if q.wanted && (q.state.Phase == Waiting || all) {
			q.failures, q.due = 0, now
		}
	}
}

// State returns the state of a file; the phase is Off for one that was never touched. It reads memory only.
func (p *Publisher) State(path string) State {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.files[path]; q != nil {
		return q.state
	}
	return State{Phase: Off}
}

// Run sends until ctx ends. It is called once.
func (p *Publisher) Run(ctx context.Context) {
	p.work(ctx, func() bool { return false })
}

// Flush sends the lines of all touched files, and returns what is left when ctx ends, or when nothing is left but files that cannot be
// sent soon. Files that wait for another try are tried at once.
func (p *Publisher) Flush(ctx context.Context) Left {
	p.mu.Lock()
	p.waiting++
	p.retryLocked(true)
	now := p.c.Clock.Now()
	for _, q := range p.ring {
		if q.wanted {
			q.due = now
		}
		if q.state.Phase == Stuck || q.state.Phase == Gone {
			q.state.Phase = Pending
		}
	}
	p.mu.Unlock()
	p.work(ctx, p.nothingSoonLocked)
	p.tellAll(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting--
	return p.leftLocked()
}

// tellAll notifies followers at once.
func (p *Publisher) tellAll(ctx context.Context) {
	p.mu.Lock()
	var due []*queued
	for _, q := range p.ring {
		if !q.running && q.heard {
			q.running, q.touched = true, false
			due = append(due, q)
		}
	}
	p.mu.Unlock()
	for _, q := range due {
		if store, _, err := p.c.Store(); err == nil { // followers also poll
			q.notified = time.Time{}
			q.tell(ctx, store)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range due {
		q.running = false
		if q.touched {
			q.wantAt(p.c.Clock.Now())
		}
	}
	p.signalLocked()
}

// nothingSoonLocked reports whether no file is sent soon.
func (p *Publisher) nothingSoonLocked() bool {
	for _, q := range p.ring {
		if q.running || q.wanted && (q.texts || q.state.Phase.unfinished()) && q.state.Phase != Stuck {
			return false
		}
	}
	return true
}

// leftLocked counts what is not sent.
func (p *Publisher) leftLocked() (l Left) {
	for _, q := range p.ring {
		if !q.state.Phase.unfinished() || !q.wanted && !q.running || q.texts {
			continue
		}
		l.Sessions++
		l.Bytes += q.state.Unsent
		if q.state.Unsent == 0 && q.state.Phase != Stuck {
			l.Bytes += p.sizeOf(q.path)
		}
		if l.Err == nil {
			l.Err = q.state.Err
		}
	}
	return l
}

// sizeOf returns the size of a file that was not opened yet.
func (p *Publisher) sizeOf(path string) int64 {
	info, err := p.c.Fs.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// work makes steps of due files, several at a time, until ctx ends or done returns true. done is called with the mutex.
func (p *Publisher) work(ctx context.Context, done func() bool) {
	var workers sync.WaitGroup
	defer workers.Wait()
	for range atOnce {
		workers.Go(func() {
			for ctx.Err() == nil && p.turnOf(ctx, done) {
			}
		})
	}
}

// turnOf makes one step, or waits until one may be due. It returns false if done does.
func (p *Publisher) turnOf(ctx context.Context, done func() bool) bool {
	p.mu.Lock()
	if done() {
		p.mu.Unlock()
		return false
	}
	q, wait := p.nextLocked()
	changed := p.changed
	p.mu.Unlock()
	if q != nil {
		p.stepOf(ctx, q)
		return true
	}
	var timer <-chan time.Time
	if wait > 0 {
		timer = p.c.Clock.After(wait)
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timer:
	}
	return true
}

// nextLocked returns the next due file, which is running from then on, or the time until one is due; 0 if none will be.
func (p *Publisher) nextLocked() (next *queued, wait time.Duration) {
	now := p.c.Clock.Now()
	for i := range p.ring {
		q := p.ring[(p.turn+i)%len(p.ring)]
		if !q.wanted || q.running {
			continue
		}
		if d := q.due.Sub(now); d > 0 {
			if wait == 0 || d < wait {
				wait = d
			}
			continue
		}
		p.turn = (p.turn + i + 1) % len(p.ring)
		q.running, q.touched = true, false
		q.hurry, q.rested = q.rested || p.waiting > 0, false
		return q, 0
	}
	return nil, wait
}

// stepOf makes a step of a file that is running.
func (p *Publisher) stepOf(ctx context.Context, q *queued) {
	p.mu.Lock()
	forget := q.forget
	q.forget = false
	p.mu.Unlock()
	if forget {
		q.reset("") // the state file, if there is one, is loaded again
	}
	out, err := q.step(ctx)
	p.mu.Lock()
	event := p.settleLocked(ctx, q, out, err)
	p.signalLocked()
	p.mu.Unlock()
	if event != nil {
		p.c.Event(*event)
	}
}

// settleLocked records the result of a step, and returns an event if the user is to be notified.
func (p *Publisher) settleLocked(ctx context.Context, q *queued, out outcome, err error) *Event {
	now := p.c.Clock.Now()
	q.running, q.wanted = false, false
	q.state.SID, q.state.Unsent, q.state.Writer = q.bound.sid, q.unsent, out.writer
	q.state.Agreed, q.state.Newer, q.texts = q.agreed(), q.newer, out.texts && !q.touched
	switch {
	case ctx.Err() != nil && fault.Is(err, fault.Cancelled):
		q.wantAt(now)
		if !q.state.Phase.unfinished() { // else what is known is as before
			q.state.Phase = Pending
		}
		return nil
	case err != nil && passes(err):
		q.failures++
		q.rested = q.rested || q.hurry
		q.wantAt(now.Add(backOff(q.failures, p.limitLocked(), p.c.Jitter())))
		q.state.Phase, q.state.Err = Waiting, asFault(err)
		return nil
	case err != nil:
		return p.failLocked(q, Stuck, err)
	case out.phase == Gone:
		return p.failLocked(q, Gone, out.err)
	}
	p.goOnLocked(q, out, now)
	return nil
}

// goOnLocked records a step without an error.
func (p *Publisher) goOnLocked(q *queued, out outcome, now time.Time) {
	q.failures, q.state.Phase, q.state.Err, q.reported = 0, out.phase, nil, ""
	if out.err != nil {
		q.state.Err = asFault(out.err)
	}
	q.rested = q.rested || q.hurry && out.more // until the description is complete
	if out.moved {
		p.retryLocked(false)
	}
	switch {
	case out.more:
		q.wantAt(now)
	case out.after > 0:
		q.wantAt(now.Add(out.after))
	}
	if !out.phase.unfinished() {
		q.state.Since = time.Time{}
	}
	if q.touched {
		q.wantAt(now.Add(settling))
		if q.state.Phase != Kept {
			q.state.Phase = Pending
		}
		if q.state.Since.IsZero() {
			q.state.Since = now
		}
	}
}

// failLocked records an error that does not pass soon. Each is reported once.
func (p *Publisher) failLocked(q *queued, phase Phase, err error) *Event {
	q.failures = 0
	q.wantAt(p.c.Clock.Now().Add(rarely))
	q.state.Phase, q.state.Err = phase, asFault(err)
	if q.reported == err.Error() {
		return nil
	}
	q.reported = err.Error()
	return &Event{Kind: Failed, Path: q.path, SID: q.state.SID, Err: q.state.Err}
}

// limitLocked returns the longest back-off.
func (p *Publisher) limitLocked() time.Duration {
	if p.waiting > 0 {
		return watched
	}
	return longest
}

// signalLocked wakes all goroutines that wait for a change.
func (p *Publisher) signalLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// asFault returns err as an error that can be shown to users.
func asFault(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return fault.New(fault.Internal, "A session was not sent to the team: %w.", err)
}
