// Package catalog knows which models there are, which client speaks their API, and with which key.
//
// Its content comes in layers, the later ones over the earlier: the catalogue that comes with the
// program, the user's models.json and models.yml, and servers on this machine that answer. A server that was found
// is offered and never chosen by itself.
package catalog

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/agentdb"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyvalue"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Catalog is safe for concurrent use. Fs, AgentDirs, Getenv and Services must be set.
type Catalog struct {
	Fs        afero.Fs
	AgentDirs []string // directories of models.json and auth.json, in order of precedence
	Getenv    func(string) string
	Services  map[provider.API]provider.Provider // the client of each API

	// Usable reports whether the files of an agent directory may be used now; nil means that all
	// may. Owned reports whether the user chose the directory; nil means all. The files of others
	// name only variables of the environment that hold keys of models.
	Usable, Owned func(agentDir string) bool

	// Report is called, once for each, with sentences for the user: about a key that is sent without
	// encryption, and about files that cannot be used; nil drops them.
	Report func(text string)

	// Commands runs the commands that print keys; nil runs none. Home is the user's home directory, for
	// messages.
	Commands *keyvalue.Commands
	Home     string

	// Kept are the keys that the client keeps; nil: it keeps none.
	Kept KeptKeys

	// Local finds servers on this machine; nil means not to look for any.
	Local *Detector

	reported sync.Map // the sentences and addresses that Report was called for

	database     *agentdb.Reader // made by databaseOnce
	databaseOnce sync.Once
	files        fileCache
}

// KeptKeys are keys that the client keeps and returns when they are needed. They are safe for concurrent use.
type KeptKeys interface {
	// Has reports whether the client keeps a key for a provider. It does not ask.
	Has(provider string) bool
	// Key asks the client for a key. It returns "" if the client has none any more.
	Key(ctx context.Context, provider string) (string, error)
}

// All returns every model, those that can be used now first, then by provider and id.
func (c *Catalog) All(ctx context.Context) []provider.Info {
	var list []provider.Info
	keys := map[string]bool{}
	user := c.userFile()
	for _, m := range c.merged(user, c.Local.models(ctx)) {
		has, known := keys[m.Provider]
		if !known {
			_, err := c.keyPlace(ctx, m, user)
			has = err == nil
			keys[m.Provider] = has
		}
		list = append(list, provider.Info{Model: m, Available: has && c.Services[m.API] != nil})
	}
	slices.SortStableFunc(list, func(a, b provider.Info) int {
		return cmp.Or(-cmp.Compare(b2i(a.Available), b2i(b.Available)), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// merged lays the layers over each other. A model is its provider and id.
func (c *Catalog) merged(user userFile, local []provider.Model) []provider.Model {
	return c.mergedOf("", user, local)
}

// mergedOf is merged for the models of one provider, "" for all.
func (c *Catalog) mergedOf(name string, user userFile, local []provider.Model) []provider.Model {
	known := Embedded().Models
	if name != "" {
		known = ofProvider(name, known)
	}
	at := map[provider.Ref]int{}
	var all []provider.Model
	for _, layer := range [][]provider.Model{{offline.Model}, user.override(known), user.models(), local} {
		for _, m := range layer {
			if name != "" && m.Provider != name {
				continue
			}
			m.BaseURL = c.address(m)
			if i, again := at[m.Ref()]; again {
				all[i] = m
				continue
			}
			at[m.Ref()] = len(all)
			all = append(all, m)
		}
	}
	return all
}

func ofProvider(name string, models []provider.Model) []provider.Model {
	var list []provider.Model
	for _, m := range models {
		if m.Provider == name {
			list = append(list, m)
		}
	}
	return list
}

// Find returns the model called ref. A model that no layer knows is found all the same if its
// provider is known: services get new models more often than programs get new catalogues.
func (c *Catalog) Find(ctx context.Context, ref provider.Ref) (provider.Model, bool) {
	if ref == offline.Model.Ref() {
		return offline.Model, true // without reading the catalogue
	}
	user := c.userFile()
	var sibling *provider.Model
	for _, m := range c.mergedOf(ref.Provider, user, c.Local.of(ctx, ref.Provider)) {
		if m.Ref() == ref {
			return m, true
		}
		if m.Provider == ref.Provider && m.API != provider.Scripted && sibling == nil {
			sibling = &m
		}
	}
	if sibling == nil {
		return provider.Model{}, false
	}
	return provider.Model{
		Provider: ref.Provider, ID: ref.ID, Name: ref.ID, API: sibling.API, BaseURL: sibling.BaseURL,
		Headers: sibling.Headers, Compat: sibling.Compat, Input: []string{"text"},
	}, true
}

// Service returns the client of the model's API.
func (c *Catalog) Service(m provider.Model) (provider.Provider, error) {
	if s := c.Services[m.API]; s != nil {
		return s, nil
	}
	return nil, fault.New(fault.Provider, "The API %q of model %s is not supported.", m.API, m.Ref())
}

// CheckKey returns the error of Key for a missing key, without asking the client for one.
func (c *Catalog) CheckKey(m provider.Model) error {
	_, err := c.keyPlace(context.Background(), m, c.userFile())
	return err
}

// Key returns the API key for a model: that of the client, else that of auth.json, of models.json or models.yml,
// of agent.db, or of the environment. It is looked up for each request, because keys change.
func (c *Catalog) Key(ctx context.Context, m provider.Model) (string, error) {
	key, err := c.key(ctx, m, c.userFile())
	if err == nil && key != "" {
		c.reportPlain(m)
	}
	return key, err
}

// localClient returns a client for this machine: it uses no proxy and follows no redirects.
func localClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{Proxy: nil, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
