package acp

import (
	"context"
	"errors"
	"strings"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// denied is who is asked where there is no client to ask.
func denied(context.Context, agent.Approval) (approval.Decision, error) { return approval.Deny, nil }

// approve asks the person whether a tool may change something. Whatever is not a yes is a no:
// there is nobody else who could answer.
func (c *conversation) approve(ctx context.Context, a agent.Approval) (approval.Decision, error) {
	var answer permissionResult
	err := c.s.conn.call(ctx, methodPermission, permissionParams{SessionID: c.id, ToolCall: c.asked(a), Options: permissionOptions(a)}, &answer)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, errGone) {
			c.log.Warn("the client could not ask for permission", zap.Error(err))
		}
		return approval.Deny, nil
	}
	if answer.Outcome.Outcome != "selected" {
		return approval.Deny, nil
	}
	switch d := approval.Decision(answer.Outcome.OptionID); d {
	case approval.Once, approval.Session, approval.Workspace:
		return d, nil
	}
	return approval.Deny, nil
}

// asked is the tool call that a person is asked about, with what it would change.
func (c *conversation) asked(a agent.Approval) toolUpdate {
	call, ok := c.shown.callOf(a.ID)
	if !ok { // a call that was never told of cannot wait for permission
		c.log.Error("permission is asked for an unknown tool call", zap.String("id", a.ID))
		call = shownCall{id: a.ID, name: a.Tool}
	}
	u := toolUpdate{
		ID: call.id, Title: callTitle(a.Tool, a.Args), Name: a.Tool, ToolKind: kindOf(a.Tool), Status: statusPending,
		Locations: locationsOf(c.cwd, a.Args, nil), RawInput: object(a.Args),
	}
	if a.Preview.Title != "" {
		u.Title = short(a.Preview.Title)
	}
	path := pathOf(c.cwd, a.Args)
	if len(a.Preview.Paths) > 0 {
		path = a.Preview.Paths[0]
	}
	if path != "" {
		u.Content = patchDiffs(path, a.Preview.Diff)
	}
	if len(a.Outside) > 0 {
		block := textBlock("Outside the folder: " + strings.Join(a.Outside, ", "))
		u.Content = append(u.Content, toolContent{Type: "content", Content: &block})
	}
	return u
}

// maxRules bounds what is said of rules in the name of a choice, in UTF-16 units. What cannot be
// said whole is not offered.
const maxRules = 160

// permissionOptions are the answers that a person can give.
func permissionOptions(a agent.Approval) []permissionOption {
	options := []permissionOption{{string(approval.Once), "Allow", "allow_once"}}
	rules := make([]string, len(a.Rules))
	for i, r := range a.Rules {
		rules[i] = r.String()
	}
	if allows := strings.Join(rules, ", "); allows != "" && rawjson.UTF16Len(allows) <= maxRules && !strings.ContainsAny(allows, "\r\n") {
		options = append(options,
			permissionOption{string(approval.Session), "Allow for this session: " + allows, "allow_always"},
			permissionOption{string(approval.Workspace), "Always allow in this folder: " + allows, "allow_always"})
	}
	return append(options, permissionOption{string(approval.Deny), "Deny", "reject_once"})
}
