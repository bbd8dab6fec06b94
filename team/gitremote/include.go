package gitremote

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// The limits of reading for one folder. git itself allows includes ten levels deep.
const (
	maxFile  = 4 << 20  // bytes of a file
	maxBytes = 16 << 20 // bytes of all files
	maxFiles = 200
	maxDepth = 10
)

// reader reads the configuration of a repository with everything that it includes.
type reader struct {
	m       Machine
	gitDirs []string // the names of the git directory of the working tree
	branch  string   // "" if HEAD is detached
	urls    []string
	deaf    bool // hasconfig conditions are false, because urls is not complete

	each         func(variable)
	files, bytes int
}

// file reads one configuration file; a missing one is empty.
func (r *reader) file(name string, depth int) error {
	if r.files++; r.files > maxFiles || r.bytes > maxBytes {
		return fault.New(fault.TooLarge, "The configuration of git includes more than %d files or %d MB, so the remote of the repository is unknown. Last was %s.",
			maxFiles, maxBytes>>20, name).With("path", name)
	}
	content, err := intake.ReadAll(r.m.Fs, name, maxFile)
	if errors.Is(err, fs.ErrNotExist) || isNoDirectory(err) {
		return nil
	}
	if err != nil {
		return unreadable(name, err)
	}
	r.bytes += len(content)
	err = parse(content, func(v variable) error {
		r.each(v)
		return r.include(name, v, depth)
	})
	if errors.Is(err, errSyntax) {
		return unreadable(name, err)
	}
	return err
}

func unreadable(name string, err error) error {
	kind := fault.IO
	if errors.Is(err, errSyntax) {
		kind = fault.Damaged
	}
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return fault.New(kind, "The remote of the repository is unknown because git's file %s cannot be read: %w. Repair the file.", name, err).With("path", name)
}

// include reads the file that v includes, if it does.
func (r *reader) include(from string, v variable, depth int) error {
	if v.name != "path" || v.value == "" || depth == maxDepth {
		return nil // git stops at a deeper include, and so never has one that matters
	}
	switch {
	case v.section == "include" && !v.hasSub:
	case v.section == "includeif" && v.hasSub && r.holds(from, v.sub):
	default:
		return nil
	}
	name, ok := expanded(v.value, r.m.Home)
	if !ok {
		return nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(from), name)
	}
	return r.file(name, depth+1)
}

// expanded replaces ~/ by the user's directory. ok is false for the other forms that only git can resolve.
func expanded(name, home string) (string, bool) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return home + "/" + rest, home != "" // Join would remove a slash at the end
	}
	return name, !strings.HasPrefix(name, "~") && !strings.HasPrefix(name, "%(")
}

// holds reports whether the condition of an includeIf in the file from is true.
func (r *reader) holds(from, condition string) bool {
	kind, pattern, _ := strings.Cut(condition, ":")
	switch kind {
	case "gitdir", "gitdir/i":
		return slices.ContainsFunc(r.gitDirs, func(dir string) bool { return r.inDir(from, pattern, dir, kind == "gitdir/i") })
	case "onbranch":
		return r.branch != "" && matches(withRest(pattern), r.branch)
	case "hasconfig":
		pattern, ok := strings.CutPrefix(pattern, "remote.*.url:")
		if !ok || r.deaf {
			return false
		}
		return slices.ContainsFunc(r.urls, func(url string) bool { return matches(pattern, url) })
	}
	return false
}

// inDir matches a git directory with a pattern of gitdir.
func (r *reader) inDir(from, pattern, gitDir string, fold bool) bool {
	text := filepath.ToSlash(gitDir)
	pattern, ok := expanded(pattern, r.m.real(r.m.Home))
	if !ok {
		return false
	}
	pattern = filepath.ToSlash(pattern)
	if below, relative := strings.CutPrefix(pattern, "./"); relative {
		// The directory of the file is compared as it is: its name is no pattern.
		dir := filepath.ToSlash(r.m.real(filepath.Dir(from))) + "/"
		if !strings.HasPrefix(text, dir) && (!fold || !hasPrefixFold(text, dir)) {
			return false
		}
		text, pattern = text[len(dir):], below
	} else if !filepath.IsAbs(filepath.FromSlash(pattern)) && !strings.HasPrefix(pattern, "/") {
		pattern = "**/" + pattern
	}
	pattern = withRest(pattern)
	if fold {
		pattern, text = strings.ToLower(pattern), strings.ToLower(text)
	}
	return matches(pattern, text)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// withRest makes a pattern that names a directory match everything below it.
func withRest(pattern string) string {
	if strings.HasSuffix(pattern, "/") {
		return pattern + "**"
	}
	return pattern
}

// matches is git's wildmatch for paths. Two things are different in the library: braces have a meaning, and a/** matches a.
func matches(pattern, text string) bool {
	if strings.HasSuffix(pattern, "/**") {
		pattern += "/*"
	}
	ok, err := doublestar.Match(noBraces.Replace(pattern), text)
	return ok && err == nil
}

var noBraces = strings.NewReplacer(`\{`, `\{`, `\}`, `\}`, `\\`, `\\`, "{", `\{`, "}", `\}`)
