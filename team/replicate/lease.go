package replicate

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// hold is a session that this process uses, with its lease if it has one. All fields but path are guarded by the Replicator's mutex.
type hold struct {
	path  string // "" for a session that Take took
	sid   team.SID
	fence int64 // of the lease; 0 without one
	turns int   // that run
	used  time.Time
}

// Begin is called before the first line of a turn is written to the session file at path. It asks for the lease of the session, and waits for
// 300 ms at most: without an answer the turn begins all the same, and the lease is taken when the answer comes. It takes the session over from
// another device of the user. The caller calls end when the turn is over.
//
// The only error is Busy, with the data owner, device and leftMs: another user writes the session at the moment.
func (r *Replicator) Begin(ctx context.Context, path string) (end func(), err error) {
	if path == "" || !r.wake() {
		return func() { r.TurnEnded(path) }, nil
	}
	h := r.use(path)
	answer := make(chan error, 1)
	if r.goes(func(ctx context.Context) { answer <- r.beginLease(ctx, h) }) {
		select {
		case err = <-answer:
		case <-r.c.Clock.After(turnWait):
		case <-ctx.Done():
		}
	}
	if err != nil {
		r.unuse(h)
		return nil, err
	}
	r.beat()
	return sync.OnceFunc(func() {
		r.unuse(h)
		r.TurnEnded(path)
	}), nil
}

// use notes that a turn runs.
func (r *Replicator) use(path string) *hold {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own[path] = true
	h := r.holds[path]
	if h == nil {
		h = &hold{path: path}
		r.holds[path] = h
	}
	h.turns++
	h.used = r.c.Clock.Now()
	return h
}

// unuse notes that a turn is over.
func (r *Replicator) unuse(h *hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.turns--
	h.used = r.c.Clock.Now()
}

// session returns the session of a file that the user shares, as far as this machine knows it.
func (r *Replicator) session(path string) (sid team.SID, ok bool) {
	d, err := r.consent.Read()
	if err != nil {
		return team.SID{}, false
	}
	f, ok := r.read(path)
	if !ok || !r.keys(d).sends(f) {
		return team.SID{}, false
	}
	if sid = r.pub.State(path).SID; !sid.IsZero() {
		return sid, true
	}
	sent, ok := r.states.Sent(f.id, filepath.Base(path))
	if !ok {
		return team.SID{}, false
	}
	sid, err = team.ParseSID(sent.SID)
	return sid, err == nil
}

// SID returns the session of the file at path, as far as this machine knows it. Unlike for a lease, it need not be shared any more.
func (r *Replicator) SID(path string) (sid team.SID, ok bool) {
	if sid = r.pub.State(path).SID; !sid.IsZero() {
		return sid, true
	}
	f, ok := r.read(path)
	if !ok {
		return team.SID{}, false
	}
	sent, ok := r.states.Sent(f.id, filepath.Base(path))
	if !ok {
		return team.SID{}, false
	}
	sid, err := team.ParseSID(sent.SID)
	return sid, err == nil
}

// beginLease takes the lease for a turn. Errors other than Busy do not stop it.
func (r *Replicator) beginLease(ctx context.Context, h *hold) error {
	sid, ok := r.session(h.path)
	if !ok {
		return nil // the first append takes the lease
	}
	store, err := r.agreed(ctx)
	if err != nil {
		return nil
	}
	tip, err := store.Lease(ctx, sid, false)
	if err == nil && tip.Code == team.Busy {
		var w team.Writer
		if w, err = store.Writer(ctx, sid); err != nil {
			return nil
		}
		if !w.Mine && w.Left > 0 {
			r.c.Event(Event{Kind: WriterChanged, Path: h.path, SID: sid, Owner: w.Owner, Device: w.Label})
			return busy(w)
		}
		tip, err = store.Lease(ctx, sid, w.Mine)
	}
	if err == nil && tip.Code == team.OK {
		r.held(h, sid, tip.Fence)
	}
	return nil
}

// held records the fence of a lease; 0 for a lost one.
func (r *Replicator) held(h *hold, sid team.SID, fence int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.sid, h.fence = sid, fence
}

