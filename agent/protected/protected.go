package protected

import (
	_ "embed" // the names
	"path"
	"strings"
	"sync"
	"unicode"
)

//go:embed names.txt
var names string

// patterns are the lines of names.txt, each as its names in order.
var patterns = sync.OnceValue(func() (all [][]string) {
	for line := range strings.Lines(names) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		var pattern []string
		for name := range strings.SplitSeq(line, "/") {
			pattern = append(pattern, fold(name))
		}
		all = append(all, pattern)
	}
	return all
})

// Path reports whether a path, relative to the workspace, names a protected file, or one in a
// protected directory. It takes names as the file systems of macOS and Windows do, too, where
// ".VSCODE", ".vscode." and "VSCODE~1" are the same directory. Links are not followed: ask again
// with the path that a link leads to.
func Path(rel string) bool {
	var elements []string
	for element := range strings.FieldsFuncSeq(rel, func(r rune) bool { return r == '/' || r == '\\' }) {
		name := normal(element)
		if short(name) {
			return true
		}
		elements = append(elements, name)
	}
	for at := range elements {
		for _, pattern := range patterns() {
			if matches(pattern, elements[at:]) {
				return true
			}
		}
	}
	return false
}

// matches reports whether elements begin with the names of a pattern.
func matches(pattern, elements []string) bool {
	if len(elements) < len(pattern) {
		return false
	}
	for i, name := range pattern {
		if ok, err := path.Match(name, elements[i]); !ok || err != nil {
			return false
		}
	}
	return true
}

// normal is a name as the most forgiving file system compares it.
func normal(name string) string {
	name, _, _ = strings.Cut(name, ":") // NTFS: a stream of the file
	name = strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		return r
	}, name)
	return fold(strings.TrimRight(name, ". ")) // Windows drops them
}

// ignorable reports whether HFS+ leaves a character out when it compares names.
func ignorable(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff
}

// fold maps all characters that differ in case only to the same one, also the long s and the
// Kelvin sign, which have an ASCII letter as their other case.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return unicode.ToLower(least)
	}, name)
}

// short reports whether a name has the form of NTFS's short names, "VSCODE~1", which can stand
// for any long one.
func short(name string) bool {
	base, extension, _ := strings.Cut(name, ".")
	stem, number, ok := strings.Cut(base, "~")
	return ok && stem != "" && len(base) <= 8 && len(extension) <= 3 && number != "" && strings.Trim(number, "0123456789") == ""
}
