package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// merge sets the field Team of local sessions, and returns the other sessions of the store that fit the query, the latest first. A local
// file and a session of the store are the same one if this machine sends the file to it, or if they have the same id and no other
// file is sent to the session. Of several variants, the files take the first ones.
func (p *project) merge(local []library.Info, query string) []library.Info {
	rows := p.sorted()
	fits := p.fits(query)
	taken := p.claim(local, rows)
	remote := []library.Info{}
	for _, r := range rows {
		if hit, ok := fits(r); ok && !taken[r.SID] && !p.c.c.Local(r.SID) {
			remote = append(remote, hit.on(p.c.info(r)))
		}
	}
	for _, r := range p.foundElsewhere(query) {
		if _, listed := p.row(r.SID); !listed && !taken[r.SID] && !p.c.c.Local(r.SID) {
			hit, _ := fits(r)
			remote = append(remote, hit.on(p.c.info(r)))
		}
	}
	return remote
}

// claim sets the field Team of local sessions, and returns the sessions of the store that they are.
func (p *project) claim(local []library.Info, rows []row) map[team.SID]bool {
	taken := map[team.SID]bool{}
	byID := map[string][]row{}
	for _, r := range rows {
		byID[r.HeaderID] = append(byID[r.HeaderID], r)
	}
	for _, same := range byID {
		slices.SortFunc(same, func(a, b row) int { return cmp.Compare(a.Variant, b.Variant) })
	}
	states := make([]publish.State, len(local))
	for i := range local {
		p.c.mark(&local[i], []*project{p})
		if states[i] = p.c.c.State(local[i].Path); !states[i].SID.IsZero() {
			taken[states[i].SID] = true
		}
	}
	for i := range local {
		if !states[i].SID.IsZero() {
			continue
		}
		for _, r := range byID[local[i].ID] {
			if !taken[r.SID] {
				taken[r.SID] = true
				local[i].Team = p.c.teamOf(r, states[i])
				break
			}
		}
	}
	return taken
}

// words returns the words of a query in small letters.
func words(query string) []string { return strings.Fields(strings.ToLower(query)) }

// fitsWords reports whether what a list shows of a session contains all words.
func (r row) fitsWords(all []string) bool {
	text := strings.ToLower(strings.Join([]string{r.Title, r.FirstPrompt, r.HeaderID, r.Owner}, "\n"))
	return !slices.ContainsFunc(all, func(w string) bool { return !strings.Contains(text, w) })
}
