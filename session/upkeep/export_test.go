package upkeep

import (
	"context"
	"time"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Names that only tests of this package use.
const (
	KeepLive       = keepLive
	KeepLocked     = keepLocked
	KeepUnreadable = keepUnreadable
	KeepNewer      = keepNewer
	KeepDamaged    = keepDamaged
	KeepNewest     = keepNewest
	KeepContinued  = keepContinued
	KeepTitled     = keepTitled
	KeepLabelled   = keepLabelled
	KeepDescribed  = keepDescribed
	KeepParent     = keepParent
	PurgeOld       = purgeOld
)

// The steps of [Purge.Plan] and their data.
type (
	PurgeScope   = purgeScope
	PurgeSession = purgeSession
)

// ReadPurgeScope exports readPurgeScope to tests.
func ReadPurgeScope(ctx context.Context, f library.Finder, cwd string, all bool) (PurgeScope, error) {
	return readPurgeScope(ctx, f, cwd, all)
}

// MarkLocked exports markLocked to tests.
func MarkLocked(s *session.Store, sessions []PurgeSession) { markLocked(s, sessions) }

// PlanPurge exports planPurge to tests.
func PlanPurge(sessions []PurgeSession, forks []string, keep int, now time.Time) PurgePlan {
	return planPurge(sessions, forks, keep, now)
}
