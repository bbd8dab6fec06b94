package catalog

import (
	"cmp"
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
)

// Sources returns the places that models come from: servers on this machine that answer, services that
// are ready, the well-known ones, the others by name, and the offline demo.
func (c *Catalog) Sources(ctx context.Context) []provider.Source {
	user, local := c.userFile(), c.Local.models(ctx)
	byID := map[string][]provider.Model{}
	for _, m := range c.merged(user, local) {
		byID[m.Provider] = append(byID[m.Provider], m)
	}
	found := map[string]bool{}
	for _, m := range local {
		found[m.Provider] = true
	}
	sources := make([]provider.Source, 0, len(byID))
	for id, models := range byID {
		sources = append(sources, c.source(id, models, found[id], user))
	}
	slices.SortFunc(sources, func(a, b provider.Source) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return sources
}

// source describes a provider with these models. found reports whether a server on this machine has them.
func (c *Catalog) source(id string, models []provider.Model, found bool, user userFile) provider.Source {
	s, _ := serviceOf(id)
	out := provider.Source{ID: id, Name: nameOf(id), Kind: provider.ServiceSource, KeyPage: s.keyPage, Models: len(models)}
	switch {
	case id == offline.Model.Provider:
		out.Kind = provider.DemoSource
	case found || onThisMachine(models[0].BaseURL):
		out.Kind = provider.LocalSource
	}
	var usable []provider.Model
	for _, m := range models {
		place, err := c.keyPlace(m, user)
		if err != nil || c.Services[m.API] == nil {
			continue
		}
		out.KeySource = place
		usable = append(usable, m)
	}
	out.Ready = len(usable) > 0
	if out.Kind == provider.ServiceSource {
		out.Variable = variablesOf(id)[0]
	}
	out.Default = defaultOf(s.flagship, usable, user.Providers[id])
	return out
}

// defaultOf returns the model to begin with: the flagship of a service, the first one of the user's own
// file, or the only one. Otherwise the user has to choose.
func defaultOf(flagship string, usable []provider.Model, own userProvider) string {
	at := slices.IndexFunc(usable, func(m provider.Model) bool { return m.ID == flagship })
	if at < 0 && len(own.Models) > 0 {
		at = slices.IndexFunc(usable, func(m provider.Model) bool { return m.ID == own.Models[0].ID })
	}
	if at < 0 && len(usable) == 1 {
		at = 0
	}
	if at < 0 {
		return ""
	}
	return usable[at].Ref().String()
}

// rank is the place of a source in the list, before its name.
func rank(s provider.Source) int {
	_, place := serviceOf(s.ID)
	switch {
	case s.Kind == provider.DemoSource:
		return 4 * wellKnown
	case s.Kind == provider.LocalSource && s.Ready:
		return 0
	case s.Ready:
		return 1 + min(place, wellKnown)
	case place < wellKnown:
		return 2*wellKnown + place
	}
	return 3 * wellKnown
}
