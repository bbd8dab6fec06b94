package agent

import (
	"cmp"
	"fmt"
)

// Advice has sentences about what a user can do next, in the terms of the program that shows them. Empty ones stand for the
// commands of editors.
type Advice struct {
	TrustSetup string // decide about the set-up of a folder
	EndPlan    string // turn plan mode off
	ResumePlan string // turn plan mode on again
	Reconnect  string // connect a server after signing in to it: a clause behind "then"
}

func (a Advice) trustSetup() string {
	return cmp.Or(a.TrustSetup, "Run xcsh.trust to look at it and decide.")
}

func (a Advice) endPlan() string {
	return cmp.Or(a.EndPlan, "To turn it off, run Set Session Mode (xcsh.setMode) or, in an ACP client, /plan off.")
}

func (a Advice) resumePlan() string {
	return cmp.Or(a.ResumePlan, "To continue planning, run Set Session Mode (xcsh.setMode) or, in an ACP client, /plan on.")
}

func (a Advice) reconnect(server string) string {
	return cmp.Or(a.Reconnect, fmt.Sprintf("run xcsh.mcp {\"action\":\"reconnect\",\"server\":%q}", server))
}
