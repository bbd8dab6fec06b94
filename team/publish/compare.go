package publish

import (
	"bytes"
	"context"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// relation is how a file relates to a session of the store.
type relation struct {
	sid       team.SID
	tip       team.Tip
	continues *shipping.Outgoing // the file begins with the store's body: the lines up to there, else nil
	behind    bool               // the store's body begins with the file, and is longer
	end       int64              // the lines of the file as they leave, if behind
}

// compare finds the session of the store that the file continues. It decides between a new generation and a fork for a file that
// continues none.
func (s *sending) compare(ctx context.Context) (outcome, error) {
	known, err := s.known(ctx)
	if err != nil || len(known) == 0 {
		return s.none(err)
	}
	var all []relation
	for _, sid := range known {
		r, err := s.relate(ctx, sid)
		if err != nil {
			return outcome{}, err
		}
		if r.tip.Code != team.OK {
			continue
		}
		if mine := sid == s.bound.sid; mine && r.continues != nil {
			return s.continueWith(r)
		} else if mine && !r.behind && s.bound.known && r.tip.Gen == s.bound.gen && pointOf(r.tip) == s.bound.agreed {
			return s.rewrite(ctx)
		}
		all = append(all, r)
	}
	return s.choose(ctx, all)
}

// choose decides between sessions that are not the one that the file belongs to, or that have become another one.
func (s *sending) choose(ctx context.Context, all []relation) (outcome, error) {
	var best *relation
	for i, r := range all {
		if r.continues != nil && (best == nil || r.tip.Len > best.tip.Len) {
			best = &all[i]
		}
	}
	if best != nil {
		return s.continueWith(*best)
	}
	for _, r := range all {
		if r.behind {
			if r.sid != s.bound.sid {
				s.bound, s.shown = binding{sid: r.sid, gen: r.tip.Gen}, described{}
			}
			return s.complete(ctx, r)
		}
	}
	if len(all) == 0 {
		return s.gone(), nil
	}
	return s.beginFork(ctx, all)
}

// none is the outcome without a session in the store.
func (s *sending) none(err error) (outcome, error) {
	if err != nil {
		return outcome{}, err
	}
	return s.gone(), nil
}

// known returns the sessions of the store that the file may belong to, the one that it belonged to first. It creates one if there
// is none.
func (s *sending) known(ctx context.Context) ([]team.SID, error) {
	project, err := s.projectNumber(ctx)
	if err != nil {
		return nil, err
	}
	rules, err := s.rules.of(allowed(s.may.decision.Redact)[0])
	if err != nil {
		return nil, err
	}
	head, err := shipping.NewOutgoing(rules).Head(s.f.head, s.may.folder)
	if err != nil {
		return nil, err
	}
	drawn := s.c.Draw()
	all, err := s.store.Open(ctx, s.f.opening(s.path, project, drawn, head, s.may.decision.Visible))
	if err != nil {
		return nil, err
	}
	return s.joinable(all, drawn, head)
}

// joinable returns the sessions to which lines may be added, the one that the file belonged to first. It returns none if that one was
// deleted.
func (s *sending) joinable(all []team.Known, drawn team.SID, head shipping.Head) (sids []team.SID, err error) {
	isNew := false
	for _, k := range all {
		isNew = isNew || k.SID == drawn
		switch {
		case !s.mayJoin(k):
			err = fault.New(fault.Denied, "Another user shares the session %s with the team, and this project is private. Share the session to send your lines.", s.id).With("path", s.path)
		case k.SID == s.bound.sid:
			sids = append([]team.SID{k.SID}, sids...)
		default:
			sids = append(sids, k.SID)
		}
	}
	if isNew {
		s.shown = described{head: team.SumOf(head.Raw), looked: true}
		s.bound = binding{}
	}
	switch {
	case len(sids) == 0:
		return nil, err
	case !s.bound.sid.IsZero() && sids[0] != s.bound.sid:
		return nil, nil // the lines of a deleted session are not sent to another one
	}
	return sids, nil
}

// mayJoin reports whether the user agreed that lines become visible as those of the session are.
func (s *sending) mayJoin(k team.Known) bool {
	return s.may.decision.Visible == consent.Team || s.may.single || k.Visible == team.Private || k.Owner == s.user
}

// relate compares the file with a session.
func (s *sending) relate(ctx context.Context, sid team.SID) (r relation, err error) {
	r.sid = sid
	if r.tip, err = s.store.Tip(ctx, sid); err != nil || r.tip.Code != team.OK {
		return r, err
	}
	for _, version := range allowed(s.may.decision.Redact) {
		o, fits, err := s.caughtUp(ctx, version, r.tip.Len)
		if err != nil {
			return r, err
		}
		switch end := o.Out(); {
		case end == pointOf(r.tip):
			r.continues = o
			return r, nil
		case fits && end.Len < r.tip.Len:
			r.end = end.Len
			if r.behind, err = s.isBehind(ctx, r, version, end.Len); err != nil || r.behind {
				return r, err
			}
		}
	}
	return r, nil
}

var errEnough = errors.New("enough was read")

// isBehind reports whether the store's body begins with all whole lines of the file, which leave as length bytes.
func (s *sending) isBehind(ctx context.Context, r relation, version int, length int64) (bool, error) {
	at, sum, err := s.store.SumAt(ctx, r.sid, r.tip.Gen, length)
	if err != nil {
		return false, err
	}
	o, fits, err := s.caughtUp(ctx, version, at)
	if err != nil || !fits || o.Out() != (shipping.Point{Len: at, Sum: sum}) {
		return false, err
	}
	rest, err := s.rest(o)
	if err != nil || len(rest) == 0 {
		return err == nil, err
	}
	same := false
	err = s.store.Read(ctx, r.sid, r.tip.Gen, at, 1, func(seg team.Segment) error {
		same = seg.Codec == 0 && seg.Off == at && bytes.HasPrefix(seg.Bytes, rest)
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return false, err
	}
	return same, nil
}

// rest returns the lines behind o as they leave. There are fewer than in a segment of the store.
func (s *sending) rest(o *shipping.Outgoing) (rest []byte, err error) {
	for {
		lines, err := s.f.lines(o.File().Len, largest)
		if err != nil || lines == nil {
			return rest, err
		}
		b := o.Batch(lines)
		rest = append(rest, b.Bytes...)
		o.Sent(b)
	}
}

// continueWith binds the file to a session that it continues.
func (s *sending) continueWith(r relation) (outcome, error) {
	fence, created := s.bound.fence, s.bound.sid.IsZero() && r.tip.Len == 0
	if r.sid != s.bound.sid {
		fence = 0
	}
	switch {
	case r.sid != s.bound.sid && !created:
		s.shown = described{}
	case r.tip.Gen != s.bound.gen || s.shown.digest.Out > r.tip.Len:
		s.shown.redo()
	}
	s.bound = binding{sid: r.sid, gen: r.tip.Gen, fence: fence}
	s.out = r.continues
	s.remember(s.f)
	return s.again()
}
