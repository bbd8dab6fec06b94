package approval

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Mode says what needs a person's word. The names are those of the wire protocol.
type Mode string

// The modes.
const (
	ReadOnly Mode = "read-only" // nothing is changed and nobody is asked
	Ask      Mode = "ask"       // everything that no rule allows is asked about
	AutoEdit Mode = "auto-edit" // files of the workspace may be changed, commands are asked about
	Yolo     Mode = "yolo"      // everything is allowed
)

// Modes are all modes, from the strictest on.
var Modes = []Mode{ReadOnly, Ask, AutoEdit, Yolo}

// Decision is an answer to a prompt.
type Decision string

// The decisions. Session and Workspace also let through what is like it: [Prompt.Rules].
const (
	Once      Decision = "once"
	Session   Decision = "session"
	Workspace Decision = "workspace" // for this folder from now on, in this person's settings
	Deny      Decision = "deny"
)

// check fails for what is no decision.
func (d Decision) check() error {
	if slices.Contains([]Decision{Once, Session, Workspace, Deny}, d) {
		return nil
	}
	return fault.New(fault.InvalidArgument, "%q is not an answer; it is once, session, workspace or deny.", d).With("field", "decision")
}
