package agent

import (
	"context"
	"sync"
	"time"
)

// fresh is how long a look ahead of a call is used: other programs' changes that come later must not count as the command's.
const fresh = 5 * time.Second

// ahead looks at the folder while the model still writes a call or the user is asked for permission, so that the command need not
// wait. There is at most one look: the next command would see what the first one did. It is safe for concurrent use.
type ahead struct {
	mu   sync.Mutex
	next *prepared // nil: none
}

// prepared is a look whose command has not begun.
type prepared struct {
	began  time.Time
	cancel context.CancelFunc
	done   chan struct{}
	around *around // set when done is closed
}

// called begins a look if the model began to write a call of a command.
func (h *host) called(name string) {
	for _, t := range h.s.m.cfg.Tools {
		if t.Name == name && h.needsLook(t) {
			h.ahead.begin(h.s.ledgerOf(h.main().log))
		}
	}
}

// begin begins a look unless there is one.
func (a *ahead) begin(l *ledger) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &prepared{began: l.s.m.now(), cancel: cancel, done: make(chan struct{})}
	a.next = p
	go func() {
		defer close(p.done)
		p.around = l.look(ctx)
	}()
}

// take returns the look of a command that begins, nil without a fresh one.
func (a *ahead) take(ctx context.Context, l *ledger) *around {
	p := a.pop()
	if p == nil {
		return nil
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.drop()
		return nil
	}
	if age := l.s.m.now().Sub(p.began); age < 0 || age > fresh || p.around.err != nil || !p.around.untouched() {
		p.drop()
		return nil
	}
	p.cancel() // it is complete
	return p.around
}

// drop ends a look that no command used.
func (a *ahead) drop() {
	if p := a.pop(); p != nil {
		p.drop()
	}
}

// pop returns the look and forgets it, nil if there is none.
func (a *ahead) pop() *prepared {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.next
	a.next = nil
	return p
}

func (p *prepared) drop() {
	p.cancel()
	<-p.done
	p.around.drop()
}
