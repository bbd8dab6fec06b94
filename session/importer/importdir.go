package importer

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// File is a file that an import of a directory would read. LeadsOut reports a link to a
// target outside, which is not followed.
type File struct {
	Path     string
	LeadsOut bool
}

// AgentBaseDir is where agent-base keeps its sessions: in the directory that the user
// configured, or in its default one.
func AgentBaseDir(f library.Finder) string {
	home := f.AgentHome
	if home == "" {
		home = filepath.Join(f.Home, ".agent")
	}
	return filepath.Join(home, "sessions")
}

// temporary are the names that agent-base gives to files that it is still writing.
var temporary = regexp.MustCompile(`\.tmp\.\d+-`)

// Files returns the sessions in a directory of agent-base, by name. The index and the
// leftovers of a crash are not included. For a missing directory the error is of kind
// notFound.
func Files(f library.Finder, dir string) ([]File, error) {
	entries, err := afero.ReadDir(f.Fs, dir)
	if err != nil {
		return nil, notADirectory(f.Fs, dir, err)
	}
	var files []File
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".json") || name == "index.json" || temporary.MatchString(name) || strings.HasPrefix(name, ".") {
			continue
		}
		file := File{Path: filepath.Join(dir, name)}
		info, err := disk.Lstat(f.Fs, file.Path)
		switch {
		case err != nil:
			continue // removed in the meantime
		case info.Mode()&fs.ModeSymlink != 0:
			file.LeadsOut = !staysIn(f, dir, file.Path)
		case !info.Mode().IsRegular():
			continue
		}
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

func notADirectory(fsys afero.Fs, dir string, err error) error {
	if ok, statErr := afero.DirExists(fsys, dir); statErr == nil && !ok {
		return fault.New(fault.NotFound, "Directory not found: %s", dir).With("path", dir)
	}
	return disk.Fault("read", dir, err)
}

// staysIn reports whether the link at path leads to something in dir.
func staysIn(f library.Finder, dir, path string) bool {
	if f.RealPath == nil {
		return true
	}
	target, err := f.RealPath(path)
	if err != nil {
		return false
	}
	real, err := f.RealPath(dir)
	if err != nil {
		return false
	}
	return library.Contains(real, target)
}

// LastImportable returns the id of the session that agent-base would resume from a directory
// of its sessions, "" if none is recorded. The older generation records it beside the
// directory.
func LastImportable(f library.Finder, dir string) string {
	for _, path := range []string{filepath.Join(dir, "last_session"), filepath.Join(filepath.Dir(dir), "last_session")} {
		info, err := f.Fs.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<10 {
			continue
		}
		content, err := afero.ReadFile(f.Fs, path)
		if err != nil {
			continue
		}
		if id := strings.TrimSpace(string(content)); agentbase.CheckID(id) == nil {
			return id
		}
	}
	return ""
}
