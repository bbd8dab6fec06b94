package commands

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// scopeTeam is the scope of the sessions of a folder and those of its project in the store.
const scopeTeam = "team"

// listTeam returns the sessions of a folder and those of the store, the latest first; with a query, the local ones that fit it come first. It
// is complete without the store, and then has a problem.
func (l lister) listTeam(ctx context.Context, cwd string, o library.ListOptions) ([]library.Info, []session.Problem, error) {
	if l.team == nil {
		return nil, nil, noTeam()
	}
	whole := o
	whole.Skip, whole.Limit, whole.Each = 0, 0, nil
	infos, problems, err := l.finder.List(ctx, cwd, whole)
	if err != nil {
		return nil, problems, err
	}
	remote, more, err := l.team.List(ctx, cwd, o.Query, infos)
	if err != nil {
		problem, ok := teamProblem(err)
		if !ok {
			return nil, nil, err
		}
		more = append(more, problem)
	}
	l.markOpen(infos)
	seen := map[string]bool{}
	for _, i := range infos {
		if i.Team != nil {
			seen[i.Team.SID] = true
		}
	}
	for _, i := range remote {
		if i, ok := remoteInfo(i); ok && !seen[i.Team.SID] {
			seen[i.Team.SID] = true
			infos = append(infos, i)
		}
	}
	if o.Query == "" {
		slices.SortStableFunc(infos, func(a, b library.Info) int { return b.ModTime.Compare(a.ModTime) })
	}
	infos = infos[min(o.Skip, len(infos)):]
	if o.Limit > 0 {
		infos = infos[:min(o.Limit, len(infos))]
	}
	return infos, append(problems, more...), nil
}

// pickTeam asks for one of the sessions of a folder that are in the store.
func (r resolver) pickTeam(ctx context.Context, cwd, question string) (library.Info, error) {
	infos, _, err := r.lists.list(ctx, cwd, scopeTeam, library.ListOptions{})
	if err != nil {
		return library.Info{}, err
	}
	infos = slices.DeleteFunc(infos, func(i library.Info) bool { return i.Team == nil })
	if len(infos) == 0 {
		return library.Info{}, noSessionInTeam()
	}
	return r.ask.session(ctx, infos, question, "source")
}
