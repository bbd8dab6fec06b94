package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var list = New(Spec{
	Name: "xcsh.list", Title: "List Sessions", Flags: ReadOnly, Arg: "query",
	Doc: "The sessions of the folder or of every folder, newest first, or those that match a query, best first.",
}, runList)

var recent = New(Spec{
	Name: "xcsh.recent", Title: "Recent Sessions", Flags: ReadOnly,
	Doc: "The folder's newest sessions, read from their beginnings only.",
}, runRecent)

var resolve = New(Spec{
	Name: "xcsh.resolve", Title: "Resolve Session", Flags: ReadOnly, Arg: "target",
	Doc: "The sessions that a target may stand for, the strongest match first.",
}, runResolve)

// ListArgs are the arguments of xcsh.list.
type ListArgs struct {
	Folder
	Scope        string `json:"scope,omitempty" jsonschema:"folder or all. Absent: folder."`
	Query        string `json:"query,omitempty" jsonschema:"Words that must all be found, in titles, prompts, answers, ids or paths."`
	Limit        int    `json:"limit,omitempty" jsonschema:"How many at most. Absent: all."`
	Cursor       string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before."`
	IncludeEmpty bool   `json:"includeEmpty,omitempty" jsonschema:"Also sessions without messages."`
}

// ListResult is one page of sessions.
type ListResult struct {
	Sessions   []session.Info    `json:"sessions"`
	NextCursor string            `json:"nextCursor,omitempty"`
	Problems   []session.Problem `json:"problems" jsonschema:"Files and directories that could not be read."`
}

func runList(ctx context.Context, env *Env, a ListArgs) (ListResult, error) {
	cwd, err := env.listCwd(ctx, a)
	if err != nil {
		return ListResult{}, err
	}
	p, err := a.page()
	if err != nil {
		return ListResult{}, err
	}
	o := session.ListOptions{IncludeEmpty: a.IncludeEmpty, Query: a.Query}
	parts := partsOf(ctx, env, p)
	if parts != nil {
		o.Each = parts.add
	}
	infos, problems, err := env.listSessions(ctx, cwd, a.Scope, o)
	if err != nil {
		return ListResult{}, err
	}
	from, to := p.in(len(infos))
	r := ListResult{Sessions: []session.Info{}, Problems: append([]session.Problem{}, problems...)}
	if to < len(infos) {
		r.NextCursor = strconv.Itoa(to)
	}
	if parts != nil {
		parts.sendRest(infos[from:to])
		return r, nil
	}
	r.Sessions = append(r.Sessions, infos[from:to]...)
	return r, nil
}

// page is a part of a list.
type page struct{ from, limit int } // limit 0: to the end

func (a ListArgs) page() (page, error) {
	if a.Limit < 0 {
		return page{}, fault.New(fault.InvalidArgument, "limit cannot be negative.").With("field", "limit")
	}
	if a.Cursor == "" {
		return page{limit: a.Limit}, nil
	}
	from, err := strconv.Atoi(a.Cursor)
	if err != nil || from < 0 {
		return page{}, fault.New(fault.InvalidArgument, "%q is not a cursor of xcsh.list.", a.Cursor).With("field", "cursor")
	}
	return page{from, a.Limit}, nil
}

// in returns the page's place in a list of n.
func (p page) in(n int) (from, to int) {
	from = min(p.from, n)
	if p.limit == 0 || p.limit > n-from {
		return from, n
	}
	return from, from + p.limit
}

// listCwd is the folder to list; listing everything needs none.
func (env *Env) listCwd(ctx context.Context, a ListArgs) (string, error) {
	if a.Scope == "all" && a.Cwd == "" && len(env.Folders()) != 1 {
		return "", nil
	}
	return env.cwd(ctx, a.Folder)
}

// listSessions lists and marks the sessions that are live here.
func (env *Env) listSessions(ctx context.Context, cwd, scope string, o session.ListOptions) ([]session.Info, []session.Problem, error) {
	var infos []session.Info
	var problems []session.Problem
	var err error
	switch scope {
	case "", "folder":
		infos, problems, err = env.Finder.List(ctx, cwd, o)
	case "all":
		infos, problems, err = env.Finder.ListAll(ctx, o)
	default:
		err = fault.New(fault.InvalidArgument, "scope must be folder or all, not %q.", scope).With("field", "scope")
	}
	env.markLive(infos)
	return infos, problems, err
}

// markLive compares names first: resolving ten thousand paths takes longer than listing.
func (env *Env) markLive(infos []session.Info) {
	names, owners := env.Sessions.LiveNames(), env.Store.Owners()
	for i := range infos {
		if o, ok := owners[infos[i].Path]; ok && !o.Ours {
			infos[i].LockedBy = fmt.Sprintf("pid %d on %s", o.PID, o.Host)
		}
		if names[filepath.Base(infos[i].Path)] {
			_, infos[i].Live = env.Sessions.LiveIn(infos[i].Path)
		}
	}
}

// RecentArgs are the arguments of xcsh.recent.
type RecentArgs struct {
	Folder
	Limit *int `json:"limit,omitempty" jsonschema:"How many at most. Absent: 3."`
}

// RecentResult holds the newest sessions.
type RecentResult struct {
	Sessions []session.RecentInfo `json:"sessions"`
}

// defaultRecent is how many sessions a welcome screen shows.
const defaultRecent = 3

func runRecent(ctx context.Context, env *Env, a RecentArgs) (RecentResult, error) {
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return RecentResult{}, err
	}
	limit := defaultRecent
	if a.Limit != nil {
		if limit = *a.Limit; limit < 0 {
			return RecentResult{}, fault.New(fault.InvalidArgument, "limit cannot be negative.").With("field", "limit")
		}
	}
	if limit == 0 {
		return RecentResult{Sessions: []session.RecentInfo{}}, nil
	}
	infos, err := env.Finder.Recent(ctx, cwd, limit)
	return RecentResult{Sessions: append([]session.RecentInfo{}, infos...)}, err
}

// ResolveArgs are the arguments of xcsh.resolve.
type ResolveArgs struct {
	Folder
	Target string `json:"target" jsonschema:"An id, an id prefix, a file name, a title, a slug, a path or a file: URI."`
	Scope  string `json:"scope,omitempty" jsonschema:"folder or all. Absent: the folder first, then everywhere."`
}

func runResolve(ctx context.Context, env *Env, a ResolveArgs) (session.Resolution, error) {
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return session.Resolution{}, err
	}
	if a.Target == "" {
		if a.Target, err = env.pickTarget(ctx, cwd, a.Scope); err != nil {
			return session.Resolution{}, err
		}
	}
	r, err := env.Finder.Resolve(ctx, cwd, a.Target, session.ResolveOptions{Scope: a.Scope})
	r.Matches = append([]session.Info{}, r.Matches...)
	env.markLive(r.Matches)
	return r, err
}

// pickTarget asks which session to resolve: one of the folder, or of any when it has none.
func (env *Env) pickTarget(ctx context.Context, cwd, scope string) (string, error) {
	const question = "Resolve which session?"
	info, err := env.pickSessionFor(ctx, cwd, scope, question, "target")
	if scope == "" && fault.Is(err, fault.NotFound) {
		info, err = env.pickSessionFor(ctx, cwd, "all", question, "target")
	}
	return info.Path, err
}
