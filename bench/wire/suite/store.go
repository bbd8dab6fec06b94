package suite

import (
	"os"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
)

// Store is a home directory with sessions, which is not written to.
type Store struct {
	Name   string
	Home   string
	Agents []string // agent directories in it
	Path   string   // of the first session
	Cwd    string   // of the first session
	Bytes  int64
	Facts  *gen.Manifest // nil if the store was not generated
}

// Generated returns a preset, which is generated in the cache directory if it is missing.
func Generated(cache, preset string) (Store, error) {
	home, m, err := gen.Cached(cache, preset)
	if err != nil {
		return Store{}, err
	}
	return Made(preset, home, m), nil
}

// Made returns the store that the generator made in home.
func Made(name, home string, m *gen.Manifest) Store {
	s := Store{Name: name, Home: home, Path: filepath.Join(home, m.Sessions[0].Path), Cwd: m.Sessions[0].Cwd, Bytes: m.Bytes, Facts: m}
	if m.Preset.Flavour == gen.Xcsh { // those of the other programs are found in the home directory
		s.Agents = []string{filepath.Join(home, ".xcsh", "agent")}
	}
	return s
}

// File returns a store of one file, which may be any session.
func File(path, work string) (Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Store{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Store{}, err
	}
	home := filepath.Join(work, "home")
	return Store{Name: filepath.Base(path), Home: home, Path: path, Cwd: work, Bytes: info.Size()}, os.MkdirAll(home, 0o700)
}

// roots returns the directories of a store's sessions.
func (s Store) roots() (roots []string) {
	for _, f := range gen.Dialects {
		dir := filepath.Join(s.Home, "."+string(f), "agent", "sessions")
		if _, err := os.Stat(dir); err == nil {
			roots = append(roots, dir)
		}
	}
	return roots
}
