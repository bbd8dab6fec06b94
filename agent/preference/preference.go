// Package preference reads and changes the user's own defaults for new sessions, where the terminal
// programs keep them: settings.json in the agent directory of pi, config.yml in those of oh-my-pi and
// xcsh.
//
// These files belong to the user. Reading changes nothing. A change replaces one value, after the user
// chose it, and keeps every other byte; a file that cannot be changed like that stays as it is.
package preference

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/afero"
	"go.yaml.in/yaml/v3"

	"github.com/xcsh-ls/xcsh-ls/agent/peerfile"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/tier"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// Preferences are the defaults of new sessions. Empty fields leave the choice open.
type Preferences struct {
	Roles    map[string]string // by the name of the role: models as the program names them, such as "p/id:high"
	Thinking provider.Level
	Tiers    tier.Tiers
}

// Dir is the agent directory of a program.
type Dir struct {
	Path    string
	Program session.Dialect
}

// Store reads and changes the preferences. It is safe for concurrent use.
type Store struct {
	Fs   afero.Fs
	Dirs []Dir // the first one is that of new sessions

	// Usable reports whether the files of an agent directory may be used now; nil means that all may.
	Usable func(dir string) bool

	// Report is called with a sentence about a file that is not used; nil drops it.
	Report func(path, text string)

	changing sync.Mutex // held while a file is changed
}

// maxFile bounds the size of a settings file in bytes.
const maxFile = 1 << 20

// Of returns the preferences for the sessions of a program. A file that cannot be read counts as empty.
func (s *Store) Of(program session.Dialect) Preferences {
	f, ok := s.file(program)
	if !ok {
		return Preferences{}
	}
	content, err := intake.ReadAll(s.Fs, f.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Preferences{}
	}
	var p Preferences
	if err == nil {
		p, err = f.parse(peerfile.WithoutMark(content))
	}
	if err != nil {
		if s.Report != nil {
			s.Report(f.path, "The default model of new sessions in "+f.path+" is not used: "+peerfile.Reason(err)+".")
		}
		return Preferences{}
	}
	return p
}

// file is a settings file of a program.
type file struct {
	path     string
	json     bool // pi's; the others are YAML
	unlocked bool // omp's
}

// file returns the settings file for the sessions of a program; ok is false if there is none that may be
// used.
func (s *Store) file(program session.Dialect) (f file, ok bool) {
	for i, d := range s.Dirs {
		if i > 0 && d.Program != program || i == 0 && program != session.Xcsh {
			continue
		}
		if s.Usable != nil && !s.Usable(d.Path) {
			return file{}, false
		}
		if d.Program == session.Pi {
			return file{path: filepath.Join(d.Path, "settings.json"), json: true}, true
		}
		f = file{path: filepath.Join(d.Path, "config.yml"), unlocked: d.Program == session.Omp}
		if other := filepath.Join(d.Path, "config.yaml"); d.Program == session.Omp && !exists(s.Fs, f.path) && exists(s.Fs, other) {
			f.path = other
		}
		return f, true
	}
	return file{}, false
}

func exists(fsys afero.Fs, path string) bool {
	ok, err := afero.Exists(fsys, path)
	return ok || err != nil
}

func (f file) parse(content []byte) (Preferences, error) {
	if f.json {
		return parseJSON(content)
	}
	return parseYAML(content)
}

func parseJSON(content []byte) (p Preferences, err error) {
	var in struct {
		Provider string                    `json:"defaultProvider"`
		Model    string                    `json:"defaultModel"`
		Thinking provider.Level            `json:"defaultThinkingLevel"`
		Levels   map[string]provider.Level `json:"modelThinkingLevels"`
	}
	if len(strings.TrimSpace(string(content))) == 0 {
		return Preferences{}, nil
	}
	if err := json.Unmarshal(content, &in); err != nil {
		return Preferences{}, err
	}
	if in.Provider != "" && in.Model != "" {
		name := in.Provider + "/" + in.Model
		p.Roles = map[string]string{"default": name}
		in.Thinking = cmp.Or(in.Levels[name], in.Thinking)
	}
	p.Thinking = level(string(in.Thinking))
	return p, nil
}

func parseYAML(content []byte) (p Preferences, err error) {
	var in struct {
		Roles    map[string]yaml.Node `yaml:"modelRoles"`
		Thinking string               `yaml:"defaultThinkingLevel"`
		Tier     string               `yaml:"serviceTier"`
		Tiers    map[string]string    `yaml:"tier"`
	}
	if err := yaml.Unmarshal(content, &in); err != nil {
		return Preferences{}, err
	}
	p = Preferences{Thinking: level(in.Thinking), Roles: map[string]string{}, Tiers: tiers(in.Tier, in.Tiers)}
	for role, value := range in.Roles {
		if value.Kind == yaml.ScalarNode && value.ShortTag() == "!!str" {
			p.Roles[role] = value.Value
		}
	}
	return p, nil
}

// tiers returns the default tiers: xcsh has one for the models of OpenAI, omp one for each family.
func tiers(one string, each map[string]string) tier.Tiers {
	word, _ := json.Marshal(one)
	all := tier.Parse(word, false)
	object, _ := json.Marshal(each)
	maps.Copy(all, tier.Parse(object, true))
	return all
}

// level returns a thinking level, "" for any other word.
func level(word string) provider.Level {
	for _, l := range provider.Levels {
		if word == string(l) {
			return l
		}
	}
	return ""
}
