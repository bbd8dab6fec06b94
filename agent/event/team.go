package event

import "time"

// The events of the team's store. They belong to no session of a folder.
type (
	// TeamState reports another state of the connection to the store, or another number of sessions that wait to be sent.
	TeamState struct {
		State  string `json:"state"`  // off, ok, offline or refused
		Unsent int    `json:"unsent"` // sessions with lines that are not in the store yet
	}

	// TeamWriter reports who writes a session of the store from now on. Without a device no other device does.
	TeamWriter struct {
		SID    string `json:"sid"` // in the store
		Device string `json:"device,omitempty"`
		Owner  string `json:"owner,omitempty"`
	}

	// TeamForked reports that another device wrote a session while this one did, too: the file of this machine is a fork from now on.
	TeamForked struct {
		SID    string `json:"sid"`    // of the fork
		Origin string `json:"origin"` // the session that both have written
		By     string `json:"by"`     // the user who wrote it
		At     string `json:"at"`     // when, in ISO 8601
	}
)

func (TeamState) sealed()  {}
func (TeamWriter) sealed() {}
func (TeamForked) sealed() {}

// Type returns "team_state".
func (TeamState) Type() string { return "team_state" }

// Type returns "team_writer".
func (TeamWriter) Type() string { return "team_writer" }

// Type returns "team_forked".
func (TeamForked) Type() string { return "team_forked" }

// Text returns the event as a message for the user. At is shown if it is a time.
func (e TeamForked) Text() string {
	by, when := e.By, ""
	if by == "" {
		by = "Another device"
	}
	if at, err := time.Parse(time.RFC3339, e.At); err == nil {
		when = " at " + at.Local().Format("15:04")
	}
	return by + " went on with this conversation" + when + ". Yours is kept as a fork of it; both are in the list."
}

// MarshalJSON implements [json.Marshaler].
func (e TeamState) MarshalJSON() ([]byte, error) {
	type members TeamState
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e TeamWriter) MarshalJSON() ([]byte, error) {
	type members TeamWriter
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e TeamForked) MarshalJSON() ([]byte, error) {
	type members TeamForked
	return encode(e.Type(), members(e))
}
