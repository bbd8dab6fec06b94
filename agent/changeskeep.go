package agent

import (
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/review"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// keepTries is the maximum number of attempts if records are added in the meantime.
const keepTries = 5

// Keep marks pending changes as reviewed. It appends one entry and changes no file. The error has the kind stale, with "path", if a
// hunk has changed, or busy if another program or process holds the session.
func (s *Session) Keep(ctx context.Context, args wire.KeepArgs) (kept wire.Kept, err error) {
	log := s.current()
	err = s.sharing(ctx, log, func() error {
		kept, err = s.keepIn(ctx, log, args)
		return err
	})
	return kept, err
}

func (s *Session) keepIn(ctx context.Context, log *session.Log, args wire.KeepArgs) (wire.Kept, error) {
	l := s.ledgerOf(log)
	for range keepTries {
		version := l.count()
		r, err := s.reviewing(log)
		if err != nil {
			return wire.Kept{}, err
		}
		kept, err := review.Keep(s.m.reviewInput(ctx, r), args, r.store.Put)
		if err != nil {
			return wire.Kept{}, err
		}
		if len(kept.Pairs) == 0 {
			return wire.Kept{Pending: kept.Left}, nil
		}
		id, err := l.review(version, kept.Pairs)
		switch {
		case id == "" && err != nil:
			return wire.Kept{}, err
		case err != nil: // it counts, and is saved with the next entry
			s.emit(log, event.NotSaved{ErrorMessage: err.Error()})
		}
		if id != "" {
			s.changesRecorded(l, "")
			return wire.Kept{Kept: kept.Hunks, Pending: kept.Left}, nil
		}
	}
	return wire.Kept{}, fault.New(fault.Stale, "The session is changing files, so the changes could not be kept. Try again.")
}

// count returns a number that grows with each record.
func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}

// review appends a review and returns the id of its entry, "" if a record was added since version: the user has not seen that one. If
// it returns an id and an error, the entry could not be saved yet.
func (l *ledger) review(version int, pairs []change.Kept) (id string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.version != version {
		return "", nil
	}
	if l.log.IsLent() {
		return "", fault.New(fault.Busy, "Another program is using the session, so the changes could not be kept. Try again when it has answered.")
	}
	if err := l.log.Claim(); err != nil {
		return "", err // otherwise the review would count in memory only
	}
	if l.restoreLocked(); len(l.waiting) > 0 {
		return "", fault.New(fault.Busy, "The session could not be written, so the changes could not be kept. Try again later.")
	}
	for i := range pairs {
		pairs[i].Path = change.RelativePath(l.s.cwd, pairs[i].Path)
	}
	data, err := json.Marshal(change.Review{V: change.Version, Root: change.RootURI(l.s.cwd), Kept: pairs})
	if err != nil {
		return "", err
	}
	return l.log.Append(session.DraftCustom(change.ReviewType, data))
}
