package pull

import (
	"bytes"
	"context"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// remote is a session of the store as it was at one moment.
type remote struct {
	sid  team.SID
	tip  team.Tip
	head team.Head
	at   shipping.Head // head.Bytes
}

// errReplaced means that the store has another generation, or fewer bytes, than at the beginning: look again.
var errReplaced = errors.New("the session was replaced in the store")

// maxLooks is how often a pull begins again because of errReplaced.
const maxLooks = 5

// retried calls f until it returns another error than errReplaced.
func retried(sid team.SID, f func() error) error {
	for range maxLooks {
		if err := f(); !errors.Is(err, errReplaced) {
			return err
		}
	}
	return fault.New(fault.Busy, "The session %s is being rewritten in the team store. Try again later.", sid)
}

// look returns the state of a session in the store. The error is of kind notFound if there is none, and of kind damaged
// if its head is not one.
func (p *Puller) look(ctx context.Context, sid team.SID) (r remote, err error) {
	r.sid = sid
	if r.tip, err = p.tip(ctx, sid); err != nil {
		return r, err
	}
	err = p.persist(ctx, func() error {
		r.head, err = p.Store.Head(ctx, sid)
		return err
	})
	if err != nil {
		return r, err
	}
	at, err := shipping.ParseHead(r.head.Bytes)
	if err != nil || at.Header().ID != r.head.HeaderID {
		return r, fault.New(fault.Damaged, "The head of the session %s in the team store is damaged; nothing was written.", sid)
	}
	r.at = at
	return r, nil
}

// tip returns the state of a body, whose length and generation are possible ones.
func (p *Puller) tip(ctx context.Context, sid team.SID) (t team.Tip, err error) {
	err = p.persist(ctx, func() error {
		t, err = p.Store.Tip(ctx, sid)
		return err
	})
	switch {
	case err != nil:
		return t, err
	case t.Code != team.OK:
		return t, team.NoSession(sid)
	case t.Len < 0 || t.Gen < 1:
		return t, fault.New(fault.Damaged, "The state of the session %s in the team store is damaged; nothing was written.", sid)
	}
	return t, nil
}

// old reports whether the file of a session has to be converted to the current format.
func (r remote) old() bool { return r.at.Header().Version < session.CurrentVersion }

// withVersion returns a head with another version of the format.
func withVersion(h shipping.Head, version string) (shipping.Head, error) {
	return withHeader(h, rawjson.Set(h.Header().Raw, "version", []byte(version)))
}

// withHeader returns a head with another header line. It is the last line of the head.
func withHeader(h shipping.Head, line []byte) (shipping.Head, error) {
	was := h.Header().Raw
	at := bytes.LastIndex(h.Raw, was)
	raw := make([]byte, 0, len(h.Raw)+len(line)-len(was))
	raw = append(append(append(raw, h.Raw[:at]...), line...), h.Raw[at+len(was):]...)
	return shipping.ParseHead(raw)
}