// busy is the error while another device writes.
func busy(w team.Writer) error {
	return fault.New(fault.Busy, "%s writes in this session on %s (for %d s at least). Read along, fork it, or take over.", fault.OneLine(w.Owner), fault.OneLine(w.Label), (w.Left+time.Second-1)/time.Second).
		With("owner", w.Owner).With("device", w.Label).With("leftMs", w.Left.Milliseconds())
}

// beat starts to extend the leases, if that is not done yet.
func (r *Replicator) beat() {
	r.mu.Lock()
	begin := !r.beating && !r.closed
	r.beating = true
	r.mu.Unlock()
	if begin {
		r.goes(r.beats)
	}
}

// beats extends the leases until there are none.
func (r *Replicator) beats(ctx context.Context) {
	for r.pause(ctx, beatTime, nil) {
		for _, h := range r.used() {
			r.extend(ctx, h)
		}
		r.mu.Lock()
		if len(r.holds) == 0 {
			r.beating = false
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
	}
}

// used returns the sessions that are in use.
func (r *Replicator) used() (all []*hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.holds {
		all = append(all, h)
	}
	return all
}

// extend extends the lease of a session, or gives it back if the session was not used for ten minutes. A lease that was lost is asked
// for again while a turn runs.
func (r *Replicator) extend(ctx context.Context, h *hold) {
	now := r.c.Clock.Now()
	r.mu.Lock()
	was, fence, path := h.sid, h.fence, h.path
	isIdle := h.turns == 0 && now.Sub(h.used) >= idleTime
	r.mu.Unlock()
	if isIdle {
		r.release(ctx, h, true)
		return
	}
	sid := was
	if path != "" {
		var ok bool
		if sid, ok = r.session(path); !ok {
			return
		}
	}
	store, err := r.agreed(ctx)
	if err != nil {
		return
	}
	tip, err := store.Lease(ctx, sid, false)
	switch {
	case err != nil:
	case tip.Code == team.OK:
		r.held(h, sid, tip.Fence)
	case sid == was && fence != 0:
		r.lost(ctx, h, sid, store)
	}
}

// lost notes that another device has the lease. A turn goes on; its lines are sent when the session is free, or become a fork.
func (r *Replicator) lost(ctx context.Context, h *hold, sid team.SID, store team.Store) {
	w, err := store.Writer(ctx, sid)
	r.mu.Lock()
	h.fence = 0
	if h.turns == 0 {
		r.dropLocked(h)
	}
	r.mu.Unlock()
	if err == nil && !w.Device.IsZero() {
		r.c.Event(Event{Kind: WriterChanged, Path: h.path, SID: sid, Owner: w.Owner, Device: w.Label})
	}
}

func (r *Replicator) dropLocked(h *hold) {
	for key, other := range r.holds {
		if other == h {
			delete(r.holds, key)
		}
	}
}

// release gives a lease back, also one that an append of this device took. Errors cost other devices 30 seconds at most.
func (r *Replicator) release(ctx context.Context, h *hold, onlyIdle bool) {
	r.mu.Lock()
	if onlyIdle && h.turns > 0 { // one began meanwhile
		r.mu.Unlock()
		return
	}
	sid, fence := h.sid, h.fence
	h.fence = 0
	r.dropLocked(h)
	store, device, at := r.conn.store, r.conn.device.ID, r.conn.at
	r.mu.Unlock()
	if current := r.pub.State(h.path).SID; h.path != "" && !current.IsZero() && current != sid {
		sid, fence = current, 0
	}
	if store == nil || at.IsZero() || sid.IsZero() {
		return
	}
	if fence == 0 {
		tip, err := store.Tip(ctx, sid)
		if err != nil || tip.Device != device {
			return
		}
		fence = tip.Fence
	}
	_ = store.Release(ctx, sid, fence) // see above
}

// releaseAll gives all leases back.
func (r *Replicator) releaseAll(ctx context.Context) {
	for _, h := range r.used() {
		if ctx.Err() != nil {
			return
		}
		r.release(ctx, h, false)
	}
}
