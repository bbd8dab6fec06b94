package ignore

import "strings"

// pattern is one line of a .gitignore.
type pattern struct {
	glob     string
	negated  bool // includes paths again that an earlier line ignored
	onlyDirs bool
	anywhere bool // without a slash: it is about the name alone, at every depth
}

// parse reads the lines of a .gitignore.
func parse(content []byte) []pattern {
	text := strings.TrimPrefix(string(content), "\ufeff")
	var patterns []pattern
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		line = trimSpaces(strings.TrimSuffix(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		var p pattern
		line, p.negated = strings.CutPrefix(line, "!")
		line, p.onlyDirs = strings.CutSuffix(line, "/")
		p.anywhere = !strings.Contains(line, "/")
		p.glob = strings.TrimPrefix(line, "/")
		patterns = append(patterns, p)
	}
	return patterns
}

// trimSpaces takes off the spaces at the end, unless a backslash keeps them.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// matches reports whether the pattern is about a file. rel is its path from the directory
// of the pattern, with slashes, name the last element.
func (p pattern) matches(rel, name string, isDir bool) bool {
	switch {
	case p.onlyDirs && !isDir:
		return false
	case p.anywhere:
		return wildmatch(p.glob, name, false)
	}
	// The text before the first wildcard is compared first, and the rest is a pattern of its own.
	// The difference is visible: in "a**/b" the stars come to stand at the beginning, where they
	// match slashes.
	plain := strings.IndexAny(p.glob, `*?[\`)
	if plain < 0 {
		return p.glob == rel
	}
	rest, ok := strings.CutPrefix(rel, p.glob[:plain])
	return ok && wildmatch(p.glob[plain:], rest, true)
}
