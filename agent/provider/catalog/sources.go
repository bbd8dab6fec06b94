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
	running := map[string]bool{}
	for _, m := range local {
		running[m.Provider] = true
	}
	sources := make([]provider.Source, 0, len(byID))
	for id, models := range byID {
		sources = append(sources, c.source(ctx, id, models, running[id], user))
	}
	slices.SortFunc(sources, func(a, b provider.Source) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return sources
}

// found is the place of a key, or the error for a missing one.
type found struct {
	place provider.KeySource
	err   error
}

// source describes a provider with these models. running reports whether a server on this machine has them.
func (c *Catalog) source(ctx context.Context, id string, models []provider.Model, running bool, user userFile) provider.Source {
	s, _ := serviceOf(id)
	out := provider.Source{ID: id, Name: nameOf(id), Kind: provider.ServiceSource, KeyPage: s.keyPage, Models: len(models)}
	switch {
	case id == offline.Model.Provider:
		out.Kind = provider.DemoSource
	case running || onThisMachine(models[0].BaseURL):
		out.Kind = provider.LocalSource
	}
	var usable []provider.Model
	places := map[provider.API]found{} // reading the files for each model would take long
	for _, m := range models {
		key, known := places[m.API]
		if !known {
			key.place, key.err = c.keyPlace(ctx, m, user)
			places[m.API] = key
		}
		if key.err != nil || c.Services[m.API] == nil {
			continue
		}
		out.KeySource = key.place
		usable = append(usable, m)
	}
	out.Ready = len(usable) > 0
	if out.Kind == provider.ServiceSource {
		out.Variable = variablesOf(id)[0]
	}
	var own []provider.Model
	if out.Kind == provider.ServiceSource {
		own = user.Providers[id].Models
	}
	out.Default = defaultOf(s.flagship, usable, own)
	return out
}

// defaultOf returns the model to begin with: the flagship of a service, the first of own, the service's models in the
// user's own file, or the only one. Otherwise the user has to choose.
func defaultOf(flagship string, usable, own []provider.Model) string {
	at := slices.IndexFunc(usable, func(m provider.Model) bool { return m.ID == flagship })
	if at < 0 && len(own) > 0 {
		at = slices.IndexFunc(usable, func(m provider.Model) bool { return m.ID == own[0].ID })
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
