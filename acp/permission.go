package acp

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// denied denies every request for permission when there is no client to ask.
func denied(context.Context, agent.Approval) (approval.Decision, error) { return approval.Deny, nil }

// approve asks the user for permission for a tool call. Every response except a permission denies the
// call, because no other client could answer.
func (c *conversation) approve(ctx context.Context, a agent.Approval) (approval.Decision, error) {
	var answer permissionResult
	options := permissionOptions(a, c.lasting.Load())
	err := c.s.conn.call(ctx, methodPermission, permissionParams{SessionID: c.id, ToolCall: c.asked(a), Options: options}, &answer)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, errGone) {
			c.log.Warn("the client could not ask for permission", zap.Error(err))
		}
		return approval.Deny, nil
	}
	chosen := slices.ContainsFunc(options, func(o permissionOption) bool { return o.ID == answer.Outcome.OptionID })
	if answer.Outcome.Outcome != "selected" || !chosen {
		return approval.Deny, nil
	}
	return approval.Decision(answer.Outcome.OptionID), nil
}

// asked returns the tool call of a permission prompt, with its changes.
func (c *conversation) asked(a agent.Approval) toolUpdate {
	call, ok := c.shown.callOf(a.CallID)
	if !ok { // a call that was never shown needs no permission, unless it is one of a subagent
		if a.Task == "" {
			c.log.Error("permission is asked for an unknown tool call", zap.String("id", a.CallID))
		}
		call = shownCall{id: a.CallID, name: a.Tool}
	}
	u := toolUpdate{
		ID: call.id, Title: callTitle(a.Tool, a.Args), Name: visible.Line(a.Tool), ToolKind: kindOf(a.Tool), Status: statusPending,
		Locations: locationsOf(c.cwd, a.Args, nil), RawInput: object(a.Args),
	}
	if a.Preview.Title != "" {
		u.Title = short(a.Preview.Title)
	}
	if a.Task != "" {
		u.Title = "In task " + visible.Line(a.Task) + ": " + u.Title
	}
	path := pathOf(c.cwd, a.Args)
	if len(a.Preview.Paths) > 0 {
		path = a.Preview.Paths[0]
	}
	if path != "" {
		u.Content = patchDiffs(path, a.Preview.Diff)
	}
	if warnings := a.Warnings(); len(warnings) > 0 {
		block := textBlock(visible.Text(strings.Join(warnings, "\n")))
		u.Content = append(u.Content, toolContent{Type: "content", Content: &block})
	}
	return u
}

// maxRules limits the rules in the name of a choice, in UTF-16 units. A choice with longer rules is not offered.
const maxRules = 400

// permissionOptions returns the choices of a permission prompt, each of a kind of its own. lasting offers to allow similar
// calls permanently instead of for the session.
func permissionOptions(a agent.Approval, lasting bool) []permissionOption {
	options := []permissionOption{{ID: string(approval.Once), Name: "Allow", Kind: "allow_once"}}
	if allows := a.Allows(); allows != "" && rawjson.UTF16Len(allows) <= maxRules && !strings.ContainsAny(allows, "\r\n") {
		more := permissionOption{ID: string(approval.Session), Name: "Allow for this session: " + visible.Line(allows), Kind: "allow_always"}
		if lasting {
			more.ID, more.Name = string(approval.Workspace), "Always allow in this folder: "+visible.Line(allows)
		}
		options = append(options, more)
	}
	if wider := a.AllowsWider(); wider != "" && rawjson.UTF16Len(wider) <= maxRules && !strings.ContainsAny(wider, "\r\n") {
		more := permissionOption{ID: string(approval.SessionWider), Name: "Allow for this session: " + visible.Line(wider), Kind: "allow_always"}
		if lasting {
			more.ID, more.Name = string(approval.WorkspaceWider), "Always allow in this folder: "+visible.Line(wider)
		}
		options = append(options, more)
	}
	return append(options, permissionOption{ID: string(approval.Deny), Name: "Deny", Kind: "reject_once"})
}
