package composer

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
)

// Finder finds the files that references name.
type Finder struct {
	Fs        afero.Fs
	Cwd       string                 // absolute
	Home      string                 // for "~/"; "" for none
	Sensitive func(path string) bool // reports whether a file holds secrets; nil: none does
}

// Place is a file or a folder that a reference names.
type Place struct {
	Path   string // absolute
	Lines  Lines
	Folder bool
}

// Find returns the file or folder that a word names. ok is false if there is none; then problem, if not empty, is a
// sentence why a file that exists is not sent.
func (f Finder) Find(w Word) (found Place, problem string, ok bool) {
	for _, p := range w.paths() {
		full, inside := f.absolute(p.name)
		info, err := f.stat(full)
		if err != nil {
			continue
		}
		switch {
		case f.Sensitive != nil && f.Sensitive(full):
			problem = p.name + " is not sent, because it may contain secrets."
		case inside && !below(sensitive.Resolve(f.Fs, f.Cwd), sensitive.Resolve(f.Fs, full)):
			problem = p.name + " is not sent, because it is outside the folder. Attach it, or type its absolute path."
		case info.IsDir() && p.lines == Lines{}, info.Mode().IsRegular():
			return Place{full, p.lines, info.IsDir()}, "", true
		}
	}
	return Place{}, problem, false
}

func (f Finder) stat(path string) (fs.FileInfo, error) {
	if path == "" {
		return nil, fs.ErrNotExist
	}
	return f.Fs.Stat(path)
}

// absolute returns the path that a name stands for, "" if it can't be one, and whether it has to be in the folder.
func (f Finder) absolute(name string) (full string, inside bool) {
	if strings.ContainsRune(name, 0) || strings.HasPrefix(name, `\\`) || strings.HasPrefix(name, "//") {
		return "", false // a share of another machine must not be asked for anything
	}
	if rest, home := strings.CutPrefix(name, "~/"); home && f.Home != "" {
		return filepath.Join(f.Home, rest), false
	}
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name), false
	}
	return filepath.Join(f.Cwd, name), true
}

func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
