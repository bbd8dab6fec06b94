package session

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// ImportFile is a file that an import of a directory would take. LeadsOut reports a link to
// somewhere else, which is not followed.
type ImportFile struct {
	Path     string
	LeadsOut bool
}

// AgentBaseDir is where agent-base keeps its sessions: in the directory that the person gave
// the program, or where it looks by itself.
func (f Finder) AgentBaseDir() string {
	home := f.AgentHome
	if home == "" {
		home = filepath.Join(f.Home, ".agent")
	}
	return filepath.Join(home, "sessions")
}

// temporary are the names that agent-base gives to files that it is still writing.
var temporary = regexp.MustCompile(`\.tmp\.\d+-`)

// ImportFiles returns the sessions in a directory of agent-base, by name. The index and what
// a crash left behind are none. A directory that does not exist is kind notFound.
func (f Finder) ImportFiles(dir string) ([]ImportFile, error) {
	entries, err := afero.ReadDir(f.Fs, dir)
	if err != nil {
		return nil, notADirectory(f.Fs, dir, err)
	}
	var files []ImportFile
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".json") || name == "index.json" || temporary.MatchString(name) || strings.HasPrefix(name, ".") {
			continue
		}
		file := ImportFile{Path: filepath.Join(dir, name)}
		info := f.lstat(file.Path)
		switch {
		case info == nil:
			continue // gone in the meantime
		case info.Mode()&fs.ModeSymlink != 0:
			file.LeadsOut = !f.staysIn(dir, file.Path)
		case !info.Mode().IsRegular():
			continue
		}
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b ImportFile) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

func notADirectory(fsys afero.Fs, dir string, err error) error {
	if ok, statErr := afero.DirExists(fsys, dir); statErr == nil && !ok {
		return fault.New(fault.NotFound, "Directory not found: %s", dir).With("path", dir)
	}
	return ioFault("read", dir, err)
}

// staysIn reports whether the link at path leads to something in dir.
func (f Finder) staysIn(dir, path string) bool {
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
	_, inside := within(cleanPath(real), cleanPath(target))
	return inside
}

// LastImportable returns the id of the session that agent-base would resume from a directory
// of its sessions, "" when none is noted. The older generation notes it beside the directory.
func (f Finder) LastImportable(dir string) string {
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
