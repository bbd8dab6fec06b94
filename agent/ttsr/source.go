package ttsr

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

const (
	maxRules  = 64  // of a session
	maxListed = 512 // entries of a directory, and files that are read
	maxLevels = 32  // directories from the working directory up to the root of the repository
	maxDepth  = 4   // directories below .github/instructions
)

// Source finds rules. Fs must be set; it is safe for concurrent use.
type Source struct {
	Fs        afero.Fs
	Home      string   // the user's home directory, "" if it is unknown
	AgentDirs []string // of xcsh and oh-my-pi, the first one takes precedence

	// Usable reports whether the files of an agent directory may be used; nil: all may be.
	Usable func(agentDir string) bool

	// Only reports whether the file at a path may be read; nil: all may be.
	Only func(path string) bool

	Private *sensitive.Set               // files that are never sent; nil: none
	Report  func(path string, err error) // called with each file that is left out or used in part; may be nil
}

// Load returns the rules for work in cwd, each name once, in the order of precedence of xcsh and
// oh-my-pi: their own, then those of .agent and .agents, Cursor, Windsurf, Cline and GitHub, in the
// project and in the home directory. disabled are names that the user turned off.
//
// A file of the project is used as instructions of the project are: it must be a regular file below its
// directory and no credentials, and another user must not have planted it.
//
// Differs: oh-my-pi follows every link, does not check the owner, and has rules of its own and from
// plugins. Conditions on syntax trees and questions for a model are not applied.
func (s Source) Load(cwd string, disabled []string) []*Rule {
	l := loading{Source: s, cwd: filepath.Clean(cwd), private: s.Private.Resolve(s.Fs), seen: map[string]bool{}}
	for _, name := range disabled {
		l.seen[name] = true
	}
	l.project(cwd, ".omp/rules", ".md", ".mdc")
	l.project(cwd, ".xcsh/rules", ".md", ".mdc")
	for _, dir := range s.AgentDirs {
		if s.Usable == nil || s.Usable(dir) {
			l.own(filepath.Join(dir, "rules"), ".md", ".mdc")
		}
	}
	up := l.upward()
	for _, name := range []string{".agent/rules", ".agents/rules"} {
		for _, dir := range up {
			l.project(dir, name, ".md", ".mdc")
		}
		l.home(name, ".md", ".mdc")
	}
	l.home(".cursor/rules", ".mdc", ".md")
	l.project(cwd, ".cursor/rules", ".mdc", ".md")
	if s.Home != "" {
		l.file("", filepath.Join(s.Home, ".codeium/windsurf/memories/global_rules.md"), "global_rules")
	}
	l.project(cwd, ".windsurf/rules", ".md")
	for _, dir := range up {
		info, err := l.Fs.Stat(filepath.Join(dir, ".clinerules"))
		if err != nil {
			continue
		}
		if info.IsDir() {
			l.project(dir, ".clinerules", ".md")
		} else {
			l.file(dir, ".clinerules", "clinerules")
		}
		break // the nearest
	}
	l.instructions(cwd, ".github/instructions", maxDepth)
	return l.rules
}

// loading is one call of Load.
type loading struct {
	Source
	cwd     string
	private *sensitive.View
	seen    map[string]bool // names
	read    int             // files
	rules   []*Rule
}

// upward returns cwd and the directories above it, up to the root of its repository. Without a
// repository it is cwd only.
func (l *loading) upward() (dirs []string) {
	for dir := l.cwd; len(dirs) < maxLevels; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if _, err := l.Fs.Stat(filepath.Join(dir, ".git")); err == nil {
			return dirs
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return dirs[:1]
}

// project loads the rules in a directory below dir, a directory of the project.
func (l *loading) project(dir, name string, extensions ...string) {
	for _, file := range l.names(filepath.Join(dir, name), extensions) {
		l.file(dir, filepath.Join(name, file), strings.TrimSuffix(file, filepath.Ext(file)))
	}
}

// own loads the rules in a directory of the user's own.
func (l *loading) own(dir string, extensions ...string) {
	for _, file := range l.names(dir, extensions) {
		l.file("", filepath.Join(dir, file), strings.TrimSuffix(file, filepath.Ext(file)))
	}
}

func (l *loading) home(name string, extensions ...string) {
	if l.Home != "" && filepath.Clean(l.Home) != l.cwd { // then it is the project's
		l.own(filepath.Join(l.Home, name), extensions...)
	}
}

// instructions loads GitHub's instructions, at any depth up to a limit.
func (l *loading) instructions(dir, name string, depth int) {
	const suffix = ".instructions.md"
	for _, file := range l.names(filepath.Join(dir, name), []string{suffix}) {
		l.file(dir, filepath.Join(name, file), strings.TrimSuffix(file, suffix))
	}
	if depth == 0 {
		return
	}
	for _, sub := range l.list(filepath.Join(dir, name)) {
		if sub.IsDir() {
			l.instructions(dir, filepath.Join(name, sub.Name()), depth-1)
		}
	}
}

// names returns the sorted names of the files in dir with one of the extensions.
func (l *loading) names(dir string, extensions []string) (names []string) {
	for _, info := range l.list(dir) {
		name := info.Name()
		if !info.IsDir() && !strings.HasPrefix(name, ".") && slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(name, e) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// list returns up to maxListed entries of a directory, none if it cannot be read.
func (l *loading) list(dir string) []fs.FileInfo {
	info, err := l.Fs.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	f, err := l.Fs.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	infos, _ := f.Readdir(maxListed) // fewer after an error
	return infos
}

// file loads the rule in a file: that of the project at path in dir, or for dir "" the user's own at
// path.
func (l *loading) file(dir, path, name string) {
	if l.seen[name] || len(l.rules) >= maxRules || l.read >= maxListed {
		return
	}
	full := filepath.Join(dir, path)
	if l.Only != nil && !l.Only(full) {
		return
	}
	f, err := l.content(dir, path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	l.read++
	if err == nil && (l.private.Denies(full) || l.private.DeniesInfo(f.Info)) {
		err = &intake.Refused{Path: full, Why: "it is a credentials file"}
	}
	if err == nil && f.Cut {
		err = &intake.Refused{Path: full, Why: fmt.Sprintf("it is longer than %d bytes", maxFile)}
	}
	if err != nil {
		l.report(full, err)
		return
	}
	r, problem := parse(name, full, strings.ToValidUTF8(string(f.Content), "\uFFFD"))
	if problem != "" {
		l.report(full, &intake.Refused{Path: full, Why: problem})
	}
	l.seen[name] = true // also a rule of another kind has the name
	if r != nil {
		l.rules = append(l.rules, r)
	}
}

// content reads a file.
func (l *loading) content(dir, path string) (intake.File, error) {
	if dir == "" {
		return intake.Read(l.Fs, path, maxFile)
	}
	f, err := intake.ReadBelow(l.Fs, dir, path, maxFile)
	if err == nil && intake.Planted(l.Fs, l.cwd, dir, f.Info) {
		err = &intake.Refused{Path: filepath.Join(dir, path), Why: "another user owns it or can write to it"}
	}
	return f, err
}

func (l *loading) report(path string, err error) {
	if l.Report != nil {
		l.Report(path, err)
	}
}
