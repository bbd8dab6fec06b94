package acp

import (
	"context"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// pageSize is the number of sessions per page.
const pageSize = 50

// listSessions answers session/list: the sessions of a folder and of its project in the team's store, or all of this machine.
func (s *server) listSessions(ctx context.Context, _ *call, p listParams) (any, []any, error) {
	args := commands.ListArgs{Scope: "all", Limit: pageSize, Cursor: p.Cursor}
	if p.Cwd != "" {
		if !filepath.IsAbs(p.Cwd) {
			return nil, nil, fault.New(fault.InvalidArgument, "%q is not an absolute path.", p.Cwd).With("field", "cwd")
		}
		args.Scope, args.Cwd = "folder", p.Cwd
		if s.desk.Team != nil {
			args.Scope = "team"
		}
	}
	page, err := commands.Call[commands.ListResult](ctx, s.opts.Commands, s.desk, "xcsh.list", args)
	if err != nil {
		return nil, nil, err
	}
	r := listResult{Sessions: []sessionInfo{}, Next: page.NextCursor}
	for _, info := range page.Sessions {
		if t := info.Team; t != nil && t.Remote && t.Variant > 0 {
			continue // another session has its id, by which clients load it
		}
		cwd := info.Cwd
		if info.Team != nil && info.Team.Remote {
			cwd = filepath.Clean(p.Cwd) // where it is pulled to
		}
		if cwd == "" { // a session without a directory can be opened anywhere
			cwd = filepath.Clean(p.Cwd)
		}
		if !filepath.IsAbs(cwd) {
			cwd = s.opts.Backend.Finder.Home
		}
		title := info.Title
		if title == "" {
			title = info.Name
		}
		shown := sessionInfo{SessionID: info.ID, Cwd: cwd, Title: visible.Line(title), UpdatedAt: info.Modified}
		if info.Team != nil {
			shown.Meta = &sessionMeta{info.Team}
		}
		r.Sessions = append(r.Sessions, shown)
	}
	return r, nil, nil
}

// deleteSession answers session/delete: it moves the session to the trash, from which other commands can
// restore it. A missing session is not an error, as the protocol requires.
func (s *server) deleteSession(ctx context.Context, _ *call, p sessionParams) (any, []any, error) {
	if c, err := s.conversation(p.SessionID); err == nil {
		if err := s.leave(c); err != nil {
			return nil, nil, err
		}
	}
	info, err := s.find(ctx, "", p.SessionID)
	if fault.Is(err, fault.NotFound) {
		return struct{}{}, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	cwd := info.Cwd
	if cwd == "" {
		cwd = s.opts.Backend.Finder.Home
	}
	if _, err := s.desk.Sessions.Trash(ctx, cwd, info.Path); err != nil {
		return nil, nil, err
	}
	return struct{}{}, nil, nil
}
