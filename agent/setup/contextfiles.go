package setup

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// maxContext bounds the files with instructions.
const maxContext = 64

// findContext finds the instructions of the user and the project. They need no trust, as in every program.
func (l *looking) findContext() {
	switch l.program {
	case session.Pi:
		l.userContext(piNames)
		for _, dir := range l.outermostFirst(l.up) {
			l.directoryContext(dir)
		}
	case session.Omp:
		if !l.userContext([]string{"AGENTS.md"}) {
			l.foreignUserContext()
		}
		for _, dir := range l.outermostFirst(l.repository()) {
			l.directoryContext(dir)
		}
	default:
		for _, names := range xcshNames {
			l.userContext(names)
		}
		l.xcshContext()
	}
}

// xcshContext finds the instructions of a project for xcsh: those of each directory, and the nearest
// .xcsh/XCSH.md.
func (l *looking) xcshContext() {
	nearest := ""
	for _, dir := range l.up {
		if l.exists(ofProject(dir, ".xcsh/XCSH.md")) {
			nearest = dir
			break
		}
	}
	for _, dir := range l.outermostFirst(l.up) {
		if dir == nearest {
			l.firstContext(dir, []string{".xcsh/XCSH.md"})
		}
		l.directoryContext(dir)
	}
}

func (l *looking) outermostFirst(dirs []string) []string {
	dirs = slices.Clone(dirs)
	slices.Reverse(dirs)
	return dirs
}

// userContext adds the first of the files in the agent directory.
func (l *looking) userContext(names []string) bool {
	if l.agent == "" {
		return false
	}
	for _, name := range names {
		if l.addContext(ofUser(filepath.Join(l.agent, name))) {
			return true
		}
	}
	return false
}

// foreignUserContext adds the user's instructions for another program, if there are none for this one.
func (l *looking) foreignUserContext() {
	if l.Home == "" {
		return
	}
	for _, f := range []struct{ source, path string }{
		{"claude", ".claude/CLAUDE.md"}, {"codex", ".codex/AGENTS.md"}, {"gemini", ".gemini/GEMINI.md"}, {"opencode", ".config/opencode/AGENTS.md"},
	} {
		if l.foreign(f.source, Project) && l.addContext(ofUser(filepath.Join(l.Home, filepath.FromSlash(f.path)))) {
			return
		}
	}
}

// firstContext adds the first of the files in a directory of the project.
func (l *looking) firstContext(dir string, names []string) {
	if dir == l.agent {
		return // the user's own, which came first
	}
	for _, name := range names {
		if l.program == session.Omp && name[0] == '.' && !strings.HasPrefix(name, ".omp") && !l.foreign(l.sourceOf(name), Project) {
			continue
		}
		if l.addContext(ofProject(dir, name)) {
			return
		}
	}
}

// sourceOf returns the program whose directory a name begins with.
func (l *looking) sourceOf(name string) string {
	dir, _, _ := strings.Cut(strings.TrimPrefix(name, "."), "/")
	return dir
}

// addContext adds a file. It reports whether the file takes the place of others in its directory.
func (l *looking) addContext(p place) bool {
	p.advice = true
	in, ok := l.read(p, maxText)
	if !ok {
		return false
	}
	f := l.textFile(p, in.Content, in.Cut)
	if l.program == session.Omp {
		f.Text = l.expandImports(p, f.Text)
		if len(f.Text) > maxText {
			f.Text, f.Cut = wholeRunes(f.Text[:maxText]), true
		}
		f.Bytes = len(f.Text)
	}
	text := strings.TrimSpace(f.Text)
	switch {
	case text == "":
		return true // as in every program, an empty file counts
	case slices.ContainsFunc(l.r.Context, func(o File) bool { return o.Path == f.Path || strings.TrimSpace(o.Text) == text }):
		l.leaveOut(KindContext, filepath.Base(f.Path), f.Path, "Another file has the same text.")
		return true
	case len(l.r.Context) >= maxContext:
		l.budget.spent = true
		return true
	}
	l.r.Context = append(l.r.Context, f)
	return true
}

func (l *looking) textFile(p place, content []byte, cut bool) File {
	return File{Path: p.full(), Scope: p.scope(), Text: string(content), Bytes: len(content), Cut: cut}
}
