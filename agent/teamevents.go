package agent

import (
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// ReportTeamState publishes the state of the team's store and the number of sessions that wait to be sent.
func (m *Manager) ReportTeamState(state string, unsent int) {
	m.reportTeam(event.TeamState{State: visible.Line(state), Unsent: unsent})
}

// ReportTeamWriter publishes who writes a session of the store from now on; device is "" if no other device does.
func (m *Manager) ReportTeamWriter(sid, device, owner string) {
	m.reportTeam(event.TeamWriter{SID: visible.Line(sid), Device: visible.Line(device), Owner: visible.Line(owner)})
}

// ReportTeamForked publishes that the session sid is a fork of origin from now on, because the user by wrote that at the time at, in ISO 8601.
func (m *Manager) ReportTeamForked(sid, origin, by, at string) {
	m.reportTeam(event.TeamForked{SID: visible.Line(sid), Origin: visible.Line(origin), By: visible.Line(by), At: visible.Line(at)})
}

// reportTeam publishes an event of the store. Its numbers are those of a session without an id. Names in it were written by other users.
func (m *Manager) reportTeam(e event.Event) {
	m.publishNumbered("", func(seq uint64) Event { return RunEvent{Seq: seq, Event: e} })
}
