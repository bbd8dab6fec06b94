package approval

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/protected"
	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
)

const separator = string(filepath.Separator)

// disk is where commands run and edits go.
var disk = afero.NewOsFs()

// Protected reports whether a path, relative to the folder, is one of those that are never changed
// without approval, regardless of rules, unless the mode is [Yolo]. Links are not followed.
func Protected(rel string) bool { return protected.Path(rel) }

// resolve returns name relative to dir. It is not cleaned: the parent of a link is known
// only once that is followed.
func resolve(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return dir + separator + name
}

// climbs reports whether a name goes up again after another element. If the element is a link, the
// result differs between the shell and programs.
func climbs(name string) bool {
	behind := false
	for element := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if element == ".." && behind {
			return true
		}
		behind = behind || element != ".."
	}
	return false
}

// inside reports whether path is in the folder once symbolic links are followed.
func (p policy) inside(path string) bool {
	_, ok := p.relative(path)
	return ok
}

// relative returns where path leads, relative to the folder, if it is in there.
func (p policy) relative(path string) (rel string, ok bool) {
	root, rootOK := real(p.root)
	path, pathOK := real(path)
	if !rootOK || !pathOK {
		return "", false
	}
	return below(root, path)
}

// private reports whether path is in one of the directories with keys, settings and rules.
func (p policy) private(path string) bool {
	path, ok := real(path)
	return !ok || slices.ContainsFunc(p.protected, func(dir string) bool {
		dir, ok := real(dir)
		if !ok {
			return true // it leads nowhere that could be compared
		}
		_, in := below(strings.ToLower(dir), strings.ToLower(path))
		return in
	})
}

// guarded reports whether a file in the folder always needs approval: by its own name
// or by that of its target, because it is in a private directory, or because it can be
// run as a program.
func (p policy) guarded(path string) bool {
	rel, ok := p.relative(path)
	if ok && protected.Path(rel) || p.private(path) || executable(path) {
		return true
	}
	for _, root := range []string{p.root, realOr(p.root)} {
		if rel, ok := below(root, filepath.Clean(path)); ok && protected.Path(rel) {
			return true
		}
	}
	return false
}

// executable reports whether there is a file that can be run.
func executable(path string) bool {
	info, err := disk.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// free reports whether all of the files may be changed where edits in the folder may be made.
func (p policy) free(paths []string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool { return !p.inside(path) || p.guarded(path) })
}

// below returns path relative to root, if it is in there.
func below(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+separator)
}

// real follows the symbolic links of a path, also those to missing files:
// a write through them creates the target.
func real(path string) (string, bool) {
	r, err := sensitive.Target(disk, path)
	return r, err == nil
}

func realOr(path string) string {
	if r, ok := real(path); ok {
		return r
	}
	return path
}

// outside returns where those of the paths lead that are not in the folder.
func (p policy) outside(paths []string) []string {
	var outside []string
	for _, path := range paths {
		if !p.inside(path) {
			outside = append(outside, realOr(path))
		}
	}
	return unique(outside)
}

// touched returns those of the paths in the folder that always require approval, in the form that
// the user knows.
func (p policy) touched(paths []string) []string {
	var touched []string
	for _, path := range paths {
		if !p.inside(path) || !p.guarded(path) {
			continue
		}
		path = filepath.Clean(path)
		for _, root := range []string{p.root, realOr(p.root)} {
			if rel, ok := below(root, path); ok {
				path = rel
				break
			}
		}
		touched = append(touched, path)
	}
	return unique(touched)
}

// systemFiles are world-readable and hold nothing about the user.
var systemFiles = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt/homebrew", "/nix/store", "/etc/os-release", "/etc/debian_version", "/etc/alpine-release",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/version",
}

// scene is where a command line runs.
type scene struct {
	policy
	dirs   []string // in which its programs may run
	system bool     // files of the system may be read
}

// file reports whether a program may be given a file, anywhere in the line.
func (s scene) file(path string) bool {
	return !slices.ContainsFunc(s.dirs, func(dir string) bool { return !s.readable(resolve(dir, path)) })
}

// readable reports whether a path may be named: it is in the folder, not a file with secrets, and
// not a file that never ends, such as a pipe.
func (s scene) readable(path string) bool {
	at, ok := real(path)
	if !ok || s.private(at) || s.sensitive != nil && (s.sensitive(path) || s.sensitive(at)) {
		return false
	}
	if at == nowhere {
		return true
	}
	if info, err := disk.Stat(at); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return false
	}
	return s.inside(at) || s.system && slices.ContainsFunc(systemFiles, func(dir string) bool {
		_, ok := below(dir, at)
		return ok
	})
}

// maxMatches is how many files a pattern may match.
const maxMatches = 2000

// glob reports whether a program may be given all files that a pattern stands for.
func (s scene) glob(pattern string) bool {
	if strings.ContainsAny(pattern, `\[`) || !s.file(staticPart(pattern)) {
		return false
	}
	for _, dir := range s.dirs {
		matches, err := fs.Glob(os.DirFS(dir), filepath.ToSlash(filepath.Clean(pattern)))
		if err != nil || filepath.IsAbs(pattern) || climbs(pattern) || strings.HasPrefix(pattern, "..") || len(matches) > maxMatches {
			return false
		}
		for _, match := range matches {
			if isFlag(match) || !s.readable(resolve(dir, match)) {
				return false
			}
		}
	}
	return true
}

// none reports whether the shell leaves a pattern unchanged, because no file has such a name.
func (s scene) none(pattern string) bool {
	return !slices.ContainsFunc(s.dirs, func(dir string) bool {
		matches, err := fs.Glob(os.DirFS(dir), filepath.ToSlash(filepath.Clean(pattern)))
		return err != nil || len(matches) > 0
	})
}

// text reports whether a value can be taken for a text: it is not the name of a file that must not
// be named.
func (s scene) text(value string) bool {
	return !slices.ContainsFunc(s.dirs, func(dir string) bool {
		path := resolve(dir, value)
		_, err := disk.Stat(path)
		return err == nil && !s.readable(path)
	})
}

// staticPart is the directory of a pattern before its first wildcard.
func staticPart(pattern string) string {
	return filepath.Dir(pattern[:strings.IndexAny(pattern, "*?")] + "x")
}
