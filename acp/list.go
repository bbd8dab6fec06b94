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

// listSessions answers session/list: the sessions of a folder, or all of them.
func (s *server) listSessions(ctx context.Context, _ *call, p listParams) (any, []any, error) {
	args := commands.ListArgs{Scope: "all", Limit: pageSize, Cursor: p.Cursor}
	if p.Cwd != "" {
		if !filepath.IsAbs(p.Cwd) {
			return nil, nil, fault.New(fault.InvalidArgument, "%q is not an absolute path.", p.Cwd).With("field", "cwd")
		}
		args.Scope, args.Cwd = "folder", p.Cwd
	}
	page, err := commands.Call[commands.ListResult](ctx, s.opts.Commands, s.desk, "xcsh.list", args)
	if err != nil {
		return nil, nil, err
	}
	r := listResult{Sessions: []sessionInfo{}, Next: page.NextCursor}
	for _, info := range page.Sessions {
		cwd := info.Cwd
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
		r.Sessions = append(r.Sessions, sessionInfo{SessionID: info.ID, Cwd: cwd, Title: visible.Line(title), UpdatedAt: info.Modified})
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
