package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many symbolic links a path may follow.
const maxLinks = 255

// roots returns the targets of the paths that can be changed, without those inside another one.
// These need no grant of their own, and must not have one: an earlier command could have put a link
// there that leads to the user's files.
func (p Policy) roots() []string {
	var named, real []string
	for _, path := range p.Write {
		path = filepath.Clean(path)
		if filepath.IsAbs(path) && !slices.ContainsFunc(p.Write, func(dir string) bool { return below(path, filepath.Clean(dir)) }) {
			named = append(named, path)
		}
	}
	for _, path := range named {
		if path, ok := follow(path, slices.Concat(named, real)); ok {
			real = append(real, path)
		}
	}
	return real
}

// follow returns the target of path as far as it exists; false if it passes through a directory
// below one of the others.
func follow(path string, others []string) (string, bool) {
	at, rest := string(filepath.Separator), parts(path)
	for followed := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		next := filepath.Join(at, name)
		if slices.ContainsFunc(others, func(dir string) bool { return below(next, dir) }) {
			return "", false
		}
		to, err := os.Readlink(next)
		if err != nil { // no link
			at = next
			continue
		}
		if followed++; followed > maxLinks {
			return "", false
		}
		if filepath.IsAbs(to) {
			at = string(filepath.Separator)
		}
		rest = append(parts(to), rest...)
	}
	return at, true
}

func parts(path string) []string {
	return slices.DeleteFunc(strings.Split(path, string(filepath.Separator)), func(name string) bool { return name == "" || name == "." })
}

// below reports whether path is in dir and not dir itself.
func below(path, dir string) bool { return path != dir && within(path, []string{dir}) }
