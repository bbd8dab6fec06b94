package agent

import (
	"cmp"
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	changeplan "github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/review"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// changesEvery is the default of [ChangeSettings].Every. If counting the changes is slow, because the session changed many
// or large files, events are delayed, at most by changesLatest, so that counting takes at most a tenth of the time.
const (
	changesEvery  = 300 * time.Millisecond
	changesShare  = 10
	changesLatest = 5 * time.Second
)

// changesAfter returns the delay of the next event after one whose changes took some time to count.
func (c ChangeSettings) changesAfter(took time.Duration) time.Duration {
	return max(cmp.Or(c.Every, changesEvery), min(changesShare*took, changesLatest))
}

// changesNews publishes new records in batches. It is safe for concurrent use.
type changesNews struct {
	mu      sync.Mutex
	timer   *time.Timer // nil if nothing is scheduled; guarded by mu, like the fields below
	of      *ledger
	record  string
	took    time.Duration // to sum up the last one
	closed  bool
	running sync.WaitGroup // of publishing
}

// changesRecorded schedules an event about a new record, or without an id, about another change of the pending changes.
func (s *Session) changesRecorded(l *ledger, id string) {
	n := &s.news
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	if n.of != l {
		n.of, n.record = l, ""
	}
	if id != "" {
		n.record = id
	}
	if n.timer == nil {
		n.running.Add(1)
		n.timer = time.AfterFunc(s.m.cfg.Changes.changesAfter(n.took), func() {
			defer n.running.Done()
			s.publishChanges()
		})
	}
}

// publishChanges publishes an event with the present changes of the session.
func (s *Session) publishChanges() {
	n := &s.news
	n.mu.Lock()
	l, record := n.of, n.record
	n.timer, n.of, n.record = nil, nil, ""
	n.mu.Unlock()
	if l == nil || l.log != s.current() {
		return
	}
	begin := time.Now()
	c, err := s.sums(context.Background())
	n.mu.Lock()
	n.took = time.Since(begin)
	n.mu.Unlock()
	if err != nil {
		s.m.log.Warn("could not count the changes of a session", zap.Error(err))
		return
	}
	e := event.ChangesChanged{Totals: c.Totals, Paths: []string{}, Record: record}
	for _, f := range c.Files[:min(len(c.Files), event.MaxChangedPaths)] {
		e.Paths = append(e.Paths, f.Path)
	}
	s.emit(l.log, e)
}

// closeNews cancels scheduled events, and waits until a running publication has ended.
func (s *Session) closeNews() {
	n := &s.news
	n.mu.Lock()
	n.closed = true
	if n.timer != nil && n.timer.Stop() {
		n.running.Done()
	}
	n.timer = nil
	n.mu.Unlock()
	n.running.Wait()
}

// turnBegan notes the position at which the records of a run begin.
func (l *ledger) turnBegan() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn = l.version
}

// turnChanges returns the file changes of the run, nil if it has no records.
func (s *Session) turnChanges(l *ledger) *event.FileChanges {
	l.mu.Lock()
	none := l.turn == l.version
	l.mu.Unlock()
	if none || l.log != s.current() {
		return nil
	}
	totals, limits, err := s.sumOfTurn(l)
	if err != nil {
		s.m.log.Warn("could not count the changes of a turn", zap.Error(err))
		return nil
	}
	sum := &event.FileChanges{Files: totals.Files, Added: totals.Added, Removed: totals.Removed, Limits: []string{}}
	for _, limit := range limits {
		sum.Limits = append(sum.Limits, limit.Kind)
	}
	return sum
}

// sumOfTurn sums up the newest turn. The user waits for it, so it does no more than that: it starts no git and makes no plan.
func (s *Session) sumOfTurn(l *ledger) (totals wire.Totals, limits []wire.Limit, err error) {
	r, err := s.reviewing(l.log)
	if err != nil {
		return totals, nil, err
	}
	var turn part
	err = l.log.View(func(d *session.Document, leaf session.Leaf) error {
		turn, err = partOf(d, leaf, sinceTurn)
		return err
	})
	if err != nil {
		return totals, nil, err
	}
	in := &review.Input{Book: r.book, Plan: s.m.lookInput(context.Background(), r, nil), Session: r.id}
	totals, err = review.Sum(in, turn.keep)
	return totals, changeplan.Limits(recordsOf(r.book, turn)), err
}
