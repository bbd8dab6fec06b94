package approval

import (
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Denial is the error of an [Asker] whose user denied the request and gave a reason.
type Denial struct{ Reason string }

// Error returns the reason.
func (d *Denial) Error() string { return "denied: " + d.Reason }

// denied returns the error for a model whose request was denied. reason may be empty.
func denied(r Request, reason string) error {
	reason = strings.TrimSpace(reason)
	switch {
	case r.EndsPlan && reason != "":
		return fault.New(fault.Denied, "The user did not approve the plan, so plan mode is still on. Revise the plan. The user's reason: %s", reason)
	case r.EndsPlan:
		return fault.New(fault.Denied, "The user did not approve the plan, so plan mode is still on. End your turn and ask what to change.")
	case reason != "":
		return fault.New(fault.Denied, "The user denied this %s call. The user's reason: %s", r.Tool, reason)
	}
	return fault.New(fault.Denied, "The user denied this %s call. Ask what to do instead, or continue without it.", r.Tool)
}
