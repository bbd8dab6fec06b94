package catalog

import (
	"context"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// leastPrefix is the shortest beginning of an id that finds a session.
const leastPrefix = 6

// Shared is a session of the user in the store.
type Shared struct {
	Info    library.Info
	Project team.Project // without Team and Key if the store doesn't list it
}

// Find returns the sessions of the project of cwd whose id in the store or in the header is target, else those whose id begins with it, which
// takes at least 6 characters, else those with this title. It waits for the network; without one it finds sessions that were seen
// before. The error is of kind offline, refused or cancelled, if nothing was found.
func (c *Catalog) Find(ctx context.Context, cwd, target string) ([]library.Info, error) {
	key := c.c.Key(cwd)
	if key == "" || target == "" {
		return nil, nil
	}
	p := c.project(key)
	f := p.refresh()
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, cancelled(ctx)
	}
	if found := p.matching(target); len(found) > 0 {
		return c.infos(found), nil
	}
	if f.err != nil {
		return nil, f.err
	}
	sid, err := team.ParseSID(target)
	if err != nil {
		return nil, nil //nolint:nilerr // the target is no id
	}
	store, _, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := p.rowsOf(ctx, store, []team.SID{sid}) // an old one, or one of another project
	return c.infos(rows), err
}

// matching returns the sessions that a target means, of the strongest kind of match.
func (p *project) matching(target string) []row {
	target = strings.ToLower(target)
	kinds := []func(r row) bool{
		func(r row) bool { return r.SID.String() == target || strings.ToLower(r.HeaderID) == target },
		func(r row) bool {
			return len(target) >= leastPrefix && (strings.HasPrefix(r.SID.String(), target) || strings.HasPrefix(strings.ToLower(r.HeaderID), target))
		},
		func(r row) bool { return strings.ToLower(r.Title) == target },
	}
	rows := p.sorted()
	for _, matches := range kinds {
		var found []row
		for _, r := range rows {
			if matches(r) {
				found = append(found, r)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// infos describes sessions.
func (c *Catalog) infos(rows []row) []library.Info {
	var infos []library.Info
	for _, r := range rows {
		infos = append(infos, c.info(r))
	}
	return infos
}

// Mine returns the newest sessions of the user in the store, of all projects and with those in its trash, the latest first. It knows them
// from the store alone, so that they are found where no file of them is left. The error is of kind offline, refused or
// cancelled.
func (c *Catalog) Mine(ctx context.Context) ([]Shared, error) {
	store, _, err := c.c.Connected(ctx)
	if err != nil {
		return nil, err
	}
	projects, err := store.Projects(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[int]team.Project{}
	for _, p := range projects {
		p.Team, p.Key = line(p.Team, maxName), line(p.Key, maxKey)
		byID[p.ID] = p
	}
	infos, err := pages(func(q team.ListQuery) ([]team.Info, error) { return store.Mine(ctx, q) })
	if err != nil {
		return nil, err
	}
	mine := []Shared{}
	for _, i := range infos {
		p := byID[i.Project]
		p.ID = i.Project
		mine = append(mine, Shared{c.info(newRow(i, c.c.Clock.Now())), p})
	}
	return mine, nil
}

const maxKey = 2000 // characters of the key of a project
