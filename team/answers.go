package team

import "github.com/xcsh-ls/xcsh-ls/internal/fault"

// These are the errors that every store returns in the same words.

// NoSession returns the NotFound error for a session that is missing or hidden.
func NoSession(sid SID) error {
	return fault.New(fault.NotFound, "No session %s in the team store, or none that you may read.", sid)
}

// DeniedSession returns the Denied error for a session that the user may not change, or that is missing.
func DeniedSession(sid SID) error {
	return fault.New(fault.Denied, "No session %s in the team store that you may change.", sid)
}

// NoProject returns the NotFound error for a project that is missing or hidden.
func NoProject(team, key string) error {
	return fault.New(fault.NotFound, "No project %s of a team %s in the team store, or none that you may use.", key, team)
}

// StaleHead returns the Stale error for a head with another revision, or of a missing session.
func StaleHead(sid SID) error {
	return fault.New(fault.Stale, "The head of the session %s has changed in the team store. Read it again.", sid)
}

// StaleStage returns the Stale error for a piece that doesn't continue the staged ones.
func StaleStage(s Stage) error {
	return fault.New(fault.Stale, "Generation %d of the session %s is staged differently in the team store. Begin again at its start.", s.Gen, s.SID)
}
