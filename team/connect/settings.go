package connect

import (
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Settings are the user's own: those of the editor's machine scope, or of team.json. A workspace has none; see [WithoutTeam].
type Settings struct {
	Service         string // team.service: a name in the service file of PostgreSQL
	URL             string // team.url: an address without a password
	PasswordCommand string // team.passwordCommand: the path of an executable
	Insecure        bool   // team.insecure: the server does not have to prove who it is
}

// WithoutTeam returns a section of settings that may come from a workspace without those of the team store.
func WithoutTeam(section []byte) []byte {
	if rawjson.Kind(section) != '{' {
		return section
	}
	var names []string
	rawjson.Members(section, func(key, _ []byte) bool {
		if name, _ := rawjson.String(key); name == "team" || strings.HasPrefix(name, "team.") {
			names = append(names, name)
		}
		return true
	})
	for _, name := range names {
		section = rawjson.Delete(section, name)
	}
	return section
}

// Machine is what settings are resolved with. Fs and Getenv are required.
type Machine struct {
	Fs      afero.Fs
	Home    string // the user's directory
	Getenv  func(string) string
	Folders []string // the open workspace folders

	// Real resolves symbolic links. Nil means that there are none.
	Real func(path string) (string, error)
}

func (m Machine) real(path string) string {
	if m.Real != nil {
		if real, err := m.Real(path); err == nil {
			return real
		}
	}
	return filepath.Clean(path)
}

// folderOf returns the workspace folder that a file is in, by its name or without symbolic links, "" if it is in none. The user's own
// directory is theirs also when it is open as a folder.
func (m Machine) folderOf(file string) string {
	for _, folder := range m.Folders {
		for _, f := range []string{filepath.Clean(folder), m.real(folder)} {
			if m.Home != "" && (isIn(f, m.Home) || isIn(f, m.real(m.Home))) {
				continue
			}
			if isIn(f, file) || isIn(f, m.real(file)) || isIn(f, m.real(filepath.Dir(file))) {
				return folder
			}
		}
	}
	return ""
}

// isIn reports whether path is dir or below it.
func isIn(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
