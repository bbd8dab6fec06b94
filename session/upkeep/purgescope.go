package upkeep

import (
	"context"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// purgeScope is the scope of a purge of a folder, or of all of them.
type purgeScope struct {
	Sessions []purgeSession
	Forks    []string // the parents, ids or paths, that sessions outside the scope name
}

// purgeSession is a session file with the properties that decide whether it may be moved
// to the trash. Those with the same Folder compete for the places that are kept.
type purgeSession struct {
	library.Facts
	Keep     string // why it stays regardless of its age; "" for none
	LockedBy string // the process that has it open, if known
}

// readPurgeScope reads the sessions of cwd, or of every working directory if all is set; see
// [library.Finder.Facts].
func readPurgeScope(ctx context.Context, f library.Finder, cwd string, all bool) (purgeScope, error) {
	found, forks, err := f.Facts(ctx, cwd, all)
	scope := purgeScope{Sessions: make([]purgeSession, len(found)), Forks: forks}
	for i, s := range found {
		scope.Sessions[i] = purgeSession{Facts: s, Keep: keepBy(s)}
	}
	return scope, err
}

// keepBy is the reason why the session stays, as far as its file determines it.
func keepBy(s library.Facts) string {
	switch {
	case s.Unreadable:
		return keepUnreadable
	case s.Newer:
		return keepNewer
	case s.Damaged:
		return keepDamaged
	case s.Continued:
		return keepContinued
	case s.Titled:
		return keepTitled
	case s.Labelled:
		return keepLabelled
	case s.Described:
		return keepDescribed
	}
	return ""
}

// markLocked sets the reason to keep sessions that a living process has open, or is just
// writing. It changes nothing on disk.
func markLocked(s *session.Store, sessions []purgeSession) {
	owners := s.Owners()
	for i := range sessions {
		p := &sessions[i]
		if o, ok := owners[p.Path]; ok {
			if p.Keep = keepLive; !o.Ours {
				p.Keep, p.LockedBy = keepLocked, fmt.Sprintf("pid %d on %s", o.PID, o.Host)
			}
			continue
		}
		if pid, writing := s.Locks.Writer(p.Path); writing {
			p.Keep = keepLocked
			if pid > 0 {
				p.LockedBy = fmt.Sprintf("pid %d", pid)
			}
		}
	}
}
