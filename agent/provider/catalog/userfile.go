package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// userFile is a models.json as pi has it, or a models.yml as xcsh and omp have it: providers by name, each with its models, or with
// another address for the models that are known already.
type userFile struct {
	Providers map[string]userProvider
}

type userProvider struct {
	BaseURL string            `json:"baseUrl"`
	API     provider.API      `json:"api"`
	APIKey  string            `json:"apiKey"` // the key, a template, a command, or the name of the variable that holds the key
	Auth    string            `json:"auth"`   // noAuth, or empty
	Headers map[string]string `json:"headers"`
	Compat  json.RawMessage   `json:"compat"`
	Models  []provider.Model  `json:"models"`

	path  string // of the file
	owned bool   // the user chose the file's directory
}

// noAuth is the auth of a provider that needs no key.
const noAuth = "none"

// maxModelsFile bounds a file with models, in bytes.
const maxModelsFile = 4 << 20

// modelsFiles are the names of files with models, and what reads each. Of one directory, a later one takes precedence, and
// models.yaml counts only without models.yml.
var modelsFiles = []struct {
	name  string
	parse func(content []byte) (providers, []error)
}{{"models.json", parseJSON}, {"models.yml", parseYAML}, {"models.yaml", parseYAML}}

// ModelsFiles returns the names of the files with models and keys in an agent directory.
func ModelsFiles() (names []string) {
	for _, f := range modelsFiles {
		names = append(names, f.name)
	}
	return names
}

// fileCache keeps what files had when they were last right. Its zero value is empty.
type fileCache struct {
	mu    sync.Mutex
	files map[string]parsedFile // by path; guarded by mu
}

type parsedFile struct {
	content string // of the last look
	good    providers
}

// userFile reads the models.json and models.yml of every agent directory; the first directory takes precedence. A
// file that cannot be read counts as it was when it last could, and is reported.
func (c *Catalog) userFile() userFile {
	all := userFile{Providers: map[string]userProvider{}}
	for _, dir := range slices.Backward(c.dirs()) {
		found := "" // the last one
		for _, f := range modelsFiles {
			if f.name == "models.yaml" && found == "models.yml" {
				break
			}
			path := filepath.Join(dir, f.name)
			content, err := intake.ReadAll(c.Fs, path, maxModelsFile)
			if err != nil {
				if refused, ok := errors.AsType[*intake.Refused](err); ok {
					c.unusable(path, errors.New(refused.Why))
				} else if !errors.Is(err, fs.ErrNotExist) {
					c.unusable(path, errors.New("it cannot be read"))
				}
				continue
			}
			found = f.name
			owned := c.owned(dir)
			for name, p := range c.parsed(path, content, f.parse) {
				p.path, p.owned = path, owned
				all.Providers[name] = p
			}
		}
	}
	return all
}

// parsed returns the providers of a file, those of its last good content if it cannot be parsed.
func (c *Catalog) parsed(path string, content []byte, parse func([]byte) (providers, []error)) providers {
	c.files.mu.Lock()
	defer c.files.mu.Unlock()
	known, ok := c.files.files[path]
	if ok && known.content == string(content) {
		return known.good
	}
	good, problems := parse(withoutMark(content))
	for _, err := range problems {
		c.unusable(path, err)
	}
	if good == nil {
		good = known.good
	}
	if c.files.files == nil {
		c.files.files = map[string]parsedFile{}
	}
	c.files.files[path] = parsedFile{string(content), good}
	return good
}

// unusable reports a file, or a part of it, that is not used.
func (c *Catalog) unusable(path string, err error) {
	c.reportOnce(fmt.Sprintf("%s was not used: %s.", c.short(path), err))
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
