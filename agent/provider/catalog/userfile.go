package catalog

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// userFile is a models.json as pi has it: providers by name, each with its models, or with
// another address for the models that are known already.
type userFile struct {
	Providers map[string]userProvider `json:"providers"`
}

type userProvider struct {
	BaseURL string            `json:"baseUrl"`
	API     provider.API      `json:"api"`
	APIKey  string            `json:"apiKey"` // the key, or the name of the variable that holds it
	Headers map[string]string `json:"headers"`
	Compat  json.RawMessage   `json:"compat"`
	Models  []provider.Model  `json:"models"`

	owned bool // the user chose the file's directory
}

// userFile reads the models.json of every agent directory; the first one takes precedence. An
// unreadable file counts as empty.
func (c *Catalog) userFile() userFile {
	all := userFile{Providers: map[string]userProvider{}}
	for _, dir := range slices.Backward(c.dirs()) {
		raw, err := intake.ReadAll(c.Fs, filepath.Join(dir, "models.json"), maxFile)
		if err != nil {
			continue
		}
		var f userFile
		if json.Unmarshal(raw, &f) != nil {
			continue
		}
		for name, p := range f.Providers {
			p.owned = c.owned(dir)
			all.Providers[name] = p
		}
	}
	return all
}

// models returns the models that the file has.
func (f userFile) models() []provider.Model {
	var list []provider.Model
	for _, name := range slices.Sorted(maps.Keys(f.Providers)) {
		p := f.Providers[name]
		for _, m := range p.Models {
			m.Provider = name
			if m.API == "" {
				m.API = p.API
			}
			if m.BaseURL == "" {
				m.BaseURL = p.BaseURL
			}
			if m.Name == "" {
				m.Name = m.ID
			}
			if m.Input == nil {
				m.Input = []string{"text"}
			}
			if m.Compat == nil {
				m.Compat = p.Compat
			}
			m.Headers = merge(p.Headers, m.Headers)
			list = append(list, m)
		}
	}
	return list
}

// override gives known models the address and headers that the file has for their provider.
func (f userFile) override(models []provider.Model) []provider.Model {
	if len(f.Providers) == 0 {
		return models
	}
	out := slices.Clone(models)
	for i, m := range out {
		p, ok := f.Providers[m.Provider]
		if !ok {
			continue
		}
		if p.BaseURL != "" {
			out[i].BaseURL = p.BaseURL
		}
		out[i].Headers = merge(m.Headers, p.Headers)
	}
	return out
}

func merge(a, b map[string]string) map[string]string {
	if len(b) == 0 {
		return a
	}
	m := maps.Clone(a)
	if m == nil {
		m = map[string]string{}
	}
	maps.Copy(m, b)
	return m
}

// isCommand reports whether a value requests to run a command, which is not supported here.
func isCommand(value string) bool { return strings.HasPrefix(value, "!") }
