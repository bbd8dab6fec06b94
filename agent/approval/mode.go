package approval

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Mode selects the tool calls that need approval. The names are those of the wire protocol.
type Mode string

// The modes.
const (
	ReadOnly Mode = "read-only" // no edits, no commands
	Ask      Mode = "ask"       // everything that no rule allows requires approval
	AutoEdit Mode = "auto-edit" // files of the workspace may be changed, commands require approval
	Yolo     Mode = "yolo"      // everything is allowed
)

// Modes are all modes, from the strictest on.
var Modes = []Mode{ReadOnly, Ask, AutoEdit, Yolo}

// Decision is an answer to a prompt.
type Decision string

// The decisions. Session and Workspace also allow similar calls: [Prompt.Rules]. The wider ones allow those of [Prompt.Wider]
// instead, for a prompt that has some.
const (
	Once      Decision = "once"
	Session   Decision = "session"
	Workspace Decision = "workspace" // for this folder from now on, in the user's settings
	Deny      Decision = "deny"

	SessionWider   Decision = "session-wider"
	WorkspaceWider Decision = "workspace-wider"
)

// check fails for an unknown decision.
func (d Decision) check() error {
	if slices.Contains([]Decision{Once, Session, Workspace, Deny, SessionWider, WorkspaceWider}, d) {
		return nil
	}
	return fault.New(fault.InvalidArgument, "%q is not an approval decision. Use once, session, workspace or deny, or session-wider or workspace-wider for a call with wider rules.", d).With("field", "decision")
}
