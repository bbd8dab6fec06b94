package replicate

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/team"
)

// Writer returns the other device that writes a session, the zero Writer if none does.
func (r *Replicator) Writer(ctx context.Context, sid team.SID) (team.Writer, error) {
	store, _, err := r.Connected(ctx)
	if err != nil {
		return team.Writer{}, err
	}
	w, err := store.Writer(ctx, sid)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || w.Left <= 0 || w.Device == r.conn.device.ID {
		return team.Writer{}, err
	}
	return w, nil
}

// Wait returns when no other device writes a session, or with the error of [Replicator.Writer].
func (r *Replicator) Wait(ctx context.Context, sid team.SID) error {
	for {
		w, err := r.Writer(ctx, sid)
		if err != nil && !isOffline(err) || err == nil && w.Left == 0 {
			return err
		}
		wait := writerTime
		if err == nil {
			wait = min(wait, w.Left)
		}
		if !r.pause(ctx, wait, nil) {
			return cancelled(ctx)
		}
	}
}

// Take makes this device the writer of a session, and keeps it so while the session is used. With force it takes the lease from
// another device. Otherwise it returns a Busy error with the data owner, device and leftMs while another one has it. It returns a NotFound
// error for a session that is missing, hidden, or may not be written.
func (r *Replicator) Take(ctx context.Context, sid team.SID, force bool) (fence int64, err error) {
	store, _, err := r.Connected(ctx)
	if err != nil {
		return 0, err
	}
	tip, err := store.Lease(ctx, sid, force)
	switch {
	case err != nil:
		return 0, err
	case tip.Code == team.Busy:
		w, err := store.Writer(ctx, sid)
		if err != nil {
			return 0, err
		}
		w.Left = max(w.Left, tip.Left)
		return 0, busy(w)
	case tip.Code != team.OK:
		return 0, team.NoSession(sid)
	}
	r.taken(sid, tip.Fence)
	return tip.Fence, nil
}

// taken records a lease that the user asked for.
func (r *Replicator) taken(sid team.SID, fence int64) {
	r.mu.Lock()
	h := r.holds[sid.String()]
	for _, other := range r.holds {
		if other.sid == sid {
			h = other
		}
	}
	if h == nil {
		h = &hold{sid: sid}
		r.holds[sid.String()] = h
	}
	h.fence, h.used = fence, r.c.Clock.Now()
	r.mu.Unlock()
	r.beat()
}

// Delete moves a session to the trash of the store, or restores it. The local file stays.
func (r *Replicator) Delete(ctx context.Context, sid team.SID, undo bool) error {
	store, _, err := r.Connected(ctx)
	if err != nil {
		return err
	}
	if err = store.Delete(ctx, sid, undo); err == nil && undo {
		r.pub.Retry()
	}
	return err
}
