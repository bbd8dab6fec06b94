package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

var list = New(Spec{
	Name: "xcsh.list", Title: "List Sessions", Flags: ReadOnly, Arg: "query", Early: true,
	Doc: "List the sessions of a folder or of all folders, newest first, or those that match a query, best match first.",
}, runList)

var recent = New(Spec{
	Name: "xcsh.recent", Title: "Recent Sessions", Flags: ReadOnly, Early: true,
	Doc: "List the folder's newest sessions. Only the beginnings of the files are read.",
}, runRecent)

var resolve = New(Spec{
	Name: "xcsh.resolve", Title: "Resolve Session", Flags: ReadOnly, Arg: "target", Early: true,
	Doc: "List the sessions that match a target, the best match first.",
}, runResolve)

// ListArgs are the arguments of xcsh.list.
type ListArgs struct {
	Folder
	Scope        string `json:"scope,omitempty" jsonschema:"folder, all, or team: the folder and the sessions of its project in the team store. Default: folder."`
	Query        string `json:"query,omitempty" jsonschema:"Words that a session must all contain, in its title, prompts, answers, ID or path."`
	Limit        int    `json:"limit,omitempty" jsonschema:"The maximum number. Default: all."`
	Cursor       string `json:"cursor,omitempty" jsonschema:"The nextCursor of the previous page."`
	IncludeEmpty bool   `json:"includeEmpty,omitempty" jsonschema:"Include sessions without messages."`
}

// ListResult is one page of sessions.
type ListResult struct {
	Sessions   []library.Info    `json:"sessions"`
	NextCursor string            `json:"nextCursor,omitempty"`
	Problems   []session.Problem `json:"problems" jsonschema:"Files and directories that could not be read."`
}

func runList(ctx context.Context, env *Env, a ListArgs) (ListResult, error) {
	cwd, err := env.resolver().listCwd(ctx, a)
	if err != nil {
		return ListResult{}, err
	}
	p, err := a.page()
	if err != nil {
		return ListResult{}, err
	}
	o := library.ListOptions{IncludeEmpty: a.IncludeEmpty, Query: a.Query, Skip: p.from, Progress: env.Reading}
	if p.limit > 0 {
		o.Limit = p.limit + 1 // to see whether there are more
	}
	parts := partsOf(ctx, env.lists(), p)
	if parts != nil {
		o.Each = parts.add
	}
	infos, problems, err := env.lists().list(ctx, cwd, a.Scope, o)
	if err != nil {
		return ListResult{}, err
	}
	r := ListResult{Sessions: []library.Info{}, Problems: append([]session.Problem{}, problems...)}
	if p.limit > 0 && len(infos) > p.limit {
		infos = infos[:p.limit]
		r.NextCursor = strconv.Itoa(p.from + p.limit)
	}
	if parts != nil {
		parts.sendRest(infos)
		return r, nil
	}
	r.Sessions = append(r.Sessions, infos...)
	return r, nil
}

// page is a range of a list.
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

// listCwd returns the folder to list, "" for all folders.
func (r resolver) listCwd(ctx context.Context, a ListArgs) (string, error) {
	if a.Scope == "all" && a.Cwd == "" && len(r.folders()) != 1 {
		return "", nil
	}
	return r.cwd(ctx, a.Folder)
}

// lister lists sessions and marks the live ones.
type lister struct {
	finder   library.Finder
	store    *session.Store
	sessions *agent.Manager
	team     Team // nil if there is no store
}

// list returns the sessions of a scope, folder, all or team.
func (l lister) list(ctx context.Context, cwd, scope string, o library.ListOptions) ([]library.Info, []session.Problem, error) {
	var infos []library.Info
	var problems []session.Problem
	var err error
	switch scope {
	case "", "folder":
		infos, problems, err = l.finder.List(ctx, cwd, o)
	case "all":
		infos, problems, err = l.finder.ListAll(ctx, o)
	case scopeTeam:
		return l.listTeam(ctx, cwd, o)
	default:
		err = fault.New(fault.InvalidArgument, "scope must be folder or all, not %q.", scope).With("field", "scope")
	}
	l.markLive(infos)
	return infos, problems, err
}

// markLive marks live sessions, those that another process has locked, and those in the store.
func (l lister) markLive(infos []library.Info) {
	l.markOpen(infos)
	if l.team != nil && len(infos) > 0 {
		l.team.Mark(infos)
	}
}

// markOpen marks live sessions and those that another process has locked. It compares names
// first, because resolving ten thousand paths takes longer than listing them.
func (l lister) markOpen(infos []library.Info) {
	names, owners := l.sessions.LiveNames(), l.store.Owners()
	for i := range infos {
		if o, ok := owners[infos[i].Path]; ok && !o.Ours {
			infos[i].LockedBy = fmt.Sprintf("pid %d on %s", o.PID, o.Host)
		}
		if names[filepath.Base(infos[i].Path)] {
			_, infos[i].Live = l.sessions.LiveIn(infos[i].Path)
		}
	}
}

// RecentArgs are the arguments of xcsh.recent.
type RecentArgs struct {
	Folder
	Limit *int `json:"limit,omitempty" jsonschema:"The maximum number. Default: 3."`
}

// RecentResult holds the newest sessions.
type RecentResult struct {
	Sessions []library.RecentInfo `json:"sessions"`
}

// defaultRecent is the number of sessions on a welcome screen.
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
		return RecentResult{Sessions: []library.RecentInfo{}}, nil
	}
	infos, err := env.Finder.Recent(ctx, cwd, limit)
	return RecentResult{Sessions: append([]library.RecentInfo{}, infos...)}, err
}

// ResolveArgs are the arguments of xcsh.resolve.
type ResolveArgs struct {
	Folder
	Target string `json:"target" jsonschema:"An ID, an ID prefix, a file name, a title, a slug, a path or a file: URI."`
	Scope  string `json:"scope,omitempty" jsonschema:"folder or all. Default: the folder first, then all folders."`
}

func runResolve(ctx context.Context, env *Env, a ResolveArgs) (library.Resolution, error) {
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return library.Resolution{}, err
	}
	if a.Target == "" {
		if a.Target, err = env.resolver().pickTarget(ctx, cwd, a.Scope); err != nil {
			return library.Resolution{}, err
		}
	}
	r, err := env.Finder.Resolve(ctx, cwd, a.Target, library.ResolveOptions{Scope: a.Scope})
	r.Matches = append([]library.Info{}, r.Matches...)
	env.lists().markLive(r.Matches)
	return r, err
}

// pickTarget asks which session to resolve: one of the folder or, if it has none, of all
// folders.
func (r resolver) pickTarget(ctx context.Context, cwd, scope string) (string, error) {
	const question = "Select a session to resolve"
	info, err := r.pickSession(ctx, cwd, scope, question, "target")
	if scope == "" && fault.Is(err, fault.NotFound) {
		info, err = r.pickSession(ctx, cwd, "all", question, "target")
	}
	return info.Path, err
}
