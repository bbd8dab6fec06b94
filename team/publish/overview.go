package publish

import "time"

// Changed returns a channel that is closed when the state of a file may have changed.
func (p *Publisher) Changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

// Unsent counts the sessions that are not sent, without looking at files: one that was not opened since it changed counts with the bytes
// that were unsent before. since is the time of the first change that is not sent.
func (p *Publisher) Unsent() (l Left, since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.ring {
		if !q.state.Phase.unfinished() || !q.wanted && !q.running {
			continue
		}
		l.Sessions++
		l.Bytes += q.state.Unsent
		if l.Err == nil {
			l.Err = q.state.Err
		}
		if at := q.state.Since; !at.IsZero() && (since.IsZero() || at.Before(since)) {
			since = at
		}
	}
	return l, since
}

// Compare makes the next step of each file compare it with the store, and queues all files for a step. The state files must have been removed
// before.
func (p *Publisher) Compare() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.c.Clock.Now()
	for _, q := range p.ring {
		q.forget = true
		if q.running {
			q.touched = true
			continue
		}
		q.wantAt(now)
		if !q.state.Phase.unfinished() {
			q.state.Phase = Pending
		}
	}
	p.signalLocked()
}
