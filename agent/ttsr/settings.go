package ttsr

import (
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// maxSettings bounds the file of a program's settings, in bytes.
const maxSettings = 256 << 10

// Settings are the user's settings about stream rules, in the programs' own file.
type Settings struct {
	Enabled  bool
	Mode     Mode     // of rules without one
	Disabled []string // the names of rules that are turned off
}

// Settings reads the settings of the first agent directory that has some about stream rules. A value
// that cannot be read is the default.
//
// Differs: ttsr.contextMode and ttsr.repeatMode have no effect: the stopped part of an answer is never
// sent again, and a rule stops one answer of a conversation.
func (s Source) Settings() Settings {
	for _, dir := range s.AgentDirs {
		if s.Usable != nil && !s.Usable(dir) {
			continue
		}
		for _, name := range []string{"config.yml", "config.yaml"} {
			raw, err := intake.ReadAll(s.Fs, filepath.Join(dir, name), maxSettings)
			if err != nil {
				continue
			}
			var file struct {
				TTSR map[string]any `yaml:"ttsr"`
			}
			if yaml.Unmarshal(raw, &file) == nil && file.TTSR != nil {
				return settings(file.TTSR)
			}
		}
	}
	return settings(nil)
}

func settings(values map[string]any) Settings {
	s := Settings{Enabled: true, Mode: Always, Disabled: strs(values["disabledRules"])}
	if enabled, ok := values["enabled"].(bool); ok {
		s.Enabled = enabled
	}
	if mode, ok := values["interruptMode"].(string); ok && Mode(mode).valid() {
		s.Mode = Mode(mode)
	}
	return s
}
